package route

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func farNAT(s *snapshot.Snapshot) { s.NATGateways[0].Zone = "us-west-2b" }

func TestCrossZoneNAT(t *testing.T) { checktest.RunCases(t, CrossZoneNAT(), crossZoneNATCases()) }

func crossZoneNATCases() []checktest.Case {
	return []checktest.Case{
		{"same zone", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"another zone", checktest.Change(snapshottest.PrivateWithNAT(), farNAT), []string{
			"fail rtb-0private [subnet-0private] [] subnet-0private goes out by nat-0a in us-west-2b",
		}},
		{"regional", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.NATGateways[0].Subnet, s.NATGateways[0].Zone, s.NATGateways[0].RouteTable = "", "", snapshottest.PublicRTB
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"a gateway that does not work is route/nat-unusable", checktest.Change(failedNAT(), farNAT), []string{"pass rtb-0private [subnet-0private]"}},
		{"no service needs it", checktest.Change(snapshottest.EndpointsOnly(), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT))
			s.NATGateways = snapshottest.PrivateWithNAT().NATGateways
			farNAT(s)
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.NATGateways)), []string{"unknown prod [] nat gateways: denied"}},
	}
}

func TestCrossZoneNATFix(t *testing.T) {
	near := func(s *snapshot.Snapshot) {
		s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0near", VPC: snapshottest.VPC, Subnet: snapshottest.Public, State: "available", Public: true, Zone: snapshottest.Zone})
	}
	got := checktest.Failed(t, CrossZoneNAT(), checktest.Change(snapshottest.PrivateWithNAT(), farNAT, near)).Fix
	if want := "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0near"; got.Command != want {
		t.Errorf("Command = %q, want %q", got.Command, want)
	}
	if got := checktest.Failed(t, CrossZoneNAT(), checktest.Change(snapshottest.PrivateWithNAT(), farNAT)).Fix; got.Command != "" {
		t.Errorf("Command = %q, want none: there is no other gateway", got.Command)
	}
}
