package sg

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

func TestCases(t *testing.T) {
	checktest.RunTable(t, Checks(), map[checkid.ID][]checktest.Case{
		checkid.SGClusterIngress: clusterIngressCases(),
		checkid.SGKubeletIngress: kubeletIngressCases(),
		checkid.SGNodeEgress:     nodeEgressCases(),
	})
}

func clusterIngressCases() []checktest.Case {
	all := checktest.RuleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}})
	own := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), checktest.PrivateAPI, ownGroup(nil, all)), changes...)
	}
	const shut = "fail sg-0cluster [i-0node] [i-0node] sg-0cluster does not allow 443 from sg-0node"
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
		}), []string{"unknown prod [i-0node] instances: not read: EC2 no longer reports the instance's security groups"}},
		{"its group was deleted since", own(func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Groups = "terminated", []string{"sg-0gone"}
		}), []string{"unknown prod [i-0node] security groups: not read: deleted: sg-0gone"}},
		{"nor its subnet", own(func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Subnet, i.Tags = "terminated", "", nil
		}), []string{"unknown prod [i-0node] instances: not read: EC2 no longer reports its subnet"}},
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
	for _, r := range checktest.EvalOne(t, checkOf(checkid.SGClusterIngress), s) {
		if r.Outcome != check.Unknown {
			t.Errorf("%s, want only unknown", checktest.Lines([]check.Result{r}))
		}
	}
}

func TestClusterIngressFix(t *testing.T) {
	tt := clusterIngressCases()[1]
	got := checktest.Failed(t, checkOf(checkid.SGClusterIngress), tt.World)
	expect.Equal(t, "Command", got.Fix.Command, "aws ec2 authorize-security-group-ingress --region us-west-2 --group-id sg-0cluster --protocol tcp --port 443 --source-group sg-0node")
	if rules := checktest.Value(t, got, "Inbound rules of sg-0cluster (eks-cluster-sg-prod)"); rules != "sg-0cluster ingress all traffic ← sg-0cluster" {
		t.Errorf("rules = %q", rules)
	}
}

func TestEFASelfRule(t *testing.T) {
	const (
		pass = "pass sg-0efa [i-0node]"
		fail = "fail (possible) sg-0efa [i-0node] [i-0node] sg-0efa blocks EFA traffic"
	)
	self := snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{"sg-0efa"}}
	tcp := snapshot.Rule{Protocol: "tcp", From: 0, To: 65535, Groups: []string{"sg-0efa"}}
	other := snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{"sg-0other"}}
	anywhere := snapshot.Rule{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}}
	rules := checktest.RuleSet
	group := func(id string, in, out []snapshot.Rule) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: id, VPC: snapshottest.VPC, Ingress: in, Egress: out})
		}
	}
	with := func(ids ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).EFAs = append(snapshottest.Instance(s, snapshottest.Node).EFAs, snapshot.EFA{ID: "eni-0efa", Groups: ids})
		}
	}
	world := func(in, out []snapshot.Rule, more ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Missed(), append([]func(*snapshot.Snapshot){group("sg-0efa", in, out), with("sg-0efa")}, more...)...)
	}
	// gone is an instance that has ended; its template asks for an adapter.
	gone := func(s *snapshot.Snapshot) {
		i := snapshottest.Instance(s, snapshottest.Node)
		i.State, i.EFAs, i.Subnet, i.Groups = "terminated", nil, "", nil
		i.StateReason = snapshot.StateReason{Code: "Client.UserInitiatedShutdown", When: s.Time}
		s.LaunchTemplates[0].EFAs = []snapshot.EFA{{Groups: []string{"sg-0efa"}}}
		s.Scope.Instances = []string{snapshottest.Node}
	}
	checktest.RunCases(t, checkOf(checkid.SGEFASelfRule), []checktest.Case{
		{Name: "no adapter", World: checktest.Missed(), Want: []string{"pass prod [i-0node]"}},
		{Name: "no adapter, and no rule", World: checktest.Change(checktest.Missed(), ownGroup(nil, nil)), Want: []string{"pass prod [i-0node]"}},
		{Name: "both ways", World: world(rules(self), rules(self)), Want: []string{pass}},
		{Name: "in only", World: world(rules(self), nil), Want: []string{fail}},
		{Name: "out only", World: world(nil, rules(self)), Want: []string{fail}},
		{Name: "neither", World: world(nil, nil), Want: []string{fail}},
		{Name: "out to every address does not count", World: world(rules(self), rules(anywhere)), Want: []string{fail}},
		{Name: "in from every address does not count", World: world(rules(anywhere), rules(self)), Want: []string{fail}},
		{Name: "all of TCP is not all traffic", World: world(rules(tcp), rules(self)), Want: []string{fail}},
		{Name: "another group is not itself", World: world(rules(self), rules(other)), Want: []string{fail}},
		{Name: "one of two groups will do", World: world(rules(self), rules(self), group("sg-0bare", nil, nil), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).EFAs[0].Groups = []string{"sg-0bare", "sg-0efa"}
		}), Want: []string{"pass sg-0bare [i-0node]"}},
		{Name: "two groups that allow each other", World: world(rules(other), nil, group("sg-0other", nil, rules(self)), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).EFAs[0].Groups = []string{"sg-0efa", "sg-0other"}
		}), Want: []string{pass}},
		{Name: "of two adapters one is shut", World: world(rules(self), rules(self), group("sg-0bare", nil, nil), with("sg-0bare")), Want: []string{
			"fail (possible) sg-0bare [i-0node] [i-0node] sg-0bare blocks EFA traffic",
		}},
		{Name: "the group is not listed", World: world(rules(self), rules(self), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).EFAs[0].Groups = []string{"sg-0gone"}
		}), Want: []string{"unknown sg-0gone [i-0node] security groups: not read: sg-0gone is not among the security groups that EC2 lists"}},
		{Name: "one that is not listed may allow it", World: world(rules(self), nil, func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).EFAs[0].Groups = []string{"sg-0efa", "sg-0gone"}
		}), Want: []string{"unknown sg-0efa [i-0node] security groups: not read: sg-0gone is not among the security groups that EC2 lists"}},
		{Name: "an adapter without a group", World: checktest.Change(checktest.Missed(), with()), Want: []string{
			"unknown prod [i-0node] instances: not read: the adapters' security groups are unknown",
		}},
		{Name: "a Ready node", World: checktest.Change(snapshottest.PrivateWithNAT(), group("sg-0efa", nil, nil), with("sg-0efa")), Want: []string{
			"fail sg-0efa [i-0node] [i-0node] sg-0efa blocks EFA traffic",
		}},
		{Name: "ended, as its template asked", World: world(nil, nil, gone), Want: []string{fail}},
		{Name: "ended, and the template was not read", World: world(nil, nil, gone, checktest.Unread(snapshot.LaunchTemplates)), Want: []string{"unknown prod [i-0node] launch templates: denied"}},
		{Name: "ended, and the template is not there", World: world(nil, nil, gone, func(s *snapshot.Snapshot) { s.LaunchTemplates = nil }), Want: []string{
			"unknown prod [i-0node] launch templates: not read: i-0node has ended, and its launch template is not among those that were read",
		}},
		{Name: "ended, and asked for none", World: world(nil, nil, gone, func(s *snapshot.Snapshot) { s.LaunchTemplates[0].EFAs = nil }), Want: []string{"pass prod [i-0node]"}},
		{Name: "not read", World: world(nil, nil, checktest.Unread(snapshot.SecurityGroups)), Want: []string{"unknown prod [] security groups: denied"}},
	})
}

func TestEFASelfRuleFix(t *testing.T) {
	self := snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{"sg-0efa"}}
	const (
		in  = "aws ec2 authorize-security-group-ingress --region us-west-2 --group-id sg-0efa --ip-permissions 'IpProtocol=-1,UserIdGroupPairs=[{GroupId=sg-0efa}]'"
		out = "aws ec2 authorize-security-group-egress --region us-west-2 --group-id sg-0efa --ip-permissions 'IpProtocol=-1,UserIdGroupPairs=[{GroupId=sg-0efa}]'"
	)
	for _, tt := range []struct {
		in, out []snapshot.Rule
		want    string
	}{
		{nil, nil, in + " && " + out}, {checktest.RuleSet(self), nil, out}, {nil, checktest.RuleSet(self), in},
	} {
		s := snapshottest.PrivateWithNAT()
		snapshottest.Launch(s, "i-0other", snapshottest.Private, time.Hour)
		for _, id := range []string{snapshottest.Node, "i-0other"} {
			// The group that has one direction is the one to mend, not the first.
			snapshottest.Instance(s, id).EFAs = []snapshot.EFA{{ID: "eni-" + id, Groups: []string{"sg-0efa", "sg-0zero"}}}
		}
		s.SecurityGroups = append(s.SecurityGroups,
			snapshot.SecurityGroup{ID: "sg-0efa", VPC: snapshottest.VPC, Ingress: tt.in, Egress: tt.out}, snapshot.SecurityGroup{ID: "sg-0zero", VPC: snapshottest.VPC})
		got := checktest.Failed(t, checkOf(checkid.SGEFASelfRule), s)
		expect.Same(t, "the command", got.Fix.Command, tt.want)
		expect.Same(t, "Instances", got.Instances, []string{snapshottest.Node, "i-0other"})
	}
}

func kubeletIngressCases() []checktest.Case {
	all := checktest.RuleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}})
	world := func(rules []snapshot.Rule, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), ownGroup(rules, all)), changes...)
	}
	return []checktest.Case{
		{"the cluster's own group", checktest.Unjoined(snapshottest.PrivateWithNAT()), []string{"pass prod [i-0node]"}},
		{"no rule", world(nil), []string{"fail sg-0node [i-0node] [i-0node] sg-0node does not allow 10250 from the control plane"}},
		{"from the cluster's group", world(checktest.RuleSet(snapshot.Rule{Protocol: "tcp", From: 1025, To: 65535, Groups: []string{snapshottest.ClusterGroup}})), []string{"pass prod [i-0node]"}},
		{"from the interfaces' addresses", world(checktest.RuleSet(portRule("tcp", 10250, "10.42.192.5/32", "10.42.0.5/32"))), []string{"pass prod [i-0node]"}},
		{"from one of them", world(checktest.RuleSet(portRule("tcp", 10250, "10.42.192.5/32"))), []string{
			"unknown prod [i-0node] security groups: not read: only some of the addresses in question are allowed (sg-0node ingress tcp 10250 ← 10.42.192.5/32), and which one counts is unknown",
		}},
		{"interfaces were not read: the cluster's subnets", world(checktest.RuleSet(portRule("tcp", 10250, "10.42.0.0/16")), checktest.Unread(snapshot.Interfaces)), []string{"pass prod [i-0node]"}},
		{"another VPC", world(nil, func(s *snapshot.Snapshot) { s.Cluster.VPC = "vpc-0other" }), []string{
			"unknown prod [i-0node] security groups: not read: the control plane is in vpc-0other, the nodes in vpc-0a",
		}},
		{"another VPC, whose addresses are admitted", world(checktest.RuleSet(portRule("tcp", 10250, "10.42.0.0/16")), func(s *snapshot.Snapshot) { s.Cluster.VPC = "vpc-0other" }), []string{"pass prod [i-0node]"}},
		{"unread", world(nil, checktest.Unread(snapshot.SecurityGroups)), []string{"unknown prod [] security groups: denied"}},
	}
}

// ownGroup gives the node a security group of its own, with the rules.
func ownGroup(ingress, egress []snapshot.Rule) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: "sg-0node", VPC: snapshottest.VPC, Name: "nodes", Ingress: ingress, Egress: egress})
		snapshottest.Instance(s, snapshottest.Node).Groups = []string{"sg-0node"}
	}
}

// portRule is a rule for one port.
func portRule(protocol string, port int, cidrs ...string) snapshot.Rule {
	r := snapshot.Rule{Protocol: protocol, From: port, To: port}
	for _, c := range cidrs {
		r.CIDRs = append(r.CIDRs, netip.MustParsePrefix(c))
	}
	return r
}

func nodeEgressCases() []checktest.Case {
	nat := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), changes...)
	}
	return []checktest.Case{
		{"the cluster's group lets everything out", nat(), []string{"pass sg-0cluster [i-0node]"}},
		{"no rules", nat(ownGroup(nil, nil)), []string{"fail sg-0node [i-0node] [i-0node] sg-0node blocks outbound 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"no rules, but a Ready node is not accused", checktest.Change(snapshottest.PrivateWithNAT(), ownGroup(nil, nil)), []string{"pass sg-0node [i-0node]"}},
		{"only to private addresses, and the way is the internet", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "10.0.0.0/8")))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node blocks outbound 443 to the cluster API, EC2, ECR, S3 and STS",
		}},
		{"only to private addresses, the way is the internet, and what names lead to was refused", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "10.0.0.0/8"))), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, snapshottest.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a"))
			s.Failures = map[snapshot.Source]snapshot.Failure{snapshot.PrivateZonesOf: {Source: snapshot.PrivateZonesOf, Reason: snapshot.Denied}}
		}), []string{
			"fail (likely) sg-0node [i-0node] [i-0node] sg-0node blocks outbound 443 to the cluster API, EC2, ECR, S3 and STS",
		}},
		{"only to private addresses, and all is private", checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "10.42.0.0/16"), snapshot.Rule{Protocol: "tcp", From: 443, To: 443, PrefixLists: []string{"pl-0s3"}}))), []string{
			"pass sg-0node [i-0node]",
		}},
		{"not to S3's gateway endpoint", checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "10.42.0.0/16")))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node blocks outbound 443 to S3",
		}},
		{"a group of the endpoints", checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, checktest.RuleSet(
			snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{snapshottest.EndpointGroup}}, snapshot.Rule{Protocol: "-1", From: -1, To: -1, PrefixLists: []string{"pl-0s3"}}))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node blocks outbound 443 to the cluster API",
		}},
		{"to a part of the internet", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "52.0.0.0/8")))), []string{
			"unknown sg-0node [i-0node] security groups: not read: only some of the addresses in question are allowed (sg-0node egress tcp 443 → 52.0.0.0/8), and which one counts is unknown",
		}},
		{"to only one of the control plane's interfaces", nat(checktest.PrivateAPI, ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "10.42.192.0/19", "52.0.0.0/6")))), []string{
			"fail (likely) sg-0node [i-0node] [i-0node] sg-0node blocks outbound 443 to the cluster API",
		}},
		{"the group is not there", nat(func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Groups = []string{"sg-0gone"} }), []string{
			"unknown sg-0gone [i-0node] security groups: not read: sg-0gone is not among the security groups that EC2 lists",
		}},
		{"prefix lists were not read", nat(ownGroup(nil, checktest.RuleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, PrefixLists: []string{"pl-0all"}})), checktest.Unread(snapshot.PrefixListEntries)), []string{
			"unknown sg-0node [i-0node] prefix lists: denied",
		}},
		{"routing is to blame for what is beyond it", checktest.Change(checktest.Isolated(), ownGroup(nil, nil)), []string{"pass sg-0node [i-0node]"}},
		{"own name servers, 53 shut", nat(checktest.NameServersOf("10.9.0.2"), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "0.0.0.0/0")))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node blocks outbound 53 to the name servers",
		}},
		{"own name servers, only 53 over TCP shut", nat(checktest.NameServersOf("10.9.0.2"), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "0.0.0.0/0"), portRule("udp", 53, "0.0.0.0/0")))), []string{
			"fail (possible) sg-0node [i-0node] [i-0node] sg-0node blocks outbound 53 to the name servers",
		}},
		{"Amazon's resolver is not filtered", nat(checktest.NameServersOf("10.42.0.2"), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "0.0.0.0/0")))), []string{"pass sg-0node [i-0node]"}},
		{"one of two name servers is let out", nat(checktest.NameServersOf("10.9.0.2", "10.9.0.3"), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "0.0.0.0/0"), portRule("udp", 53, "10.9.0.3/32"), portRule("tcp", 53, "10.9.0.3/32")))), []string{"pass sg-0node [i-0node]"}},
		{"name servers were not read, and 53 is not let out everywhere", nat(checktest.Unread(snapshot.DHCP), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "0.0.0.0/0")))), []string{"unknown sg-0node [i-0node] dhcp options: denied"}},
		{"a proxy in the user data", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 3128, "10.0.0.0/8"))), func(s *snapshot.Snapshot) {
			s.UserData[0].Data = append(s.UserData[0].Data, "export HTTPS_PROXY=http://proxy:3128"...)
		}), []string{"fail (likely) sg-0node [i-0node] [i-0node] sg-0node blocks outbound 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"a proxy in the launch template only", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 3128, "10.0.0.0/8"))), checktest.TemplateSays("#!/bin/bash\nexport HTTPS_PROXY=http://proxy:3128\n")),
			[]string{"fail (likely) sg-0node [i-0node] [i-0node] sg-0node blocks outbound 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"a proxy, in other letters", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 3128, "10.0.0.0/8"))), checktest.TemplateSays("#!/bin/bash\nexport Https_Proxy=http://proxy:3128\n")),
			[]string{"fail (likely) sg-0node [i-0node] [i-0node] sg-0node blocks outbound 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"a proxy in the template of another group", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 3128, "10.0.0.0/8"))), func(s *snapshot.Snapshot) {
			s.LaunchTemplates = append(s.LaunchTemplates, snapshot.LaunchTemplate{ID: "lt-0other", Version: "1", UserData: []byte("export HTTPS_PROXY=x")})
		}), []string{"fail sg-0node [i-0node] [i-0node] sg-0node blocks outbound 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"two nodegroups with one group are one finding", nat(ownGroup(nil, nil), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0other", snapshottest.Public, time.Minute)
			i := snapshottest.Instance(s, "i-0other")
			i.Groups, i.PublicIP, i.Tags = []string{"sg-0node"}, netip.MustParseAddr("203.0.113.9"), nil
		}), []string{"fail sg-0node [i-0node i-0other] [i-0node i-0other] sg-0node blocks outbound 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"unread", nat(checktest.Unread(snapshot.SecurityGroups)), []string{"unknown prod [] security groups: denied"}},
	}
}

func TestNodeEgressFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.SGNodeEgress), checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), ownGroup(nil, nil), func(s *snapshot.Snapshot) {
		s.LaunchTemplates[0].Groups = []string{"sg-0node"}
	}))
	expect.Equal(t, "Command", got.Fix.Command, "aws ec2 authorize-security-group-egress --region us-west-2 --group-id sg-0node --protocol tcp --port 443 --cidr 0.0.0.0/0")
	if rules := checktest.Value(t, got, "Outbound rules of sg-0node"); rules != "sg-0node egress: no rules" {
		t.Errorf("rules = %q", rules)
	}
	if way := checktest.Value(t, got, "Path to"); !strings.Contains(way, "nat-0a (available, us-west-2a)") {
		t.Errorf("path = %q, want the NAT gateway in it", way)
	}
	if !strings.Contains(got.Why, "Launch template lt-0a sets sg-0node, so the nodes do not have the cluster's sg-0cluster") {
		t.Errorf("Why = %q, want the launch template's groups", got.Why)
	}
	private := checktest.Failed(t, checkOf(checkid.SGNodeEgress), checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, checktest.RuleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, PrefixLists: []string{"pl-0s3"}}))))
	if !slices.Contains(private.Resources, "sg-0node") || !strings.HasSuffix(private.Fix.Command, "--cidr 10.42.0.0/16") {
		t.Errorf("Resources %v, Command %q: want the group, and the VPC's range only", private.Resources, private.Fix.Command)
	}
}
