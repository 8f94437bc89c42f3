package route

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// blocking sets the mode of the VPC and its subnets, and excepts some of them.
func blocking(mode snapshot.BlockMode, except map[string]snapshot.BlockMode) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.VPCs[0].BlockMode = mode
		for i := range s.Subnets {
			s.Subnets[i].BlockMode = mode
			if m, ok := except[s.Subnets[i].ID]; ok {
				s.Subnets[i].BlockMode = m
			}
		}
		s.PublicAccess = &snapshot.PublicAccess{Mode: mode}
	}
}

func TestBlockedPublicAccess(t *testing.T) {
	checktest.RunCases(t, BlockedPublicAccess(), blockedPublicAccessCases())
}

func blockedPublicAccessCases() []checktest.Case {
	const in, both = snapshot.BlockIngress, snapshot.BlockBidirectional
	nat := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(snapshottest.PrivateWithNAT(), append([]func(*snapshot.Snapshot){checktest.Late}, changes...)...)
	}
	public := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(snapshottest.PublicOnly(), append([]func(*snapshot.Snapshot){checktest.Late}, changes...)...)
	}
	pass := []string{"pass rtb-0private [subnet-0private]"}
	fail := []string{"fail vpc-0a [subnet-0private] [i-0node] Block Public Access drops the traffic of subnet-0private"}
	failPublic := []string{"fail vpc-0a [subnet-0public] [i-0node] Block Public Access drops the traffic of subnet-0public"}
	return []checktest.Case{
		{"off", nat(blocking(snapshot.BlockOff, nil)), pass},
		{"bidirectional", nat(blocking(both, nil)), fail},
		{"bidirectional, the NAT gateway's subnet may send", nat(blocking(both, map[string]snapshot.BlockMode{snapshottest.Public: in})), pass},
		{"bidirectional, only the nodes' subnet is excluded", nat(blocking(both, map[string]snapshot.BlockMode{snapshottest.Private: snapshot.BlockOff})), fail},
		{"ingress, behind a NAT gateway", nat(blocking(in, nil)), pass},
		{"ingress, nodes with public addresses", public(blocking(in, nil)), failPublic},
		{"bidirectional, nodes with public addresses that may send", public(blocking(both, map[string]snapshot.BlockMode{snapshottest.Public: in})), failPublic},
		{"one of two subnets with one table is excluded", public(func(s *snapshot.Snapshot) {
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0public2", VPC: snapshottest.VPC, Zone: snapshottest.Zone})
			s.Scope.Subnets = append(s.Scope.Subnets, "subnet-0public2")
			table := snapshottest.Table(s, snapshottest.PublicRTB)
			table.Subnets = append(table.Subnets, "subnet-0public2")
		}, blocking(in, map[string]snapshot.BlockMode{"subnet-0public2": snapshot.BlockOff})), append([]string{"pass rtb-0public [subnet-0public2]"}, failPublic...)},
		{"all that nodes need has endpoints", checktest.Change(snapshottest.EndpointsOnly(), checktest.Late, blocking(both, nil)), pass},
		{"its nodes are Ready all the same", checktest.Change(snapshottest.PrivateWithNAT(), blocking(both, nil)), pass},
		{"the mode is being changed", nat(blocking(both, nil), func(s *snapshot.Snapshot) { s.PublicAccess.Changing = true }), []string{"fail (likely)" + strings.TrimPrefix(fail[0], "fail")}},
		{"IPv6 only", nat(sixCluster, blocking(both, map[string]snapshot.BlockMode{snapshottest.Public: in})), fail},
		{"IPv6 only, the API privately", nat(sixCluster, func(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }, blocking(both, map[string]snapshot.BlockMode{snapshottest.Public: in})),
			[]string{"fail (likely)" + strings.TrimPrefix(fail[0], "fail")}},
		{"no route at all is route/no-egress", checktest.Change(checktest.Isolated(), blocking(both, nil)), pass},
		{"unread", nat(blocking(both, nil), checktest.Unread(snapshot.RouteTables)), []string{"unknown prod [] route tables: denied"}},
		{"who blocks is not read", nat(blocking(both, nil), checktest.Unread(snapshot.PublicAccessOf)), fail},
	}
}

// TestBlockedPublicAccessFix: only what lets connections out and none in has a command,
// and no check offers a route or a gateway where neither helps.
func TestBlockedPublicAccessFix(t *testing.T) {
	const both = snapshot.BlockBidirectional
	late := checktest.Late
	policy := func(s *snapshot.Snapshot) { s.PublicAccess.ByPolicy, s.PublicAccess.NoExclusions = true, true }
	for _, tt := range []struct {
		name, command, text string
		world               *snapshot.Snapshot
	}{
		{"a NAT gateway's subnet", "aws ec2 create-vpc-block-public-access-exclusion --region us-west-2 --subnet-id subnet-0public --internet-gateway-exclusion-mode allow-egress",
			"Lets subnet-0public out and nothing in.", checktest.Change(snapshottest.PrivateWithNAT(), late, blocking(both, nil))},
		{"nodes with public addresses", "", "Move the nodes of subnet-0public behind a NAT gateway, or give", checktest.Change(snapshottest.PublicOnly(), late, blocking(snapshot.BlockIngress, nil))},
		{"no exclusions", "", "The organization's policy allows no exclusions: give vpc-0a endpoints for what nodes need, and the cluster private access.",
			checktest.Change(snapshottest.PrivateWithNAT(), late, blocking(both, nil), policy)},
	} {
		got := checktest.Failed(t, BlockedPublicAccess(), tt.world)
		if got.Fix.Command != tt.command || !strings.HasPrefix(got.Fix.Text, tt.text) || got.Fix.Remedy != "" {
			t.Errorf("%s: %+v", tt.name, got.Fix)
		}
	}
	isolated := checktest.Failed(t, NoEgress(), checktest.Change(checktest.Isolated(), blocking(both, nil)))
	if isolated.Fix.Command != "" || isolated.Fix.Remedy != "" || !strings.HasPrefix(isolated.Fix.Text, "A route to the internet does not help: VPC Block Public Access (block-bidirectional)") {
		t.Errorf("no route, and it would not help: %+v", isolated.Fix)
	}
}
