package path

import (
	"testing"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

func TestTable(t *testing.T) {
	s := w.PrivateWithNAT()
	s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0loose", VPC: w.VPC}, snapshot.Subnet{ID: "subnet-0abroad", VPC: "vpc-0other"})
	n := New(s)
	tests := []struct {
		subnet, want string
		fallback, ok bool
	}{
		{w.Private, w.PrivateRTB, false, true},
		{"subnet-0loose", w.MainRTB, true, true},
		{"subnet-0abroad", "", false, false},
		{"subnet-0unheard-of", "", false, false},
	}
	for _, tt := range tests {
		got, ok := n.Table(tt.subnet)
		if got.ID != tt.want || got.Fallback != tt.fallback || ok != tt.ok {
			t.Errorf("Table(%s) = %q, fallback %t, %t, want %q, %t, %t", tt.subnet, got.ID, got.Fallback, ok, tt.want, tt.fallback, tt.ok)
		}
	}
}

func TestInternet(t *testing.T) {
	private := func(rows ...snapshot.Route) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { w.Table(s, w.PrivateRTB).Routes = rows }
	}
	to := func(kind snapshot.TargetKind, id string) snapshot.Route { return w.To("0.0.0.0/0", kind, id) }
	dead := to(snapshot.ToNATGateway, "nat-0old")
	dead.State = "blackhole"
	tests := []struct {
		name    string
		change  func(*snapshot.Snapshot)
		verdict Verdict
		at      string
		want    string
	}{
		{"NAT gateway", func(*snapshot.Snapshot) {}, Reaches, w.IGW,
			"subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"},
		{"a NAT gateway with a proxy", func(s *snapshot.Snapshot) { s.NATGateways[0].Proxy = "arn:proxy" }, LeavesView, w.NAT,
			"subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a: what the proxy that is attached to it passes is not read (arn:proxy)"},
		{"a default route that the table filters", func(s *snapshot.Snapshot) { w.Table(s, w.PrivateRTB).Routes[1].State = "filtered" }, NoRoute, w.PrivateRTB, "subnet-0private → rtb-0private: no route"},
		{"local row only", private(w.Local()), NoRoute, w.PrivateRTB, "subnet-0private → rtb-0private: no route"},
		{"a table without rows", private(), NoRoute, w.PrivateRTB, "subnet-0private → rtb-0private: no route"},
		{"internet gateway", private(to(snapshot.ToInternetGateway, w.IGW)), NeedsPublicIP, w.IGW, "subnet-0private → rtb-0private 0.0.0.0/0 → igw-0a"},
		{"internet gateway of another VPC", func(s *snapshot.Snapshot) {
			private(to(snapshot.ToInternetGateway, w.IGW))(s)
			s.InternetGateways[0].Attached = []string{"vpc-0other"}
		}, Detached, w.IGW, "subnet-0private → rtb-0private 0.0.0.0/0 → igw-0a: it is not attached to vpc-0a"},
		{"deleted NAT gateway", private(dead), Blackhole, "nat-0old", "subnet-0private → rtb-0private 0.0.0.0/0 → nat-0old: blackhole"},
		{"transit gateway", private(to(snapshot.ToTransitGateway, "tgw-0a")), LeavesView, "tgw-0a",
			"subnet-0private → rtb-0private 0.0.0.0/0 → tgw-0a (transit gateway): what is behind the transit gateway is not read"},
		{"a target of a kind newer than this code", private(to(snapshot.ToUnknown, "new-0a")), LeavesView, "new-0a",
			"subnet-0private → rtb-0private 0.0.0.0/0 → new-0a (unknown target): what is behind the unknown target is not read"},
		{"halves that differ", private(w.To("0.0.0.0/1", snapshot.ToNATGateway, w.NAT), to(snapshot.ToTransitGateway, "tgw-0a")), LeavesView, w.PrivateRTB,
			"subnet-0private → rtb-0private: it sends parts of the internet different ways"},
		{"a prefix list whose entries are not read", private(w.Local(), snapshot.Route{PrefixList: "pl-0a", State: "active", Target: snapshot.Target{Kind: snapshot.ToTransitGateway, ID: "tgw-0a"}}), LeavesView, "tgw-0a",
			"subnet-0private → rtb-0private: the entries of the prefix list are not read (pl-0a → tgw-0a)"},
		{"NAT gateways in a ring", func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", VPC: w.VPC, Subnet: w.Private, State: "available", Public: true})
			w.Table(s, w.PublicRTB).Routes = []snapshot.Route{to(snapshot.ToNATGateway, "nat-0b")}
		}, NATNoInternet, w.NAT,
			"subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → nat-0b (available, us-west-2a) → subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a (available, us-west-2a): its own subnet's route leads to nat-0b and not to an internet gateway"},
		{"a private NAT gateway behind which a public one works", func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0p", VPC: w.VPC, Subnet: "subnet-0mid", State: "available"})
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0mid", VPC: w.VPC})
			s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: "rtb-0mid", VPC: w.VPC, Subnets: []string{"subnet-0mid"}, Routes: []snapshot.Route{to(snapshot.ToNATGateway, w.NAT)}})
			private(to(snapshot.ToNATGateway, "nat-0p"))(s)
		}, Reaches, w.IGW,
			"subnet-0private → rtb-0private 0.0.0.0/0 → nat-0p (available, private) → subnet-0mid → rtb-0mid 0.0.0.0/0 → nat-0a (available, us-west-2a) → subnet-0public → rtb-0public 0.0.0.0/0 → igw-0a"},
		{"NAT gateways unread", func(s *snapshot.Snapshot) { w.Without(s, snapshot.NATGateways) }, LeavesView, w.NAT,
			"subnet-0private → rtb-0private 0.0.0.0/0 → nat-0a: the NAT gateways were not read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			tt.change(s)
			got := New(s).Internet(w.Private)
			if got.Verdict != tt.verdict || got.At != tt.at {
				t.Errorf("Internet = %q at %q, want %q at %q", got.Verdict, got.At, tt.verdict, tt.at)
			}
			if got.String() != tt.want {
				t.Errorf("way = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWorkingNATs(t *testing.T) {
	s := w.PrivateWithNAT()
	nat := func(id, zone, state string) snapshot.NATGateway {
		return snapshot.NATGateway{ID: id, VPC: w.VPC, Subnet: w.Public, State: state, Public: true, Zone: zone}
	}
	s.NATGateways = append(s.NATGateways, nat("nat-0c", "us-west-2b", "available"), nat("nat-0b", "us-west-2b", "failed"),
		snapshot.NATGateway{ID: "nat-0d", VPC: w.VPC, Subnet: "subnet-0unknown", State: "available", Public: true, Zone: "us-west-2b"},
		snapshot.NATGateway{ID: "nat-0e", VPC: "vpc-0other", Subnet: w.Public, State: "available", Public: true, Zone: "us-west-2b"})
	var got []string
	for _, nat := range New(s).WorkingNATs(w.VPC, "us-west-2b") {
		got = append(got, nat.ID)
	}
	if want := []string{"nat-0c", "nat-0a"}; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("WorkingNATs = %q, want %q", got, want)
	}
}

func TestEndpointsOfAnyPartition(t *testing.T) {
	s := w.PrivateWithNAT()
	for _, service := range []string{"com.amazonaws.us-west-2.ecr.api", "cn.com.amazonaws.us-west-2.sts", "com.amazonaws.us-west-2.s3express", "com.amazonaws.us-east-1.ec2", "com.amazonaws.us-west-2.ec2-fips"} {
		s.Endpoints = append(s.Endpoints, snapshot.Endpoint{ID: service, VPC: w.VPC, Service: service})
	}
	n := New(s)
	for service, want := range map[Service]int{ECRAPI: 1, STS: 1, S3: 0, EC2: 0} {
		if got := len(n.Endpoints(w.VPC, service)); got != want {
			t.Errorf("%d endpoints for %s, want %d", got, service, want)
		}
	}
}
