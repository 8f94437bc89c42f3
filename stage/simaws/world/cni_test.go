package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/worldfile"
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

// The interface that the CNI adds names its cluster, and goes with its node.
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

const ipsSubnet = "subnet-0e5000000000025aa"

// left are the available interfaces of the CNI in a subnet, by their ids.
func left(t *testing.T, w *World, subnet string) []ec2types.NetworkInterface {
	t.Helper()
	out, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{Filters: []ec2types.Filter{
		{Name: aws.String("subnet-id"), Values: []string{subnet}}, {Name: aws.String("status"), Values: []string{"available"}},
		{Name: aws.String("description"), Values: []string{"aws-K8S-*"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return out.NetworkInterfaces
}

// podsBy counts a world's worker pods by phase.
func podsBy(t *testing.T, w *World) map[string]int {
	t.Helper()
	o, err := w.Kubernetes("eks-workshop", "pods")
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, item := range o.Items {
		var p struct{ Status struct{ Phase string } }
		if err := json.Unmarshal(item, &p); err != nil {
			t.Fatal(err)
		}
		n[p.Status.Phase]++
	}
	return n
}

// rounds scales batch up and down three times, and up once more.
func rounds(t *testing.T, w *World) {
	t.Helper()
	for range 3 {
		scaleGroups(t, w, 3, "batch")
		w.Advance(w.Now().Add(10 * time.Minute))
		scaleGroups(t, w, 0, "batch")
		w.Advance(w.Now().Add(10 * time.Minute))
	}
	scaleGroups(t, w, 6, "batch")
	w.Advance(w.Now().Add(5 * time.Minute))
}

// The story's arithmetic: 123 addresses, 20 to a node, 10 that each leaves.
func TestLeaksFillTheSubnet(t *testing.T) {
	w, _ := open(t, "ips")
	if got := freeOf(t, w, ipsSubnet); got != 123 {
		t.Fatalf("free at the start: %d, want 123", got)
	}
	var free []int32
	for range 3 {
		scaleGroups(t, w, 3, "batch")
		w.Advance(w.Now().Add(10 * time.Minute))
		free = append(free, freeOf(t, w, ipsSubnet))
		if diff := cmp.Diff(podsBy(t, w), map[string]int{"Running": 9}); diff != "" {
			t.Errorf("pods (-got +want):\n%s", diff)
		}
		scaleGroups(t, w, 0, "batch")
		w.Advance(w.Now().Add(10 * time.Minute))
		free = append(free, freeOf(t, w, ipsSubnet))
	}
	if diff := cmp.Diff(free, []int32{63, 93, 33, 63, 3, 33}); diff != "" {
		t.Errorf("free up and down (-got +want):\n%s", diff)
	}
	enis := left(t, w, ipsSubnet)
	if len(enis) != 9 || len(podsBy(t, w)) != 0 {
		t.Fatalf("%d interfaces left behind, want 9; pods %v, want none", len(enis), podsBy(t, w))
	}
	for _, eni := range enis {
		owner := strings.TrimPrefix(*eni.Description, "aws-K8S-")
		want := map[string]string{
			"cluster.k8s.amazonaws.com/name": "eks-workshop", "eks:eni:owner": "amazon-vpc-cni",
			"node.k8s.amazonaws.com/createdAt": state.TagValue(eni.TagSet, "node.k8s.amazonaws.com/createdAt"), "node.k8s.amazonaws.com/instance_id": owner,
		}
		got := map[string]string{}
		for _, tag := range eni.TagSet {
			got[*tag.Key] = *tag.Value
		}
		if diff := cmp.Diff(got, want); diff != "" || len(eni.PrivateIpAddresses) != 10 || eni.Attachment != nil {
			t.Errorf("%s has %d addresses, attachment %v; tags (-got +want):\n%s", *eni.NetworkInterfaceId, len(eni.PrivateIpAddresses), eni.Attachment, diff)
		}
		if in := w.Instances.Get(owner); in != nil && in.State.Name != ec2types.InstanceStateNameTerminated {
			t.Errorf("its owner %s is %s", owner, in.State.Name)
		}
	}

	// Now the shortage: nodes are Ready, and pods wait.
	scaleGroups(t, w, 6, "batch")
	w.Advance(w.Now().Add(5 * time.Minute))
	ids := membersOf(t, w, "batch")
	for _, id := range ids {
		if got := readiness(t, w, id); got != "True" {
			t.Errorf("%s is %q, want Ready", id, got)
		}
	}
	pods := podsBy(t, w)
	if got := freeOf(t, w, ipsSubnet); got != 0 || len(ids) != 6 || pods["Pending"] != 12 || pods["Running"] != 6 {
		t.Fatalf("%d free, %d nodes, pods %v; want 0, 6, 12 that wait", got, len(ids), pods)
	}
	events, err := w.Kubernetes("eks-workshop", "events")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(events.Items, func(e json.RawMessage) bool {
		return strings.Contains(string(e), "failed to assign an IP address to container") && strings.Contains(string(e), "FailedCreatePodSandBox")
	}) {
		t.Error("no pod says that it got no address")
	}

	// Given back, they reach the pods.
	for _, eni := range enis {
		if _, err := w.EC2().DeleteNetworkInterface(&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: eni.NetworkInterfaceId}); err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(w.Now().Add(3 * time.Minute))
	if diff := cmp.Diff(podsBy(t, w), map[string]int{"Running": 18}); diff != "" || freeOf(t, w, ipsSubnet) != 123-6*20 {
		t.Errorf("%d free, pods (-got +want):\n%s", freeOf(t, w, ipsSubnet), diff)
	}
}

// An interface is available for some seconds while a node starts. A node that
// ends in them leaves it behind.
func TestInterfacesBeingAttached(t *testing.T) {
	for name, ends := range map[string]bool{"the node lives": false, "the node ends": true} {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "ips")
			w.File.CNI.Leaves = nil
			scaleGroups(t, w, 1, "web")
			var seen []ec2types.NetworkInterface
			for range 300 {
				w.Advance(w.Now().Add(time.Second))
				seen = slices.DeleteFunc(left(t, w, "subnet-0b20000000000000a"), func(eni ec2types.NetworkInterface) bool {
					return *eni.NetworkInterfaceId == "eni-0f200000000000002"
				})
				if len(seen) > 0 {
					break
				}
			}
			if len(seen) != 1 || len(seen[0].PrivateIpAddresses) != 10 {
				t.Fatalf("%d interfaces are being attached, want 1 with ten addresses", len(seen))
			}
			if ends {
				scaleGroups(t, w, 0, "web")
			}
			w.Advance(w.Now().Add(10 * time.Minute))
			eni := w.Interfaces.Get(*seen[0].NetworkInterfaceId)
			if eni == nil || (eni.Attachment == nil) != ends {
				t.Errorf("ten minutes later it is %+v", eni)
			}
		})
	}
}

// An interface is deleted before it is attached: the node, which lives,
// has to make another.
func TestDeletedWhileBeingAttached(t *testing.T) {
	w, _ := open(t, "ips")
	scaleGroups(t, w, 1, "batch")
	for len(left(t, w, ipsSubnet)) == 0 {
		w.Advance(w.Now().Add(time.Second))
	}
	gone := *left(t, w, ipsSubnet)[0].NetworkInterfaceId
	if _, err := w.EC2().DeleteNetworkInterface(&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: &gone}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(time.Minute))
	id := membersOf(t, w, "batch")[0]
	if n := len(w.InterfacesOf(id)); n != 1 {
		t.Errorf("%d interfaces right after, want 1", n)
	}
	w.Advance(w.Now().Add(3 * time.Minute))
	if n := len(w.InterfacesOf(id)); n != 2 || w.Interfaces.Get(gone) != nil {
		t.Errorf("%d interfaces after the cooldown, want 2", n)
	}
}

func TestUntaggedWithoutClusterName(t *testing.T) {
	w, _ := open(t, "ips")
	for _, d := range w.State.Kubernetes["eks-workshop"].Objects["daemonsets"] {
		c := kubestate.At(d, "spec", "template", "spec", "containers").([]any)[0].(map[string]any)
		c["env"] = slices.DeleteFunc(c["env"].([]any), func(e any) bool { return kubestate.At(e, "name") == "CLUSTER_NAME" })
	}
	scaleGroups(t, w, 1, "batch")
	w.Advance(w.Now().Add(5 * time.Minute))
	scaleGroups(t, w, 0, "batch")
	w.Advance(w.Now().Add(10 * time.Minute))
	enis := left(t, w, ipsSubnet)
	if len(enis) != 1 {
		t.Fatalf("%d interfaces left behind, want 1", len(enis))
	}
	var keys []string
	for _, tag := range enis[0].TagSet {
		keys = append(keys, *tag.Key)
	}
	if diff := cmp.Diff(keys, []string{"node.k8s.amazonaws.com/createdAt", "node.k8s.amazonaws.com/instance_id"}); diff != "" {
		t.Errorf("tags (-got +want):\n%s", diff)
	}
}

func TestShareOfLeaves(t *testing.T) {
	w, _ := open(t, "ips")
	w.File.CNI.Leaves[0].Share = 0
	rounds(t, w)
	if n := len(left(t, w, ipsSubnet)); n != 0 {
		t.Errorf("%d interfaces left behind with a share of 0", n)
	}
}

// A launch template that keeps the first interface leaves it behind, without
// the CNI's description.
func TestTemplateKeepsThePrimary(t *testing.T) {
	w, _ := open(t, "ips")
	for _, v := range w.TemplateVersions.All() {
		v.LaunchTemplateData.NetworkInterfaces = []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), DeleteOnTermination: aws.Bool(false)}}
	}
	scaleGroups(t, w, 1, "web")
	w.Advance(w.Now().Add(5 * time.Minute))
	id := membersOf(t, w, "web")[0]
	first := *w.InterfacesOf(id)[0].NetworkInterfaceId
	scaleGroups(t, w, 0, "web")
	w.Advance(w.Now().Add(10 * time.Minute))
	eni := w.Interfaces.Get(first)
	if eni == nil || eni.Status != ec2types.NetworkInterfaceStatusAvailable || aws.ToString(eni.Description) != "" {
		t.Fatalf("the first interface is %+v, want it available", eni)
	}
	if state.TagValue(eni.TagSet, "node.k8s.amazonaws.com/instance_id") != id || state.TagValue(eni.TagSet, "node.k8s.amazonaws.com/createdAt") != "" {
		t.Errorf("its tags are %+v, want the instance and no date", eni.TagSet)
	}
}

func TestKarpenterIsThereWithItsDefinitions(t *testing.T) {
	f, err := worldfile.Load("../../worlds/ips.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plain := f.Kubernetes["eks-workshop"]
	for plural, put := range map[string]func(k *worldfile.KubernetesFile, list []map[string]any){
		"nodepools":      func(k *worldfile.KubernetesFile, list []map[string]any) { k.NodePools = list },
		"nodeclaims":     func(k *worldfile.KubernetesFile, list []map[string]any) { k.NodeClaims = list },
		"ec2nodeclasses": func(k *worldfile.KubernetesFile, list []map[string]any) { k.EC2NodeClasses = list },
		"nodeclasses":    func(k *worldfile.KubernetesFile, list []map[string]any) { k.NodeClasses = list },
	} {
		for name, list := range map[string][]map[string]any{"not installed": nil, "none": {}, "one": {{"metadata": map[string]any{"name": "default"}}}} {
			k := plain
			put(&k, list)
			f.Kubernetes["eks-workshop"] = k
			w, err := New(f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			o, err := w.Kubernetes("eks-workshop", plural)
			if (list == nil) != errors.Is(err, kubestate.ErrNoKind) || list != nil && err != nil || len(o.Items) != len(list) {
				t.Errorf("%s, %s: %d objects, %v", plural, name, len(o.Items), err)
			}
		}
	}
}

func TestENIConfigsAreThereWithTheirDefinition(t *testing.T) {
	f, err := worldfile.Load("../../worlds/ips.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, installed := range []bool{false, true} {
		if installed {
			k := f.Kubernetes["eks-workshop"]
			k.ENIConfigs = []map[string]any{{"metadata": map[string]any{"name": "us-west-2a"}, "spec": map[string]any{"subnet": "subnet-0e5000000000025aa"}}}
			f.Kubernetes["eks-workshop"] = k
		}
		w, err := New(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		o, err := w.Kubernetes("eks-workshop", "eniconfigs")
		if installed != (err == nil) || !installed && !errors.Is(err, kubestate.ErrNoKind) || installed != (len(o.Items) == 1) {
			t.Errorf("installed %t: %d objects, %v", installed, len(o.Items), err)
		}
	}
}
