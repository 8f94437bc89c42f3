package openendpointsecuritygroup

import (
	"testing"

	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
)

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), shutOut, atTheEndpoint(),
		snapshot.Clusters, snapshot.VPCs, snapshot.Instances, snapshot.Subnets, snapshot.Endpoints, snapshot.SecurityGroups, snapshot.Groups, snapshot.Nodegroups)
}

// The VPC is that of the endpoint, which the operator must have named.
func TestVPC(t *testing.T) {
	if got := Remedy().VPC(Plan{VPC: "vpc-0a"}); got != "vpc-0a" {
		t.Errorf("VPC %q, want vpc-0a", got)
	}
}
