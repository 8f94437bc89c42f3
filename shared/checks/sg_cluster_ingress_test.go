package checks

import (
	"net/netip"
	"testing"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// clusterAdmits adds an inbound rule to the cluster's group.
func clusterAdmits(r snapshot.Rule) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for i := range s.SecurityGroups {
			if s.SecurityGroups[i].ID == snapshottest.ClusterGroup {
				s.SecurityGroups[i].Ingress = append(s.SecurityGroups[i].Ingress, r)
			}
		}
	}
}

func TestClusterIngress(t *testing.T) { runCases(t, clusterIngress(), clusterIngressCases()) }

func clusterIngressCases() []testCase {
	all := ruleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}})
	own := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return change(change(unjoined(snapshottest.PrivateWithNAT()), privateAPI, ownGroup(nil, all)), changes...)
	}
	const shut = "fail sg-0cluster [i-0node] [i-0node] sg-0cluster does not admit 443 from sg-0node"
	return []testCase{
		{"the cluster's own group", change(unjoined(snapshottest.PrivateWithNAT()), privateAPI), []string{"pass prod [i-0node]"}},
		{"a group that nobody let in", own(), []string{shut}},
		{"a Ready node is not accused", change(snapshottest.PrivateWithNAT(), privateAPI, ownGroup(nil, all)), []string{"pass prod [i-0node]"}},
		{"the public endpoint needs no rule", change(unjoined(snapshottest.PrivateWithNAT()), ownGroup(nil, all)), []string{"pass prod [i-0node]"}},
		{"let in by its group", own(clusterAdmits(snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{"sg-0node"}})), []string{"pass prod [i-0node]"}},
		{"let in by its subnet", own(clusterAdmits(portRule("tcp", 443, "10.42.192.0/19"))), []string{"pass prod [i-0node]"}},
		{"let in by its address", own(clusterAdmits(portRule("tcp", 443, "10.42.192.10/32"))), []string{"pass prod [i-0node]"}},
		{"another address of the subnet", own(clusterAdmits(portRule("tcp", 443, "10.42.192.11/32"))), []string{shut}},
		{"let in on another port", own(clusterAdmits(portRule("tcp", 10250, "0.0.0.0/0"))), []string{shut}},
		{"let in by an additional group of the control plane", own(func(s *snapshot.Snapshot) {
			s.Cluster.SecurityGroups = []string{"sg-0extra"}
			s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: "sg-0extra", Ingress: ruleSet(portRule("tcp", 443, "10.42.0.0/16"))})
		}), []string{"pass prod [i-0node]"}},
		{"an additional group that was not read", own(func(s *snapshot.Snapshot) { s.Cluster.SecurityGroups = []string{"sg-0extra"} }), []string{
			"unknown prod [i-0node] security groups: not read: sg-0extra is not among the security groups that EC2 lists",
		}},
		{"EC2 no longer names the instance's groups", own(func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Groups = "terminated", nil
		}), []string{"unknown prod [i-0node] instances: not read: EC2 no longer names the instance's security groups"}},
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
		{"unread", own(unread(snapshot.SecurityGroups)), []string{"unknown prod [] security groups: denied"}},
	}
}

// The cluster's groups are read by VPC: those of another one are not there.
func TestClusterInAnotherVPCIsNotAccused(t *testing.T) {
	s := clusterIngressCases()[1].world
	s.Cluster.VPC, s.Cluster.EndpointPublic = "vpc-0other", false
	for _, r := range evalOne(t, clusterIngress(), s) {
		if r.Outcome != Unknown {
			t.Errorf("%s, want only unknown", lines([]Result{r}))
		}
	}
}

func TestClusterIngressFix(t *testing.T) {
	tt := clusterIngressCases()[1]
	got := failed(t, clusterIngress(), tt.world)
	if want := "aws ec2 authorize-security-group-ingress --region us-west-2 --group-id sg-0cluster --protocol tcp --port 443 --source-group sg-0node"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if rules := value(t, got, "Inbound rules of sg-0cluster (eks-cluster-sg-prod)"); rules != "sg-0cluster ingress all traffic ← sg-0cluster" {
		t.Errorf("rules = %q", rules)
	}
}
