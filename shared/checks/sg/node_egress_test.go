package sg

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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

func TestNodeEgress(t *testing.T) { checktest.RunCases(t, NodeEgress(), nodeEgressCases()) }

func nodeEgressCases() []checktest.Case {
	nat := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), changes...)
	}
	return []checktest.Case{
		{"the cluster's group lets everything out", nat(), []string{"pass sg-0cluster [i-0node]"}},
		{"no rules", nat(ownGroup(nil, nil)), []string{"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"no rules, but a Ready node is not accused", checktest.Change(snapshottest.PrivateWithNAT(), ownGroup(nil, nil)), []string{"pass sg-0node [i-0node]"}},
		{"only to private addresses, and the way is the internet", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "10.0.0.0/8")))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS",
		}},
		{"only to private addresses, the way is the internet, and what names lead to was refused", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "10.0.0.0/8"))), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, snapshottest.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a"))
			s.Failures = map[snapshot.Source]snapshot.Failure{snapshot.PrivateZonesOf: {Source: snapshot.PrivateZonesOf, Reason: snapshot.Denied}}
		}), []string{
			"fail (likely) sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS",
		}},
		{"only to private addresses, and all is private", checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "10.42.0.0/16"), snapshot.Rule{Protocol: "tcp", From: 443, To: 443, PrefixLists: []string{"pl-0s3"}}))), []string{
			"pass sg-0node [i-0node]",
		}},
		{"not to S3's gateway endpoint", checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "10.42.0.0/16")))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to S3",
		}},
		{"a group of the endpoints", checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, checktest.RuleSet(
			snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{snapshottest.EndpointGroup}}, snapshot.Rule{Protocol: "-1", From: -1, To: -1, PrefixLists: []string{"pl-0s3"}}))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API",
		}},
		{"to a part of the internet", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "52.0.0.0/8")))), []string{
			"unknown sg-0node [i-0node] security groups: not read: only a part of the addresses in question is admitted (sg-0node egress tcp 443 → 52.0.0.0/8), and which one counts is not known",
		}},
		{"to only one of the control plane's interfaces", nat(checktest.PrivateAPI, ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "10.42.192.0/19", "52.0.0.0/6")))), []string{
			"fail (likely) sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API",
		}},
		{"the group is not there", nat(func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Groups = []string{"sg-0gone"} }), []string{
			"unknown sg-0gone [i-0node] security groups: not read: sg-0gone is not among the security groups that EC2 lists",
		}},
		{"prefix lists were not read", nat(ownGroup(nil, checktest.RuleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, PrefixLists: []string{"pl-0all"}})), checktest.Unread(snapshot.PrefixListEntries)), []string{
			"unknown sg-0node [i-0node] prefix lists: denied",
		}},
		{"routing is to blame for what is beyond it", checktest.Change(checktest.Isolated(), ownGroup(nil, nil)), []string{"pass sg-0node [i-0node]"}},
		{"own name servers, 53 shut", nat(checktest.NameServersOf("10.9.0.2"), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "0.0.0.0/0")))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 53 to the name servers",
		}},
		{"own name servers, only 53 over TCP shut", nat(checktest.NameServersOf("10.9.0.2"), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "0.0.0.0/0"), portRule("udp", 53, "0.0.0.0/0")))), []string{
			"fail (possible) sg-0node [i-0node] [i-0node] sg-0node lets out no 53 to the name servers",
		}},
		{"Amazon's resolver is not filtered", nat(checktest.NameServersOf("10.42.0.2"), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "0.0.0.0/0")))), []string{"pass sg-0node [i-0node]"}},
		{"one of two name servers is let out", nat(checktest.NameServersOf("10.9.0.2", "10.9.0.3"), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "0.0.0.0/0"), portRule("udp", 53, "10.9.0.3/32"), portRule("tcp", 53, "10.9.0.3/32")))), []string{"pass sg-0node [i-0node]"}},
		{"name servers were not read, and 53 is not let out everywhere", nat(checktest.Unread(snapshot.DHCP), ownGroup(nil, checktest.RuleSet(portRule("tcp", 443, "0.0.0.0/0")))), []string{"unknown sg-0node [i-0node] dhcp options: denied"}},
		{"a proxy in the user data", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 3128, "10.0.0.0/8"))), func(s *snapshot.Snapshot) {
			s.UserData[0].Data = append(s.UserData[0].Data, "export HTTPS_PROXY=http://proxy:3128"...)
		}), []string{"fail (likely) sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"a proxy in the launch template only", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 3128, "10.0.0.0/8"))), checktest.TemplateSays("#!/bin/bash\nexport HTTPS_PROXY=http://proxy:3128\n")),
			[]string{"fail (likely) sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"a proxy, in other letters", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 3128, "10.0.0.0/8"))), checktest.TemplateSays("#!/bin/bash\nexport Https_Proxy=http://proxy:3128\n")),
			[]string{"fail (likely) sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"a proxy in the template of another group", nat(ownGroup(nil, checktest.RuleSet(portRule("tcp", 3128, "10.0.0.0/8"))), func(s *snapshot.Snapshot) {
			s.LaunchTemplates = append(s.LaunchTemplates, snapshot.LaunchTemplate{ID: "lt-0other", Version: "1", UserData: []byte("export HTTPS_PROXY=x")})
		}), []string{"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"two nodegroups with one group are one finding", nat(ownGroup(nil, nil), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0other", snapshottest.Public, time.Minute)
			i := snapshottest.Instance(s, "i-0other")
			i.Groups, i.PublicIP, i.Tags = []string{"sg-0node"}, netip.MustParseAddr("203.0.113.9"), nil
		}), []string{"fail sg-0node [i-0node i-0other] [i-0node i-0other] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"unread", nat(checktest.Unread(snapshot.SecurityGroups)), []string{"unknown prod [] security groups: denied"}},
	}
}

func TestNodeEgressFix(t *testing.T) {
	got := checktest.Failed(t, NodeEgress(), checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), ownGroup(nil, nil), func(s *snapshot.Snapshot) {
		s.LaunchTemplates[0].Groups = []string{"sg-0node"}
	}))
	if want := "aws ec2 authorize-security-group-egress --region us-west-2 --group-id sg-0node --protocol tcp --port 443 --cidr 0.0.0.0/0"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if rules := checktest.Value(t, got, "Outbound rules of sg-0node"); rules != "sg-0node egress: no rules" {
		t.Errorf("rules = %q", rules)
	}
	if way := checktest.Value(t, got, "Path to"); !strings.Contains(way, "nat-0a (available, us-west-2a)") {
		t.Errorf("path = %q, want the NAT gateway in it", way)
	}
	if !strings.Contains(got.Why, "Launch template lt-0a sets sg-0node, so the nodes do not have the cluster's sg-0cluster") {
		t.Errorf("Why = %q, want the launch template's groups", got.Why)
	}
	private := checktest.Failed(t, NodeEgress(), checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, checktest.RuleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, PrefixLists: []string{"pl-0s3"}}))))
	if !slices.Contains(private.Resources, "sg-0node") || !strings.HasSuffix(private.Fix.Command, "--cidr 10.42.0.0/16") {
		t.Errorf("Resources %v, Command %q: want the group, and the VPC's range only", private.Resources, private.Fix.Command)
	}
}
