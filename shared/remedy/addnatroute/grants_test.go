package addnatroute

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/spec"
)

func TestGrants(t *testing.T) {
	got := grants(action.OptIn{Clusters: []string{"prod"}, Any: []string{"prod"}, VPCs: []string{"vpc-0a", "vpc-0b"}})
	want := []spec.Grant{{
		Sid: "AddRoutes", Why: "add-nat-route adds a default route to a NAT gateway, in the VPCs that the operator named.",
		Actions: []string{"ec2:CreateRoute"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:route-table/*"},
		Conditions: map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": {
			"arn:${Partition}:ec2:${Region}:${Account}:vpc/vpc-0a", "arn:${Partition}:ec2:${Region}:${Account}:vpc/vpc-0b",
		}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
}
