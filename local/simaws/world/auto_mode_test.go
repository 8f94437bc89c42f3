package world

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
)

// autoLaunch is how EKS starts a node for Auto Mode.
func autoLaunch(t *testing.T, w *World, subnet string) string {
	t.Helper()
	out, err := w.Call("ec2:RunInstances", json.RawMessage(fmt.Sprintf(`{"MinCount":1,"MaxCount":1,"SubnetId":%q,"InstanceType":"m5.large","ImageId":"ami-0a070000000000a70",
		"SecurityGroupIds":["sg-0e50000000000000f"],"IamInstanceProfile":{"Name":"eks-us-west-2-eks-workshop-4067990795380418201"},"Operator":{"Principal":"eks.amazonaws.com"},
		"TagSpecifications":[{"ResourceType":"instance","Tags":[{"Key":"eks:eks-cluster-name","Value":"eks-workshop"},{"Key":"eks:kubernetes-node-pool-name","Value":"general-purpose"},
		{"Key":"kubernetes.io/cluster/eks-workshop","Value":"owned"}]}]}`, subnet)))
	if err != nil {
		t.Fatal(err)
	}
	return *out.(*ec2.RunInstancesOutput).Instances[0].InstanceId
}

// TestAutoModeNode: what an Auto Mode node is made of, at the start and when it
// is launched, and that it all goes with it.
func TestAutoModeNode(t *testing.T) {
	w, _ := open(t, "corpus/base-auto-mode")
	launched := autoLaunch(t, w, storySubnet)
	w.Advance(w.Now().Add(5 * time.Minute))
	all := aws.Bool(true)
	for _, id := range []string{autoInstance, launched} {
		out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		in := must(t, out, err).Reservations[0].Instances[0]
		if shownAs(in.Operator) != "eks.amazonaws.com, hidden" || state.TagValue(in.Tags, "aws:autoscaling:groupName") != "" {
			t.Errorf("%s: operator %q, tags %v", id, shownAs(in.Operator), in.Tags)
		}
		if len(in.NetworkInterfaces) != 1 || shownAs(in.NetworkInterfaces[0].Operator) == "" || len(in.NetworkInterfaces[0].Ipv4Prefixes) != 1 {
			t.Errorf("%s: interfaces %+v, want a managed one with a /28", id, in.NetworkInterfaces)
		}
		eni := w.InterfacesOf(id)[0]
		if state.TagValue(eni.TagSet, "eks:eks-cluster-name") != "eks-workshop" || state.TagValue(eni.TagSet, "eks:kubernetes-cni-node-name") != id {
			t.Errorf("%s: its interface bears %v", id, eni.TagSet)
		}
		volumes := map[string]bool{}
		for _, m := range in.BlockDeviceMappings {
			volumes[*m.Ebs.VolumeId] = true
		}
		listed, err := w.EC2().DescribeVolumes(&ec2.DescribeVolumesInput{IncludeManagedResources: all})
		for _, v := range must(t, listed, err).Volumes {
			if volumes[*v.VolumeId] && (shownAs(v.Operator) != "eks.amazonaws.com, hidden" || *v.Attachments[0].InstanceId != id) {
				t.Errorf("%s: volume %+v", id, v)
			}
		}
		if len(volumes) != 2 {
			t.Errorf("%s has the volumes %v, want two", id, volumes)
		}
		_, n := w.NodeOf(id)
		if n == nil {
			t.Fatalf("%s is no node: %v", id, w.Paths(id))
		}
		got := []any{kubestate.At(*n, "metadata", "name"), kubestate.At(*n, "metadata", "labels", "eks.amazonaws.com/compute-type"), kubestate.At(*n, "metadata", "labels", "karpenter.sh/nodepool"), kubestate.At(*n, "status", "capacity", "pods"), readiness(t, w, id)}
		if diff := cmp.Diff([]any{id, "auto", "general-purpose", "110", "True"}, got); diff != "" {
			t.Errorf("%s: name, labels, pods, Ready (-want +got):\n%s", id, diff)
		}
	}
	_, err := w.EC2().TerminateInstances(&ec2.TerminateInstancesInput{InstanceIds: []string{launched}})
	if code(t, err) != "UnauthorizedOperation" {
		t.Errorf("a customer ends a managed instance: %v", err)
	}
	before := len(w.Volumes.All())
	release := w.Hold()
	lifecycle.Terminate(w.State, launched, lifecycle.UserShutdown())
	release()
	w.Advance(w.Now().Add(time.Minute))
	if got := len(w.Volumes.All()); before-got != 2 || len(w.InterfacesOf(launched)) != 0 {
		t.Errorf("%d of its volumes went with it, %d interfaces stayed", before-got, len(w.InterfacesOf(launched)))
	}
}

// TestAutoModeNodeWithoutARoute: it cannot join where another could not.
func TestAutoModeNodeWithoutARoute(t *testing.T) {
	w, _ := open(t, "corpus/route-no-egress-auto-mode")
	launched := autoLaunch(t, w, storySubnet)
	w.Advance(w.Now().Add(10 * time.Minute))
	if _, n := w.NodeOf(launched); n != nil {
		t.Errorf("it joined: %v", w.Paths(launched))
	}
}
