package sg

import (
	"net/netip"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestClusterIngress(t *testing.T) { checktest.RunCases(t, ClusterIngress(), clusterIngressCases()) }

func clusterIngressCases() []checktest.Case {
	all := checktest.RuleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}})
	own := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), checktest.PrivateAPI, ownGroup(nil, all)), changes...)
	}
	const shut = "fail sg-0cluster [i-0node] [i-0node] sg-0cluster does not admit 443 from sg-0node"
	return []checktest.Case{
		{"the cluster's own group", checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), checktest.PrivateAPI), []string{"pass prod [i-0node]"}},
		{"a group that nobody let in", own(), []string{shut}},
		{"a Ready node is not accused", checktest.Change(snapshottest.PrivateWithNAT(), checktest.PrivateAPI, ownGroup(nil, all)), []string{"pass prod [i-0node]"}},
		{"the public endpoint needs no rule", checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), ownGroup(nil, all)), []string{"pass prod [i-0node]"}},
		{"let in by its group", own(checktest.ClusterAdmits(snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{"sg-0node"}})), []string{"pass prod [i-0node]"}},
		{"let in by its subnet", own(checktest.ClusterAdmits(portRule("tcp", 443, "10.42.192.0/19"))), []string{"pass prod [i-0node]"}},
		{"let in by its address", own(checktest.ClusterAdmits(portRule("tcp", 443, "10.42.192.10/32"))), []string{"pass prod [i-0node]"}},
		{"another address of the subnet", own(checktest.ClusterAdmits(portRule("tcp", 443, "10.42.192.11/32"))), []string{shut}},
		{"let in on another port", own(checktest.ClusterAdmits(portRule("tcp", 10250, "0.0.0.0/0"))), []string{shut}},
		{"let in by an additional group of the control plane", own(func(s *snapshot.Snapshot) {
			s.Cluster.SecurityGroups = []string{"sg-0extra"}
			s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: "sg-0extra", Ingress: checktest.RuleSet(portRule("tcp", 443, "10.42.0.0/16"))})
		}), []string{"pass prod [i-0node]"}},
		{"an additional group that was not read", own(func(s *snapshot.Snapshot) { s.Cluster.SecurityGroups = []string{"sg-0extra"} }), []string{
			"unknown prod [i-0node] security groups: not read: sg-0extra is not among the security groups that EC2 lists",
		}},
		{"EC2 no longer names the instance's groups", own(func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Groups = "terminated", nil
		}), []string{"unknown prod [i-0node] instances: not read: EC2 no longer names the instance's security groups"}},
		{"its group was deleted since", own(func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Groups = "terminated", []string{"sg-0gone"}
		}), []string{"unknown prod [i-0node] security groups: not read: no longer there: sg-0gone"}},
		{"nor its subnet", own(func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Subnet, i.Tags = "terminated", "", nil
		}), []string{"unknown prod [i-0node] instances: not read: EC2 no longer says in which subnet it was"}},
		{"which its activity does", own(func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Subnet, i.Tags = "terminated", "", nil
			s.Activities = []snapshot.Activity{{ID: "a", Instance: snapshottest.Node, Subnet: snapshottest.Private, About: "Launching a new EC2 instance: " + snapshottest.Node}}
		}), []string{shut}},
		{"and its group has one subnet only", own(func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Subnet = "terminated", ""
		}), []string{shut}},
		{"unread", own(checktest.Unread(snapshot.SecurityGroups)), []string{"unknown prod [] security groups: denied"}},
	}
}

// The cluster's groups are read by VPC: those of another one are not there.
func TestClusterInAnotherVPCIsNotAccused(t *testing.T) {
	s := clusterIngressCases()[1].World
	s.Cluster.VPC, s.Cluster.EndpointPublic = "vpc-0other", false
	for _, r := range checktest.EvalOne(t, ClusterIngress(), s) {
		if r.Outcome != finding.Unknown {
			t.Errorf("%s, want only unknown", checktest.Lines([]finding.Result{r}))
		}
	}
}

func TestClusterIngressFix(t *testing.T) {
	tt := clusterIngressCases()[1]
	got := checktest.Failed(t, ClusterIngress(), tt.World)
	if want := "aws ec2 authorize-security-group-ingress --region us-west-2 --group-id sg-0cluster --protocol tcp --port 443 --source-group sg-0node"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if rules := checktest.Value(t, got, "Inbound rules of sg-0cluster (eks-cluster-sg-prod)"); rules != "sg-0cluster ingress all traffic ← sg-0cluster" {
		t.Errorf("rules = %q", rules)
	}
}
