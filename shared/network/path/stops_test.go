package path

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// A row is inside the VPC if a local row holds more than it.
func TestInsideVPC(t *testing.T) {
	table := Table{RouteTable: snapshot.RouteTable{Routes: []snapshot.Route{
		{Target: snapshot.Target{Kind: snapshot.ToLocal}}, w.To("10.43.0.0/16", snapshot.ToPeering, "pcx-0a"), w.Local(),
	}}}
	n := New(w.PrivateWithNAT())
	for of, want := range map[string]bool{
		"10.42.1.0/24": true, "10.42.0.0/17": true, "10.42.0.0/16": false, "10.0.0.0/8": false, "10.43.1.0/24": false, "10.44.1.0/24": false,
	} {
		if got := n.insideVPC(prefix(of), table); got != want {
			t.Errorf("%s: %v", of, got)
		}
	}
	if n.insideVPC(netip.Prefix{}, table) {
		t.Error("no range is inside")
	}
}

// The private subnet is 10.42.192.0/19: what holds it and is no local row, and
// no default route, stands in the local row's place.
func TestReplacesLocal(t *testing.T) {
	to := func(of string) snapshot.Route { return w.To(of, snapshot.ToEndpoint, "vpce-0fw") }
	for _, test := range []struct {
		name   string
		row    snapshot.Route
		others []snapshot.Route
		subnet string
		want   bool
	}{
		{"the VPC's range", to("10.42.0.0/16"), nil, w.Private, true},
		{"half of the internet", to("0.0.0.0/1"), nil, w.Private, true},
		{"the default route", to("0.0.0.0/0"), nil, w.Private, false},
		{"another range", to("10.43.0.0/16"), []snapshot.Route{to("10.42.0.0/16")}, w.Private, false},
		{"a part of the subnet", to("10.42.192.0/20"), nil, w.Private, false},
		{"no range", snapshot.Route{}, nil, w.Private, false},
		{"beside the local row", to("10.0.0.0/8"), []snapshot.Route{w.Local()}, w.Private, false},
		{"behind one that is more specific", to("10.0.0.0/8"), []snapshot.Route{to("10.42.0.0/16")}, w.Private, false},
		{"the local row itself", w.Local(), nil, w.Private, false},
		{"of a subnet that is not known", to("10.42.0.0/16"), nil, "subnet-0none", false},
	} {
		table := Table{RouteTable: snapshot.RouteTable{Routes: append(test.others, test.row)}}
		if got := New(w.PrivateWithNAT()).replacesLocal(test.row, test.subnet, table); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// Of a row that does not hold all of the ranges: whether its list may, and
// whether it holds a part.
func TestPartly(t *testing.T) {
	s := w.PrivateWithNAT()
	s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0g", Kind: "Gateway"}}
	s.PrefixLists = []snapshot.PrefixList{{ID: "pl-0a", CIDRs: []netip.Prefix{{}, prefix("52.0.0.0/8"), prefix("10.60.0.0/16")}}}
	n := New(s)
	nat := func(of string) snapshot.Route { return w.To(of, snapshot.ToNATGateway, w.NAT) }
	listed := func(list, target string) snapshot.Route {
		return snapshot.Route{PrefixList: list, Target: snapshot.Target{Kind: snapshot.ToNATGateway, ID: target}}
	}
	internet, six := walk{to: halves()}, walk{to: []netip.Prefix{globalUnicast()}}
	far := func(of string) walk { return walk{to: []netip.Prefix{prefix(of)}, vpc: "vpc-0far"} }
	for _, test := range []struct {
		name           string
		row            snapshot.Route
		walk           walk
		unknown, parts bool
	}{
		{"a part of the internet", nat("52.0.0.0/8"), internet, false, true},
		{"a private range", nat("10.60.0.0/16"), internet, false, false},
		{"IPv4, for IPv6", nat("52.0.0.0/8"), six, false, false},
		{"IPv6, for IPv4", nat("2600::/12"), internet, false, false},
		{"IPv6", nat("2600::/12"), six, false, true},
		{"a peering connection", w.To("2600::/12", snapshot.ToPeering, "pcx-0a"), six, false, false},
		{"a local row of public addresses", w.To("52.0.0.0/8", snapshot.ToLocal, "local"), internet, false, false},
		{"no range", snapshot.Route{}, internet, false, false},
		{"a list", listed("pl-0a", w.NAT), internet, false, true},
		{"a list of a gateway endpoint", listed("pl-0a", "vpce-0g"), internet, false, false},
		{"a list that is not read", listed("pl-0x", w.NAT), internet, true, false},
		{"a list of a gateway endpoint that is not read", listed("pl-0x", "vpce-0g"), internet, false, false},
		{"a row, no list, to a gateway endpoint", w.To("52.0.0.0/8", snapshot.ToEndpoint, "vpce-0g"), internet, false, true},
		{"a part of the VPC", nat("10.60.0.0/16"), far("10.0.0.0/8"), false, true},
		{"a part of the VPC in a list", listed("pl-0a", w.NAT), far("10.60.0.0/15"), false, true},
		{"no part of the VPC", nat("10.61.0.0/16"), far("10.60.0.0/16"), false, false},
		{"no range, to a VPC", snapshot.Route{}, far("10.60.0.0/16"), false, false},
		{"a list for a VPC that is not read", listed("pl-0x", w.NAT), far("10.60.0.0/16"), true, false},
	} {
		if unknown, parts := n.partly(test.row, test.walk); unknown != test.unknown || parts != test.parts {
			t.Errorf("%s: unknown %v, parts %v", test.name, unknown, parts)
		}
	}
	if (walk{}).six() || !six.six() || internet.six() {
		t.Error("IPv6 is what begins with it")
	}
	if got := far("10.60.0.0/16").String() + ", " + internet.String(); got != "vpc-0far, the internet" {
		t.Errorf("walks are called %q", got)
	}
}

// The places that judge a packet: what has no subnet is none.
func TestPassing(t *testing.T) {
	s := w.PrivateWithNAT()
	s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0regional"})
	s.Interfaces = []snapshot.Interface{{ID: "eni-0nowhere", Groups: []string{"sg-0a"}}, {ID: "eni-0a", Subnet: w.Public, Groups: []string{"sg-0a"}}}
	s.Instances = []snapshot.Instance{{ID: "i-0nowhere", Groups: []string{"sg-0b"}}, {ID: "i-0a", Subnet: w.Private, Groups: []string{"sg-0b"}}}
	s.Attachments = []snapshot.Attachment{{ID: "tgw-attach-0x", Resource: "vpc-0x"}, {ID: "tgw-attach-0a", Resource: w.VPC}}
	s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0tgw", VPC: w.VPC, Kind: "transit_gateway", Description: "tgw-attach-0a", Subnet: w.Private})
	var hops []Hop
	for _, id := range []string{w.Private, "nat-0regional", "eni-0nowhere", "i-0nowhere", "tgw-attach-0x", w.NAT, "eni-0a", "i-0a", "tgw-attach-0a", w.IGW} {
		hops = append(hops, Hop{ID: id})
	}
	want := []Stop{
		{ID: w.NAT, Subnets: []string{w.Public}},
		{ID: "eni-0a", Subnets: []string{w.Public}, Groups: []string{"sg-0a"}},
		{ID: "i-0a", Subnets: []string{w.Private}, Groups: []string{"sg-0b"}},
		{ID: "tgw-attach-0a", Subnets: []string{w.Private}},
	}
	if diff := cmp.Diff(want, New(s).passing(Way{Hops: hops}, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Where a connection ends that leads to an endpoint, and to the control plane.
func TestEnds(t *testing.T) {
	s := w.EndpointsOnly()
	n := New(s)
	good := Way{Verdict: Reaches, At: "vpce-0ec2"}
	if got := n.Stops(Path{Means: ByInterface, Way: good}); len(got) != 1 || got[0].ID != "vpce-0ec2" || !got[0].Ends {
		t.Errorf("an endpoint: %+v", got)
	}
	if got := n.Stops(Path{Means: ByInterface, Way: Way{Verdict: LeavesView, At: "vpce-0ec2"}}); got != nil {
		t.Errorf("an endpoint behind what cannot be seen: %+v", got)
	}
	if got := n.Stops(Path{Means: ByInterface, Way: Way{Verdict: Reaches, At: "vpce-0none"}}); got != nil {
		t.Errorf("an endpoint that is not read: %+v", got)
	}
	one := prefix("52.0.0.0/8")
	s.PrefixLists = []snapshot.PrefixList{{ID: "pl-0one", CIDRs: []netip.Prefix{one}}}
	for list, want := range map[string]netip.Prefix{"pl-0one": one, "pl-0none": prefix("0.0.0.0/0")} {
		got := New(s).Stops(Path{Means: ByGateway, Way: Way{Verdict: Reaches, At: "vpce-0s3", Row: snapshot.Route{PrefixList: list}}})
		if len(got) != 1 || len(got[0].Ranges) != 1 || got[0].Ranges[0] != want || !got[0].Ends {
			t.Errorf("%s: %+v, want %s", list, got, want)
		}
	}

	s.Cluster.SecurityGroup, s.Cluster.SecurityGroups, s.Cluster.Subnets = "sg-0own", []string{"sg-0more"}, []string{w.Public, w.Private, w.Public}
	s.Interfaces = append([]snapshot.Interface{{ID: "eni-0other", Subnet: "subnet-0x"}}, s.Interfaces...)
	own := New(s).controlPlaneStop()
	if diff := cmp.Diff(Stop{
		ID: w.ClusterName, Ends: true, Groups: []string{"sg-0own", "sg-0more"}, Subnets: []string{w.Private, w.Public},
		Ranges: []netip.Prefix{prefix("10.42.192.5/32"), prefix("10.42.0.5/32")},
	}, own, byValue); diff != "" {
		t.Errorf("the control plane (-want +got):\n%s", diff)
	}
	s.Interfaces = nil
	unread := New(s).controlPlaneStop()
	if diff := cmp.Diff([]string{w.Private, w.Public}, unread.Subnets); diff != "" || len(unread.Ranges) != 3 {
		t.Errorf("the control plane, its interfaces not read: %v (-want +got):\n%s", unread.Ranges, diff)
	}
	s.Cluster.SecurityGroup = ""
	if diff := cmp.Diff([]string{"sg-0more"}, New(s).controlPlaneStop().Groups); diff != "" {
		t.Errorf("without an own group (-want +got):\n%s", diff)
	}
}
