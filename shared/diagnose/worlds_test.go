package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/testfull"
)

func diagnosed(s *snapshot.Snapshot) diagnosis.Diagnosis {
	// What only sees ahead explains no launch: subnet-watch judges it by itself.
	all := slices.DeleteFunc(checks.All(), func(c check.Check) bool { return c.Predictive && !strings.Contains(string(c.ID), "leak") })
	return Rank(all, check.Eval(all, s), s)
}

// faults are single faults: how a healthy world is broken, and the one cause
// that must be named, first and alone among the certain ones.
func faults() []struct {
	name  string
	cause checkid.ID
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
		cause checkid.ID
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
			var certain []checkid.ID
			d := diagnosed(s)
			for _, c := range d.Causes {
				if c.Confidence == finding.Certain {
					certain = append(certain, c.Check)
				}
			}
			if len(d.Causes) != 1 || !slices.Equal(certain, []checkid.ID{tt.cause}) {
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
		d := diagnosed(s)
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
				d := diagnosed(s)
				if len(d.Causes) > 0 {
					t.Errorf("without %s and %s: %s, want no cause", a, b, line(d.Causes[0]))
				}
				for _, c := range checks.All() {
					blind := slices.Contains(c.Needs, a) || slices.Contains(c.Needs, b)
					passed := slices.ContainsFunc(d.Passed, func(p diagnosis.Passed) bool { return p.Check == c.ID })
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
			if (i+j)%testfull.Count(1, 3) != 0 { // each fault and each source, in turn
				continue
			}
			s := tt.world()
			w.Unjoin(s, w.Node)
			w.Without(s, source)
			if d := diagnosed(s); len(d.Causes) == 0 && len(d.Unknown) == 0 {
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
	d := diagnosed(burst(200))
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
				diagnosed(s)
			}
		})
	}
}

// said is what a diagnosis says, in short.
type said struct {
	Causes       []string // "check resource", in their order
	Hidden       []diagnosis.Hidden
	Contributing []checkid.ID
	Symptoms     []checkid.ID
}

func short(d diagnosis.Diagnosis) said {
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
			Symptoms: []checkid.ID{"node/not-registered"},
		}},
		{"full subnet and no route to the internet, registered", list{full, noWayOut, unready}, said{
			Causes:   []string{none, "ip/subnet-exhausted " + w.Private},
			Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"tight subnet and no route to the internet", list{tight, noWayOut}, said{
			// Advice: it keeps no node from joining.
			Causes:   []string{none, "ip/subnet-exhausted " + w.Private},
			Symptoms: []checkid.ID{"node/not-registered"},
		}},
		{"tight subnet and no route to the internet, registered", list{tight, noWayOut, unready}, said{
			Causes:       []string{none},
			Contributing: []checkid.ID{"ip/subnet-exhausted"},
			Symptoms:     []checkid.ID{"node/not-ready"},
		}},
		{"full subnet, registered and not ready", list{full, unready}, said{
			Causes:   []string{"ip/subnet-exhausted " + w.Private},
			Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"tight subnet, registered and not ready", list{tight, unready}, said{
			Causes:   []string{"ip/subnet-exhausted " + w.Private},
			Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"reclaimed in a subnet without a route to the internet", list{noWayOut, reclaimed}, said{
			// What EC2 takes back flags no node, and hides nothing of the subnet.
			Causes: []string{none, "spot/reclaimed-before-join " + w.Nodegroup},
		}},
		{"one reclaimed, one waiting in a subnet without a route to the internet", list{noWayOut, reclaimed, another}, said{
			Causes:   []string{none, "spot/reclaimed-before-join " + w.Nodegroup},
			Symptoms: []checkid.ID{"node/not-registered"},
		}},
		{"reclaimed in a full subnet", list{full, reclaimed}, said{
			Causes: []string{"ip/subnet-exhausted " + w.Private, "spot/reclaimed-before-join " + w.Nodegroup},
		}},
		{"blackhole in a VPC with one endpoint", list{hole, endpointFor("ec2")}, said{
			// The way out is there and broken: not private by design.
			Causes:   []string{"route/blackhole " + w.PrivateRTB},
			Symptoms: []checkid.ID{"node/not-registered"},
		}},
		{"no route to the internet in a VPC with one endpoint", list{noWayOut, endpointFor("ec2")}, said{
			Causes:   []string{"endpoint/missing " + w.VPC},
			Symptoms: []checkid.ID{"node/not-registered"},
		}},
		{"failed NAT gateway whose subnet has no route to the internet either", list{natFailed, natStuck}, said{
			Causes:   []string{"route/nat-unusable " + w.NAT},
			Symptoms: []checkid.ID{"node/not-registered"},
		}},
		{"no route to the internet, in an IPv6 cluster without a route to the internet over IPv6 either", list{noWayOut, func(s *snapshot.Snapshot) {
			s.Cluster.IPv6, s.CNI.Env["ENABLE_IPv6"], s.CNI.Env["ENABLE_PREFIX_DELEGATION"] = true, "true", "true"
			w.Subnet(s, w.Private).IPv6 = []netip.Prefix{netip.MustParsePrefix("2600:1f14:0:ab00::/64")}
		}}, said{
			Causes: []string{none},
			Hidden: []diagnosis.Hidden{{Check: "route/ipv6-no-egress", Because: "route/no-egress"}},
			// The role lacks what the network plugin needs for IPv6.
			Contributing: []checkid.ID{"iam/role-policies"},
			Symptoms:     []checkid.ID{"node/not-registered"},
		}},
		{"no route to the internet, and the public endpoint admits others only", list{noWayOut, func(s *snapshot.Snapshot) {
			s.Cluster.PublicAccessCIDRs = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
		}}, said{Causes: []string{none}, Symptoms: []checkid.ID{"node/not-registered"}}},
		{"default route into a peering connection, in a VPC with one endpoint", list{func(s *snapshot.Snapshot) {
			w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local(), w.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a")}
		}, endpointFor("ec2")}, said{
			Causes:   []string{none},
			Hidden:   []diagnosis.Hidden{{Check: "endpoint/missing", Because: "route/no-egress"}},
			Symptoms: []checkid.ID{"node/not-registered"},
		}},
		{"stuck NAT gateway and a full subnet", list{natStuck, full}, said{
			Causes:   []string{"route/nat-no-internet " + w.NAT, "ip/subnet-exhausted " + w.Private},
			Symptoms: []checkid.ID{"node/not-registered"},
		}},
		{"failed NAT gateway, registered and not ready", list{natFailed, unready}, said{
			Causes:   []string{"route/nat-unusable " + w.NAT},
			Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"blackhole in one subnet, a full other one", list{hole, func(s *snapshot.Snapshot) {
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0z", VPC: w.VPC, Zone: "us-west-2b", CIDR: netip.MustParsePrefix("10.42.64.0/19")})
			s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: "rtb-0z", VPC: w.VPC, Subnets: []string{"subnet-0z"}, Routes: []snapshot.Route{w.Local(), w.To("0.0.0.0/0", snapshot.ToNATGateway, w.NAT)}})
			w.Launch(s, "i-0z", "subnet-0z", 10*time.Minute)
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "z", Instance: "i-0z", Ready: snapshot.Condition{Status: "False"}})
		}}, said{
			// The other subnet's gateway is in another zone: advice.
			Causes:   []string{"route/blackhole " + w.PrivateRTB, "ip/subnet-exhausted subnet-0z", "route/cross-zone-nat rtb-0z"},
			Symptoms: []checkid.ID{"node/not-registered", "node/not-ready"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Unjoin(s, w.Node)
			for _, breakIt := range tt.faults {
				breakIt(s)
			}
			if diff := cmp.Diff(tt.want, short(diagnosed(s))); diff != "" {
				t.Errorf("diagnosis (-want +got):\n%s", diff)
			}
		})
	}
}

// What an instance was started with, broken in one way: the cause is named
// first and alone among the certain ones, and nothing else is certain.
func TestOneFaultOfAStartHasOneName(t *testing.T) {
	const other = "https://FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF.gr7.us-west-2.eks.amazonaws.com"
	replace := func(old, with string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.UserData[0].Data = []byte(strings.Replace(string(s.UserData[0].Data), old, with, 1))
		}
	}
	data := func(text string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.UserData[0].Data = []byte(text) }
	}
	both := func(list ...func(*snapshot.Snapshot)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for _, f := range list {
				f(s)
			}
		}
	}
	custom := func(s *snapshot.Snapshot) { s.Nodegroups[0].AMIType = "CUSTOM" }
	al2 := func(s *snapshot.Snapshot) {
		s.Nodegroups[0].AMIType = "AL2_x86_64"
		s.Images[0].Name = "amazon-eks-node-1.35-v20261112"
	}
	tests := []struct {
		name  string
		cause checkid.ID
		fault func(*snapshot.Snapshot)
	}{
		{"cluster name", "instance/user-data", replace("name: prod", "name: staging")},
		{"endpoint", "instance/user-data", replace(w.Endpoint, other)},
		{"authority", "instance/user-data", replace("Ck1JSUIK", "Ck1JSUMK")},
		{"service range that is none", "instance/user-data", replace("172.20.0.0/16", "172.20.0.0")},
		{"apiVersion", "instance/user-data", replace("v1alpha1", "v1alpha")},
		{"MIME", "instance/user-data", replace("--//\n", "--//\nContent-Type: text/x-shellscript\n#!/bin/bash\n--//\n")},
		{"bootstrap.sh on Amazon Linux 2023", "instance/user-data", data("#!/bin/bash\n/etc/eks/bootstrap.sh prod\n")},
		{"NodeConfig on Amazon Linux 2", "instance/user-data", al2},
		{"nothing on an image that EKS does not choose", "instance/user-data", both(custom, data(""))},
		{"label in the user data", "instance/forbidden-node-label", replace("--node-labels=", "--node-labels=node-role.kubernetes.io/worker=,")},
		{"label in the user data, and another cluster's name", "instance/forbidden-node-label", both(replace("name: prod", "name: staging"), replace("--node-labels=", "--node-labels=k8s.io/x=y,"))},
		{"label in the node group", "instance/forbidden-node-label", both(replace("--node-labels=eks.amazonaws.com/nodegroup=workers,eks.amazonaws.com/capacityType=ON_DEMAND", "--v=2"), func(s *snapshot.Snapshot) {
			s.Nodegroups[0].Labels = map[string]string{"node-role.kubernetes.io/worker": ""}
		})},
		{"metadata service off", "instance/imds", func(s *snapshot.Snapshot) { w.Instance(s, w.Node).Metadata.Endpoint = "disabled" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Unjoin(s, w.Node)
			tt.fault(s)
			d := diagnosed(s)
			var certain []checkid.ID
			for _, c := range d.Causes {
				if c.Confidence == finding.Certain {
					certain = append(certain, c.Check)
				}
			}
			if !slices.Equal(certain, []checkid.ID{tt.cause}) || d.Causes[0].Check != tt.cause {
				t.Fatalf("causes %v, want only %s certain", short(d).Causes, tt.cause)
			}
			if c := d.Causes[0]; !slices.Equal(c.Instances, []string{w.Node}) || !slices.Equal(c.Symptoms, []checkid.ID{"node/not-registered"}) {
				t.Errorf("instances %q, symptoms %q", c.Instances, c.Symptoms)
			}
		})
	}
}

// A fault of the network is not blamed on how the instance was started, and
// weaker findings on the start only contribute to it.
func TestStartContributesToCertainCauses(t *testing.T) {
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local()}
	i := w.Instance(s, w.Node)
	i.Metadata.HopLimit = 1
	i.Groups = []string{"sg-0mine"}
	s.LaunchTemplates[0].Groups = []string{"sg-0mine"}
	got := short(diagnosed(s))
	if len(got.Causes) == 0 || got.Causes[0] != "route/no-egress "+w.PrivateRTB {
		t.Fatalf("causes %q, want route/no-egress first", got.Causes)
	}
	for _, id := range []checkid.ID{"instance/imds", "instance/foreign-security-groups"} {
		if !slices.Contains(got.Contributing, id) {
			t.Errorf("contributing %q, want %s among them", got.Contributing, id)
		}
	}
}
