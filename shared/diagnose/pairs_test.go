package diagnose

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// said is what a diagnosis says, in short.
type said struct {
	Causes       []string // "check resource", in their order
	Hidden       []Hidden
	Contributing []checks.ID
	Symptoms     []checks.ID
}

func short(d Diagnosis) said {
	var s said
	for _, c := range d.Causes {
		s.Causes = append(s.Causes, string(c.Check)+" "+c.Resource)
		s.Hidden = append(s.Hidden, c.Hidden...)
		s.Contributing = append(s.Contributing, c.Contributing...)
		for _, id := range c.Symptoms {
			if !slices.Contains(s.Symptoms, id) {
				s.Symptoms = append(s.Symptoms, id)
			}
		}
	}
	return s
}

// breaks are faults that can be put together in the world with a private
// subnet and a NAT gateway.
func noWayOut(s *snapshot.Snapshot) {
	w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local()}
}

func hole(s *snapshot.Snapshot) {
	gone := w.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0old")
	gone.State = "blackhole"
	w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local(), gone}
}

func full(s *snapshot.Snapshot) { w.Subnet(s, w.Private).Free = 0 }

func tight(s *snapshot.Snapshot) { w.Subnet(s, w.Private).Free = 4 }

func unready(s *snapshot.Snapshot) {
	s.Nodes = append(s.Nodes, snapshot.Node{Name: "n", Instance: w.Node, Ready: snapshot.Condition{Status: "False", Reason: "KubeletNotReady"}})
}

func reclaimed(s *snapshot.Snapshot) {
	i := w.Instance(s, w.Node)
	i.State, i.Subnet = "terminated", ""
	i.StateReason = snapshot.StateReason{Code: "Server.SpotInstanceTermination", When: i.Launched.Add(time.Minute)}
}

func another(s *snapshot.Snapshot) { w.Launch(s, "i-0second", w.Private, 10*time.Minute) }

func natFailed(s *snapshot.Snapshot) { s.NATGateways[0].State = "failed" }

func natStuck(s *snapshot.Snapshot) {
	w.Table(s, w.PublicRTB).Routes = []snapshot.Route{w.Local()}
}

func endpointFor(service string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Endpoints = append(s.Endpoints, snapshot.Endpoint{
			ID: "vpce-0" + service, VPC: w.VPC, Service: "com.amazonaws." + w.Region + "." + service,
			Kind: "Interface", State: "available", PrivateDNS: true, Subnets: []string{w.Private},
		})
	}
}

// Two faults at once: the first cause, and what is hidden behind it or makes
// it worse, as the catalogue's "What explains what" and "One fault, one name".
func TestTwoFaults(t *testing.T) {
	const none = "route/no-egress " + w.PrivateRTB
	type list = []func(*snapshot.Snapshot)
	tests := []struct {
		name   string
		faults list
		want   said
	}{
		{"full subnet and no route to the internet, not registered", list{full, noWayOut}, said{
			Causes:   []string{none, "ip/subnet-exhausted " + w.Private},
			Symptoms: []checks.ID{"node/not-registered"},
		}},
		{"full subnet and no route to the internet, registered", list{full, noWayOut, unready}, said{
			Causes:   []string{none, "ip/subnet-exhausted " + w.Private},
			Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"tight subnet and no route to the internet", list{tight, noWayOut}, said{
			// Advice: it keeps nobody from joining.
			Causes:   []string{none, "ip/subnet-exhausted " + w.Private},
			Symptoms: []checks.ID{"node/not-registered"},
		}},
		{"tight subnet and no route to the internet, registered", list{tight, noWayOut, unready}, said{
			Causes:       []string{none},
			Contributing: []checks.ID{"ip/subnet-exhausted"},
			Symptoms:     []checks.ID{"node/not-ready"},
		}},
		{"full subnet, registered and not ready", list{full, unready}, said{
			Causes:   []string{"ip/subnet-exhausted " + w.Private},
			Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"tight subnet, registered and not ready", list{tight, unready}, said{
			Causes:   []string{"ip/subnet-exhausted " + w.Private},
			Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"reclaimed in a subnet without a route to the internet", list{noWayOut, reclaimed}, said{
			// What EC2 takes back accuses nobody, and hides nothing of the subnet.
			Causes: []string{none, "spot/reclaimed-before-join " + w.Nodegroup},
		}},
		{"one reclaimed, one waiting in a subnet without a route to the internet", list{noWayOut, reclaimed, another}, said{
			Causes:   []string{none, "spot/reclaimed-before-join " + w.Nodegroup},
			Symptoms: []checks.ID{"node/not-registered"},
		}},
		{"reclaimed in a full subnet", list{full, reclaimed}, said{
			Causes: []string{"ip/subnet-exhausted " + w.Private, "spot/reclaimed-before-join " + w.Nodegroup},
		}},
		{"blackhole in a VPC with one endpoint", list{hole, endpointFor("ec2")}, said{
			// The way out is there and broken: not private by design.
			Causes:   []string{"route/blackhole " + w.PrivateRTB},
			Symptoms: []checks.ID{"node/not-registered"},
		}},
		{"no route to the internet in a VPC with one endpoint", list{noWayOut, endpointFor("ec2")}, said{
			Causes:   []string{"endpoint/missing " + w.VPC},
			Symptoms: []checks.ID{"node/not-registered"},
		}},
		{"failed NAT gateway whose subnet has no route to the internet either", list{natFailed, natStuck}, said{
			Causes:   []string{"route/nat-unusable " + w.NAT},
			Symptoms: []checks.ID{"node/not-registered"},
		}},
		{"no route to the internet, in an IPv6 cluster without a route to the internet over IPv6 either", list{noWayOut, func(s *snapshot.Snapshot) {
			s.Cluster.IPv6, s.CNI.Env["ENABLE_IPv6"], s.CNI.Env["ENABLE_PREFIX_DELEGATION"] = true, "true", "true"
			w.Subnet(s, w.Private).IPv6 = []netip.Prefix{netip.MustParsePrefix("2600:1f14:0:ab00::/64")}
		}}, said{
			Causes: []string{none},
			Hidden: []Hidden{{Check: "route/ipv6-no-egress", Because: "route/no-egress"}},
			// The role lacks what the network plugin needs for IPv6.
			Contributing: []checks.ID{"iam/role-policies"},
			Symptoms:     []checks.ID{"node/not-registered"},
		}},
		{"no route to the internet, and the public endpoint admits others only", list{noWayOut, func(s *snapshot.Snapshot) {
			s.Cluster.PublicAccessCIDRs = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
		}}, said{Causes: []string{none}, Symptoms: []checks.ID{"node/not-registered"}}},
		{"default route into a peering connection, in a VPC with one endpoint", list{func(s *snapshot.Snapshot) {
			w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local(), w.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a")}
		}, endpointFor("ec2")}, said{
			Causes:   []string{none},
			Hidden:   []Hidden{{Check: "endpoint/missing", Because: "route/no-egress"}},
			Symptoms: []checks.ID{"node/not-registered"},
		}},
		{"stuck NAT gateway and a full subnet", list{natStuck, full}, said{
			Causes:   []string{"route/nat-no-internet " + w.NAT, "ip/subnet-exhausted " + w.Private},
			Symptoms: []checks.ID{"node/not-registered"},
		}},
		{"failed NAT gateway, registered and not ready", list{natFailed, unready}, said{
			Causes:   []string{"route/nat-unusable " + w.NAT},
			Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"blackhole in one subnet, a full other one", list{hole, func(s *snapshot.Snapshot) {
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0z", VPC: w.VPC, Zone: "us-west-2b", CIDR: netip.MustParsePrefix("10.42.64.0/19")})
			s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: "rtb-0z", VPC: w.VPC, Subnets: []string{"subnet-0z"}, Routes: []snapshot.Route{w.Local(), w.To("0.0.0.0/0", snapshot.ToNATGateway, w.NAT)}})
			w.Launch(s, "i-0z", "subnet-0z", 10*time.Minute)
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "z", Instance: "i-0z", Ready: snapshot.Condition{Status: "False"}})
		}}, said{
			// The other subnet's gateway is in another zone: advice.
			Causes:   []string{"route/blackhole " + w.PrivateRTB, "ip/subnet-exhausted subnet-0z", "route/cross-zone-nat rtb-0z"},
			Symptoms: []checks.ID{"node/not-registered", "node/not-ready"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Unjoin(s, w.Node)
			for _, breakIt := range tt.faults {
				breakIt(s)
			}
			if diff := cmp.Diff(tt.want, short(diagnosis(s))); diff != "" {
				t.Errorf("diagnosis (-want +got):\n%s", diff)
			}
		})
	}
}
