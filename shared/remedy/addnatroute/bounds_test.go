package addnatroute

import (
	"fmt"

	"rollcall/shared/checks"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBounds(t *testing.T) {
	blackhole := func(s *snapshot.Snapshot, _ *action.Subject) {
		r := snapshottest.To("10.99.0.0/16", snapshot.ToPeering, "pcx-0a")
		r.State = "blackhole"
		x := snapshottest.Table(s, newTable)
		x.Routes = append(x.Routes, r)
	}
	remedytest.Refuses(t, Remedy(), noWayOut, checks.All(), []remedytest.Wrong{
		{"the VPC is not among those read", func(s *snapshot.Snapshot, _ *action.Subject) { s.VPCs[0].ID = "vpc-0b" }, action.CouldNotLook},
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
		{"an instance with tags", func(*snapshot.Snapshot) {}, "That subnet-0new is the cluster's only tags say, which anybody who can start an instance can set: look before you approve."},
		{"an instance with tags, and NodeClaims that could not be read", func(s *snapshot.Snapshot) { snapshottest.Without(s, snapshot.NodeClaimsOf) },
			"That subnet-0new is the cluster's only tags say, which anybody who can start an instance can set: look before you approve."},
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
		if got := Remedy().PersonDecides(*p); got != test.person {
			t.Errorf("%s: a person decides: %q, want %q", test.name, got, test.person)
		}
		if warned := strings.HasSuffix(remedytest.Words(t, Remedy(), p).Steps[0], "that the cluster launches nodes there is not proved."); warned != (test.person != "") {
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
func atTheTable() checks.Finding { return checks.Finding{Outcome: checks.Fail, Resource: newTable} }

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
		want action.Reason // empty: planned
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
			want := &Plan{
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
