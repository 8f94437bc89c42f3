package plan

import (
	"testing"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// After a lost answer the world tells what came of a plan: what is not there,
// and what could not be read, was not done as far as is known.
func TestApplied(t *testing.T) {
	route := func() (*snapshot.Snapshot, Subject) { return noWayOut() }
	for _, test := range []struct {
		name   string
		world  func() (*snapshot.Snapshot, Subject)
		source snapshot.Source
		do     func(*snapshot.Snapshot)
		almost func(*snapshot.Snapshot)
	}{
		{"a route", route, snapshot.RouteTables, func(s *snapshot.Snapshot) {
			row("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT)(s, nil)
		}, func(s *snapshot.Snapshot) { row("0.0.0.0/0", snapshot.ToNATGateway, "nat-0other")(s, nil) }},
		{"an instance", healed, snapshot.Instances, func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, stuck).State = "shutting-down"
		}, func(s *snapshot.Snapshot) { snapshottest.Instance(s, stuck).State = "stopping" }},
		{"an instance, as its group has it", healed, snapshot.Instances, func(s *snapshot.Snapshot) {
			s.Groups[0].Instances[1].Lifecycle = "Terminating:Wait"
		}, func(s *snapshot.Snapshot) { s.Groups[0].Instances[0].Lifecycle = "Terminating" }},
		{"a port", shutOut, snapshot.SecurityGroups, func(s *snapshot.Snapshot) {
			group(snapshottest.EndpointGroup, func(g *snapshot.SecurityGroup) {
				g.Ingress = append(g.Ingress, snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{snapshottest.ClusterGroup}})
			})(s, nil)
		}, func(s *snapshot.Snapshot) {
			group(snapshottest.EndpointGroup, func(g *snapshot.SecurityGroup) {
				g.Ingress = append(g.Ingress, snapshot.Rule{Protocol: "tcp", From: 80, To: 80, Groups: []string{snapshottest.ClusterGroup}})
			})(s, nil)
		}},
		{"an access entry", outsider, snapshot.Access, func(s *snapshot.Snapshot) {
			s.Principals = []string{snapshottest.NodeRole}
		}, func(s *snapshot.Snapshot) { s.Principals = []string{snapshottest.NodeRole + "2"} }},
	} {
		s, of := test.world()
		p, no := Make(s, of)
		if no != nil {
			t.Fatalf("%s: %s", test.name, no.Says)
		}
		is := func(what string, want, known bool) {
			t.Helper()
			if got, looked := p.Applied(s); got != want && known || looked != known {
				t.Errorf("%s, %s: %v, known %v", test.name, what, got, looked)
			}
		}
		is("before", false, true)
		test.almost(s)
		is("almost", false, true)
		s, _ = test.world()
		test.do(s)
		is("after", true, true)
		snapshottest.Without(s, test.source)
		is("unread", false, false)
	}
	cover := Plan{Cover: &Cover{Nodegroup: snapshottest.Nodegroup, To: 3}}
	s, _ := threeZones()
	if done, known := cover.Applied(s); done || !known {
		t.Errorf("a count: %v, %v", done, known)
	}
	s.Groups[0].Desired = 3
	if done, _ := cover.Applied(s); !done {
		t.Error("a count that is raised")
	}
	if _, known := (Plan{}).Applied(s); known {
		t.Error("no plan is known to be done")
	}
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

func TestSources(t *testing.T) {
	for _, r := range Remedies() {
		has := map[snapshot.Source]bool{}
		for _, source := range Sources(r, "route/no-egress") {
			if has[source] || source == snapshot.LaunchHistory {
				t.Errorf("%s: %s", r, source)
			}
			has[source] = true
		}
		for _, source := range append(own(r), snapshot.RouteTables) {
			if !has[source] {
				t.Errorf("%s: %s is not read", r, source)
			}
		}
	}
}
