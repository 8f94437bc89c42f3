package addnatroute

import (
	"rollcall/shared/checks"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"slices"
	"testing"
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
		{"no group launches there any more, and the incident is of it", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Groups[0].Subnets = slices.DeleteFunc(s.Groups[0].Subnets, func(id string) bool { return id == newSubnet })
		}},
		{"a NAT gateway that was there once", func(s *snapshot.Snapshot, _ *action.Subject) {
			for _, state := range []string{"deleted", "failed"} {
				s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0" + state, VPC: snapshottest.VPC, Subnet: newSubnet, State: state, Public: true})
			}
		}},
	})
}

// A gateway endpoint's row is no way elsewhere, also where the endpoint is gone.
func TestBesideAGatewayEndpoint(t *testing.T) {
	found := remedytest.Saying("route/no-egress", checks.Finding{Outcome: checks.Fail, Resource: newTable})
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
}
