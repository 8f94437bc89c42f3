package sg

import (
	"net/netip"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestKubeletIngress(t *testing.T) { checktest.RunCases(t, KubeletIngress(), kubeletIngressCases()) }

func kubeletIngressCases() []checktest.Case {
	all := checktest.RuleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}})
	world := func(rules []snapshot.Rule, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), ownGroup(rules, all)), changes...)
	}
	return []checktest.Case{
		{"the cluster's own group", checktest.Unjoined(snapshottest.PrivateWithNAT()), []string{"pass prod [i-0node]"}},
		{"no rule", world(nil), []string{"fail sg-0node [i-0node] [i-0node] sg-0node does not admit 10250 from the control plane"}},
		{"from the cluster's group", world(checktest.RuleSet(snapshot.Rule{Protocol: "tcp", From: 1025, To: 65535, Groups: []string{snapshottest.ClusterGroup}})), []string{"pass prod [i-0node]"}},
		{"from the interfaces' addresses", world(checktest.RuleSet(portRule("tcp", 10250, "10.42.192.5/32", "10.42.0.5/32"))), []string{"pass prod [i-0node]"}},
		{"from one of them", world(checktest.RuleSet(portRule("tcp", 10250, "10.42.192.5/32"))), []string{
			"unknown prod [i-0node] security groups: not read: only a part of the addresses in question is admitted (sg-0node ingress tcp 10250 ← 10.42.192.5/32), and which one counts is not known",
		}},
		{"interfaces were not read: the cluster's subnets", world(checktest.RuleSet(portRule("tcp", 10250, "10.42.0.0/16")), checktest.Unread(snapshot.Interfaces)), []string{"pass prod [i-0node]"}},
		{"another VPC", world(nil, func(s *snapshot.Snapshot) { s.Cluster.VPC = "vpc-0other" }), []string{
			"unknown prod [i-0node] security groups: not read: the control plane is in vpc-0other, the nodes in vpc-0a",
		}},
		{"another VPC, whose addresses are admitted", world(checktest.RuleSet(portRule("tcp", 10250, "10.42.0.0/16")), func(s *snapshot.Snapshot) { s.Cluster.VPC = "vpc-0other" }), []string{"pass prod [i-0node]"}},
		{"unread", world(nil, checktest.Unread(snapshot.SecurityGroups)), []string{"unknown prod [] security groups: denied"}},
	}
}
