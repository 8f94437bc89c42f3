package karpenter_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/cloudtrail"
	"rollcall/local/simaws/worldfile"
)

// A change of a condition's status is an event of the kind Normal, called as the
// condition; what only the reason says is none. The time of a condition is that of its
// status.
func TestTransitionsAreEvents(t *testing.T) {
	s := start(t)
	s.forbid()
	s.pods("web")
	s.pass(time.Minute)
	var told []string
	for _, e := range s.list("events") {
		if e.InvolvedObject.Name == "batch" && e.InvolvedObject.Kind == "EC2NodeClass" || e.InvolvedObject.Kind == "NodeClaim" {
			told = append(told, e.Type+" "+e.Reason+" "+e.Message)
		}
	}
	want := "Normal SubnetsReady Status condition transitioned, Type: SubnetsReady, Status: Unknown -> False, Reason: SubnetsNotFound, Message: SubnetSelector did not match any Subnets"
	if !slices.Contains(told, want) || !slices.Contains(told, "Normal AMIsReady Status condition transitioned, Type: AMIsReady, Status: Unknown -> True, Reason: AMIsReady") {
		t.Errorf("events %q", told)
	}
	if slices.ContainsFunc(told, func(e string) bool { return strings.Contains(e, "Type: Launched") }) {
		t.Errorf("a reason that changed is told: %q", told)
	}
	list, err := s.Kubernetes(cluster, "nodeclaims")
	if err != nil {
		t.Fatal(err)
	}
	since := func(raw json.RawMessage, kind string) string {
		var o struct {
			Status struct {
				Conditions []struct{ Type, LastTransitionTime string }
			}
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		for _, c := range o.Status.Conditions {
			if c.Type == kind {
				return c.LastTransitionTime
			}
		}
		return ""
	}
	made := s.list("nodeclaims")[0].Metadata.CreationTimestamp
	if got := since(list.Items[0], "Launched"); got != made {
		t.Errorf("Launched=Unknown since %s, the NodeClaim is of %s", got, made)
	}
	s.AttachControlPolicies()
	s.pass(3 * time.Minute)
	if list, err = s.Kubernetes(cluster, "nodeclaims"); err != nil {
		t.Fatal(err)
	}
	if got := since(list.Items[0], "Launched"); got <= made {
		t.Errorf("Launched=True since %s", got)
	}
}

// A NodeClaim that was there at the start is the controller's: its node counts for the
// limits, and it goes with its instance.
func TestClaimsOfBeforeAreAdopted(t *testing.T) {
	s := start(t, func(f *worldfile.File) {
		poolSpec(f)["limits"] = map[string]any{"nodes": "1"}
		k := f.Kubernetes[cluster]
		k.NodeClaims = []map[string]any{{
			"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
			"metadata": map[string]any{"name": "web-old01", "creationTimestamp": "2026-11-20T10:00:00Z", "labels": map[string]any{"karpenter.sh/nodepool": "web", "node.kubernetes.io/instance-type": "m5.large"}},
			"spec":     map[string]any{"nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
			"status": map[string]any{"providerID": "aws:///us-west-2a/i-0d0000000000000a1", "nodeName": "x", "conditions": []any{
				map[string]any{"type": "Registered", "status": "True", "reason": "Registered", "lastTransitionTime": "2026-11-20T10:01:00Z"},
			}},
		}}
		f.Kubernetes[cluster] = k
	})
	s.pods("web")
	s.pass(time.Minute)
	if list := s.list("nodeclaims"); len(list) != 1 || list[0].Metadata.Name != "web-old01" || list[0].Metadata.DeletionTimestamp != "" {
		t.Errorf("%+v", list)
	}
	if _, err := s.Call("ec2:TerminateInstances", json.RawMessage(`{"InstanceIds":["i-0d0000000000000a1"]}`)); err != nil {
		t.Fatal(err)
	}
	s.pass(4 * time.Minute)
	if list := s.list("nodeclaims"); len(list) != 1 || list[0].says("Ready") != "True Ready" {
		t.Errorf("after its end: %+v", list)
	}
}

// What is asked of EC2 is what the NodePool wants: Spot first where it may be, a
// template for each architecture, answers in the record.
func TestWhatIsAsked(t *testing.T) {
	s := start(t, atOnce, func(f *worldfile.File) {
		f.EC2.Images = append(f.EC2.Images, ec2types.Image{ImageId: aws.String("ami-0a1e2d3c4b5a60arm"), Name: aws.String("amazon-eks-node-al2023-arm64-standard-1.34-v20261112"), Architecture: ec2types.ArchitectureValuesArm64})
		inner := poolSpec(f)["template"].(map[string]any)["spec"].(map[string]any)
		inner["requirements"] = []any{map[string]any{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": []any{"m5.large", "m6g.large"}}}
	})
	began := s.Now()
	s.pods("web")
	s.pass(2 * time.Minute)
	out, err := s.CloudTrail().LookupEvents(&cloudtrail.LookupEventsInput{LookupAttributes: []cloudtrail.LookupAttribute{{AttributeKey: "EventName", AttributeValue: "CreateFleet"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range out.Events {
		if e.EventTime.Before(began) {
			continue
		}
		for _, part := range []string{
			`"DefaultTargetCapacityType":"spot"`, `"SpotOptions":{"AllocationStrategy":"price-capacity-optimized"}`, `"ImageId":"ami-0a1e2d3c4b5a60arm","InstanceType":"m6g.large"`, `"InstanceType":"m5.large"`,
			`"TotalTargetCapacity":1`, `"CreateFleetResponse"`, `"fleetInstanceSet":{"item":{"instanceIds":{"item":"i-`, `"errorSet":""`,
		} {
			if !strings.Contains(e.CloudTrailEvent, part) {
				t.Errorf("no %s in %s", part, e.CloudTrailEvent)
			}
		}
		if n := strings.Count(e.CloudTrailEvent, `"LaunchTemplateName":"karpenter.k8s.aws/`); n != 2 {
			t.Errorf("%d templates", n)
		}
	}
	c := s.one("nodeclaims", "")
	if c.Metadata.Labels["karpenter.sh/capacity-type"] != "spot" || c.says("Ready") != "True Ready" {
		t.Errorf("%+v", c)
	}
	in := s.Instances.Get(c.Status.ProviderID[strings.LastIndex(c.Status.ProviderID, "/")+1:])
	if in.InstanceLifecycle != ec2types.InstanceLifecycleTypeSpot || (in.InstanceType == "m6g.large") != (*in.ImageId == "ami-0a1e2d3c4b5a60arm") {
		t.Errorf("%s of %s, %s", in.InstanceType, *in.ImageId, in.InstanceLifecycle)
	}
}
