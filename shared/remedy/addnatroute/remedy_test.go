package addnatroute

import (
	"testing"

	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
)

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), noWayOut, atTheTable(),
		snapshot.Clusters, snapshot.VPCs, snapshot.Subnets, snapshot.RouteTables, snapshot.NATGateways,
		snapshot.InternetGateways, snapshot.Endpoints, snapshot.Groups)
}

// The VPC is that of the table, which the operator must have named.
func TestVPC(t *testing.T) {
	if got := Remedy().VPC(Plan{VPC: "vpc-0a"}); got != "vpc-0a" {
		t.Errorf("VPC %q, want vpc-0a", got)
	}
}
