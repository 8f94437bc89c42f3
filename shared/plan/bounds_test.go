package plan

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// harmless is a right world with one thing more, which is nothing against the
// remedy: the plan stays.
type harmless struct {
	name string
	more func(*snapshot.Snapshot, *Subject)
}

func allows(t *testing.T, right func() (*snapshot.Snapshot, Subject), list []checks.Check, tests []harmless) {
	t.Helper()
	s, of := right()
	want, no := makeWith(s, of, list)
	if no != nil {
		t.Fatalf("the right world: %s", no.Says)
	}
	for _, test := range tests {
		s, of := right()
		test.more(s, &of)
		p, no := makeWith(s, of, list)
		switch {
		case no != nil:
			t.Errorf("%s: refused as %s: %s", test.name, no.Reason, no.Says)
		case p.Hash() != want.Hash():
			t.Errorf("%s: another plan: %v, want %v", test.name, p.Steps(), want.Steps())
		}
	}
}

// What the check finds elsewhere is no reason to act here, for any remedy.
func TestFoundElsewhereIsNotSo(t *testing.T) {
	for name, x := range rich() {
		s, of := x.world()
		if of.Remedy == ReplaceInstance || of.Remedy == DeleteLeakedInterfaces {
			continue // the one asks whether it is gone, the other each interface
		}
		elsewhere := checks.Finding{Outcome: checks.Fail, Resource: "elsewhere", Covers: of.Covers}
		if p, no := makeWith(s, of, saying(of.Check, elsewhere)); no == nil || no.Reason != NotSo {
			t.Errorf("%s: planned %v, refusal %+v, want %s", name, p.Steps(), no, NotSo)
		}
	}
}

func TestAddNATRouteBounds(t *testing.T) {
	blackhole := func(s *snapshot.Snapshot, _ *Subject) {
		r := snapshottest.To("10.99.0.0/16", snapshot.ToPeering, "pcx-0a")
		r.State = "blackhole"
		x := snapshottest.Table(s, newTable)
		x.Routes = append(x.Routes, r)
	}
	refuses(t, noWayOut, checks.All(), []wrong{
		{"the VPC is not among those read", func(s *snapshot.Snapshot, _ *Subject) { s.VPCs[0].ID = "vpc-0b" }, CouldNotLook},
		{"a way into a peering that is gone", blackhole, LeadsElsewhere},
		{"an appliance by a prefix list", table(func(x *snapshot.RouteTable) {
			x.Routes = append(x.Routes, snapshot.Route{PrefixList: "pl-0a", Target: snapshot.Target{Kind: snapshot.ToTransitGateway, ID: "tgw-0a"}})
		}), LeadsElsewhere},
		{"a NAT gateway is being made there", func(s *snapshot.Snapshot, _ *Subject) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0new", VPC: snapshottest.VPC, Subnet: newSubnet, State: "pending"})
		}, NATStandsHere},
		{"another cluster's group launches there alone", func(s *snapshot.Snapshot, of *Subject) {
			other := *snapshottest.Subnet(s, newSubnet)
			other.ID = "subnet-0dev"
			s.Subnets = append(s.Subnets, other)
			x := snapshottest.Table(s, newTable)
			x.Subnets = append(x.Subnets, other.ID)
			s.Groups = append(s.Groups, snapshot.Group{Name: "dev", Subnets: []string{other.ID}, Tags: map[string]string{"kubernetes.io/cluster/dev": "owned"}})
		}, ServesOthers},
	})
	allows(t, noWayOut, checks.All(), []harmless{
		{"its own cluster's tag", table(func(x *snapshot.RouteTable) { x.Tags["kubernetes.io/cluster/prod"] = "shared" })},
		{"the subnet's own account", subnet(newSubnet, func(x *snapshot.Subnet) { x.ARN = "arn:aws:ec2:us-west-2:123456789012:subnet/" + newSubnet })},
		{"no group launches there any more, and the incident is of it", func(s *snapshot.Snapshot, _ *Subject) {
			s.Groups[0].Subnets = slices.DeleteFunc(s.Groups[0].Subnets, func(id string) bool { return id == newSubnet })
		}},
		{"a NAT gateway that was there once", func(s *snapshot.Snapshot, _ *Subject) {
			for _, state := range []string{"deleted", "failed"} {
				s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0" + state, VPC: snapshottest.VPC, Subnet: newSubnet, State: state, Public: true})
			}
		}},
	})
}

// A gateway endpoint's row is no way elsewhere, also where the endpoint is gone.
func TestAddNATRouteBesideAGatewayEndpoint(t *testing.T) {
	found := saying("route/no-egress", checks.Finding{Outcome: checks.Fail, Resource: newTable})
	via := func(state string) func(*snapshot.Snapshot, *Subject) {
		return table(func(x *snapshot.RouteTable) {
			x.Routes = append(x.Routes, snapshot.Route{PrefixList: "pl-0s3", State: state, Target: snapshot.Target{Kind: snapshot.ToEndpoint, ID: "vpce-0s3"}})
		})
	}
	allows(t, noWayOut, found, []harmless{{"there", via("active")}, {"gone", via("blackhole")}})
}

func TestCreateAccessEntryBounds(t *testing.T) {
	found := saying("iam/access-missing", checks.Finding{Outcome: checks.Fail, Resource: snapshottest.NodeRole})
	allows(t, outsider, found, []harmless{
		{"EKS says that there is no entry", func(s *snapshot.Snapshot, _ *Subject) {
			s.Lack(snapshot.Access, snapshottest.NodeRole, snapshot.Failure{Source: snapshot.Access, Reason: snapshot.Broken, Code: "ResourceNotFoundException"})
		}},
		{"aws-auth does not count", func(s *snapshot.Snapshot, _ *Subject) {
			s.Cluster.AuthMode = "API"
			s.AWSAuth = &snapshot.AWSAuth{MapRoles: "- rolearn: " + snapshottest.NodeRole + "\n  username: x\n"}
		}},
		{"there is no aws-auth", func(s *snapshot.Snapshot, _ *Subject) { s.AWSAuth = nil }},
		{"an entry of another role", func(s *snapshot.Snapshot, _ *Subject) { s.Principals = []string{snapshottest.NodeRole + "2"} }},
	})
	refuses(t, outsider, found, []wrong{
		{"the entry could not be described", func(s *snapshot.Snapshot, _ *Subject) {
			s.Lack(snapshot.Access, snapshottest.NodeRole, snapshot.Failure{Source: snapshot.Access, Reason: snapshot.Denied, Code: "AccessDeniedException"})
		}, CouldNotLook},
		{"aws-auth was not read", func(s *snapshot.Snapshot, _ *Subject) { snapshottest.Without(s, snapshot.AWSAuthMap) }, CouldNotLook},
	})
}

func TestOpenEndpointSecurityGroupBounds(t *testing.T) {
	its := snapshottest.EndpointGroup
	refuses(t, shutOut, checks.All(), []wrong{
		{"endpoint and group of another VPC", func(s *snapshot.Snapshot, of *Subject) {
			endpoint(func(e *snapshot.Endpoint) { e.VPC = "vpc-0b" })(s, of)
			group(its, func(g *snapshot.SecurityGroup) { g.VPC = "vpc-0b" })(s, of)
			for i := range of.Wearers {
				of.Wearers[i].VPC = "vpc-0b"
			}
		}, OtherVPC},
		{"made by EKS for a cluster", group(its, func(g *snapshot.SecurityGroup) { g.Tags["aws:eks:cluster-name"] = "dev" }), SharedGroup},
		{"a wearer without a kind", wearer(snapshot.Interface{VPC: snapshottest.VPC}), SharedGroup},
	})
	allows(t, shutOut, checks.All(), []harmless{
		{"a wearer of another group", func(_ *snapshot.Snapshot, of *Subject) {
			of.Wearers = append(of.Wearers, snapshot.Interface{ID: "eni-0x", VPC: snapshottest.VPC, Kind: "interface", Groups: []string{"sg-0x"}})
		}},
		{"the nodes have another group in common too, and the cluster's comes first", func(s *snapshot.Snapshot, _ *Subject) {
			for _, id := range []string{stuck, snapshottest.Node} {
				in := snapshottest.Instance(s, id)
				in.Groups = append([]string{"sg-0000first"}, in.Groups...)
			}
			s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: "sg-0000first", VPC: snapshottest.VPC, Name: "first"})
		}},
		{"an instance beside the incident has other groups", func(s *snapshot.Snapshot, of *Subject) {
			other := *snapshottest.Instance(s, stuck)
			other.ID, other.Groups = "i-0beside", []string{"sg-0x"}
			s.Instances = append(s.Instances, other)
		}},
		{"a rule of another port", group(its, func(g *snapshot.SecurityGroup) {
			g.Ingress = append(g.Ingress, snapshot.Rule{Protocol: "tcp", From: 22, To: 22, Groups: []string{snapshottest.ClusterGroup}}, snapshot.Rule{Protocol: "udp", From: 443, To: 443, Groups: []string{snapshottest.ClusterGroup}})
		})},
	})
}

// Nodes without the cluster's security group are let in by the first one that
// all of them have, which is in the cluster's VPC and not its default one.
func TestOpenForAGroupInCommon(t *testing.T) {
	s, of := shutOut()
	wears(s, &of, "sg-0z", "sg-0c", "sg-0b", "sg-0a")
	s.SecurityGroups = append(s.SecurityGroups,
		snapshot.SecurityGroup{ID: "sg-0a", VPC: snapshottest.VPC, Name: "default"}, snapshot.SecurityGroup{ID: "sg-0b", VPC: "vpc-0b", Name: "b"},
		snapshot.SecurityGroup{ID: "sg-0c", VPC: snapshottest.VPC, Name: "c"}, snapshot.SecurityGroup{ID: "sg-0z", VPC: snapshottest.VPC, Name: "z"},
	)
	found := saying(of.Check, checks.Finding{Outcome: checks.Fail, Resource: of.Resource})
	p, no := makeWith(s, of, found)
	if no != nil || !slices.Equal(p.Open.From, []string{"sg-0c"}) {
		t.Errorf("%+v, %+v; want sg-0c", p.Open, no)
	}
}

func TestReplaceInstanceBounds(t *testing.T) {
	second := func(s *snapshot.Snapshot, of *Subject) *snapshot.Instance {
		snapshottest.Launch(s, "i-0second", snapshottest.Private, 15*time.Minute)
		s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: "i-0second", Lifecycle: "InService"})
		s.Groups[0].Desired = 3
		of.Launches = append(of.Launches, Launch{Instance: "i-0second", Started: s.Time.Add(-15 * time.Minute), Standing: outcome.Missed})
		return snapshottest.Instance(s, "i-0second")
	}
	refuses(t, healed, checks.All(), []wrong{
		{"report saw it start after the cause was gone", func(s *snapshot.Snapshot, of *Subject) { of.Launches[0].Started = s.Time.Add(-time.Minute) }, LaterLaunch},
		{"a node has its id for a name", func(s *snapshot.Snapshot, _ *Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: stuck})
		}, IsNode},
		{"the group of another one was not read", func(s *snapshot.Snapshot, of *Subject) {
			second(s, of).Tags["aws:autoscaling:groupName"] = "eks-other"
		}, CouldNotLook},
		{"HealthCheck is suspended", suspended("HealthCheck"), Suspended},
		{"an instance refresh: the nodegroup is being made", func(s *snapshot.Snapshot, _ *Subject) { s.Nodegroups[0].Status = "CREATING" }, AnotherChange},
		{"a status that is not known", func(s *snapshot.Snapshot, _ *Subject) { s.Nodegroups[0].Status = "WOBBLING" }, AnotherChange},
	})
	allows(t, healed, checks.All(), []harmless{
		{"the check finds the cause elsewhere", func(s *snapshot.Snapshot, _ *Subject) {
			sub := *snapshottest.Subnet(s, snapshottest.Private)
			sub.ID = newSubnet
			s.Subnets = append(s.Subnets, sub)
			s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: newTable, VPC: snapshottest.VPC, Subnets: []string{newSubnet}, Routes: []snapshot.Route{snapshottest.Local()}})
			snapshottest.Launch(s, "i-0lost", newSubnet, 20*time.Minute)
		}},
		{"a Fargate node", func(s *snapshot.Snapshot, _ *Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "fargate-ip-10-42-1-1", InternalIP: netip.MustParseAddr("10.42.1.1")}, snapshot.Node{Name: "hybrid"})
		}},
		{"it is named twice", func(_ *snapshot.Snapshot, of *Subject) { of.Launches = append(of.Launches, of.Launches[0]) }},
		{"another one may not be ended", func(s *snapshot.Snapshot, of *Subject) { second(s, of).State = "stopping" }},
		{"another nodegroup is being updated", func(s *snapshot.Snapshot, _ *Subject) {
			s.Nodegroups = append(s.Nodegroups, snapshot.Nodegroup{Name: "other", Status: "UPDATING", Groups: []string{"eks-other"}})
		}},
		{"its nodegroup is degraded", func(s *snapshot.Snapshot, _ *Subject) { s.Nodegroups[0].Status = "DEGRADED" }},
	})
}

func TestCoverZonesBounds(t *testing.T) {
	activity := func(a snapshot.Activity) func(*snapshot.Snapshot, *Subject) {
		return func(s *snapshot.Snapshot, _ *Subject) {
			if a.Group == "" {
				a.Group = "eks-workers"
			}
			if a.Started.IsZero() {
				a.Started = s.Time.Add(-10 * time.Minute)
			}
			s.Activities = append(s.Activities, a)
		}
	}
	found := saying(gap, gapAt("us-west-2c"))
	refuses(t, threeZones, found, []wrong{
		{"the zone of a subnet is not known", func(s *snapshot.Snapshot, _ *Subject) { s.Subnets[len(s.Subnets)-1].Zone = "" }, CouldNotLook},
		{"the zone of an instance is not known", instance(func(i *snapshot.Instance) { i.Zone = "" }), CouldNotLook},
		{"the group is a nodegroup's that was not read", func(s *snapshot.Snapshot, of *Subject) {
			s.Nodegroups, of.Nodegroups = nil, []string{"eks-workers"}
		}, CouldNotLook},
		{"an activity without a known status", activity(snapshot.Activity{Status: "Wobbling"}), AnotherChange},
	})
	end := snapshottest.Now()
	allows(t, threeZones, found, []harmless{
		{"another group is at work", activity(snapshot.Activity{Group: "eks-other", Status: "InProgress"})},
		{"another group was refused there", activity(snapshot.Activity{Group: "eks-other", Status: "Failed", Zone: "us-west-2c", Ended: end})},
		{"it was refused in another zone", activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2a", Ended: end})},
		{"a launch there came about", activity(snapshot.Activity{Status: "Successful", Zone: "us-west-2c", Ended: end})},
		{"a launch was cancelled", activity(snapshot.Activity{Status: "Cancelled", Zone: "us-west-2c"})},
		{"it was refused hours ago", activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2c", Started: end.Add(-2 * time.Hour), Ended: end.Add(-2 * time.Hour)})},
		{"activities without an end that are over", func(s *snapshot.Snapshot, of *Subject) {
			activity(snapshot.Activity{Status: "Successful"})(s, of)
			activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2a"})(s, of)
		}},
		{"the incident is of the nodegroup", func(_ *snapshot.Snapshot, of *Subject) { of.Nodegroups = []string{snapshottest.Nodegroup} }},
		{"EKS names the cluster", nodegroup(func(n *snapshot.Nodegroup) { n.Cluster = snapshottest.ClusterName })},
	})
}

// The volume's zone must be among those that get an instance: where the group
// has one there, which does not take the pod, one more would come elsewhere.
func TestCoverZonesReachesTheZone(t *testing.T) {
	for name, f := range map[string]checks.Finding{
		"a zone that has an instance":           gapAt("us-west-2b"),
		"a zone in which it launches no longer": gapAt("us-west-2d"),
		"no zone is named":                      gapAt(),
	} {
		s, of := threeZones()
		if p, no := makeWith(s, of, saying(gap, f)); no == nil || no.Reason != ZoneNotReached {
			t.Errorf("%s: planned %v, %+v; want %s", name, p.Steps(), no, ZoneNotReached)
		}
	}
	s, of := threeZones()
	if _, no := makeWith(s, of, saying(gap, gapAt("us-west-2b", "us-west-2c"))); no != nil {
		t.Errorf("one of two zones: %s", no.Says)
	}
}

// gapAt is what the check finds of a gap in zones.
func gapAt(zones ...string) checks.Finding {
	return checks.Finding{Outcome: checks.Fail, Resource: "vol-0a", Covers: zones}
}
