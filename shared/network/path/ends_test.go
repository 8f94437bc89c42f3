package path

import (
	"net/netip"
	"strings"
	"testing"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// A row that EC2 marks as a blackhole says so of a gateway that works; one that
// does not work is judged by what EC2 says of it.
func TestBlackholeOfANATGateway(t *testing.T) {
	for _, tt := range []struct {
		state, row string
		want       Verdict
	}{
		{"available", "active", Reaches},
		{"available", "blackhole", Blackhole},
		{"deleted", "blackhole", NATUnusable},
		{"deleted", "active", NATUnusable},
		{"failed", "blackhole", NATUnusable},
	} {
		s := w.PrivateWithNAT()
		s.NATGateways[0].State = tt.state
		for i, r := range w.Table(s, w.PrivateRTB).Routes {
			if r.Target.Kind == snapshot.ToNATGateway {
				w.Table(s, w.PrivateRTB).Routes[i].State = tt.row
			}
		}
		got := New(s).Internet(w.Private)
		if got.Verdict != tt.want || tt.want != Reaches && got.At != w.NAT {
			t.Errorf("gateway %s, row %s: %s at %s, want %s", tt.state, tt.row, got.Verdict, got.At, tt.want)
		}
	}
}

func TestReturns(t *testing.T) {
	const source = "10.42.1.0/24"
	active := func(kind snapshot.TargetKind, to string) snapshot.Route { return w.To(to, kind, "x-0a") }
	gone := active(snapshot.ToTransitGateway, "10.42.0.0/16")
	gone.State = blackhole
	for name, tt := range map[string]struct {
		rows []snapshot.Route
		want bool
	}{
		"a transit gateway":                 {[]snapshot.Route{active(snapshot.ToTransitGateway, "10.42.0.0/16")}, true},
		"a transit gateway that is gone":    {[]snapshot.Route{gone}, false},
		"one that is gone, and a wider one": {[]snapshot.Route{gone, active(snapshot.ToTransitGateway, "10.0.0.0/8")}, false},
		"the internet":                      {[]snapshot.Route{active(snapshot.ToInternetGateway, "0.0.0.0/0")}, false},
		"a NAT gateway":                     {[]snapshot.Route{active(snapshot.ToNATGateway, "0.0.0.0/0")}, false},
		"the local row":                     {[]snapshot.Route{active(snapshot.ToLocal, "10.42.0.0/16")}, false},
		"parts of it":                       {[]snapshot.Route{active(snapshot.ToTransitGateway, "10.42.1.0/25")}, true},
		"a prefix list that was not read":   {[]snapshot.Route{{PrefixList: "pl-0a", State: "active", Target: snapshot.Target{Kind: snapshot.ToTransitGateway}}}, true},
		"nothing":                           {nil, false},
	} {
		n := New(w.PrivateWithNAT())
		if got := n.returns(Table{RouteTable: snapshot.RouteTable{ID: "rtb-0x", Routes: tt.rows}}, walk{source: netip.MustParsePrefix(source)}); got != tt.want {
			t.Errorf("%s: returns = %t, want %t", name, got, tt.want)
		}
	}
}

// The halves of the internet that take different rows: where both lead there or
// neither does the first speaks for both, else it cannot be told.
func TestTwoHalves(t *testing.T) {
	good := func(half string) snapshot.Route { return w.To(half, snapshot.ToNATGateway, w.NAT) }
	other := func(half string) snapshot.Route { return w.To(half, snapshot.ToNATGateway, "nat-0second") }
	deleted := func(half string) snapshot.Route { return w.To(half, snapshot.ToNATGateway, "nat-0deleted") }
	hidden := func(half string) snapshot.Route { return w.To(half, snapshot.ToNATGateway, "nat-0foreign") }
	gone := func(half string) snapshot.Route {
		r := w.To(half, snapshot.ToNATGateway, "nat-0old")
		r.State = blackhole
		return r
	}
	const low, high = "0.0.0.0/1", "128.0.0.0/1"
	for name, tt := range map[string]struct {
		rows   []snapshot.Route
		want   Verdict
		reason string
	}{
		"one good":                       {[]snapshot.Route{good(low), good(high)}, Reaches, ""},
		"two good":                       {[]snapshot.Route{good(low), other(high)}, Reaches, ""},
		"bad in two ways":                {[]snapshot.Route{gone(low), deleted(high)}, Blackhole, ""},
		"bad in two ways, the other way": {[]snapshot.Route{deleted(low), gone(high)}, NATUnusable, ""},
		"good and bad":                   {[]snapshot.Route{good(low), gone(high)}, LeavesView, "different ways"},
		"bad and good":                   {[]snapshot.Route{gone(low), good(high)}, LeavesView, "different ways"},
		"bad and not seen":               {[]snapshot.Route{gone(low), hidden(high)}, LeavesView, "different ways"},
		"not seen and bad":               {[]snapshot.Route{hidden(low), gone(high)}, LeavesView, "different ways"},
		"good and not seen":              {[]snapshot.Route{good(low), hidden(high)}, LeavesView, "different ways"},
	} {
		s := w.PrivateWithNAT()
		second, removed := s.NATGateways[0], s.NATGateways[0]
		second.ID = "nat-0second"
		removed.ID, removed.State = "nat-0deleted", "deleted"
		s.NATGateways = append(s.NATGateways, second, removed)
		w.Table(s, w.PrivateRTB).Routes = append([]snapshot.Route{w.Local()}, tt.rows...)
		got := New(s).Internet(w.Private)
		if got.Verdict != tt.want || !strings.Contains(got.Reason, tt.reason) {
			t.Errorf("%s: %s (%s), want %s %q", name, got.Verdict, got.Reason, tt.want, tt.reason)
		}
	}
}

// Both halves lead to the internet, by the gateways of two VPCs.
func TestTwoHalvesBothGood(t *testing.T) {
	s := spoke()
	w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{
		w.Local(), w.To("0.0.0.0/1", snapshot.ToTransitGateway, "tgw-0a"), w.To("128.0.0.0/1", snapshot.ToNATGateway, w.NAT),
	}
	if got := New(s).Internet(w.Private); got.Verdict != Reaches || got.At != "igw-0hub" {
		t.Errorf("Internet = %s at %s (%s), want that of the first half", got.Verdict, got.At, got.Reason)
	}
}
