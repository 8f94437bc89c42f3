package addnatroute

import (
	"rollcall/shared/checks"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrongTargets(t *testing.T) {
	p := remedytest.Refuses(t, Remedy(), noWayOut, checks.All(), []remedytest.Wrong{
		{"the table is gone", func(_ *snapshot.Snapshot, of *action.Subject) { of.Resource = "rtb-0gone" }, action.Gone},
		{"the table of another VPC", table(func(x *snapshot.RouteTable) { x.VPC = "vpc-0b" }), action.OtherVPC},
		{"the main table", table(func(x *snapshot.RouteTable) { x.Main = true }), MainTable},
		{"a table that nothing uses", table(func(x *snapshot.RouteTable) { x.Subnets = nil }), action.NothingToDo},
		{"another account's VPC", func(s *snapshot.Snapshot, _ *action.Subject) { s.VPCs[0].Owner = "999999999999" }, action.SharedVPC},
		{"a shared subnet", subnet(newSubnet, func(x *snapshot.Subnet) { x.ARN = "arn:aws:ec2:us-west-2:999999999999:subnet/subnet-0new" }), action.SharedVPC},
		{"another cluster's table", table(func(x *snapshot.RouteTable) { x.Tags["kubernetes.io/cluster/dev"] = "owned" }), action.OtherCluster},
		{"isolated, by its name", table(func(x *snapshot.RouteTable) { x.Name = "vpc-IsolatedSubnet1" }), Isolated},
		{"isolated, by Terraform's word", table(func(x *snapshot.RouteTable) { x.Tags["Name"] = "main-intra-us-west-2b" }), Isolated},
		{"isolated, by CDK's tag", subnet(newSubnet, func(x *snapshot.Subnet) { x.Tags = map[string]string{"aws-cdk:subnet-type": "Isolated"} }), Isolated},

		{"a default route", row("0.0.0.0/0", snapshot.ToNATGateway, "nat-0other"), HasDefault},
		{"a default route to an internet gateway", row("0.0.0.0/0", snapshot.ToInternetGateway, snapshottest.IGW), HasDefault},
		{"half a default route", row("128.0.0.0/1", snapshot.ToVPNGateway, "vgw-0a"), HasDefault},
		{"a default route for IPv6", row("::/0", snapshot.ToEgressOnly, "eigw-0a"), HasDefault},
		{"a blackhole", func(s *snapshot.Snapshot, _ *action.Subject) {
			r := snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0gone")
			r.State = "blackhole"
			x := snapshottest.Table(s, newTable)
			x.Routes = append(x.Routes, r)
		}, Blackhole},
		{"a way into a transit gateway", row("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a"), LeadsElsewhere},
		{"a way into a peering", row("10.99.0.0/16", snapshot.ToPeering, "pcx-0a"), LeadsElsewhere},
		{"a way of a kind that is not known", row("10.99.0.0/16", snapshot.ToUnknown, "zzz-0a"), LeadsElsewhere},
		{"a firewall's endpoint", row("10.42.0.0/19", snapshot.ToEndpoint, "vpce-0fw"), LeadsElsewhere},
		{"a row of nothing", table(func(x *snapshot.RouteTable) {
			x.Routes = append(x.Routes, snapshot.Route{Target: snapshot.Target{Kind: snapshot.ToLocal, ID: "local"}})
		}), action.CouldNotLook},

		{"a public subnet", subnet(newSubnet, func(x *snapshot.Subnet) { x.AssignPublicIP = true }), PublicSubnet},
		{"a subnet for public load balancers", subnet(newSubnet, func(x *snapshot.Subnet) { x.Tags = map[string]string{"kubernetes.io/role/elb": "1"} }), PublicSubnet},
		{"a subnet that was not read", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Subnet(s, newSubnet).ID = "subnet-0x" }, action.CouldNotLook},
		{"the NAT gateway's own subnet", table(func(x *snapshot.RouteTable) { x.Subnets = append(x.Subnets, snapshottest.Public) }), PublicSubnet},
		{"the NAT gateway's own subnet, which assigns no addresses", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.NATGateways[0].Subnet = newSubnet
		}, NATStandsHere},
		{"a subnet of a database too", func(s *snapshot.Snapshot, _ *action.Subject) {
			other := *snapshottest.Subnet(s, newSubnet)
			other.ID = "subnet-0db"
			s.Subnets = append(s.Subnets, other)
			x := snapshottest.Table(s, newTable)
			x.Subnets = append(x.Subnets, other.ID)
		}, ServesOthers},
		{"the subnets have another table now", func(s *snapshot.Snapshot, of *action.Subject) {
			s.Groups[0].Subnets = append(s.Groups[0].Subnets, newSubnet)
			of.Covers = []string{snapshottest.Private}
		}, action.NotSo},

		{"no NAT gateway", func(s *snapshot.Snapshot, _ *action.Subject) { s.NATGateways = nil }, NoNAT},
		{"a private NAT gateway", nat(func(n *snapshot.NATGateway) { n.Public = false }), NoNAT},
		{"a NAT gateway on its way", nat(func(n *snapshot.NATGateway) { n.State = "pending" }), NoNAT},
		{"a NAT gateway that failed", nat(func(n *snapshot.NATGateway) { n.State = "failed" }), NoNAT},
		{"a NAT gateway of another VPC", nat(func(n *snapshot.NATGateway) { n.VPC = "vpc-0b" }), NoNAT},
		{"a NAT gateway without an internet gateway", func(s *snapshot.Snapshot, _ *action.Subject) { s.InternetGateways[0].Attached = nil }, NoNAT},
		{"a NAT gateway whose own table has no route to the internet", func(s *snapshot.Snapshot, _ *action.Subject) {
			snapshottest.Table(s, snapshottest.PublicRTB).Routes = []snapshot.Route{snapshottest.Local()}
		}, NoNAT},

		{"another check", func(_ *snapshot.Snapshot, of *action.Subject) { of.Check = "sg/node-egress" }, action.NotSo},
		{"user data that names a proxy: not certain", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.UserData[0].Data = []byte("#!/bin/bash\nexport HTTPS_PROXY=http://proxy:3128\n")
		}, action.NotCertain},
		{"a shared endpoint service may be there", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Endpoints = snapshottest.EndpointsOnly().Endpoints
			s.Cluster.EndpointPublic, s.Cluster.EndpointPrivate = false, true
		}, action.NotSo},
	})
	want := &Plan{VPC: snapshottest.VPC, Table: newTable, Destination: "0.0.0.0/0", NAT: snapshottest.NAT, NATZone: snapshottest.Zone, Zones: []string{"us-west-2b"}, Subnets: []string{newSubnet}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	w := remedytest.Words(t, Remedy(), p)
	for _, text := range []struct{ got, want string }{
		{w.Title, "Add 0.0.0.0/0 → nat-0a to rtb-0new"},
		{w.Commands[0], "aws ec2 create-route --region us-west-2 --route-table-id rtb-0new --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0a"},
		{w.Undo[0], "aws ec2 delete-route --region us-west-2 --route-table-id rtb-0new --destination-cidr-block 0.0.0.0/0"},
		{w.Cost, "NAT gateway: each GB through it is charged (about $0.045). nat-0a is in another zone (us-west-2a, not us-west-2b): each GB costs about $0.01 more each way, and there is no route to the internet while us-west-2a is down."},
	} {
		if text.got != text.want {
			t.Errorf("got  %s\nwant %s", text.got, text.want)
		}
	}
}

const (
	newTable  = "rtb-0new"
	newSubnet = "subnet-0new"
)

// noWayOut is a new subnet in another zone whose table has only the local row.
func noWayOut() (*snapshot.Snapshot, action.Subject) {
	s := snapshottest.PrivateWithNAT()
	sub := *snapshottest.Subnet(s, snapshottest.Private)
	sub.ID, sub.Zone = newSubnet, "us-west-2b"
	s.Subnets = append(s.Subnets, sub)
	s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: newTable, VPC: snapshottest.VPC, Subnets: []string{newSubnet}, Routes: []snapshot.Route{snapshottest.Local()}, Tags: map[string]string{}})
	s.Groups[0].Subnets = append(s.Groups[0].Subnets, newSubnet)
	remedytest.Missed(s)
	snapshottest.Instance(s, remedytest.Stuck).Subnet = newSubnet
	s.Scope.Subnets = []string{newSubnet}
	s.Scope.Instances = []string{remedytest.Stuck}
	return s, action.Subject{Cluster: snapshottest.ClusterName, Check: "route/no-egress", Resource: newTable, Covers: []string{newSubnet}}
}

func row(to string, kind snapshot.TargetKind, id string) remedytest.Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) {
		t := snapshottest.Table(s, newTable)
		t.Routes = append(t.Routes, snapshottest.To(to, kind, id))
	}
}

func table(change func(*snapshot.RouteTable)) remedytest.Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) { change(snapshottest.Table(s, newTable)) }
}

func subnet(id string, change func(*snapshot.Subnet)) remedytest.Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) { change(snapshottest.Subnet(s, id)) }
}

func nat(change func(*snapshot.NATGateway)) remedytest.Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) { change(&s.NATGateways[0]) }
}

// The same zone comes first, whatever the ids; a regional gateway is in each.
func TestChoosesTheZone(t *testing.T) {
	here := func(s *snapshot.Snapshot) {
		public := *snapshottest.Subnet(s, snapshottest.Public)
		public.ID, public.Zone = "subnet-0pub2", "us-west-2b"
		s.Subnets = append(s.Subnets, public)
		x := snapshottest.Table(s, snapshottest.PublicRTB)
		x.Subnets = append(x.Subnets, public.ID)
		n := s.NATGateways[0]
		n.ID, n.Subnet, n.Zone = "nat-0z", public.ID, public.Zone
		s.NATGateways = append(s.NATGateways, n)
	}
	s, of := noWayOut()
	here(s)
	p, no := remedytest.Make(Remedy(), s, of, checks.All())
	if no != nil || p.NAT != "nat-0z" || p.NATZone != "us-west-2b" {
		t.Fatalf("plan %+v, %+v", p, no)
	}
	if got, want := remedytest.Words(t, Remedy(), p).Cost, "NAT gateway: each GB through it is charged (about $0.045). Same zone: nothing more for crossing zones."; got != want {
		t.Errorf("cost %q", got)
	}
	snapshottest.Table(s, newTable).Tags["aws:cloudformation:stack-name"] = "vpc"
	if p, _ := remedytest.Make(Remedy(), s, of, checks.All()); p.ManagedBy != "CloudFormation stack vpc" {
		t.Errorf("managed by %q", p.ManagedBy)
	}
}

// TestRouteWordsWithoutSubnets: what is not known leaves no empty brackets.
func TestRouteWordsWithoutSubnets(t *testing.T) {
	const begins = "Create the route 0.0.0.0/0 → nat-0aa4 in rtb-0cd2"
	whole := Plan{VPC: "vpc-01", Table: "rtb-0cd2", Destination: "0.0.0.0/0", NAT: "nat-0aa4", Subnets: []string{"subnet-0ab1"}, Zones: []string{"us-west-2a"}}
	for want, change := range map[string]func(*Plan){
		", which subnet-0ab1 (us-west-2a) in vpc-01 uses.": func(*Plan) {},
		", which subnet-0ab1 in vpc-01 uses.":              func(r *Plan) { r.Zones = nil },
		" in vpc-01.":                                      func(r *Plan) { r.Subnets = nil },
		".":                                                func(r *Plan) { r.Subnets, r.Zones, r.VPC = nil, nil, "" },
	} {
		r := whole
		change(&r)
		if got := words(r, action.Place{Region: remedytest.Region}).Steps[0]; got != begins+want {
			t.Errorf("%q, want %q", got, begins+want)
		}
	}
}
