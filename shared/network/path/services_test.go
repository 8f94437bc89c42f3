package path

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

func TestServiceNames(t *testing.T) {
	for service, want := range map[Service]string{
		API: "the cluster API", EC2: "EC2", ECRAPI: "ECR (api)", ECRDKR: "ECR (dkr)", S3: "S3", STS: "STS", EKS: "EKS", "sqs": "sqs",
	} {
		if got := service.Name(); got != want {
			t.Errorf("%s is called %q, want %q", string(service), got, want)
		}
	}
}

// The way out comes with the addresses, whether or not they are known.
func TestLeavesFromSaysTheWay(t *testing.T) {
	for name, test := range map[string]struct {
		world  *snapshot.Snapshot
		subnet string
		want   Verdict
	}{
		"a NAT gateway":            {w.PrivateWithNAT(), w.Private, Reaches},
		"an internet gateway":      {w.PublicOnly(), w.Public, NeedsPublicIP},
		"no route to the internet": {change(w.PrivateWithNAT(), rows()), w.Private, NoRoute},
	} {
		if _, way := New(test.world).LeavesFrom(test.subnet, netip.MustParseAddr("203.0.113.99")); way.Verdict != test.want {
			t.Errorf("%s: %s, want %s", name, way.Verdict, test.want)
		}
	}
}

// What wins for a service: an endpoint with private DNS, a gateway endpoint in
// the table, a row for the service's own list, the way to the internet.
func TestWhatWins(t *testing.T) {
	const list = "pl-0s3"
	s3 := func(target snapshot.TargetKind, id, state string) snapshot.Route {
		return snapshot.Route{PrefixList: list, State: state, Target: snapshot.Target{Kind: target, ID: id}}
	}
	nat := w.To("0.0.0.0/0", snapshot.ToNATGateway, w.NAT)
	gateway := snapshot.Endpoint{ID: "vpce-0s3", VPC: w.VPC, Service: "com.amazonaws.us-west-2.s3", Kind: "Gateway", State: "available"}
	with := func(change func(*snapshot.Endpoint)) []snapshot.Endpoint {
		e := gateway
		change(&e)
		return []snapshot.Endpoint{e}
	}
	isInterface := func(dns bool) []snapshot.Endpoint {
		return with(func(e *snapshot.Endpoint) { e.Kind, e.PrivateDNS, e.Subnets = "Interface", dns, []string{w.Private} })
	}
	for _, test := range []struct {
		name      string
		rows      []snapshot.Route
		endpoints []snapshot.Endpoint
		means     Means
		want      told
	}{
		{"the way to the internet", []snapshot.Route{nat}, nil, ByInternet,
			told{Reaches, w.IGW, w.PublicRTB, "", "203.0.113.7 ", toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"a gateway endpoint", []snapshot.Route{nat, s3(snapshot.ToEndpoint, gateway.ID, "active")}, with(func(*snapshot.Endpoint) {}), ByGateway,
			told{Reaches, gateway.ID, "", "", "", "subnet-0private → rtb-0private pl-0s3 → vpce-0s3"}},
		{"a gateway endpoint whose row is a blackhole", []snapshot.Route{nat, s3(snapshot.ToEndpoint, gateway.ID, blackhole)}, with(func(*snapshot.Endpoint) {}), ByGateway,
			told{Blackhole, gateway.ID, "", "", "", "subnet-0private → rtb-0private pl-0s3 → vpce-0s3: blackhole"}},
		{"an interface endpoint with private DNS", []snapshot.Route{nat}, isInterface(true), ByInterface,
			told{Reaches, gateway.ID, "", "", "", "subnet-0private → rtb-0private local → vpce-0s3 (private DNS)"}},
		{"an interface endpoint without", []snapshot.Route{nat, w.To("10.99.0.0/16", snapshot.ToEndpoint, gateway.ID)}, isInterface(false), ByInternet,
			told{Reaches, w.IGW, w.PublicRTB, "", "203.0.113.7 ", toHop + "nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"}},
		{"a gateway endpoint that says it has private DNS", []snapshot.Route{nat, s3(snapshot.ToEndpoint, gateway.ID, "active")}, with(func(e *snapshot.Endpoint) { e.PrivateDNS = true }), ByGateway,
			told{Reaches, gateway.ID, "", "", "", "subnet-0private → rtb-0private pl-0s3 → vpce-0s3"}},
		{"a firewall for the service's list", []snapshot.Route{nat, s3(snapshot.ToLocalGateway, "lgw-0a", "active")}, nil, ByInternet,
			told{LeavesView, "lgw-0a", "rtb-0private", "", "", "subnet-0private → rtb-0private pl-0s3 → lgw-0a (local gateway): what is behind the local gateway is not read"}},
		{"a middlebox before an interface endpoint", []snapshot.Route{nat, w.To("10.43.0.0/24", snapshot.ToEndpoint, "x"),
			w.To("10.42.0.0/24", snapshot.ToEndpoint, "y"), w.To("10.42.192.0/20", snapshot.ToEndpoint, "vpce-0fw")}, isInterface(true), ByInterface,
			told{LeavesView, "vpce-0fw", "", "", "", "subnet-0private → rtb-0private 10.42.192.0/20 → vpce-0fw (vpc endpoint): what is behind the vpc endpoint is not read"}},
	} {
		s := w.PrivateWithNAT()
		rows(test.rows...)(s)
		s.Endpoints, s.PrefixLists = test.endpoints, []snapshot.PrefixList{{ID: list, Name: "com.amazonaws." + s.Region + ".s3"}}
		paths, _ := New(s).Needs(w.Private)
		p := paths[slices.IndexFunc(paths, func(p Path) bool { return p.Service == S3 })]
		if diff := cmp.Diff(test.want, tell(p.Way)); diff != "" || p.Means != test.means {
			t.Errorf("%s: by %s, want %s (-want +got):\n%s", test.name, p.Means, test.means, diff)
		}
	}
	// A row for another service's list is none for this one.
	s := w.PrivateWithNAT()
	rows(nat, s3(snapshot.ToLocalGateway, "lgw-0a", "active"))(s)
	s.PrefixLists = []snapshot.PrefixList{{ID: list, Name: "com.amazonaws." + s.Region + ".dynamodb"}}
	paths, _ := New(s).Needs(w.Private)
	p := paths[slices.IndexFunc(paths, func(p Path) bool { return p.Service == S3 })]
	if p.Verdict != Reaches {
		t.Errorf("by a row for DynamoDB: %s", p.Way)
	}
	s.PrefixLists[0].Name = "com.amazonaws." + s.Region + ".s3"
	paths, _ = New(s).Needs(w.Private)
	p = paths[slices.IndexFunc(paths, func(p Path) bool { return p.Service == S3 })]
	if p.Row.PrefixList != list {
		t.Errorf("by a row for S3, it is told as %+v", p.Row)
	}
	// A subnet of IPv6 alone has no range here.
	s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0six", VPC: w.VPC})
	if diff := cmp.Diff([]netip.Prefix{prefix("10.42.192.0/19")}, New(s).cidrs([]string{"subnet-0six", w.Private, "subnet-0none"}), byValue); diff != "" {
		t.Errorf("ranges (-want +got):\n%s", diff)
	}
	// A list whose entries could not be read may hold the way out.
	s = w.PrivateWithNAT()
	rows(snapshot.Route{PrefixList: "pl-0mine", State: "active", Target: snapshot.Target{Kind: snapshot.ToNATGateway, ID: w.NAT}})(s)
	w.Without(s, snapshot.PrefixListEntries)
	if way := New(s).Internet(w.Private); way.Verdict != LeavesView || way.Unread != snapshot.PrefixListEntries {
		t.Errorf("a list that is not read: %s, unread %q", way, way.Unread)
	}
	// A private NAT gateway is not to blame for the instance behind it.
	s = w.PrivateWithNAT()
	s.NATGateways[0].Public = false
	s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0nat", VPC: w.VPC, Subnet: w.Public, Status: "in-use", SourceCheck: true})
	w.Table(s, w.PublicRTB).Routes = []snapshot.Route{w.To("0.0.0.0/0", snapshot.ToInterface, "eni-0nat")}
	if way := New(s).Internet(w.Private); way.Verdict != NATInstance || way.At != "eni-0nat" {
		t.Errorf("an instance behind a private NAT gateway: %s at %s", way, way.At)
	}
	if _, known := New(change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.RouteTables = nil })).Needs(w.Private); known {
		t.Error("a subnet without a table has paths")
	}
}
