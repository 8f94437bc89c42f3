package openendpointsecuritygroup

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
	its := snapshottest.EndpointGroup
	remedytest.Refuses(t, Remedy(), shutOut, checks.All(), []remedytest.Wrong{
		{"endpoint and group of another VPC", func(s *snapshot.Snapshot, of *action.Subject) {
			endpoint(func(e *snapshot.Endpoint) { e.VPC = "vpc-0b" })(s, of)
			group(its, func(g *snapshot.SecurityGroup) { g.VPC = "vpc-0b" })(s, of)
			for i := range of.Wearers {
				of.Wearers[i].VPC = "vpc-0b"
			}
		}, action.OtherVPC},
		{"made by EKS for a cluster", group(its, func(g *snapshot.SecurityGroup) { g.Tags["aws:eks:cluster-name"] = "dev" }), SharedGroup},
		{"a wearer without a kind", wearer(snapshot.Interface{VPC: snapshottest.VPC}), SharedGroup},
	})
	remedytest.Allows(t, Remedy(), shutOut, checks.All(), []remedytest.Harmless{
		{"a wearer of another group", func(_ *snapshot.Snapshot, of *action.Subject) {
			of.Wearers = append(of.Wearers, snapshot.Interface{ID: "eni-0x", VPC: snapshottest.VPC, Kind: "interface", Groups: []string{"sg-0x"}})
		}},
		{"the nodes have another group in common too, and the cluster's comes first", func(s *snapshot.Snapshot, _ *action.Subject) {
			for _, id := range []string{remedytest.Stuck, snapshottest.Node} {
				in := snapshottest.Instance(s, id)
				in.Groups = append([]string{"sg-0000first"}, in.Groups...)
			}
			s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: "sg-0000first", VPC: snapshottest.VPC, Name: "first"})
		}},
		{"an instance beside the incident has other groups", func(s *snapshot.Snapshot, of *action.Subject) {
			other := *snapshottest.Instance(s, remedytest.Stuck)
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
	found := remedytest.Saying(of.Check, checks.Finding{Outcome: checks.Fail, Resource: of.Resource})
	p, no := remedytest.Make(Remedy(), s, of, found)
	if no != nil || !slices.Equal(p.From, []string{"sg-0c"}) {
		t.Errorf("%+v, %+v; want sg-0c", p, no)
	}
}

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), func() (*snapshot.Snapshot, action.Subject) {
		s, of := shutOut()
		var second snapshot.SecurityGroup
		for _, g := range s.SecurityGroups {
			if len(s.Endpoints[0].Groups) > 0 && g.ID == s.Endpoints[0].Groups[0] {
				second = g
			}
		}
		second.ID, second.Name = "sg-0000second", "second"
		s.SecurityGroups = append(s.SecurityGroups, second)
		for i := range s.Endpoints {
			if s.Endpoints[i].Kind == "Interface" {
				s.Endpoints[i].Groups = append([]string{second.ID}, s.Endpoints[i].Groups...)
			}
		}
		for i := range of.Wearers {
			of.Wearers[i].Groups = append([]string{second.ID}, of.Wearers[i].Groups...)
		}
		return s, of
	}, checks.All())
}

func TestFoundElsewhereIsNotSo(t *testing.T) { remedytest.FoundElsewhereIsNotSo(t, Remedy(), shutOut) }

func TestApplied(t *testing.T) {
	admit := func(port int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			group(snapshottest.EndpointGroup, func(g *snapshot.SecurityGroup) {
				g.Ingress = append(g.Ingress, snapshot.Rule{Protocol: "tcp", From: port, To: port, Groups: []string{snapshottest.ClusterGroup}})
			})(s, nil)
		}
	}
	remedytest.Applied(t, Remedy(), shutOut, snapshot.SecurityGroups, admit(443), admit(80))
}
