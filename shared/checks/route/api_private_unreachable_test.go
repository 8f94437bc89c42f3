package route

import (
	"net/netip"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

const clusterVPC = "vpc-0cluster"

// apart is a cluster with a private endpoint only, in a VPC of its own that an
// active peering connection joins to the nodes'; the rows are added to the
// nodes' table, and back to those of the cluster's subnet.
func apart(there []snapshot.Route, back ...snapshot.Route) *snapshot.Snapshot {
	s := checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late)
	s.Cluster.VPC, s.Cluster.EndpointPrivate, s.Cluster.EndpointPublic = clusterVPC, true, false
	s.Cluster.Subnets, s.Interfaces = []string{"subnet-0control"}, nil
	theirs := netip.MustParsePrefix("10.99.0.0/16")
	s.VPCs = append(s.VPCs, snapshot.VPC{ID: clusterVPC, CIDRs: []netip.Prefix{theirs}})
	s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0control", VPC: clusterVPC, CIDR: netip.MustParsePrefix("10.99.1.0/24")})
	s.RouteTables = append(s.RouteTables, snapshot.RouteTable{
		ID: "rtb-0control", VPC: clusterVPC, Main: true, Routes: append([]snapshot.Route{snapshottest.To("10.99.0.0/16", snapshot.ToLocal, "local")}, back...),
	})
	s.Peerings = []snapshot.Peering{{
		ID: "pcx-0a", State: "active",
		Requester: snapshot.PeerVPC{VPC: snapshottest.VPC, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.42.0.0/16")}},
		Accepter:  snapshot.PeerVPC{VPC: clusterVPC, CIDRs: []netip.Prefix{theirs}},
	}}
	t := snapshottest.Table(s, snapshottest.PrivateRTB)
	t.Routes = append(t.Routes, there...)
	return s
}

func TestApiPrivateUnreachable(t *testing.T) {
	checktest.RunCases(t, APIPrivateUnreachable(), apiPrivateUnreachableCases())
}

func apiPrivateUnreachableCases() []checktest.Case {
	to := []snapshot.Route{snapshottest.To("10.99.0.0/16", snapshot.ToPeering, "pcx-0a")}
	back := snapshottest.To("10.42.0.0/16", snapshot.ToPeering, "pcx-0a")
	pass := []string{"pass rtb-0private [subnet-0private]"}
	fail := []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private cannot reach the private API in vpc-0cluster"}
	return []checktest.Case{
		{"in the cluster's VPC", snapshottest.EndpointsOnly(), pass},
		{"peered, routes both ways", apart(to, back), pass},
		{"no route there: the NAT gateway carries no private addresses", apart(nil, back), fail},
		{"no route is seen, and its nodes are Ready", checktest.Change(apart(nil, back), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"no route back", apart(to), []string{"fail rtb-0control [subnet-0private] [i-0node] subnet-0private cannot reach the private API in vpc-0cluster"}},
		{"the peering connection was deleted", checktest.Change(apart(to, back), func(s *snapshot.Snapshot) { s.Peerings[0].State = "deleted" }), fail},
		{"a peering connection with a third VPC", checktest.Change(apart(to, back), func(s *snapshot.Snapshot) { s.Peerings[0].Accepter.VPC = "vpc-0third" }), fail},
		{"peerings unread", checktest.Change(apart(to, back), checktest.Unread(snapshot.Peerings)), []string{"unknown pcx-0a [subnet-0private] vpc peering connections: denied"}},
		{"through a transit gateway of another account", apart([]snapshot.Route{snapshottest.To("10.99.0.0/16", snapshot.ToTransitGateway, "tgw-0a")}), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"nothing is known of the cluster's VPC", checktest.Change(apart(nil), func(s *snapshot.Snapshot) {
			s.VPCs, s.Cluster.Subnets = s.VPCs[:1], nil
		}), []string{"unknown vpc-0cluster [subnet-0private] route tables: not read: vpc-0cluster: the cluster's private endpoint is in vpc-0cluster, whose addresses are not read"}},
		{"public too: nodes outside of the VPC use that", checktest.Change(apart(nil), func(s *snapshot.Snapshot) { s.Cluster.EndpointPublic = true }), pass},
		{"the ranges overlap", checktest.Change(apart(to, back), func(s *snapshot.Snapshot) {
			snapshottest.Subnet(s, "subnet-0control").CIDR = netip.MustParsePrefix("10.42.1.0/24")
		}), fail},
		{"route tables unread", checktest.Change(apart(to, back), checktest.Unread(snapshot.RouteTables)), []string{"unknown prod [] route tables: denied"}},
	}
}

func TestAPIPrivateUnreachableFix(t *testing.T) {
	to, gone := snapshottest.To("10.99.0.0/16", snapshot.ToPeering, "pcx-0a"), snapshottest.To("10.42.0.0/16", snapshot.ToPeering, "pcx-0gone")
	gone.State = "blackhole"
	for name, x := range map[string]struct {
		world *snapshot.Snapshot
		want  string
	}{
		"no route there":                      {apart(nil), "aws ec2 create-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 10.99.0.0/16 --vpc-peering-connection-id pcx-0a"},
		"no route back":                       {apart([]snapshot.Route{to}), "aws ec2 create-route --region us-west-2 --route-table-id rtb-0control --destination-cidr-block 10.42.0.0/16 --vpc-peering-connection-id pcx-0a"},
		"the route back leads to one deleted": {apart([]snapshot.Route{to}, gone), "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0control --destination-cidr-block 10.42.0.0/16 --vpc-peering-connection-id pcx-0a"},
	} {
		if got := checktest.Failed(t, APIPrivateUnreachable(), x.world).Fix; got.Command != x.want {
			t.Errorf("%s: Command = %q, want %q", name, got.Command, x.want)
		}
	}
}
