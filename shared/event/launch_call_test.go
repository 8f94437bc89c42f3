package event

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// callOf is an event of a call to EC2 with these members beside what each has.
func callOf(name, members string) []byte {
	return []byte(`{"id":"1","source":"aws.ec2","detail-type":"AWS API Call via CloudTrail","time":"2026-11-20T15:00:00Z","detail":{"eventSource":"ec2.amazonaws.com",` +
		`"eventName":"` + name + `","requestID":"r1",` + members + `}}`)
}

const (
	ours    = `{"CreateFleetRequest":{"TagSpecification":{"ResourceType":"instance","Tag":{"Key":"eks:eks-cluster-name","Value":"prod"}}}}`
	oneFail = `"responseElements":{"CreateFleetResponse":{"fleetInstanceSet":"","errorSet":{"item":{"errorCode":"UnfulfillableCapacity","errorMessage":"no"}}}}`
)

func TestLaunchCallsThatAreNoneOfOurs(t *testing.T) {
	for _, test := range []struct{ name, call, members, why string }{
		{"Auto Scaling's, by who invoked it", "CreateFleet", `"userIdentity":{"invokedBy":"autoscaling.amazonaws.com"},"requestParameters":` + ours + `,` + oneFail, OfAService},
		{"Auto Scaling's, by where it came from", "CreateFleet", `"sourceIPAddress":"autoscaling.amazonaws.com","requestParameters":` + ours + `,` + oneFail, OfAService},
		{"a fleet's own", "RunInstances", `"sourceIPAddress":"ec2fleet.amazonaws.com","errorCode":"Server.InsufficientInstanceCapacity"`, OfAService},
		{"a dry run that may", "CreateFleet", `"errorCode":"Client.DryRunOperation","requestParameters":` + ours, DryRun},
		{"a dry run that may not", "CreateFleet", `"errorCode":"Client.UnauthorizedOperation","requestParameters":{"CreateFleetRequest":{"DryRun":"true"}}`, DryRun},
		{"a dry run of RunInstances", "RunInstances", `"errorCode":"Client.UnauthorizedOperation","requestParameters":{"dryRun":true}`, DryRun},
		{"one instance, ids as a text", "CreateFleet", `"requestParameters":` + ours + `,"responseElements":{"CreateFleetResponse":{"errorSet":"","fleetInstanceSet":{"item":{"instanceIds":{"item":"i-1"}}}}}`, BroughtInstances},
		{"many, ids as a list", "CreateFleet", `"requestParameters":` + ours + `,"responseElements":{"CreateFleetResponse":{"fleetInstanceSet":{"item":[{"instanceIds":""},{"instanceIds":{"item":["i-1","i-2"]}}]}}}`, BroughtInstances},
		{"instances that run", "RunInstances", `"requestParameters":{},"responseElements":{"instancesSet":{"items":[{"instanceId":"i-1"}]}}`, BroughtInstances},
		{"no answer", "CreateFleet", `"requestParameters":` + ours + `,"responseElements":null`, AnswerLeftOut},
		{"no tags and no template", "RunInstances", `"errorCode":"Client.VcpuLimitExceeded","requestParameters":{"tagSpecificationSet":{"items":[{"tags":[{"key":"Name","value":"web"}]}]}}`, NoTrace},
		{"no parameters", "CreateFleet", `"errorCode":"Client.UnauthorizedOperation","requestParameters":null`, NoTrace},
		{"another call", "TerminateInstances", `"errorCode":"Client.UnauthorizedOperation"`, otherCall},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(callOf(test.call, test.members))
			if err != nil || got.Kind != Foreign || got.Why != test.why || got.Refusal != nil || got.Call != test.call {
				t.Errorf("got %s of %s (%s), %v, want foreign: %s", got.Kind, got.Call, got.Why, err, test.why)
			}
		})
	}
	if got, err := Parse([]byte(strings.Replace(string(callOf("CreateFleet", oneFail)), "ec2.amazonaws.com", "ecs.amazonaws.com", 1))); err != nil || got.Why != otherCall {
		t.Errorf("a call of another service: %+v, %v", got, err)
	}
	if _, err := Parse([]byte(strings.Replace(string(callOf("CreateFleet", `"requestParameters":`+ours+`,`+oneFail)), `"requestID":"r1",`, "", 1))); err == nil || !strings.Contains(err.Error(), "requestID is missing") {
		t.Errorf("without a request's id: %v", err)
	}
}

// The samples hold the forms that CloudTrail makes of lists, and what is told of
// each.
func TestRefusals(t *testing.T) {
	karpenter := map[string]string{
		"karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default", "eks:eks-cluster-name": "eks-workshop", "kubernetes.io/cluster/eks-workshop": "owned",
	}
	const a, b = "subnet-0ab1c2d3e4f506172", "subnet-0b20000000000000a"
	for name, want := range map[string]Refusal{
		"ec2-call-create-fleet-refused.json": {
			Request: "80085587-62ab-41e8-9f79-81ce5b2b7d01", Tags: karpenter, Template: "karpenter.k8s.aws/12345678901234567890", Version: "$Latest",
			Caller: "arn:aws:iam::111122223333:role/karpenter", Asked: 29, Spot: true, Errors: []LaunchError{{Code: "UnauthorizedOperation", Offers: 1}},
		},
		"ec2-call-create-fleet-no-capacity.json": {
			Request: "80085587-62ab-41e8-9f79-81ce5b2b7d02", Tags: karpenter, Template: "karpenter.k8s.aws/12345678901234567890", Version: "$Latest",
			Caller: "arn:aws:iam::111122223333:role/karpenter", Asked: 29, Spot: true, Errors: []LaunchError{
				{Code: "InsufficientInstanceCapacity", Offers: 2, Subnets: []string{a, b}, Zones: []string{"us-west-2a", "us-west-2b"}, Types: []string{"g5.xlarge", "g5.2xlarge"}},
				{Code: "UnfulfillableCapacity", Offers: 1, Subnets: []string{b}, Zones: []string{"us-west-2b"}, Types: []string{"g5.xlarge"}},
			},
		},
		"ec2-call-create-fleet-auto-mode.json": {
			Request: "80085587-62ab-41e8-9f79-81ce5b2b7d03", Template: "eks.amazonaws.com/0c1d2e3f", Version: "$Latest", Caller: "arn:aws:iam::111122223333:role/eks-workshop-cluster", Asked: 1,
			Tags: map[string]string{
				"eks:kubernetes-node-pool-name": "general-purpose", "eks:kubernetes-node-class-name": "default", "eks:eks-cluster-name": "eks-workshop", "kubernetes.io/cluster/eks-workshop": "owned",
			},
			Errors: []LaunchError{{Code: "InsufficientFreeAddressesInSubnet", Offers: 1, Subnets: []string{a}, Zones: []string{"us-west-2a"}, Types: []string{"c6g.large"}}},
		},
		"ec2-call-run-instances-refused.json": {
			Request: "80085587-62ab-41e8-9f79-81ce5b2b7d08", Template: "lt-0a1b2c3d4e5f60718", Version: "1", Caller: "arn:aws:iam::111122223333:role/ci-deploy", Asked: 1,
			Tags: map[string]string{"kubernetes.io/cluster/eks-workshop": "owned"}, Errors: []LaunchError{{Code: "UnauthorizedOperation", Offers: 1}},
		},
	} {
		got, err := Parse(sample(t, name))
		if err != nil || got.Kind != LaunchRefused || got.Refusal == nil || !got.Time.Equal(at("2026-11-20T14:58:40Z")) {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		for i := range got.Refusal.Errors {
			if got.Refusal.Errors[i].Message == "" {
				t.Errorf("%s: no message", name)
			}
			got.Refusal.Errors[i].Message = ""
		}
		if diff := cmp.Diff(want, *got.Refusal); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The instances' own tags count before those of their volumes; a number is a
// text; what tells of nobody's is left out.
func TestTagsOfARefusal(t *testing.T) {
	got, err := Parse(callOf("CreateFleet", `"errorCode":"Server.InternalError","errorMessage":"x","requestParameters":{"CreateFleetRequest":{"TagSpecification":[`+
		`{"ResourceType":"volume","Tag":[{"Key":"karpenter.sh/nodepool","Value":"of-the-volume"},{"Key":"eks:eks-cluster-name","Value":"prod"}]},`+
		`{"ResourceType":"instance","Tag":[{"Key":"karpenter.sh/nodepool","Value":7},{"Key":"team","Value":"x"},{"Key":["no"],"Value":1}]}]}}`))
	if err != nil || got.Refusal == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if diff := cmp.Diff(map[string]string{"karpenter.sh/nodepool": "7", "eks:eks-cluster-name": "prod"}, got.Refusal.Tags); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if got.Refusal.Errors[0].Code != "InternalError" {
		t.Errorf("code %q", got.Refusal.Errors[0].Code)
	}
}

// bigFleet is the largest answer that there is, of 60 types in three zones, each
// with a text of its own; one code of them stands last.
func bigFleet(offers int) []byte {
	var items []string
	for i := range offers {
		code := "InsufficientInstanceCapacity"
		if i == offers-1 {
			code = "VcpuLimitExceeded"
		}
		items = append(items, fmt.Sprintf(`{"errorCode":%q,"errorMessage":"no %d","launchTemplateAndOverrides":{"overrides":{"instanceType":"m5.%dxlarge","subnetId":"subnet-%d"}}}`, code, i, i, i))
	}
	return callOf("CreateFleet", `"requestParameters":`+ours+`,"responseElements":{"CreateFleetResponse":{"fleetInstanceSet":"","errorSet":{"item":[`+strings.Join(items, ",")+`]}}}`)
}

// However long an answer is, what is kept of it is bounded, and nothing of it is
// uncounted.
func TestRefusalIsBounded(t *testing.T) {
	got, err := Parse(bigFleet(180))
	if err != nil {
		t.Fatal(err)
	}
	offers, codes := 0, map[string]int{}
	for _, e := range got.Refusal.Errors {
		offers += e.Offers
		codes[e.Code]++
		if len(e.Subnets) > maxPlaces || len(e.Types) > maxPlaces {
			t.Errorf("%d subnets and %d types are kept", len(e.Subnets), len(e.Types))
		}
	}
	if diff := cmp.Diff(map[string]int{"InsufficientInstanceCapacity": maxTexts, "VcpuLimitExceeded": 1}, codes); diff != "" || offers != 180 {
		t.Errorf("%d offers of 180; texts of each code (-want +got):\n%s", offers, diff)
	}
}

func FuzzLaunchCall(f *testing.F) {
	for _, name := range []string{"refused", "no-capacity", "auto-mode", "partial", "dry-run", "autoscaling", "answer-left-out"} {
		f.Add(sample(f, "ec2-call-create-fleet-"+name+".json"))
	}
	f.Add(sample(f, "ec2-call-run-instances-refused.json"))
	f.Add(sample(f, "ec2-call-run-instances-by-fleet.json"))
	f.Add(bigFleet(40))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e envelope
		if json.Unmarshal(raw, &e) != nil {
			return
		}
		got := Trigger{Type: apiCallType}
		if launchCall(&got, e.Detail) != nil {
			return
		}
		switch {
		case got.Kind == Foreign && got.Why != "" && got.Refusal == nil:
		case got.Kind != LaunchRefused || got.Refusal == nil || got.Refusal.Request == "" || len(got.Refusal.Errors) == 0 || len(got.Refusal.Tags) == 0 && got.Refusal.Template == "":
			t.Fatalf("%+v", got)
		case len(got.Refusal.Errors) > maxErrors || len(got.Refusal.Tags) > maxTags || got.Refusal.Asked < 0:
			t.Fatalf("not bounded: %+v", got.Refusal)
		}
	})
}

// What the patterns let through and is none of ours costs microseconds: a fleet
// that brought instances is the most of it.
func BenchmarkDroppedCall(b *testing.B) {
	raw := sample(b, "ec2-call-create-fleet-partial.json")
	b.ReportAllocs()
	for b.Loop() {
		if t, err := Parse(raw); err != nil || t.Why != BroughtInstances {
			b.Fatal(t.Why, err)
		}
	}
}
