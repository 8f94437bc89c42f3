package path

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// blocking sets the mode that EC2 reports of the VPC, then of the private subnet and the
// public one, where the NAT gateway stands.
func blocking(vpc, private, public snapshot.BlockMode) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.VPCs[0].BlockMode = vpc
		w.Subnet(s, w.Private).BlockMode, w.Subnet(s, w.Public).BlockMode = private, public
	}
}

// TestBlockedPublicAccess is the table of the VPC user guide's "Advanced example": an
// exclusion counts in the subnet where the traffic leaves.
func TestBlockedPublicAccess(t *testing.T) {
	const off, in, both = snapshot.BlockOff, snapshot.BlockIngress, snapshot.BlockBidirectional
	exclude := func(e snapshot.Exclusion) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.PublicAccess = &snapshot.PublicAccess{Mode: both, Exclusions: []snapshot.Exclusion{e}}
		}
	}
	regional := func(s *snapshot.Snapshot) {
		s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: "rtb-0nat", VPC: w.VPC, Routes: w.Table(s, w.PublicRTB).Routes})
		s.NATGateways[0].Subnet, s.NATGateways[0].Zone, s.NATGateways[0].RouteTable = "", "", "rtb-0nat"
	}
	private := func(s *snapshot.Snapshot) { s.NATGateways[0].Public = false }
	appliance := func(s *snapshot.Snapshot) {
		w.Table(s, w.PrivateRTB).Routes[1] = w.To("0.0.0.0/0", snapshot.ToInterface, "eni-0fw")
		s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0fw", Subnet: w.Public, Kind: "interface", PublicIP: netip.MustParseAddr("203.0.113.20")})
	}
	carrier := func(s *snapshot.Snapshot) {
		w.Table(s, w.PrivateRTB).Routes[1] = w.To("0.0.0.0/0", snapshot.ToCarrierGateway, "cagw-0a")
	}
	six := func(s *snapshot.Snapshot) {
		s.EgressOnly = []snapshot.EgressOnlyGateway{{ID: "eigw-0a", Attached: []string{w.VPC}}}
		for id, r := range map[string]snapshot.Route{w.PrivateRTB: w.To("::/0", snapshot.ToEgressOnly, "eigw-0a"), w.PublicRTB: w.To("::/0", snapshot.ToInternetGateway, w.IGW)} {
			table := w.Table(s, id)
			table.Routes = append(table.Routes, r)
		}
	}
	four, sixOf := (*Network).Internet, (*Network).Internet6
	for _, tt := range []struct {
		name    string
		way     func(*Network, string) Way
		subnet  string
		changes []func(*snapshot.Snapshot)
		want    [2]string
	}{
		{"off", four, w.Private, []func(*snapshot.Snapshot){blocking(off, off, off)}, [2]string{"reaches", w.IGW}},
		{"not reported", four, w.Private, nil, [2]string{"reaches", w.IGW}},
		{"bidirectional, behind a NAT gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both)}, [2]string{"blocked public access", w.Public}},
		{"bidirectional, the NAT gateway's subnet is excluded", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, off)}, [2]string{"reaches", w.IGW}},
		{"bidirectional, the NAT gateway's subnet may send", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, in)}, [2]string{"reaches", w.IGW}},
		{"bidirectional, only the nodes' subnet is excluded", four, w.Private, []func(*snapshot.Snapshot){blocking(both, off, both)}, [2]string{"blocked public access", w.Public}},
		{"ingress, behind a NAT gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(in, in, in)}, [2]string{"reaches", w.IGW}},
		{"ingress, with public addresses", four, w.Public, []func(*snapshot.Snapshot){blocking(in, in, in)}, [2]string{"blocked public access", w.Public}},
		{"bidirectional, public, excluded for egress only", four, w.Public, []func(*snapshot.Snapshot){blocking(both, both, in)}, [2]string{"blocked public access", w.Public}},
		{"ingress, public, excluded", four, w.Public, []func(*snapshot.Snapshot){blocking(in, in, off)}, [2]string{"needs a public address", w.IGW}},
		{"ingress, an appliance's subnet", four, w.Private, []func(*snapshot.Snapshot){blocking(in, in, in), appliance}, [2]string{"blocked public access", w.Public}},
		{"bidirectional, an appliance's subnet is excluded", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, off), appliance}, [2]string{"reaches", w.IGW}},
		{"ingress, a private NAT gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(in, in, in), private}, [2]string{"nat gateway unusable", w.NAT}},
		{"bidirectional, a regional NAT gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), regional}, [2]string{"blocked public access", w.VPC}},
		{"bidirectional, a regional NAT gateway, the nodes' subnet is excluded", four, w.Private, []func(*snapshot.Snapshot){blocking(both, off, both), regional}, [2]string{"leaves view", w.VPC}},
		{"ingress, a regional NAT gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(in, in, in), regional}, [2]string{"reaches", w.IGW}},
		{"bidirectional, a carrier gateway", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), carrier}, [2]string{"blocked public access", w.Private}},
		{"bidirectional, an egress-only gateway", sixOf, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), six}, [2]string{"blocked public access", w.Private}},
		{"ingress, an egress-only gateway", sixOf, w.Private, []func(*snapshot.Snapshot){blocking(in, in, in), six}, [2]string{"reaches", "eigw-0a"}},
		{"ingress, IPv6 by the internet gateway", sixOf, w.Public, []func(*snapshot.Snapshot){blocking(in, in, in), six}, [2]string{"blocked public access", w.Public}},
		{"the VPC's mode where a subnet has none", four, w.Private, []func(*snapshot.Snapshot){blocking(both, "", "")}, [2]string{"blocked public access", w.Public}},
		{"the account's mode where neither has one", four, w.Private, []func(*snapshot.Snapshot){exclude(snapshot.Exclusion{})}, [2]string{"blocked public access", w.Public}},
		{"an exclusion that no state shows", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), exclude(snapshot.Exclusion{Resource: w.Public, Active: true})}, [2]string{"reaches", w.IGW}},
		{"an exclusion of the VPC, egress only", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), exclude(snapshot.Exclusion{Resource: w.VPC, Egress: true, Active: true})}, [2]string{"reaches", w.IGW}},
		{"an exclusion of another subnet", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), exclude(snapshot.Exclusion{Resource: w.Private, Active: true})}, [2]string{"blocked public access", w.Public}},
		{"an exclusion that is gone", four, w.Private, []func(*snapshot.Snapshot){blocking(both, both, both), exclude(snapshot.Exclusion{Resource: w.Public})}, [2]string{"blocked public access", w.Public}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			for _, change := range tt.changes {
				change(s)
			}
			got := tt.way(New(s), tt.subnet)
			if diff := cmp.Diff(tt.want, [2]string{string(got.Verdict), got.At}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", got, diff)
			}
		})
	}
}

// TestModeIsUnsure: a change under way, and a subnet of which neither its own mode nor
// an exclusion was read, leave a doubt.
func TestModeIsUnsure(t *testing.T) {
	const both = snapshot.BlockBidirectional
	with := func(a snapshot.PublicAccess) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.PublicAccess = &a }
	}
	for name, tt := range map[string]struct {
		changes []func(*snapshot.Snapshot)
		want    bool
	}{
		"the subnet's own mode":                 {[]func(*snapshot.Snapshot){blocking(both, both, both)}, false},
		"the VPC's mode, exclusions unread":     {[]func(*snapshot.Snapshot){blocking(both, "", "")}, true},
		"the VPC's mode, exclusions read":       {[]func(*snapshot.Snapshot){blocking(both, "", ""), with(snapshot.PublicAccess{Mode: both})}, false},
		"the mode is changing":                  {[]func(*snapshot.Snapshot){blocking(both, both, both), with(snapshot.PublicAccess{Changing: true})}, true},
		"an exclusion is being made":            {[]func(*snapshot.Snapshot){blocking(both, both, both), with(snapshot.PublicAccess{Exclusions: []snapshot.Exclusion{{Resource: w.Public, Changing: true}}})}, true},
		"an exclusion of another is being made": {[]func(*snapshot.Snapshot){blocking(both, both, both), with(snapshot.PublicAccess{Exclusions: []snapshot.Exclusion{{Resource: w.Private, Changing: true}}})}, false},
	} {
		s := w.PrivateWithNAT()
		for _, change := range tt.changes {
			change(s)
		}
		if got := New(s).Mode(w.Public, w.VPC).Unsure; got != tt.want {
			t.Errorf("%s: unsure %t, want %t", name, got, tt.want)
		}
	}
}

// TestRegionalAddresses: the addresses of a regional NAT gateway belong to zones.
func TestRegionalAddresses(t *testing.T) {
	address := func(ip, zone string) snapshot.NATAddress {
		return snapshot.NATAddress{IP: netip.MustParseAddr(ip), Zone: zone}
	}
	all := []snapshot.NATAddress{address("203.0.113.1", "us-west-2a"), address("203.0.113.2", "us-west-2b"), address("203.0.113.3", "us-west-2b")}
	for name, tt := range map[string]struct {
		from     snapshot.Subnet
		regional bool
		want     []string
	}{
		"its own zone's":                     {snapshot.Subnet{Zone: "us-west-2a"}, true, []string{"203.0.113.1"}},
		"the two of its zone":                {snapshot.Subnet{Zone: "us-west-2b"}, true, []string{"203.0.113.2", "203.0.113.3"}},
		"not expanded to the zone yet":       {snapshot.Subnet{Zone: "us-west-2c"}, true, []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"}},
		"the zone is not known":              {snapshot.Subnet{}, true, []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"}},
		"a zonal gateway serves other zones": {snapshot.Subnet{Zone: "us-west-2a"}, false, []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"}},
	} {
		nat := snapshot.NATGateway{Addresses: all}
		if tt.regional {
			nat.RouteTable = "rtb-0nat"
		}
		var got []string
		for _, a := range addresses(nat, tt.from) {
			got = append(got, a.String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
