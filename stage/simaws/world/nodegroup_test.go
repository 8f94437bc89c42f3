package world

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/state"
)

// workers is a nodegroup in a subnet with a way out.
func workers(desired int32) *eks.CreateNodegroupInput {
	return &eks.CreateNodegroupInput{
		ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("workers"),
		NodeRole: aws.String("arn:aws:iam::111122223333:role/new_nodegroup_2"), Subnets: []string{"subnet-0b20000000000000a"},
		InstanceTypes: []string{"m5.large"}, Labels: map[string]string{"team": "a"},
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(4), DesiredSize: aws.Int32(desired)},
	}
}

func create(t *testing.T, w *World, in *eks.CreateNodegroupInput) *ekstypes.Nodegroup {
	t.Helper()
	out, err := w.EKS().CreateNodegroup(in)
	if err != nil {
		t.Fatal(err)
	}
	return out.Nodegroup
}

func TestCreateNodegroup(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	n := create(t, w, workers(2))
	if n.Status != ekstypes.NodegroupStatusCreating || *n.ReleaseVersion == "" || len(n.Resources.AutoScalingGroups) != 1 {
		t.Fatalf("got %+v", n)
	}
	name := *n.Resources.AutoScalingGroups[0].Name
	if !strings.HasPrefix(name, "eks-workers-") || len(name) != len("eks-workers-")+36 {
		t.Errorf("group: got %q", name)
	}
	hooks, err := w.AutoScaling().DescribeLifecycleHooks(&autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &name})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range hooks.LifecycleHooks {
		got = append(got, *h.LifecycleHookName+" "+strconv.Itoa(int(*h.HeartbeatTimeout))+" "+*h.DefaultResult)
	}
	if diff := cmp.Diff(got, []string{"Launch-LC-Hook 1800 CONTINUE", "Terminate-LC-Hook 1800 CONTINUE"}); diff != "" {
		t.Errorf("hooks (-got +want):\n%s", diff)
	}
	w.Advance(w.Start().Add(time.Minute))
	if got := standing(t, w, "workers"); got != "CREATING" {
		t.Errorf("after 1 min: got %q", got)
	}
	w.Advance(w.Start().Add(2 * time.Minute))
	if got := standing(t, w, "workers"); got != "ACTIVE" {
		t.Errorf("after 2 min: got %q", got)
	}
	if _, err := w.EKS().CreateNodegroup(workers(2)); code(t, err) != "ResourceInUseException" {
		t.Errorf("twice: got %v", err)
	}
}

func TestCreateNodegroupWithoutNodes(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	create(t, w, workers(0))
	w.Advance(w.Start().Add(time.Minute))
	if got := standing(t, w, "workers"); got != "ACTIVE" {
		t.Errorf("got %q", got)
	}
}

func TestCreateNodegroupRefuses(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	tests := map[string]func(*eks.CreateNodegroupInput){
		"no name":        func(in *eks.CreateNodegroupInput) { in.NodegroupName = nil },
		"no role":        func(in *eks.CreateNodegroupInput) { in.NodeRole = nil },
		"unknown role":   func(in *eks.CreateNodegroupInput) { in.NodeRole = aws.String("arn:aws:iam::111122223333:role/x") },
		"no subnet":      func(in *eks.CreateNodegroupInput) { in.Subnets = nil },
		"unknown subnet": func(in *eks.CreateNodegroupInput) { in.Subnets = []string{"subnet-x"} },
		"unknown type":   func(in *eks.CreateNodegroupInput) { in.InstanceTypes = []string{"x9.large"} },
		"no such size":   func(in *eks.CreateNodegroupInput) { in.ScalingConfig.MinSize = aws.Int32(3) },
		"unknown version": func(in *eks.CreateNodegroupInput) {
			in.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: aws.String("lt-x")}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			in := workers(1)
			change(in)
			if _, err := w.EKS().CreateNodegroup(in); code(t, err) != "InvalidParameterException" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDeleteNodegroup(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	group := *create(t, w, workers(2)).Resources.AutoScalingGroups[0].Name
	w.Advance(w.Start().Add(3 * time.Minute))
	template := *w.Groups.Get(group).TemplateSpec().LaunchTemplateId
	in := &eks.DeleteNodegroupInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("workers")}
	out, err := w.EKS().DeleteNodegroup(in)
	if err != nil || out.Nodegroup.Status != ekstypes.NodegroupStatusDeleting {
		t.Fatalf("got %v, %v", out, err)
	}
	if _, err := w.EKS().DeleteNodegroup(in); code(t, err) != "ResourceInUseException" {
		t.Errorf("twice: got %v", err)
	}
	w.Advance(w.Now().Add(2 * time.Minute))
	if got := standing(t, w, "workers"); got != "ResourceNotFoundException" {
		t.Errorf("got %q", got)
	}
	if w.Groups.Get(group) != nil || w.Templates.Get(template) != nil || w.Hooks.Get(state.HookKey(group, lifecycle.LaunchHook)) != nil {
		t.Error("the group, its template or its hook is still there")
	}
	create(t, w, workers(0))
	list, err := w.EKS().ListNodegroups(&eks.ListNodegroupsInput{ClusterName: aws.String("eks-workshop")})
	if diff := cmp.Diff(list.Nodegroups, []string{"default", "new_nodegroup_2", "workers"}); diff != "" || err != nil {
		t.Errorf("made again (-got +want):\n%s %v", diff, err)
	}
}

func TestDeleteFailed(t *testing.T) {
	tests := map[string]struct {
		before func(*World, *state.Nodegroup)
		wait   time.Duration
		want   string
	}{
		"an interface in the security group": {func(w *World, ng *state.Nodegroup) {
			ng.Resources.RemoteAccessSecurityGroup = aws.String("sg-0aa00000000000001")
			w.SecurityGroups.Put("sg-0aa00000000000001", &ec2types.SecurityGroup{GroupId: aws.String("sg-0aa00000000000001"), VpcId: aws.String("vpc-0a1b2c3d4e5f60718")})
			_, err := w.EC2().CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{SubnetId: aws.String(storySubnet), Groups: []string{"sg-0aa00000000000001"}})
			if err != nil {
				t.Error(err)
			}
		}, 3 * time.Minute, "DELETE_FAILED Ec2SecurityGroupDeletionFailure[sg]"},
		"a suspended process": {func(w *World, ng *state.Nodegroup) {
			_, err := w.AutoScaling().SuspendProcesses(&autoscaling.SuspendProcessesInput{AutoScalingGroupName: ng.Resources.AutoScalingGroups[0].Name, ScalingProcesses: []string{"Terminate"}})
			if err != nil {
				t.Error(err)
			}
		}, 21 * time.Minute, "DELETE_FAILED NodeTerminationFailure[i]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "healthy-nat")
			create(t, w, workers(1))
			w.Advance(w.Start().Add(3 * time.Minute))
			tt.before(w, w.Nodegroups.Get("eks-workshop/workers"))
			if _, err := w.EKS().DeleteNodegroup(&eks.DeleteNodegroupInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("workers")}); err != nil {
				t.Fatal(err)
			}
			w.Advance(w.Now().Add(tt.wait))
			if got := standing(t, w, "workers"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDegradedByWhatIsLost(t *testing.T) {
	const role, profile = "new_nodegroup_2", "eks-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	unprofile := func(w *World) error {
		_, err := w.IAM().RemoveRoleFromInstanceProfile(&iam.RemoveRoleFromInstanceProfileInput{RoleName: aws.String(role), InstanceProfileName: aws.String(profile)})
		return err
	}
	tests := map[string]struct {
		lose func(*World) error
		want string
	}{
		"the role": {func(w *World) error {
			in := &iam.DeleteRoleInput{RoleName: aws.String(role)}
			if _, err := w.IAM().DeleteRole(in); code(t, err) != "DeleteConflict" {
				t.Errorf("a role in use: got %v", err)
			}
			if err := unprofile(w); err != nil {
				return err
			}
			for len(w.Roles.Get(role).AttachedManagedPolicies) > 0 {
				p := w.Roles.Get(role).AttachedManagedPolicies[0].PolicyArn
				if _, err := w.IAM().DetachRolePolicy(&iam.DetachRolePolicyInput{RoleName: aws.String(role), PolicyArn: p}); err != nil {
					return err
				}
			}
			_, err := w.IAM().DeleteRole(in)
			return err
		}, "DEGRADED IamNodeRoleNotFound[new_nodegroup_2]"},
		"the profile": {func(w *World) error {
			if err := unprofile(w); err != nil {
				return err
			}
			_, err := w.IAM().DeleteInstanceProfile(&iam.DeleteInstanceProfileInput{InstanceProfileName: aws.String(profile)})
			return err
		}, "DEGRADED IamInstanceProfileNotFound[eks]"},
		"the subnet": {func(w *World) error {
			_, err := w.EC2().DeleteSubnet(&ec2.DeleteSubnetInput{SubnetId: aws.String(storySubnet)})
			return err
		}, "DEGRADED Ec2SubnetNotFound[subnet]"},
		"the template": {func(w *World) error {
			_, err := w.EC2().DeleteLaunchTemplate(&ec2.DeleteLaunchTemplateInput{LaunchTemplateId: w.Groups.Get(storyGroup).TemplateSpec().LaunchTemplateId})
			return err
		}, "DEGRADED Ec2LaunchTemplateNotFound[lt]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "route")
			if err := tt.lose(w); err != nil {
				t.Fatal(err)
			}
			w.Advance(w.Start().Add(4 * time.Minute))
			if got := standing(t, w, "new_nodegroup_2"); got != "ACTIVE" {
				t.Errorf("after 4 min: got %q", got)
			}
			w.Advance(w.Start().Add(6 * time.Minute))
			if got := standing(t, w, "new_nodegroup_2"); got != tt.want {
				t.Errorf("after 6 min: got %q, want %q", got, tt.want)
			}
			if got := standing(t, w, "default"); got != "ACTIVE" {
				t.Errorf("the other nodegroup: got %q", got)
			}
			scale(t, w, 1)
			w.Advance(w.Start().Add(50 * time.Minute))
			if got := standing(t, w, "new_nodegroup_2"); !strings.HasPrefix(got, tt.want) {
				t.Errorf("much later: got %q, want %q to stand", got, tt.want)
			}
		})
	}
}

// standing is a nodegroup's status and its issues: the code and, in place of
// ids, what each is.
func standing(t *testing.T, w *World, name string) string {
	t.Helper()
	out, err := w.EKS().DescribeNodegroup(&eks.DescribeNodegroupInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String(name)})
	if err != nil {
		return code(t, err)
	}
	text := string(out.Nodegroup.Status)
	for _, i := range out.Nodegroup.Health.Issues {
		var kinds []string
		for _, id := range i.ResourceIds {
			prefix, _, _ := strings.Cut(id, "-")
			kinds = append(kinds, strings.SplitAfter(prefix, "DUMMY_")[0])
		}
		text += " " + string(i.Code) + "[" + strings.Join(kinds, " ") + "]"
	}
	return text
}

// updateState is the newest update of a nodegroup: type, status and errors.
func updateState(t *testing.T, w *World, name string) string {
	t.Helper()
	cluster := aws.String("eks-workshop")
	list, err := w.EKS().ListUpdates(&eks.ListUpdatesInput{Name: cluster, NodegroupName: aws.String(name), MaxResults: aws.Int32(1)})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.UpdateIds) == 0 {
		return ""
	}
	out, err := w.EKS().DescribeUpdate(&eks.DescribeUpdateInput{Name: cluster, NodegroupName: aws.String(name), UpdateId: aws.String(list.UpdateIds[0])})
	if err != nil {
		t.Fatal(err)
	}
	text := string(out.Update.Type) + " " + string(out.Update.Status)
	for _, e := range out.Update.Errors {
		text += " " + string(e.ErrorCode) + " " + strings.Join(e.ResourceIds, " ")
	}
	return text
}

func TestNodegroupWorlds(t *testing.T) {
	type at struct {
		when      time.Duration
		nodegroup string
		want      string
	}
	tests := map[string][]at{
		"nodegroup-degraded": {
			{2 * time.Minute, "new_nodegroup_2", "ACTIVE"},
			{23 * time.Minute, "new_nodegroup_2", "ACTIVE"},
			{24 * time.Minute, "new_nodegroup_2", "DEGRADED NodeCreationFailure[i]"},
			{31 * time.Minute, "new_nodegroup_2", "DEGRADED NodeCreationFailure[i]"},
			{39 * time.Minute, "new_nodegroup_2", "DEGRADED NodeCreationFailure[i]"},
			{42 * time.Minute, "new_nodegroup_2", "ACTIVE"},
		},
		"nodegroup-create-failed": {
			{5 * time.Second, "routeless", "ResourceNotFoundException"},
			{5 * time.Minute, "routeless", "CREATING"},
			{5 * time.Minute, "lost-subnet", "CREATING"},
			{6 * time.Minute, "lost-subnet", "CREATE_FAILED Ec2SubnetNotFound[subnet]"},
			{20 * time.Minute, "routeless", "CREATING"},
			{20 * time.Minute, "encrypted", "CREATING"},
			{21 * time.Minute, "routeless", "CREATE_FAILED NodeCreationFailure[i i]"},
			{21 * time.Minute, "encrypted", "CREATE_FAILED AsgInstanceLaunchFailures[eks] NodeCreationFailure[DUMMY_ DUMMY_]"},
			{32 * time.Minute, "routeless", "CREATE_FAILED NodeCreationFailure[i i]"},
			{41 * time.Minute, "routeless", "ResourceNotFoundException"},
			{3 * time.Hour, "routeless", "ACTIVE"},
			{3 * time.Hour, "lost-subnet", "ResourceNotFoundException"},
			{3 * time.Hour, "encrypted", "ResourceNotFoundException"},
		},
		"nodegroup-unknown-code": {
			{9 * time.Minute, "new_nodegroup_2", "ACTIVE"},
			{11 * time.Minute, "new_nodegroup_2", "DEGRADED Ec2PlacementGroupNotFound[pg]"},
			{41 * time.Minute, "new_nodegroup_2", "ACTIVE"},
		},
		"nodegroup-update-failed": {
			{4 * time.Minute, "new_nodegroup_2", "ACTIVE"},
			{6 * time.Minute, "new_nodegroup_2", "UPDATING"},
			{6 * time.Minute, "default", "UPDATING"},
			{7 * time.Minute, "default", "ACTIVE"},
			{24 * time.Minute, "new_nodegroup_2", "UPDATING"},
			{25 * time.Minute, "new_nodegroup_2", "ACTIVE"},
			{60 * time.Minute, "new_nodegroup_2", "ACTIVE"},
		},
		"addon-degraded": {
			{50 * time.Minute, "new_nodegroup_2", "ACTIVE"},
		},
	}
	for name, points := range tests {
		t.Run(name, func(t *testing.T) {
			w, events := open(t, name)
			for _, p := range points {
				w.Advance(w.Start().Add(p.when))
				if got := standing(t, w, p.nodegroup); got != p.want {
					t.Errorf("%s at %s: got %q, want %q", p.nodegroup, p.when, got, p.want)
				}
			}
			for _, e := range *events {
				if text := string(e); strings.Contains(text, `"aws.eks"`) && !strings.Contains(text, "CloudTrail") && !strings.Contains(text, "EKS Addon") {
					t.Errorf("EKS sends no such event: %s", text)
				}
			}
		})
	}
}

func TestStackReportsCreateFailed(t *testing.T) {
	w, events := open(t, "nodegroup-create-failed")
	w.Advance(w.Start().Add(22 * time.Minute))
	var got []string
	for _, d := range eventDetails(t, *events, "CloudFormation Resource Status Change") {
		if d["resource-type"] != "AWS::EKS::Nodegroup" || d["physical-resource-id"] != "eks-workshop/routeless" || d["logical-resource-id"] != "ManagedNodeGroup" ||
			!strings.HasPrefix(d["stack-id"].(string), "arn:aws:cloudformation:us-west-2:111122223333:stack/eksctl-eks-workshop-nodegroup-routeless/") {
			t.Errorf("got %v", d)
		}
		details := d["status-details"].(map[string]any)
		got = append(got, details["status"].(string)+" "+details["status-reason"].(string))
	}
	ids := w.Nodegroups.Get("eks-workshop/routeless").Health.Issues[0].ResourceIds
	want := []string{
		"CREATE_IN_PROGRESS ",
		"CREATE_FAILED Nodegroup routeless failed to stabilize: [{Code: NodeCreationFailure,Message: Instances failed to join the kubernetes cluster,ResourceIds: [" + strings.Join(ids, ", ") + "]}]",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestUpdateFailures(t *testing.T) {
	w, _ := open(t, "nodegroup-update-failed")
	w.Advance(w.Start().Add(4 * time.Minute))
	old := members(t, w)
	w.Advance(w.Start().Add(6 * time.Minute))
	if got := updateState(t, w, "default"); got != "VersionUpdate InProgress" {
		t.Errorf("default: got %q", got)
	}
	both := members(t, w)
	w.Advance(w.Start().Add(7 * time.Minute))
	if got := updateState(t, w, "default"); got != "VersionUpdate Failed PodEvictionFailure ip-10-42-101-17.us-west-2.compute.internal" {
		t.Errorf("default: got %q", got)
	}
	w.Advance(w.Start().Add(26 * time.Minute))
	if len(both) != 2 {
		t.Fatalf("while updating: got %q, want two", both)
	}
	if got := updateState(t, w, "new_nodegroup_2"); got != "VersionUpdate Failed NodeCreationFailure "+both[1] {
		t.Errorf("new_nodegroup_2: got %q, want the failure of %s", got, both[1])
	}
	if got := members(t, w); !slices.Equal(got, old) || readiness(t, w, old[0]) != "True" {
		t.Errorf("after it: got %q, want the old %q alone", got, old)
	}
	g, n := w.Groups.Get(storyGroup), w.Nodegroups.Get("eks-workshop/new_nodegroup_2")
	if *g.MaxSize != 1 || *g.DesiredCapacity != 1 || *g.TemplateSpec().Version != "1" || *n.ReleaseVersion != "1.34.1-20261112" {
		t.Errorf("left behind: max %d, desired %d, template version %s, release %s", *g.MaxSize, *g.DesiredCapacity, *g.TemplateSpec().Version, *n.ReleaseVersion)
	}
}

func TestAddonHealthEvents(t *testing.T) {
	w, events := open(t, "addon-degraded")
	kinds := func() []string {
		var out []string
		for _, e := range *events {
			var env struct {
				Kind      string `json:"detail-type"`
				Source    string
				Resources []string
				Detail    struct {
					ClusterName, AddonName, Status string
					Health                         struct{ Issues []struct{ Code string } }
				}
			}
			if err := json.Unmarshal(e, &env); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(env.Kind, "EKS Addon") {
				if env.Source != "aws.eks" || len(env.Resources) != 1 || !strings.HasPrefix(env.Resources[0], "arn:aws:eks:us-west-2:111122223333:addon/eks-workshop/vpc-cni/") || env.Detail.AddonName != "vpc-cni" || env.Detail.ClusterName != "eks-workshop" {
					t.Errorf("got %s", e)
				}
				text := env.Kind + " " + env.Detail.Status
				for _, i := range env.Detail.Health.Issues {
					text += " " + i.Code
				}
				out = append(out, text)
			}
		}
		return out
	}
	w.Advance(w.Start().Add(11 * time.Minute))
	want := []string{"EKS Addon Health Degraded DEGRADED AccessDenied"}
	if diff := cmp.Diff(kinds(), want); diff != "" {
		t.Errorf("at 11 min (-got +want):\n%s", diff)
	}
	w.Advance(w.Start().Add(41 * time.Minute))
	want = append(want, "EKS Addon Health Restored ACTIVE", "EKS Addon Update Succeeded ACTIVE")
	if diff := cmp.Diff(kinds(), want); diff != "" {
		t.Errorf("at 41 min (-got +want):\n%s", diff)
	}
}
