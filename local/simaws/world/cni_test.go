package world

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/worldfile"
)

const batchSubnet = "subnet-0e50000000000024a"

// scaleGroups sets the desired size of some nodegroups in the same moment.
func scaleGroups(t *testing.T, w *World, n int, names ...string) {
	t.Helper()
	for _, name := range names {
		in, err := json.Marshal(map[string]any{"clusterName": "eks-workshop", "nodegroupName": name, "scalingConfig": map[string]any{"desiredSize": n}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Call("eks:UpdateNodegroupConfig", in); err != nil {
			t.Fatal(err)
		}
	}
}

// membersOf are the instances of a nodegroup's group.
func membersOf(t *testing.T, w *World, nodegroup string) []string {
	t.Helper()
	out, err := w.AutoScaling().DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, g := range out.AutoScalingGroups {
		if strings.HasPrefix(*g.AutoScalingGroupName, "eks-"+nodegroup+"-") {
			for _, i := range g.Instances {
				ids = append(ids, *i.InstanceId)
			}
		}
	}
	return ids
}

func spotGroups() []string { return []string{"spot-a", "spot-b", "spot-c", "spot-d"} }

// The story's arithmetic, address by address: 251, less one for each of twelve
// instances, less 59 for each node that finds them, until there are none.
func TestBurstTakesTheSubnet(t *testing.T) {
	w, _ := open(t, "spot")
	if got := freeOf(t, w, batchSubnet); got != 251 {
		t.Fatalf("free at the start: %d, want 251", got)
	}
	scaleGroups(t, w, 3, spotGroups()...)
	w.Advance(w.Start().Add(20 * time.Second))
	if got := freeOf(t, w, batchSubnet); got != 251-12 {
		t.Errorf("free after twelve launches: %d, want %d", got, 251-12)
	}
	w.Advance(w.Start().Add(3 * time.Minute))
	if got := freeOf(t, w, batchSubnet); got != 0 {
		t.Errorf("free after the nodes' start: %d, want 0", got)
	}
	held := map[int]int{}
	ready := 0
	for _, name := range spotGroups() {
		for _, id := range membersOf(t, w, name) {
			n := 0
			for _, eni := range w.InterfacesOf(id) {
				n += len(eni.PrivateIpAddresses)
			}
			held[n]++
			got := readiness(t, w, id)
			if (got == "True") != (n > 1) {
				t.Errorf("%s holds %d addresses, and its Ready is %q", id, n, got)
			}
			if got == "True" {
				ready++
			}
		}
	}
	// 239 are four times 59 and 3: the fifth node gets those.
	if diff := cmp.Diff(held, map[int]int{60: 4, 4: 1, 1: 7}); diff != "" || ready != 5 {
		t.Errorf("%d Ready; addresses held (-got +want):\n%s", ready, diff)
	}
	pods, err := w.Kubernetes("eks-workshop", "pods")
	if err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 7 || !strings.Contains(string(pods.Items[0]), "CrashLoopBackOff") {
		t.Errorf("%d pods, want the seven of aws-node that crash", len(pods.Items))
	}

	// What they held comes back when they go, to the last address.
	scaleGroups(t, w, 0, spotGroups()...)
	w.Advance(w.Now().Add(2 * time.Minute))
	if got := freeOf(t, w, batchSubnet); got != 251 {
		t.Errorf("free after all: %d, want 251", got)
	}
	if pods, err = w.Kubernetes("eks-workshop", "pods"); err != nil || len(pods.Items) != 0 {
		t.Errorf("%d pods of nodes that are gone (%v)", len(pods.Items), err)
	}
	scaleGroups(t, w, 3, "on-demand")
	w.Advance(w.Now().Add(3 * time.Minute))
	for _, id := range membersOf(t, w, "on-demand") {
		if got := readiness(t, w, id); got != "True" {
			t.Errorf("on demand, %s is %q", id, got)
		}
	}
	if got := freeOf(t, w, batchSubnet); got != 251-3*60 {
		t.Errorf("free with three on-demand nodes: %d, want %d", got, 251-3*60)
	}
}

// A node that waits for addresses comes up once others have gone.
func TestWaitingNodesTakeWhatComesFree(t *testing.T) {
	w, _ := open(t, "spot-burst")
	w.Advance(w.Start().Add(3 * time.Minute))
	scaleGroups(t, w, 0, "spot-a", "spot-b", "spot-c")
	w.Advance(w.Now().Add(6 * time.Minute))
	for _, id := range membersOf(t, w, "spot-d") {
		if got := readiness(t, w, id); got != "True" {
			t.Errorf("%s is %q after the others went", id, got)
		}
		if n := len(w.InterfacesOf(id)); n != 2 {
			t.Errorf("%s has %d interfaces, want 2", id, n)
		}
	}
	if got := freeOf(t, w, batchSubnet); got != 251-3*60 {
		t.Errorf("free: %d, want %d", got, 251-3*60)
	}
}

func TestSmallTypeFits(t *testing.T) {
	w, _ := open(t, "spot-small")
	w.Advance(w.Start().Add(3 * time.Minute))
	if got := freeOf(t, w, batchSubnet); got != 251-12*12 {
		t.Errorf("free: %d, want %d", got, 251-12*12)
	}
}

// The interface that the CNI adds says whose it is, and goes with its node.
func TestCNIInterface(t *testing.T) {
	w, _ := open(t, "spot")
	scaleGroups(t, w, 1, "small-a")
	w.Advance(w.Start().Add(3 * time.Minute))
	id := membersOf(t, w, "small-a")[0]
	out, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range out.NetworkInterfaces {
		if n.Attachment == nil || aws.ToString(n.Attachment.InstanceId) != id {
			continue
		}
		owner := ""
		for _, tag := range n.TagSet {
			if *tag.Key == "node.k8s.amazonaws.com/instance_id" {
				owner = *tag.Value
			}
		}
		got = append(got, fmt.Sprintf("%d %q of %q: %d addresses, goes with it %t", *n.Attachment.DeviceIndex, *n.Description, owner, len(n.PrivateIpAddresses), *n.Attachment.DeleteOnTermination))
	}
	want := []string{`0 "" of "": 6 addresses, goes with it true`, fmt.Sprintf(`1 "aws-K8S-%s" of %q: 6 addresses, goes with it true`, id, id)}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("interfaces (-got +want):\n%s", diff)
	}
}

// EKS gives up on new nodegroups whose nodes got no address, and names those
// nodes alone.
func TestNoAddressesFailTheCreation(t *testing.T) {
	f, err := worldfile.Load("../../worlds/spot.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.EKS.Nodegroups {
		if n := &f.EKS.Nodegroups[i]; strings.HasPrefix(*n.NodegroupName, "spot-") {
			n.Status, n.CreatedAt, n.ScalingConfig.DesiredSize = "CREATING", aws.Time(f.Time), aws.Int32(3)
		}
	}
	w, err := New(f, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(21 * time.Minute))
	failed := 0
	for _, name := range spotGroups() {
		n := w.Nodegroups.Get("eks-workshop/" + name)
		var named, waiting []string
		for _, id := range membersOf(t, w, name) {
			if readiness(t, w, id) != "True" {
				waiting = append(waiting, id)
			}
		}
		for _, i := range n.Health.Issues {
			if i.Code == "NodeCreationFailure" {
				named = i.ResourceIds
			}
		}
		if diff := cmp.Diff(named, waiting); diff != "" || (n.Status == "CREATE_FAILED") != (len(waiting) > 0) {
			t.Errorf("%s is %s; nodes named by EKS (-got +want):\n%s", name, n.Status, diff)
		}
		if n.Status == "CREATE_FAILED" {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no nodegroup failed")
	}
}

// Prefixes take sixteen each, and a subnet whose blocks are used up has none.
func TestCNIPrefixes(t *testing.T) {
	f, err := worldfile.Load("../../worlds/spot-burst.yaml")
	if err != nil {
		t.Fatal(err)
	}
	k := f.Kubernetes["eks-workshop"]
	env := kubestate.At(k.DaemonSets[0], "spec", "template", "spec", "containers").([]any)[0].(map[string]any)["env"].([]any)
	for _, item := range env {
		if e := item.(map[string]any); e["name"] == "ENABLE_PREFIX_DELEGATION" {
			e["value"] = "true"
		}
	}
	w, err := New(f, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(3 * time.Minute))
	ready, prefixes := 0, 0
	for _, name := range spotGroups() {
		for _, id := range membersOf(t, w, name) {
			n := len(w.InterfacesOf(id)[0].Ipv4Prefixes)
			prefixes += n
			if n > 0 {
				ready++
			}
			if got := readiness(t, w, id); (got == "True") != (n > 0) {
				t.Errorf("%s has %d prefixes and is %q", id, n, got)
			}
		}
	}
	// Of sixteen blocks the first and the last hold reserved addresses, and the
	// twelve primary addresses stand in the first.
	if prefixes != 14 || ready != 7 {
		t.Errorf("%d prefixes on %d nodes, want 14 on 7", prefixes, ready)
	}
}
