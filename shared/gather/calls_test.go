package gather

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

// crowd is a change to the world by which n instances of one group, started
// from one launch template, wait to join.
func crowd(n int) string {
	var b strings.Builder
	b.WriteString("kubernetes: {eks-workshop: {joined: []}}\nec2:\n  Instances:\n")
	for i := range n {
		fmt.Fprintf(&b, "    - {InstanceId: i-%017x, SubnetId: subnet-0b20000000000000%s, InstanceType: m5.large, ImageId: ami-0a1e2d3c4b5a69788, IamInstanceProfile: {Arn: %q}, Tags: [{Key: aws:autoscaling:groupName, Value: eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f}, {Key: eks:nodegroup-name, Value: default}, {Key: aws:ec2launchtemplate:id, Value: lt-0crowd}, {Key: aws:ec2launchtemplate:version, Value: \"1\"}]}\n",
			0xabc0000+i, []string{"a", "b", "c"}[i%3], "arn:aws:iam::111122223333:instance-profile/eks-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f")
	}
	return b.String()
}

// lookAt takes a look at everything about n waiting instances and returns how
// often each action was called in it.
func lookAt(t *testing.T, n int) (*snapshot.Snapshot, map[string]int, []string) {
	t.Helper()
	p := start(t, load(t, crowd(n)), wire.NoFaults{}, "")
	instances, failed := p.FindIn(t.Context(), workshopVPC)
	if failed != nil {
		t.Fatal(failed)
	}
	now := p.world.Now()
	q := Query{Account: "111122223333", Region: "us-west-2", Time: now, Cluster: "eks-workshop", Nodegroups: []string{"default"}, Sources: snapshot.All()}
	for _, in := range instances {
		if in.Template.ID == "lt-0crowd" {
			q.Instances = append(q.Instances, in)
			q.Scope.Instances = append(q.Scope.Instances, in.ID)
			q.Launches = append(q.Launches, snapshot.ExpectedJoin{Instance: in.ID, Due: now.Add(-time.Minute)})
		}
	}
	if len(q.Instances) != n {
		t.Fatalf("found %d instances, want %d", len(q.Instances), n)
	}
	groups, failed := p.Groups(t.Context(), []string{"eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"})
	if failed != nil {
		t.Fatal(failed)
	}
	q.Groups = groups
	before := len(p.aws.Calls())
	s, err := p.Read(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{}
	for _, c := range p.aws.Calls()[before:] {
		calls[c.Action()]++
	}
	return s, calls, p.asked
}

// TestCallsOfOneLook holds how many calls a look at everything takes, and that
// a thousand instances take more only where the API takes no thousand ids.
func TestCallsOfOneLook(t *testing.T) {
	_, one, asked := lookAt(t, 1)
	_, ten, _ := lookAt(t, 10)
	s, many, askedOfMany := lookAt(t, 1000)
	for source, f := range s.Failures {
		t.Errorf("%s: %+v", source, f)
	}
	total := func(calls map[string]int) (n int) {
		for _, c := range calls {
			n += c
		}
		return n
	}
	gathertest.Same(t, "AWS calls of a look at 1, 10 and 1,000 instances", []int{total(one), total(ten), total(many)}, []int{52, 54, 64})
	gathertest.Same(t, "Kubernetes calls", []int{len(asked), len(askedOfMany)}, []int{11, 11})
	more := map[string]int{}
	for action, n := range many {
		if n != one[action] {
			more[action] = n
		}
	}
	// 100 ids a call; two consoles in place of one, each asked for in both ways, as it is empty; 1,000 interfaces a page, the
	// nodes' own among them.
	want := map[string]int{"ec2:DescribeInstanceStatus": 10, "ec2:DescribeNetworkInterfaces": 3, "ec2:GetConsoleOutput": 4}
	if diff := cmp.Diff(want, more); diff != "" {
		t.Errorf("calls that grow with the instances (-want +got):\n%s\nall: %v", diff, many)
	}
	if len(s.UserData) != 1 || len(s.UserData[0].Instances) != 1000 || len(s.Missing[snapshot.UserDataOf]) != 0 {
		t.Errorf("user data of %d origins, missing %d; want one that all share", len(s.UserData), len(s.Missing[snapshot.UserDataOf]))
	}
}

// TestFindFindsAll holds what each way of finding instances and groups finds.
func TestFindFindsAll(t *testing.T) {
	p := open(t, `
ec2:
  Instances:
    - {InstanceId: i-0ended, State: {Name: terminated, Code: 48}, SubnetId: subnet-0b20000000000000a, Tags: [{Key: kubernetes.io/cluster/eks-workshop, Value: owned}]}
    - {InstanceId: i-0bare, SubnetId: subnet-0b20000000000000a}
autoscaling:
  AutoScalingGroups:
    - {AutoScalingGroupName: by-hand, MinSize: 0, MaxSize: 0, DesiredCapacity: 0, VPCZoneIdentifier: subnet-0b20000000000000a, Tags: [{Key: k8s.io/cluster/eks-workshop, Value: owned, ResourceId: by-hand}]}
    - {AutoScalingGroupName: other, MinSize: 0, MaxSize: 0, DesiredCapacity: 0, VPCZoneIdentifier: subnet-0b20000000000000a, Tags: [{Key: "eks:cluster-name", Value: other, ResourceId: other}]}
`)
	ids := func(list []snapshot.Instance, failed *snapshot.Failure) []string {
		t.Helper()
		if failed != nil {
			t.Fatal(failed)
		}
		return names(list, func(in snapshot.Instance) string { return in.ID })
	}
	if got := ids(p.FindTagged(t.Context(), "eks-workshop")); slices.Contains(got, "i-0ended") || slices.Contains(got, "i-0bare") || len(got) != 3 {
		t.Errorf("tagged and live: %q", got)
	}
	if got := ids(p.FindTaggedAll(t.Context(), "eks-workshop")); !slices.Contains(got, "i-0ended") || slices.Contains(got, "i-0bare") || len(got) != 4 {
		t.Errorf("tagged: %q", got)
	}
	if got := ids(p.FindIn(t.Context(), workshopVPC)); !slices.Contains(got, "i-0bare") || len(got) < 4 {
		t.Errorf("in the VPC: %q", got)
	}
	groups, failed := p.GroupsOf(t.Context(), "eks-workshop")
	if failed != nil {
		t.Fatal(failed)
	}
	gathertest.Same(t, "groups", names(groups, func(g snapshot.Group) string { return g.Name }), []string{"by-hand", "eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f", "eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"})
	if _, failed := p.FindIn(t.Context(), ""); failed == nil {
		t.Error("without a VPC all instances of the region were asked for")
	}
}
