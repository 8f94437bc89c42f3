package instance

import (
	"net/netip"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// foreignGroups gives the instance and its template a security group of their own.
func foreignGroups(s *snapshot.Snapshot) {
	snapshottest.Unjoin(s, snapshottest.Node)
	snapshottest.Instance(s, snapshottest.Node).Groups = []string{"sg-0mine"}
	s.LaunchTemplates[0].Groups = []string{"sg-0mine"}
}

// admitsForeign lets through what nodes and control plane need of each other.
func admitsForeign(s *snapshot.Snapshot) {
	s.Cluster.EndpointPrivate = true
	checktest.ClusterAdmits(snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{"sg-0mine"}})(s)
	s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{
		ID: "sg-0mine", VPC: snapshottest.VPC,
		Ingress: checktest.RuleSet(snapshot.Rule{Protocol: "tcp", From: 10250, To: 10250, Groups: []string{snapshottest.ClusterGroup}}),
		Egress:  checktest.RuleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}}),
	})
}

func TestForeignSecurityGroups(t *testing.T) {
	checktest.RunCases(t, ForeignSecurityGroups(), foreignSecurityGroupsCases())
}

func foreignSecurityGroupsCases() []checktest.Case {
	pass := []string{"pass prod [i-0node]"}
	fail := []string{"fail lt-0a [i-0node] [i-0node] lt-0a keeps sg-0cluster off i-0node"}
	return []checktest.Case{
		{"Ready", startWorld(foreignGroups, func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"the cluster's group", startWorld(toldAs("")), pass},
		{"the template's groups instead", startWorld(foreignGroups), fail},
		{"the template's groups and the cluster's", startWorld(foreignGroups, func(s *snapshot.Snapshot) { s.Instances[0].Groups = []string{"sg-0mine", "sg-0cluster"} }), pass},
		{"the template sets none", startWorld(foreignGroups, func(s *snapshot.Snapshot) { s.LaunchTemplates[0].Groups = nil }), pass},
		{"the template's groups let all of it through", startWorld(foreignGroups, admitsForeign), pass},
		{"all of it but the way to the kubelet", startWorld(foreignGroups, admitsForeign, func(s *snapshot.Snapshot) {
			s.SecurityGroups[len(s.SecurityGroups)-1].Ingress = nil
		}), fail},
		{"whether they do was not read", startWorld(foreignGroups, admitsForeign, checktest.Unread(snapshot.SecurityGroups)), fail},
		{"no managed node group", startWorld(foreignGroups, selfManaged), pass},
		{"the template that was given to the node group", startWorld(foreignGroups, func(s *snapshot.Snapshot) {
			s.LaunchTemplates = []snapshot.LaunchTemplate{{ID: "lt-0given", Version: "3", Groups: []string{"sg-0mine"}}}
			s.Nodegroups[0].Template = snapshot.TemplateRef{ID: "lt-0given", Version: "3"}
		}), []string{"fail lt-0given [i-0node] [i-0node] lt-0given keeps sg-0cluster off i-0node"}},
		{"another template", startWorld(foreignGroups, func(s *snapshot.Snapshot) { s.LaunchTemplates[0].ID = "lt-0other" }), []string{
			"unknown prod [i-0node] launch templates: not read: the launch template of i-0node is not among those that were read",
		}},
		{"ended, its groups gone", startWorld(foreignGroups, func(s *snapshot.Snapshot) { s.Instances[0].Groups = nil }), []string{
			"unknown prod [i-0node] instances: not read: EC2 names no security groups of instances that have ended",
		}},
		{"unread", startWorld(foreignGroups, checktest.Unread(snapshot.LaunchTemplates)), []string{"unknown prod [] launch templates: denied"}},
	}
}
