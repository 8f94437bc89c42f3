package world

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
)

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

// Somebody deletes an interface before it is attached: the node, which lives,
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
