package route

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// failedNAT is a NAT gateway that could not be created.
func failedNAT() *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.NATGateways[0].State = "failed"
	s.NATGateways[0].Failure = "Elastic IP address eipalloc-0a could not be associated with this NAT gateway"
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
}

// privateNAT is a private NAT gateway in a subnet whose table has the rows.
func privateNAT(rows ...snapshot.Route) *snapshot.Snapshot {
	s := failedNAT()
	s.NATGateways[0].State, s.NATGateways[0].Failure, s.NATGateways[0].Public = "available", "", false
	snapshottest.Table(s, snapshottest.PublicRTB).Routes = rows
	return s
}

func TestNatUnusable(t *testing.T) { checktest.RunCases(t, NATUnusable(), natUnusableCases()) }

func natUnusableCases() []checktest.Case {
	tgw := snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a")
	igw := snapshottest.To("0.0.0.0/0", snapshot.ToInternetGateway, snapshottest.IGW)
	return []checktest.Case{
		{"available", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"no NAT gateway on the way", snapshottest.PublicOnly(), []string{"pass rtb-0public [subnet-0public]"}},
		{"failed", failedNAT(), []string{"fail nat-0a [subnet-0private] [i-0node] nat-0a has failed"}},
		{"pending", checktest.Change(failedNAT(), func(s *snapshot.Snapshot) { s.NATGateways[0].State = "pending" }), []string{
			"fail nat-0a [subnet-0private] [i-0node] nat-0a is pending",
		}},
		{"deleted, and its rows blackholes", checktest.Change(failedNAT(), func(s *snapshot.Snapshot) {
			s.NATGateways[0].State = "deleted"
			snapshottest.Table(s, snapshottest.PrivateRTB).Routes[1].State = "blackhole"
		}), []string{"fail nat-0a [subnet-0private] [i-0node] nat-0a is deleted"}},
		{"two tables lead to it: one finding", checktest.Change(failedNAT(), checktest.TwoTables), []string{
			"fail nat-0a [subnet-0private subnet-0second] [i-0node i-0second] nat-0a has failed",
		}},
		{"private, nothing behind it", privateNAT(snapshottest.Local()), []string{
			"fail nat-0a [subnet-0private] [i-0node] nat-0a is private and leads nowhere",
		}},
		{"private, in front of an internet gateway", privateNAT(igw), []string{
			"fail nat-0a [subnet-0private] [i-0node] nat-0a is private and leads nowhere",
		}},
		{"private, in front of a transit gateway", privateNAT(tgw), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"public and available, its way out through a firewall", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PublicRTB, snapshottest.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw"))), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"of another account (shared VPC)", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, func(s *snapshot.Snapshot) { s.NATGateways = nil }), []string{
			"unknown nat-0a [subnet-0private] route tables: not read: nat-0a: this account cannot see it",
		}},
		{"endpoints carry all that is needed", checktest.Change(snapshottest.EndpointsOnly(), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0a"))
			s.NATGateways = failedNAT().NATGateways
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"unread", checktest.Change(failedNAT(), checktest.Unread(snapshot.NATGateways)), []string{"unknown prod [] nat gateways: denied"}},
	}
}

func TestNATUnusableWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, NATUnusable(), checktest.Change(failedNAT(), checktest.TwoTables))
	if want := "rtb-0private and rtb-0second send 0.0.0.0/0 to nat-0a, but it has failed: Elastic IP address"; !strings.HasPrefix(got.Why, want) {
		t.Errorf("Why = %q, want it to begin with %q", got.Why, want)
	}
	if got.Fix.Command != "" || !strings.HasPrefix(got.Fix.Text, "Make a new public NAT gateway") {
		t.Errorf("Fix = %+v, want no command: there is no other gateway", got.Fix)
	}

	other := func(s *snapshot.Snapshot) {
		s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", VPC: snapshottest.VPC, Subnet: snapshottest.Public, State: "available", Public: true, Zone: "us-west-2b"})
	}
	got = checktest.Failed(t, NATUnusable(), checktest.Change(failedNAT(), checktest.TwoTables, other))
	want := "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0b && " +
		"aws ec2 replace-route --region us-west-2 --route-table-id rtb-0second --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0b"
	if got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
}
