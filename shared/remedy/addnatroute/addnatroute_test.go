package addnatroute

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/checks/finding"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/shared/spec"
)

func TestWrongTargets(t *testing.T) {
	p := remedytest.Refuses(t, Remedy(), noWayOut, checks.All(), []remedytest.Wrong{
		{"the table is gone", func(_ *snapshot.Snapshot, of *action.Subject) { of.Resource = "rtb-0gone" }, remedy.Gone},
		{"the table of another VPC", table(func(x *snapshot.RouteTable) { x.VPC = "vpc-0b" }), remedy.OtherVPC},
		{"the main table", table(func(x *snapshot.RouteTable) { x.Main = true }), MainTable},
		{"a table that nothing uses", table(func(x *snapshot.RouteTable) { x.Subnets = nil }), remedy.NothingToDo},
		{"another account's VPC", func(s *snapshot.Snapshot, _ *action.Subject) { s.VPCs[0].Owner = "999999999999" }, remedy.SharedVPC},
		{"a shared subnet", subnet(newSubnet, func(x *snapshot.Subnet) { x.ARN = "arn:aws:ec2:us-west-2:999999999999:subnet/subnet-0new" }), remedy.SharedVPC},
		{"another cluster's table", table(func(x *snapshot.RouteTable) { x.Tags["kubernetes.io/cluster/dev"] = "owned" }), remedy.OtherCluster},
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
		}), remedy.CouldNotLook},

		{"a public subnet", subnet(newSubnet, func(x *snapshot.Subnet) { x.AssignPublicIP = true }), PublicSubnet},
		{"a subnet for public load balancers", subnet(newSubnet, func(x *snapshot.Subnet) { x.Tags = map[string]string{"kubernetes.io/role/elb": "1"} }), PublicSubnet},
		{"a subnet that was not read", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Subnet(s, newSubnet).ID = "subnet-0x" }, remedy.CouldNotLook},
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
		}, remedy.NotSo},

		{"no NAT gateway", func(s *snapshot.Snapshot, _ *action.Subject) { s.NATGateways = nil }, NoNAT},
		{"a private NAT gateway", nat(func(n *snapshot.NATGateway) { n.Public = false }), NoNAT},
		{"a NAT gateway on its way", nat(func(n *snapshot.NATGateway) { n.State = "pending" }), NoNAT},
		{"a NAT gateway that failed", nat(func(n *snapshot.NATGateway) { n.State = "failed" }), NoNAT},
		{"a NAT gateway of another VPC", nat(func(n *snapshot.NATGateway) { n.VPC = "vpc-0b" }), NoNAT},
		{"a NAT gateway without an internet gateway", func(s *snapshot.Snapshot, _ *action.Subject) { s.InternetGateways[0].Attached = nil }, NoNAT},
		{"a NAT gateway whose own table has no route to the internet", func(s *snapshot.Snapshot, _ *action.Subject) {
			snapshottest.Table(s, snapshottest.PublicRTB).Routes = []snapshot.Route{snapshottest.Local()}
		}, NoNAT},

		{"another check", func(_ *snapshot.Snapshot, of *action.Subject) { of.Check = "sg/node-egress" }, remedy.NotSo},
		{"user data that names a proxy: not certain", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.UserData[0].Data = []byte("#!/bin/bash\nexport HTTPS_PROXY=http://proxy:3128\n")
		}, remedy.NotCertain},
		{"a shared endpoint service may be there", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Endpoints = snapshottest.EndpointsOnly().Endpoints
			s.Cluster.EndpointPublic, s.Cluster.EndpointPrivate = false, true
		}, remedy.NotSo},
	})
	want := &remedy.AddNATRoute{VPC: snapshottest.VPC, Table: newTable, Destination: "0.0.0.0/0", NAT: snapshottest.NAT, NATZone: snapshottest.Zone, Zones: []string{"us-west-2b"}, Subnets: []string{newSubnet}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	w := remedytest.Words(t, p)
	for _, text := range []struct{ got, want string }{
		{w.Title, "Add 0.0.0.0/0 → nat-0a to rtb-0new"},
		{w.Commands[0], "aws ec2 create-route --region us-west-2 --route-table-id rtb-0new --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0a"},
		{w.Undo[0], "aws ec2 delete-route --region us-west-2 --route-table-id rtb-0new --destination-cidr-block 0.0.0.0/0"},
		{w.Cost, "About $0.045/GB through the NAT gateway. nat-0a is in another zone (us-west-2a, not us-west-2b): about $0.01/GB more each way, and no route to the internet while us-west-2a is down."},
	} {
		if text.got != text.want {
			t.Errorf("got  %s\nwant %s", text.got, text.want)
		}
	}
}

func TestBounds(t *testing.T) {
	blackhole := func(s *snapshot.Snapshot, _ *action.Subject) {
		r := snapshottest.To("10.99.0.0/16", snapshot.ToPeering, "pcx-0a")
		r.State = "blackhole"
		x := snapshottest.Table(s, newTable)
		x.Routes = append(x.Routes, r)
	}
	remedytest.Refuses(t, Remedy(), noWayOut, checks.All(), []remedytest.Wrong{
		{"the VPC is not among those read", func(s *snapshot.Snapshot, _ *action.Subject) { s.VPCs[0].ID = "vpc-0b" }, remedy.CouldNotLook},
		{"a way into a peering that is gone", blackhole, LeadsElsewhere},
		{"half a default route into a VPN that is gone", func(s *snapshot.Snapshot, _ *action.Subject) {
			r := snapshottest.To("128.0.0.0/1", snapshot.ToVPNGateway, "vgw-0a")
			r.State = "blackhole"
			x := snapshottest.Table(s, newTable)
			x.Routes = append(x.Routes, r)
		}, Blackhole},
		{"isolated, by CDK's name", subnet(newSubnet, func(x *snapshot.Subnet) { x.Tags = map[string]string{"aws-cdk:subnet-name": "isolated-a"} }), Isolated},
		{"an appliance by a prefix list", table(func(x *snapshot.RouteTable) {
			x.Routes = append(x.Routes, snapshot.Route{PrefixList: "pl-0a", Target: snapshot.Target{Kind: snapshot.ToTransitGateway, ID: "tgw-0a"}})
		}), LeadsElsewhere},
		{"a NAT gateway is being made there", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0new", VPC: snapshottest.VPC, Subnet: newSubnet, State: "pending"})
		}, NATStandsHere},
		{"another cluster's group launches there alone", func(s *snapshot.Snapshot, of *action.Subject) {
			other := *snapshottest.Subnet(s, newSubnet)
			other.ID = "subnet-0dev"
			s.Subnets = append(s.Subnets, other)
			x := snapshottest.Table(s, newTable)
			x.Subnets = append(x.Subnets, other.ID)
			s.Groups = append(s.Groups, snapshot.Group{Name: "dev", Subnets: []string{other.ID}, Tags: map[string]string{"kubernetes.io/cluster/dev": "owned"}})
		}, ServesOthers},
	})
	remedytest.Allows(t, Remedy(), noWayOut, checks.All(), []remedytest.Harmless{
		{"its own cluster's tag", table(func(x *snapshot.RouteTable) { x.Tags["kubernetes.io/cluster/prod"] = "shared" })},
		{"the subnet's own account", subnet(newSubnet, func(x *snapshot.Subnet) { x.ARN = "arn:aws:ec2:us-west-2:123456789012:subnet/" + newSubnet })},
		{"no group launches there any more, and its instance is there", func(s *snapshot.Snapshot, _ *action.Subject) {
			leaves(s)
			s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: "i-0moved"})
			s.Instances = append(s.Instances, snapshot.Instance{ID: "i-0moved", Subnet: newSubnet})
		}},
		{"a NAT gateway that was there once", func(s *snapshot.Snapshot, _ *action.Subject) {
			for _, state := range []string{"deleted", "failed"} {
				s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0" + state, VPC: snapshottest.VPC, Subnet: newSubnet, State: state, Public: true})
			}
		}},
	})
}

// leaves takes the new subnet out of what the cluster launches into.
func leaves(s *snapshot.Snapshot) {
	s.Groups[0].Subnets = slices.DeleteFunc(s.Groups[0].Subnets, func(id string) bool { return id == newSubnet })
	for i := range s.Nodegroups {
		s.Nodegroups[i].Subnets = slices.DeleteFunc(s.Nodegroups[i].Subnets, func(id string) bool { return id == newSubnet })
	}
}

// An instance with the cluster's tag proves nothing about the subnet that it is in: a
// person decides, and the steps say why. What proves it is the cluster's own.
func TestUnprovedSubnets(t *testing.T) {
	tags := map[string]string{
		"kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default",
	}
	for _, test := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		person string
	}{
		{"an instance with tags", func(*snapshot.Snapshot) {}, "That subnet-0new is the cluster's is known only from tags, which anybody who can start an instance can set: check before you approve."},
		{"an instance with tags, and NodeClaims that could not be read", func(s *snapshot.Snapshot) { snapshottest.Without(s, snapshot.NodeClaimsOf) },
			"That subnet-0new is the cluster's is known only from tags, which anybody who can start an instance can set: check before you approve."},
		{"a NodeClaim names the instance", func(s *snapshot.Snapshot) {
			s.NodeClaims = []snapshot.NodeClaim{{Name: "default-x7k2p", Instance: "i-0stranger"}}
		}, ""},
		{"a group counts the instance", func(s *snapshot.Snapshot) {
			s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: "i-0stranger"})
		}, ""},
		{"a nodegroup has the subnet", func(s *snapshot.Snapshot) {
			s.Nodegroups = append(s.Nodegroups, snapshot.Nodegroup{Name: "n", Cluster: "prod", Subnets: []string{newSubnet}})
		}, ""},
		{"the class of a NodePool has the subnet", func(s *snapshot.Snapshot) {
			class := snapshot.ClassRef{Group: snapshot.KarpenterGroup, Kind: "EC2NodeClass", Name: "default"}
			s.NodePools = []snapshot.NodePool{{Name: "default", Class: class}}
			s.EC2NodeClasses = []snapshot.NodeClass{{Name: "default", Selected: []snapshot.ZonedSubnet{{ID: newSubnet, Zone: "us-west-2b"}}}}
		}, ""},
	} {
		s, of := noWayOut()
		leaves(s)
		s.Instances = append(s.Instances, snapshot.Instance{ID: "i-0stranger", Subnet: newSubnet, Tags: tags})
		test.change(s)
		p, no := remedytest.Make(Remedy(), s, of, checks.All())
		if no != nil {
			t.Errorf("%s: %s: %s", test.name, no.Reason, no.Says)
			continue
		}
		if got := (remedy.Plan{Route: p}).PersonDecides(); got != test.person {
			t.Errorf("%s: a person decides: %q, want %q", test.name, got, test.person)
		}
		if warned := strings.HasSuffix(remedytest.Words(t, p).Steps[0], "is known only from tags on instances."); warned != (test.person != "") {
			t.Errorf("%s: the steps warn: %v", test.name, warned)
		}
	}
}

// A gateway endpoint's row is no way elsewhere, also where the endpoint is gone.
func TestBesideAGatewayEndpoint(t *testing.T) {
	found := remedytest.Saying("route/no-egress", atTheTable())
	via := func(state string) func(*snapshot.Snapshot, *action.Subject) {
		return table(func(x *snapshot.RouteTable) {
			x.Routes = append(x.Routes, snapshot.Route{PrefixList: "pl-0s3", State: state, Target: snapshot.Target{Kind: snapshot.ToEndpoint, ID: "vpce-0s3"}})
		})
	}
	remedytest.Allows(t, Remedy(), noWayOut, found, []remedytest.Harmless{{"there", via("active")}, {"gone", via("blackhole")}})
}

func TestManagedBy(t *testing.T) {
	for _, test := range []struct {
		key, value, want string
	}{
		{"Name", "private", ""},
		{"aws:cloudformation:stack-name", "vpc", "CloudFormation stack vpc"},
		{"managed-by", "terraform", "terraform"},
		{"ManagedBy", "OpenTofu", "OpenTofu"},
		{"created_by", "Pulumi", "Pulumi"},
		{"Provisioner", "Terraform", "Terraform"},
		{"IaC", "terraform", "terraform"},
		{"Terraform", "true", "Terraform"},
		{"managed_by", "us", ""},
	} {
		if got := managedBy(map[string]string{test.key: test.value}); got != test.want {
			t.Errorf("%s=%s: %q, want %q", test.key, test.value, got, test.want)
		}
	}
}

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), func() (*snapshot.Snapshot, action.Subject) {
		s, of := noWayOut()
		for i := range s.RouteTables {
			if s.RouteTables[i].ID == of.Resource {
				s.RouteTables[i].Tags = map[string]string{"ManagedBy": "terraform", "Terraform": "true", "iac": "OpenTofu", "created-by": "Pulumi", "Name": "x"}
			}
		}
		nat := s.NATGateways[0]
		nat.ID = "nat-0zz"
		s.NATGateways = append(s.NATGateways, nat)
		return s, of
	}, checks.All())
}

func TestFoundElsewhereIsNotSo(t *testing.T) { remedytest.FoundElsewhereIsNotSo(t, Remedy(), noWayOut) }

func TestApplied(t *testing.T) {
	remedytest.Applied(t, Remedy(), noWayOut, snapshot.RouteTables,
		func(s *snapshot.Snapshot) { row("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT)(s, nil) },
		func(s *snapshot.Snapshot) { row("0.0.0.0/0", snapshot.ToNATGateway, "nat-0other")(s, nil) })
	remedytest.Applied(t, Remedy(), noWayOut, snapshot.RouteTables,
		func(s *snapshot.Snapshot) { row("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT)(s, nil) },
		func(s *snapshot.Snapshot) { row("10.99.0.0/16", snapshot.ToNATGateway, snapshottest.NAT)(s, nil) })
}

// atTheTable is what the check finds.
func atTheTable() finding.Finding { return finding.Finding{Outcome: finding.Fail, Resource: newTable} }

// also adds a subnet to those that use the table.
func also(s *snapshot.Snapshot, id, zone string) {
	other := *snapshottest.Subnet(s, newSubnet)
	other.ID, other.Zone = id, zone
	s.Subnets = append(s.Subnets, other)
	x := snapshottest.Table(s, newTable)
	x.Subnets = append(x.Subnets, id)
}

// A subnet beside those of the incident is served where the cluster launches into
// it: by a group that bears either of its tags, or by a nodegroup.
func TestServesWhatTheClusterLaunchesInto(t *testing.T) {
	const other = "subnet-0other"
	group := func(tags map[string]string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Groups = append(s.Groups, snapshot.Group{Name: "other", Subnets: []string{other}, Tags: tags})
		}
	}
	for _, test := range []struct {
		name string
		more func(*snapshot.Snapshot)
		want remedy.Reason // empty: planned
	}{
		{"nothing", func(*snapshot.Snapshot) {}, ServesOthers},
		{"a group without a tag", group(nil), ServesOthers},
		{"another cluster's group", group(map[string]string{"eks:cluster-name": "dev"}), ServesOthers},
		{"a group with Kubernetes' tag", group(map[string]string{"kubernetes.io/cluster/prod": "owned"}), ""},
		{"a group with EKS's tag", group(map[string]string{"eks:cluster-name": "prod"}), ""},
		{"a nodegroup", func(s *snapshot.Snapshot) { s.Nodegroups[0].Subnets = []string{other} }, ""},
	} {
		s, of := noWayOut()
		also(s, other, "us-west-2a")
		test.more(s)
		p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(of.Check, atTheTable()))
		switch {
		case no != nil && no.Reason != test.want, no == nil && test.want != "":
			t.Errorf("%s: planned %+v, refused %+v; want %q", test.name, p, no, test.want)
		case no == nil:
			want := &remedy.AddNATRoute{
				VPC: snapshottest.VPC, Table: newTable, Destination: "0.0.0.0/0", NAT: snapshottest.NAT, NATZone: snapshottest.Zone,
				Zones: []string{"us-west-2a", "us-west-2b"}, Subnets: []string{newSubnet, other},
			}
			if diff := cmp.Diff(want, p); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
	}
}

// A subnet that is not among those read is no reason to plan without it.
func TestASubnetThatWasNotRead(t *testing.T) {
	s, of := noWayOut()
	snapshottest.Subnet(s, newSubnet).ID = "subnet-0x"
	p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(of.Check, atTheTable()))
	want := action.Missing(snapshot.Subnets, newSubnet+" is not among them")
	if diff := cmp.Diff(want, no); diff != "" {
		t.Errorf("planned %+v (-want +got):\n%s", p, diff)
	}
}

// Of the gateways that work, one of the table's zones comes first, zone by zone; a
// regional one is at home in each.
func TestChoosesAmongZones(t *testing.T) {
	type gateway struct{ id, zone string }
	const regional = "regional"
	for _, test := range []struct {
		name  string
		zones []string // of the table's subnets
		nats  []gateway
		want  string
	}{
		{"one of the first zone", []string{"us-west-2b", "us-west-2c"}, []gateway{{"nat-0a", "us-west-2a"}, {"nat-0z", "us-west-2b"}}, "nat-0z"},
		{"one of the second zone", []string{"us-west-2b", "us-west-2c"}, []gateway{{"nat-0a", "us-west-2a"}, {"nat-0z", "us-west-2c"}}, "nat-0z"},
		{"a regional one before one of the second zone", []string{"us-west-2a", "us-west-2b"}, []gateway{{"nat-0b", "us-west-2b"}, {"nat-0r", regional}}, "nat-0r"},
		{"none of the zones", []string{"us-west-2b", "us-west-2c"}, []gateway{{"nat-0z", "us-west-2d"}, {"nat-0a", "us-west-2a"}}, "nat-0a"},
		{"one of a known zone before one of none", []string{"", "us-west-2b"}, []gateway{{"nat-0a", ""}, {"nat-0z", "us-west-2b"}}, "nat-0z"},
	} {
		s, of := noWayOut()
		snapshottest.Subnet(s, newSubnet).Zone = test.zones[0]
		for i, zone := range test.zones[1:] {
			id := fmt.Sprintf("subnet-0more%d", i)
			also(s, id, zone)
			of.Covers = append(of.Covers, id)
		}
		working := s.NATGateways[0]
		snapshottest.Subnet(s, working.Subnet).Zone = "" // the gateways' own count
		s.NATGateways = nil
		for _, g := range test.nats {
			n := working
			n.ID, n.Zone = g.id, g.zone
			if g.zone == regional {
				n.Zone, n.Subnet, n.RouteTable = "", "", snapshottest.PublicRTB
			}
			s.NATGateways = append(s.NATGateways, n)
		}
		p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(of.Check, atTheTable()))
		if no != nil || p.NAT != test.want {
			t.Errorf("%s: planned %+v, refused %+v; want %s", test.name, p, no, test.want)
		}
	}
}

// routes keeps which routes were made: table, destination and gateway.
type routes []string

func (r *routes) CreateRoute(_ context.Context, table, destination, nat string) action.Answer {
	*r = append(*r, strings.Join([]string{table, destination, nat}, " "))
	return action.Answer{Outcome: action.Done, Request: "r-1"}
}

func TestDo(t *testing.T) {
	var made routes
	got := do(t.Context(), &made, remedy.AddNATRoute{VPC: "vpc-0a", Table: "rtb-0a", Destination: "0.0.0.0/0", NAT: "nat-0a"}, remedy.Place{}, "token")
	if diff := cmp.Diff(routes{"rtb-0a 0.0.0.0/0 nat-0a"}, made); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	want := action.Result{Status: remedy.Done, Changed: []string{"rtb-0a"}, Requests: []string{"r-1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestGrants(t *testing.T) {
	got := grants(action.OptIn{Clusters: []string{"prod"}, Any: []string{"prod"}, VPCs: []string{"vpc-0a", "vpc-0b"}})
	want := []spec.Grant{{
		Sid: "AddRoutes", Why: "add-nat-route adds a default route to a NAT gateway, in the VPCs that the operator named.",
		Actions: []string{"ec2:CreateRoute"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:route-table/*"},
		Conditions: map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": {
			"arn:${Partition}:ec2:${Region}:${Account}:vpc/vpc-0a", "arn:${Partition}:ec2:${Region}:${Account}:vpc/vpc-0b",
		}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
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
	if got, want := remedytest.Words(t, p).Cost, "About $0.045/GB through the NAT gateway. Same zone, so no cross-zone charge."; got != want {
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
	whole := remedy.AddNATRoute{VPC: "vpc-01", Table: "rtb-0cd2", Destination: "0.0.0.0/0", NAT: "nat-0aa4", Subnets: []string{"subnet-0ab1"}, Zones: []string{"us-west-2a"}}
	for want, change := range map[string]func(*remedy.AddNATRoute){
		", which subnet-0ab1 (us-west-2a) in vpc-01 uses.": func(*remedy.AddNATRoute) {},
		", which subnet-0ab1 in vpc-01 uses.":              func(r *remedy.AddNATRoute) { r.Zones = nil },
		" in vpc-01.":                                      func(r *remedy.AddNATRoute) { r.Subnets = nil },
		".":                                                func(r *remedy.AddNATRoute) { r.Subnets, r.Zones, r.VPC = nil, nil, "" },
	} {
		r := whole
		change(&r)
		if got := r.Words(remedy.Place{Region: remedytest.Region}).Steps[0]; got != begins+want {
			t.Errorf("%q, want %q", got, begins+want)
		}
	}
}

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), noWayOut, atTheTable(),
		snapshot.Clusters, snapshot.VPCs, snapshot.Subnets, snapshot.RouteTables, snapshot.NATGateways,
		snapshot.InternetGateways, snapshot.Endpoints, snapshot.Groups)
}

func TestWords(t *testing.T) {
	const each = "About $0.045/GB through the NAT gateway."
	for _, test := range []struct {
		name string
		plan remedy.AddNATRoute
		uses string // the end of the step
		cost string
	}{
		{"one subnet, the gateway in its zone", remedy.AddNATRoute{NATZone: "us-west-2a", Zones: []string{"us-west-2a"}, Subnets: []string{"subnet-0a"}},
			"subnet-0a (us-west-2a) in vpc-0a uses.", each + " Same zone, so no cross-zone charge."},
		{"two subnets, the gateway in one of their zones",
			remedy.AddNATRoute{NATZone: "us-west-2a", Zones: []string{"us-west-2a", "us-west-2b"}, Subnets: []string{"subnet-0a", "subnet-0b"}},
			"subnet-0a and subnet-0b (us-west-2a and us-west-2b) in vpc-0a use.",
			each + " nat-0a is in us-west-2a: traffic from us-west-2b costs about $0.01/GB more each way, and depends on us-west-2a being up."},
		{"the gateway in another zone, a stack's table",
			remedy.AddNATRoute{NATZone: "us-west-2a", Zones: []string{"us-west-2b"}, Subnets: []string{"subnet-0b"}, ManagedBy: "CloudFormation stack vpc"},
			"subnet-0b (us-west-2b) in vpc-0a uses.",
			each + " nat-0a is in another zone (us-west-2a, not us-west-2b): about $0.01/GB more each way, and no route to the internet while us-west-2a is down." +
				" rtb-0a was created by CloudFormation stack vpc, which may remove the route again: add it there too."},
		{"a regional gateway", remedy.AddNATRoute{Zones: []string{"us-west-2b"}, Subnets: []string{"subnet-0b"}}, "subnet-0b (us-west-2b) in vpc-0a uses.", each},
	} {
		test.plan.VPC, test.plan.Table, test.plan.Destination, test.plan.NAT = "vpc-0a", "rtb-0a", "0.0.0.0/0", "nat-0a"
		want := remedy.Words{
			Title:    "Add 0.0.0.0/0 → nat-0a to rtb-0a",
			Steps:    []string{"Create the route 0.0.0.0/0 → nat-0a in rtb-0a, which " + test.uses},
			Commands: []string{"aws ec2 create-route --region us-west-2 --route-table-id rtb-0a --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0a"},
			Undo:     []string{"aws ec2 delete-route --region us-west-2 --route-table-id rtb-0a --destination-cidr-block 0.0.0.0/0"},
			Cost:     test.cost,
		}
		if diff := cmp.Diff(want, test.plan.Words(remedy.Place{Region: "us-west-2", Cluster: "prod"})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
