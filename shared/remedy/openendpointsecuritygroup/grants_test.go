package openendpointsecuritygroup

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/spec"
)

func TestGrants(t *testing.T) {
	got := grants(action.OptIn{Clusters: []string{"prod"}, Any: []string{"prod"}, VPCs: []string{"vpc-0a"}})
	want := []spec.Grant{{
		Sid: "OpenEndpoints", Why: "open-endpoint-security-group admits nodes at endpoints, in the VPCs that the operator named.",
		Actions: []string{"ec2:AuthorizeSecurityGroupIngress"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:security-group/*"},
		Conditions: map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": {"arn:${Partition}:ec2:${Region}:${Account}:vpc/vpc-0a"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
}
