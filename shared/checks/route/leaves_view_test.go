package route

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestLeavesView(t *testing.T) { checktest.RunCases(t, LeavesView(), leavesViewCases()) }

func leavesViewCases() []checktest.Case {
	tgw := checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))
	firewall := checktest.Routes(snapshottest.PublicRTB, snapshottest.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw"))
	return []checktest.Case{
		{"all is in view", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"transit gateway of another account", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, tgw), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"transit gateways unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, tgw, checktest.Unread(snapshot.TransitGateways)), []string{
			"unknown tgw-0a [subnet-0private] transit gateways: denied",
		}},
		{"transit gateway, and a Ready node behind it", checktest.Change(snapshottest.PrivateWithNAT(), tgw), []string{"pass rtb-0private [subnet-0private]"}},
		{"the NAT gateway's way out is a firewall", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, firewall), []string{
			"unknown vpce-0fw [subnet-0private] route tables: not read: vpce-0fw: what is behind the vpc endpoint is not read",
		}},
		{"a prefix list that is not read", checktest.Change(checktest.Isolated(), checktest.Unread(snapshot.PrefixListEntries), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(),
			snapshot.Route{PrefixList: "pl-0mine", State: "active", Target: snapshot.Target{Kind: snapshot.ToNATGateway, ID: snapshottest.NAT}})), []string{
			"unknown nat-0a [subnet-0private] prefix lists: denied",
		}},
		{"virtual private gateway", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToVPNGateway, "vgw-0a"))), []string{
			"unknown vgw-0a [subnet-0private] route tables: not read: vgw-0a: what is behind the virtual private gateway is not read",
		}},
		{"route tables unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.RouteTables)), []string{"unknown prod [] route tables: denied"}},
	}
}

// The Unknown shows the whole way, hop by hop.
func TestLeavesViewNamesTheHops(t *testing.T) {
	s := leavesViewCases()[1].World
	got := checktest.EvalOne(t, LeavesView(), s)[0]
	if want := "subnet-0private → rtb-0private 0.0.0.0/0 → tgw-0a (transit gateway)"; !strings.HasPrefix(checktest.Value(t, got, "Path to"), want) {
		t.Errorf("path = %q, want it to begin with %q", checktest.Value(t, got, "Path to"), want)
	}
}
