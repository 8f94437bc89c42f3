package openendpointsecuritygroup

import (
	"rollcall/shared/checks"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		{"another group that the nodes have in common was not read", func(s *snapshot.Snapshot, _ *action.Subject) {
			for _, id := range []string{remedytest.Stuck, snapshottest.Node} {
				in := snapshottest.Instance(s, id)
				in.Groups = append([]string{"sg-0000unread"}, in.Groups...)
			}
		}},
		{"EC2 names no groups of one of the nodes", remedytest.Instance(func(i *snapshot.Instance) { i.Groups = nil })},
		{"the endpoint names none of its interfaces", endpoint(func(e *snapshot.Endpoint) { e.Interfaces = nil })},
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

// Of the endpoint's own security groups the first by its id is opened, of those
// that only endpoints have.
func TestOpensTheFirst(t *testing.T) {
	s, of := shutOut()
	second := snapshot.SecurityGroup{ID: "sg-0zz", VPC: snapshottest.VPC, Name: "second"}
	s.SecurityGroups = append(s.SecurityGroups, second)
	for i := range s.Endpoints {
		if s.Endpoints[i].Kind == "Interface" {
			s.Endpoints[i].Groups = []string{second.ID, snapshottest.EndpointGroup}
		}
	}
	for i := range of.Wearers {
		if of.Wearers[i].Kind == "vpc_endpoint" {
			of.Wearers[i].Groups = []string{second.ID, snapshottest.EndpointGroup}
		}
	}
	p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(of.Check, atTheEndpoint()))
	if no != nil || p.SecurityGroup != snapshottest.EndpointGroup {
		t.Errorf("planned %+v, refused %+v; want %s", p, no, snapshottest.EndpointGroup)
	}
}

// atTheEndpoint is what the check finds.
func atTheEndpoint() checks.Finding {
	return checks.Finding{Outcome: checks.Fail, Resource: "vpce-0ec2"}
}

func TestAdmits(t *testing.T) {
	for _, test := range []struct {
		protocol string
		from, to int
		group    string
		want     bool
	}{
		{"tcp", 443, 443, "sg-0a", true},
		{"tcp", 0, 65535, "sg-0a", true},
		{"tcp", 443, 444, "sg-0a", true},
		{"tcp", 442, 443, "sg-0a", true},
		{"6", 443, 443, "sg-0a", true},
		{"tcp", -1, -1, "sg-0a", true},
		{"-1", -1, -1, "sg-0a", true},
		{"tcp", 443, 443, "sg-0b", false},
		{"-1", -1, -1, "sg-0b", false},
		{"tcp", 444, 500, "sg-0a", false},
		{"tcp", 0, 442, "sg-0a", false},
		{"17", 443, 443, "sg-0a", false},
		{"udp", -1, -1, "sg-0a", false},
	} {
		r := snapshot.Rule{Protocol: test.protocol, From: test.from, To: test.to, Groups: []string{"sg-0x", test.group}}
		if got := admits(r, "sg-0a"); got != test.want {
			t.Errorf("%s %d to %d from %s: %v, want %v", test.protocol, test.from, test.to, test.group, got, test.want)
		}
	}
}

// The groups of the endpoint and of the incident's instances, each once.
func TestWearersOf(t *testing.T) {
	s := &snapshot.Snapshot{
		Endpoints: []snapshot.Endpoint{{ID: "vpce-0other", Groups: []string{"sg-0other"}}, {ID: "vpce-0a", Groups: []string{"sg-0z", "sg-0a"}}},
		Instances: []snapshot.Instance{{ID: "i-0beside", Groups: []string{"sg-0beside"}}, {ID: "i-0a", Groups: []string{"sg-0n", "sg-0a"}}, {ID: "i-0b", Groups: []string{"sg-0n"}}},
	}
	got := wearersOf(s, action.Subject{Resource: "vpce-0a", Covers: []string{"i-0a", "i-0b", "i-0gone"}})
	if diff := cmp.Diff([]string{"sg-0a", "sg-0n", "sg-0z"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
