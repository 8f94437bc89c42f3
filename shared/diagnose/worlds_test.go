package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/local/testfull"
	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

func diagnosis(s *snapshot.Snapshot) Diagnosis {
	// What only sees ahead explains no launch: subnet-watch judges it by itself.
	all := slices.DeleteFunc(checks.All(), func(c checks.Check) bool { return c.Predictive && !strings.Contains(string(c.ID), "leak") })
	return Rank(all, checks.Eval(all, s), s)
}

// faults are single faults: how a healthy world is broken, and the one cause
// that must be named, first and alone among the certain ones.
func faults() []struct {
	name  string
	cause checks.ID
	world func() *snapshot.Snapshot
} {
	blackhole := func(r snapshot.Route) snapshot.Route { r.State = "blackhole"; return r }
	routes := func(table string, rows ...snapshot.Route) func() *snapshot.Snapshot {
		return func() *snapshot.Snapshot {
			s := w.PrivateWithNAT()
			w.Table(s, table).Routes = rows
			return s
		}
	}
	toNAT := w.To("0.0.0.0/0", snapshot.ToNATGateway, w.NAT)
	return []struct {
		name  string
		cause checks.ID
		world func() *snapshot.Snapshot
	}{
		{"only the local row", "route/no-egress", routes(w.PrivateRTB, w.Local())},
		{"main table without a route to the internet", "route/no-egress", func() *snapshot.Snapshot {
			s := w.MainTable()
			w.Table(s, w.MainRTB).Routes = []snapshot.Route{w.Local()}
			return s
		}},
		{"NAT gateway deleted long ago", "route/blackhole", routes(w.PrivateRTB, w.Local(), blackhole(w.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0old")))},
		{"internet gateway deleted", "route/blackhole", func() *snapshot.Snapshot {
			s := w.PublicOnly()
			s.InternetGateways = nil
			w.Table(s, w.PublicRTB).Routes[1].State = "blackhole"
			return s
		}},
		{"internet gateway detached", "route/igw-detached", func() *snapshot.Snapshot {
			s := w.PublicOnly()
			s.InternetGateways[0].Attached = nil
			w.Table(s, w.PublicRTB).Routes[1].State = "blackhole"
			return s
		}},
		{"internet gateway of the NAT gateway's subnet detached", "route/igw-detached", func() *snapshot.Snapshot {
			s := w.PrivateWithNAT()
			s.InternetGateways[0].Attached = nil
			return s
		}},
		{"NAT instance with its source check on", "route/nat-instance-source-check", func() *snapshot.Snapshot {
			s := routes(w.PrivateRTB, w.Local(), w.To("0.0.0.0/0", snapshot.ToInterface, "eni-0nat"))()
			s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0nat", VPC: w.VPC, Subnet: w.Public, Status: "in-use", Kind: "interface", Instance: "i-0nat", SourceCheck: true})
			return s
		}},
		{"NAT instance stopped", "route/nat-instance-source-check", func() *snapshot.Snapshot {
			s := routes(w.PrivateRTB, w.Local(), blackhole(w.To("0.0.0.0/0", snapshot.ToInterface, "eni-0nat")))()
			s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0nat", VPC: w.VPC, Subnet: w.Public, Status: "in-use", Kind: "interface", Instance: "i-0nat"})
			return s
		}},
		{"the public endpoint does not admit the NAT gateway", "route/api-public-cidr", func() *snapshot.Snapshot {
			s := w.PrivateWithNAT()
			s.Cluster.PublicAccessCIDRs = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
			return s
		}},
		{"the private endpoint is in a VPC that no route leads to", "route/api-private-unreachable", func() *snapshot.Snapshot {
			s := w.PrivateWithNAT()
			s.Cluster.VPC, s.Cluster.EndpointPublic, s.Cluster.EndpointPrivate = "vpc-0cluster", false, true
			s.Cluster.Subnets, s.Interfaces = nil, nil
			s.VPCs = append(s.VPCs, snapshot.VPC{ID: "vpc-0cluster", CIDRs: []netip.Prefix{netip.MustParsePrefix("10.99.0.0/16")}})
			return s
		}},
		{"IPv6 cluster without a route to the internet over IPv6", "route/ipv6-no-egress", func() *snapshot.Snapshot {
			s := w.PrivateWithNAT()
			s.Cluster.IPv6, s.CNI.Env["ENABLE_IPv6"], s.CNI.Env["ENABLE_PREFIX_DELEGATION"] = true, "true", "true"
			w.Subnet(s, w.Private).IPv6 = []netip.Prefix{netip.MustParsePrefix("2600:1f14:0:ab00::/64")}
			return s
		}},
		{"IPv6 cluster, a subnet without an IPv6 range", "route/ipv6-no-egress", func() *snapshot.Snapshot {
			s := w.PrivateWithNAT()
			s.Cluster.IPv6, s.CNI.Env["ENABLE_IPv6"], s.CNI.Env["ENABLE_PREFIX_DELEGATION"] = true, "true", "true"
			return s
		}},
		{"default route into a peering connection", "route/no-egress", routes(w.PrivateRTB, w.Local(), w.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a"))},
		{"NAT gateway just deleted", "route/nat-unusable", func() *snapshot.Snapshot {
			s := routes(w.PrivateRTB, w.Local(), blackhole(toNAT))()
			s.NATGateways[0].State = "deleted"
			return s
		}},
		{"NAT gateway failed", "route/nat-unusable", func() *snapshot.Snapshot {
			s := w.PrivateWithNAT()
			s.NATGateways[0].State = "failed"
			return s
		}},
		{"NAT gateway without internet", "route/nat-no-internet", routes(w.PublicRTB, w.Local())},
		{"NAT gateway in a ring with itself", "route/nat-no-internet", routes(w.PublicRTB, w.Local(), toNAT)},
		{"no public address", "route/igw-no-public-ip", func() *snapshot.Snapshot {
			s := w.PublicOnly()
			w.Instance(s, w.Node).PublicIP = netip.Addr{}
			return s
		}},
		{"sts endpoint missing", "endpoint/missing", func() *snapshot.Snapshot {
			s := w.EndpointsOnly()
			s.Endpoints = slices.DeleteFunc(s.Endpoints, func(e snapshot.Endpoint) bool { return e.ID == "vpce-0sts" })
			return s
		}},
		{"S3 endpoint not in the table", "endpoint/s3-route-missing", func() *snapshot.Snapshot {
			s := w.EndpointsOnly()
			w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local()}
			s.Endpoints[4].RouteTables = nil
			return s
		}},
		{"its own system shut it down", "instance/ended-early", func() *snapshot.Snapshot {
			s := w.PrivateWithNAT()
			i := w.Instance(s, w.Node)
			i.State, i.Subnet = "terminated", ""
			i.StateReason = snapshot.StateReason{Code: "Client.InstanceInitiatedShutdown", When: i.Launched.Add(time.Minute)}
			return s
		}},
		{"subnet full", "ip/subnet-exhausted", func() *snapshot.Snapshot {
			s := w.PrivateWithNAT()
			w.Subnet(s, w.Private).Free = 0
			return s
		}},
	}
}

func TestOneFaultOneName(t *testing.T) {
	for _, tt := range faults() {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.world()
			w.Unjoin(s, w.Node)
			if tt.cause == "ip/subnet-exhausted" {
				// A full subnet keeps no running instance from registering,
				// but its pods, the network plugin's included, get nothing.
				s.Nodes = []snapshot.Node{{Name: "n", Instance: w.Node, Ready: snapshot.Condition{Status: "False"}}}
			}
			var certain []checks.ID
			d := diagnosis(s)
			for _, c := range d.Causes {
				if c.Confidence == checks.Certain {
					certain = append(certain, c.Check)
				}
			}
			if len(d.Causes) != 1 || !slices.Equal(certain, []checks.ID{tt.cause}) {
				t.Errorf("certain causes %q of %d causes, want only %q", certain, len(d.Causes), tt.cause)
				return
			}
			c := d.Causes[0]
			if !slices.Equal(c.Instances, []string{w.Node}) || !slices.Equal(c.Nodegroups, []string{w.Nodegroup}) {
				t.Errorf("instances %q of %q, want %q of %q", c.Instances, c.Nodegroups, w.Node, w.Nodegroup)
			}
			if tt.cause != "instance/ended-early" && len(c.Symptoms) != 1 {
				t.Errorf("symptoms %q, want one", c.Symptoms)
			}
			for _, p := range d.Passed {
				if p.Check == tt.cause && slices.ContainsFunc(p.Covers, func(id string) bool { return slices.Contains(c.Covers, id) }) {
					t.Errorf("%s fails and passes for %v", tt.cause, p.Covers)
				}
			}
		})
	}
}

func TestHealthyWorldsHaveNoCause(t *testing.T) {
	for name, s := range map[string]*snapshot.Snapshot{
		"private with NAT": w.PrivateWithNAT(), "public": w.PublicOnly(), "endpoints only": w.EndpointsOnly(), "main table": w.MainTable(),
	} {
		d := diagnosis(s)
		if len(d.Causes) > 0 || len(d.Unknown) > 0 {
			t.Errorf("%s: causes %v, unknown %v, want none", name, d.Causes, d.Unknown)
		}
	}
}

// Whatever cannot be read, a healthy world has no certain cause, and a check
// that needed it passes nothing.
func TestNoFalseAlarmWhenBlind(t *testing.T) {
	worlds := []func() *snapshot.Snapshot{w.PrivateWithNAT, w.PublicOnly, w.EndpointsOnly, w.MainTable}
	for n, world := range worlds {
		for i, a := range w.Sources() {
			for j, b := range w.Sources() {
				// Pairs in the first world alone, and of the network and the
				// cluster, which come first: of all there are seven hundred.
				if j < i || i != j && (n > 0 || j >= 13) {
					continue
				}
				s := world()
				w.Without(s, a)
				w.Without(s, b)
				d := diagnosis(s)
				if len(d.Causes) > 0 {
					t.Errorf("without %s and %s: %s, want no cause", a, b, line(d.Causes[0]))
				}
				for _, c := range checks.All() {
					blind := slices.Contains(c.Needs, a) || slices.Contains(c.Needs, b)
					passed := slices.ContainsFunc(d.Passed, func(p Passed) bool { return p.Check == c.ID })
					if blind && passed {
						t.Errorf("without %s and %s: %s passes", a, b, c.ID)
					}
				}
			}
		}
	}
}

// A broken world in which something else cannot be read never looks healthy.
func TestBlindIsNeverHealthy(t *testing.T) {
	for i, tt := range faults() {
		for j, source := range w.Sources() {
			if (i+j)%testfull.Of(1, 3) != 0 { // each fault and each source, in turn
				continue
			}
			s := tt.world()
			w.Unjoin(s, w.Node)
			w.Without(s, source)
			if d := diagnosis(s); len(d.Causes) == 0 && len(d.Unknown) == 0 {
				t.Errorf("%s without %s: neither a cause nor an unknown", tt.name, source)
			}
		}
	}
}

// burst is n instances launched at once into a subnet without a route to the internet.
func burst(n int) *snapshot.Snapshot {
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local()}
	for i := range n - 1 {
		w.Launch(s, fmt.Sprintf("i-%017x", i), w.Private, 6*time.Minute)
	}
	return s
}

func TestABurstIsOneCause(t *testing.T) {
	d := diagnosis(burst(200))
	if len(d.Causes) != 1 || len(d.Causes[0].Instances) != 200 {
		t.Fatalf("%d causes, the first with %d instances, want 1 with 200", len(d.Causes), len(d.Causes[0].Instances))
	}
}

func BenchmarkDiagnose(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		s := burst(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				diagnosis(s)
			}
		})
	}
}
