package checks

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// unjoined is a world whose node did not join.
func unjoined(s *snapshot.Snapshot) *snapshot.Snapshot {
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
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

func ruleSet(rules ...snapshot.Rule) []snapshot.Rule { return rules }

// nameServersOf sets the VPC's name servers.
func nameServersOf(servers ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.DHCPOptions[0].DomainNameServers = servers }
}

func privateAPI(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }

func TestNodeEgress(t *testing.T) { runCases(t, nodeEgress(), nodeEgressCases()) }

func nodeEgressCases() []testCase {
	nat := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return change(unjoined(snapshottest.PrivateWithNAT()), changes...)
	}
	return []testCase{
		{"the cluster's group lets everything out", nat(), []string{"pass sg-0cluster [i-0node]"}},
		{"no rules", nat(ownGroup(nil, nil)), []string{"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"no rules, but a Ready node is not accused", change(snapshottest.PrivateWithNAT(), ownGroup(nil, nil)), []string{"pass sg-0node [i-0node]"}},
		{"only to private addresses, and the way is the internet", nat(ownGroup(nil, ruleSet(portRule("tcp", 443, "10.0.0.0/8")))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS",
		}},
		{"only to private addresses, and all is private", change(unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, ruleSet(portRule("tcp", 443, "10.42.0.0/16"), snapshot.Rule{Protocol: "tcp", From: 443, To: 443, PrefixLists: []string{"pl-0s3"}}))), []string{
			"pass sg-0node [i-0node]",
		}},
		{"not to S3's gateway endpoint", change(unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, ruleSet(portRule("tcp", 443, "10.42.0.0/16")))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to S3",
		}},
		{"a group of the endpoints", change(unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, ruleSet(
			snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{snapshottest.EndpointGroup}}, snapshot.Rule{Protocol: "-1", From: -1, To: -1, PrefixLists: []string{"pl-0s3"}}))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API",
		}},
		{"to a part of the internet", nat(ownGroup(nil, ruleSet(portRule("tcp", 443, "52.0.0.0/8")))), []string{
			"unknown sg-0node [i-0node] security groups: not read: only a part of the addresses in question is admitted (sg-0node egress tcp 443 → 52.0.0.0/8), and which one counts is not known",
		}},
		{"to only one of the control plane's interfaces", nat(privateAPI, ownGroup(nil, ruleSet(portRule("tcp", 443, "10.42.192.0/19", "52.0.0.0/6")))), []string{
			"fail (likely) sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API",
		}},
		{"the group is not there", nat(func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Groups = []string{"sg-0gone"} }), []string{
			"unknown sg-0gone [i-0node] security groups: not read: sg-0gone is not among the security groups that EC2 lists",
		}},
		{"prefix lists were not read", nat(ownGroup(nil, ruleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, PrefixLists: []string{"pl-0all"}})), unread(snapshot.PrefixListEntries)), []string{
			"unknown sg-0node [i-0node] prefix lists: denied",
		}},
		{"routing is to blame for what is beyond it", change(isolated(), ownGroup(nil, nil)), []string{"pass sg-0node [i-0node]"}},
		{"own name servers, 53 shut", nat(nameServersOf("10.9.0.2"), ownGroup(nil, ruleSet(portRule("tcp", 443, "0.0.0.0/0")))), []string{
			"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 53 to the name servers",
		}},
		{"own name servers, only 53 over TCP shut", nat(nameServersOf("10.9.0.2"), ownGroup(nil, ruleSet(portRule("tcp", 443, "0.0.0.0/0"), portRule("udp", 53, "0.0.0.0/0")))), []string{
			"fail (possible) sg-0node [i-0node] [i-0node] sg-0node lets out no 53 to the name servers",
		}},
		{"Amazon's resolver is not filtered", nat(nameServersOf("10.42.0.2"), ownGroup(nil, ruleSet(portRule("tcp", 443, "0.0.0.0/0")))), []string{"pass sg-0node [i-0node]"}},
		{"one of two name servers is let out", nat(nameServersOf("10.9.0.2", "10.9.0.3"), ownGroup(nil, ruleSet(portRule("tcp", 443, "0.0.0.0/0"), portRule("udp", 53, "10.9.0.3/32"), portRule("tcp", 53, "10.9.0.3/32")))), []string{"pass sg-0node [i-0node]"}},
		{"name servers were not read, and 53 is not let out everywhere", nat(unread(snapshot.DHCP), ownGroup(nil, ruleSet(portRule("tcp", 443, "0.0.0.0/0")))), []string{"unknown sg-0node [i-0node] dhcp options: denied"}},
		{"a proxy in the user data", nat(ownGroup(nil, ruleSet(portRule("tcp", 3128, "10.0.0.0/8"))), func(s *snapshot.Snapshot) {
			s.UserData[0].Data = append(s.UserData[0].Data, "export HTTPS_PROXY=http://proxy:3128"...)
		}), []string{"fail (likely) sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"a proxy in the launch template only", nat(ownGroup(nil, ruleSet(portRule("tcp", 3128, "10.0.0.0/8"))), templateSays("#!/bin/bash\nexport HTTPS_PROXY=http://proxy:3128\n")),
			[]string{"fail (likely) sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"a proxy, in other letters", nat(ownGroup(nil, ruleSet(portRule("tcp", 3128, "10.0.0.0/8"))), templateSays("#!/bin/bash\nexport Https_Proxy=http://proxy:3128\n")),
			[]string{"fail (likely) sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"a proxy in the template of another group", nat(ownGroup(nil, ruleSet(portRule("tcp", 3128, "10.0.0.0/8"))), func(s *snapshot.Snapshot) {
			s.LaunchTemplates = append(s.LaunchTemplates, snapshot.LaunchTemplate{ID: "lt-0other", Version: "1", UserData: []byte("export HTTPS_PROXY=x")})
		}), []string{"fail sg-0node [i-0node] [i-0node] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"two nodegroups with one group are one finding", nat(ownGroup(nil, nil), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0other", snapshottest.Public, time.Minute)
			i := snapshottest.Instance(s, "i-0other")
			i.Groups, i.PublicIP, i.Tags = []string{"sg-0node"}, netip.MustParseAddr("203.0.113.9"), nil
		}), []string{"fail sg-0node [i-0node i-0other] [i-0node i-0other] sg-0node lets out no 443 to the cluster API, EC2, ECR, S3 and STS"}},
		{"unread", nat(unread(snapshot.SecurityGroups)), []string{"unknown prod [] security groups: denied"}},
	}
}

func TestNodeEgressFix(t *testing.T) {
	got := failed(t, nodeEgress(), change(unjoined(snapshottest.PrivateWithNAT()), ownGroup(nil, nil), func(s *snapshot.Snapshot) {
		s.LaunchTemplates[0].Groups = []string{"sg-0node"}
	}))
	if want := "aws ec2 authorize-security-group-egress --region us-west-2 --group-id sg-0node --protocol tcp --port 443 --cidr 0.0.0.0/0"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if rules := value(t, got, "Outbound rules of sg-0node"); rules != "sg-0node egress: no rules" {
		t.Errorf("rules = %q", rules)
	}
	if way := value(t, got, "Path to"); !strings.Contains(way, "nat-0a (available, us-west-2a)") {
		t.Errorf("path = %q, want the NAT gateway in it", way)
	}
	if !strings.Contains(got.Why, "Launch template lt-0a sets sg-0node, so the nodes do not have the cluster's sg-0cluster") {
		t.Errorf("Why = %q, want the launch template's groups", got.Why)
	}
	private := failed(t, nodeEgress(), change(unjoined(snapshottest.EndpointsOnly()), ownGroup(nil, ruleSet(snapshot.Rule{Protocol: "-1", From: -1, To: -1, PrefixLists: []string{"pl-0s3"}}))))
	if !slices.Contains(private.Resources, "sg-0node") || !strings.HasSuffix(private.Fix.Command, "--cidr 10.42.0.0/16") {
		t.Errorf("Resources %v, Command %q: want the group, and the VPC's range only", private.Resources, private.Fix.Command)
	}
}
