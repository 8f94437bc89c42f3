package route

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// stuckNAT is a NAT gateway whose own subnet has only the rows.
func stuckNAT(rows ...snapshot.Route) *snapshot.Snapshot {
	s := checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PublicRTB, rows...))
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
}

func TestNatNoInternet(t *testing.T) { checktest.RunCases(t, NATNoInternet(), natNoInternetCases()) }

func natNoInternetCases() []checktest.Case {
	fail := []string{"fail nat-0a [subnet-0private] [i-0node] nat-0a has no way to the internet"}
	other := snapshot.NATGateway{ID: "nat-0b", VPC: snapshottest.VPC, Subnet: snapshottest.Private, State: "available", Public: true}
	return []checktest.Case{
		{"its subnet leads to the internet gateway", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"its subnet has only the local row", stuckNAT(snapshottest.Local()), fail},
		{"its subnet leads back to it", stuckNAT(snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT)), fail},
		{"it stands in the nodes' subnet", checktest.Change(stuckNAT(snapshottest.Local()), func(s *snapshot.Snapshot) { s.NATGateways[0].Subnet = snapshottest.Private }), fail},
		{"its subnet leads to another NAT gateway", checktest.Change(stuckNAT(snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0b")), func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, other)
		}), fail},
		{"its subnet's internet gateway is gone", stuckNAT(checktest.Gone(snapshottest.To("0.0.0.0/0", snapshot.ToInternetGateway, snapshottest.IGW))), fail},
		{"it fell back to a main table without a route to the internet", checktest.Change(stuckNAT(snapshottest.Local()), func(s *snapshot.Snapshot) { snapshottest.Table(s, snapshottest.PublicRTB).Subnets = nil }), fail},
		{"regional, with its own table", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.NATGateways[0].Subnet, s.NATGateways[0].Zone, s.NATGateways[0].RouteTable = "", "", snapshottest.PublicRTB
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"behind a firewall endpoint", stuckNAT(snapshottest.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw")), []string{
			"unknown vpce-0fw [subnet-0private] route tables: not read: vpce-0fw: what is behind the vpc endpoint is not read",
		}},
		{"a gateway that does not work is route/nat-unusable", failedNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"internet gateways unread", checktest.Change(stuckNAT(snapshottest.Local()), checktest.Unread(snapshot.InternetGateways)), []string{"unknown prod [] internet gateways: denied"}},
	}
}

func TestNATNoInternetFix(t *testing.T) {
	tests := []struct {
		name    string
		world   *snapshot.Snapshot
		command string
		text    string
	}{
		{"its own table is set right", stuckNAT(snapshottest.Local()),
			"aws ec2 create-route --region us-west-2 --route-table-id rtb-0public --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0a", "igw-0a: attached"},
		{"a wrong row is replaced", stuckNAT(snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT)),
			"aws ec2 replace-route --region us-west-2 --route-table-id rtb-0public --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0a", "igw-0a: attached"},
		{"a table that others use is left alone", checktest.Change(stuckNAT(snapshottest.Local()), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PublicRTB)
			t.Subnets = append(t.Subnets, "subnet-0else")
		}), "", "Associate subnet-0public with a table of its own"},
		{"a lost association is made again", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PublicRTB)
			t.Subnets = []string{"subnet-0else"}
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0else", VPC: snapshottest.VPC})
		}), "aws ec2 associate-route-table --region us-west-2 --route-table-id rtb-0public --subnet-id subnet-0public", "rtb-0public: leads to igw-0a"},
		{"no internet gateway", checktest.Change(stuckNAT(snapshottest.Local()), func(s *snapshot.Snapshot) { s.InternetGateways = nil }),
			"", "Attach an internet gateway to vpc-0a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := checktest.Failed(t, NATNoInternet(), tt.world).Fix
			if got.Command != tt.command {
				t.Errorf("Command = %q, want %q", got.Command, tt.command)
			}
			if !strings.HasPrefix(got.Text, tt.text) {
				t.Errorf("Text = %q, want it to begin with %q", got.Text, tt.text)
			}
		})
	}
}
