package dns

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// lateWith is a private world with a NAT gateway in which the node has not joined.
func lateWith(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	return checktest.Change(snapshottest.PrivateWithNAT(), append([]func(*snapshot.Snapshot){checktest.Late}, changes...)...)
}

func TestFirewall(t *testing.T) { checktest.RunCases(t, Firewall(), firewallCases()) }

func firewallCases() []checktest.Case {
	with := func(rules ...snapshot.FirewallRule) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i := range rules {
				rules[i].VPC, rules[i].Group, rules[i].List = snapshottest.VPC, "rslvr-frg-0a", "rslvr-fdl-0a"
			}
			s.FirewallRules = rules
		}
	}
	rule := func(action string, domains ...string) snapshot.FirewallRule {
		return snapshot.FirewallRule{Name: action, Action: action, Domains: domains}
	}
	of := func(r snapshot.FirewallRule, kind string) snapshot.FirewallRule {
		r.Type = kind
		return r
	}
	garden := with(rule("ALLOW", "*.eks.amazonaws.com", "*.s3.us-west-2.amazonaws.com", "api.ecr.us-west-2.amazonaws.com", "800184023465.dkr.ecr.us-west-2.amazonaws.com",
		"ec2.us-west-2.amazonaws.com", "sts.us-west-2.amazonaws.com"), rule("BLOCK", "*"))
	registry := func(image string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.CNI.Image = image }
	}
	unread := rule("ALLOW")
	unread.Unread = &snapshot.Failure{Source: snapshot.DNSFirewall, Reason: snapshot.Denied, Call: "route53resolver:ListFirewallDomains"}
	managed := rule("BLOCK")
	managed.Unread = unread.Unread
	pass := []string{"pass vpc-0a [subnet-0private]"}
	fail := func(services string) []string {
		return []string{"fail rslvr-frg-0a [subnet-0private] [i-0node] DNS Firewall blocks the names of " + services}
	}
	return []checktest.Case{
		{"no rules", lateWith(), pass},
		{"a name that nobody needs", lateWith(with(rule("BLOCK", "example.com", "*.ads.test"))), pass},
		{"one name", lateWith(with(rule("BLOCK", "sts.us-west-2.amazonaws.com"))), fail("STS")},
		{"a name is not what is under it", lateWith(with(rule("BLOCK", "amazonaws.com"))), pass},
		{"a wildcard", lateWith(with(rule("BLOCK", "*.ecr.us-west-2.amazonaws.com"))), fail("ECR")},
		{"a walled garden that allows too little", lateWith(with(rule("ALLOW", "*.eks.amazonaws.com", "*.s3.us-west-2.amazonaws.com", "*.ecr.us-west-2.amazonaws.com", "sts.us-west-2.amazonaws.com"), rule("BLOCK", "*"))), fail("EC2")},
		{"a walled garden", lateWith(with(rule("ALLOW", "*.amazonaws.com"), rule("BLOCK", "*"))), pass},
		{"allowed after it was blocked", lateWith(with(rule("BLOCK", "ec2.us-west-2.amazonaws.com"), rule("ALLOW", "*"))), fail("EC2")},
		{"a walled garden with the registry of its Region", lateWith(garden, registry("800184023465.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1")), pass},
		{"a walled garden with another Region's", lateWith(garden), fail("ECR (dkr)")},
		{"the registry is not known", lateWith(garden, func(s *snapshot.Snapshot) { s.CNI = nil }), pass},
		{"a registry of one's own", lateWith(garden, registry("registry.example.com/amazon-k8s-cni:v1")), pass},
		{"an alert only", lateWith(with(rule("ALERT", "*"), rule("BLOCK", "*"))), pass},
		{"queries of another type", lateWith(with(of(rule("BLOCK", "*"), "TXT"))), pass},
		{"queries for addresses", lateWith(with(of(rule("BLOCK", "ec2.us-west-2.amazonaws.com"), "A"))), fail("EC2")},
		{"a list of AWS's own", lateWith(with(managed)), pass},
		{"what is allowed is not read", lateWith(with(unread, rule("BLOCK", "ec2.us-west-2.amazonaws.com"))), []string{"unknown vpc-0a [subnet-0private] dns firewall: denied"}},
		{"another VPC's", lateWith(with(rule("BLOCK", "*")), func(s *snapshot.Snapshot) { s.FirewallRules[0].VPC = "vpc-0other" }), pass},
		{"by a Route 53 Profile", lateWith(with(rule("BLOCK", "sts.us-west-2.amazonaws.com")), func(s *snapshot.Snapshot) { s.FirewallRules[0].Profile = "rp-0a" }), fail("STS")},
		{"the Profiles are not read", lateWith(with(rule("ALLOW", "*")), checktest.Unread(snapshot.DNSProfilesOf)), []string{"unknown prod [] route 53 profiles: denied"}},
		{"name servers of one's own", lateWith(with(rule("BLOCK", "*")), func(s *snapshot.Snapshot) { s.DHCPOptions[0].DomainNameServers = []string{"10.9.0.2"} }), pass},
		{"its node is Ready", checktest.Change(snapshottest.PrivateWithNAT(), with(rule("BLOCK", "*"))), []string{"pass vpc-0a [subnet-0private]"}},
		{"unread", lateWith(checktest.Unread(snapshot.DNSFirewall)), []string{"unknown prod [] dns firewall: denied"}},
	}
}

func TestResolverRule(t *testing.T) {
	checktest.RunCases(t, ResolverRule(), resolverRuleCases())
}

func resolverRuleCases() []checktest.Case {
	with := func(rules ...snapshot.ResolverRule) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i := range rules {
				rules[i].VPC = snapshottest.VPC
			}
			s.ResolverRules = rules
		}
	}
	to := func(domain string) snapshot.ResolverRule {
		return snapshot.ResolverRule{ID: "rslvr-rr-0a", Name: "onprem", Domain: domain, Forward: true, Targets: []string{"10.99.0.2"}}
	}
	system := func(domain string) snapshot.ResolverRule {
		return snapshot.ResolverRule{ID: "rslvr-rr-0b", Domain: domain}
	}
	pass := []string{"pass vpc-0a [subnet-0private]"}
	fail := func(services string) []string {
		return []string{"fail rslvr-rr-0a [subnet-0private] [i-0node] rslvr-rr-0a forwards the names of " + services}
	}
	private := func(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }
	by := func(r snapshot.ResolverRule) snapshot.ResolverRule {
		r.Profile = "rp-0a"
		return r
	}
	foreign := by(snapshot.ResolverRule{ID: "rslvr-rr-0c", Unread: &snapshot.Failure{Source: snapshot.ResolverRulesOf, Reason: snapshot.NotShown, Call: "route53resolver:ListResolverRules"}})
	const all, outside = "5 services", "4 services"
	return []checktest.Case{
		{"none", lateWith(), pass},
		{"of one's own domain", lateWith(with(to("corp.example.com"))), pass},
		{"of AWS's", lateWith(with(to("amazonaws.com"))), fail(all)},
		{"of everything", lateWith(with(to(""))), fail(all)},
		{"of everything but AWS's", lateWith(with(to(""), system("amazonaws.com"))), pass},
		{"of one service", lateWith(with(system("amazonaws.com"), to("sts.us-west-2.amazonaws.com"))), fail("STS")},
		{"by a Route 53 Profile", lateWith(with(by(to("amazonaws.com")))), fail(all)},
		{"a Profile's rule for the domain of the VPC's own", lateWith(with(system("amazonaws.com"), by(to("amazonaws.com")))), pass},
		{"a Profile's rule for a part of the domain of the VPC's own", lateWith(with(system("amazonaws.com"), by(to("sts.us-west-2.amazonaws.com")))), fail("STS")},
		{"a Profile excepts what the VPC's own rule forwards", lateWith(with(to(""), by(system("amazonaws.com")))), pass},
		{"a Profile's rule that is another account's", lateWith(with(foreign)), []string{"unknown vpc-0a [subnet-0private] resolver rules: not shown"}},
		{"beside it one that forwards", lateWith(with(to("amazonaws.com"), foreign)), fail(all)},
		{"the Profiles are not read", lateWith(with(system("amazonaws.com")), checktest.Unread(snapshot.DNSProfilesOf)), []string{"unknown prod [] route 53 profiles: denied"}},
		{"the private endpoint has a zone of its own", lateWith(private, with(to("amazonaws.com"))), fail(outside)},
		{"the private endpoint's own name", lateWith(private, with(to("0123456789abcdef0123456789abcdef.gr7.us-west-2.eks.amazonaws.com")), func(s *snapshot.Snapshot) {
			s.Cluster.Endpoint = "https://0123456789ABCDEF0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com"
		}), fail("the cluster API")},
		{"interface endpoints have zones of their own", checktest.Change(snapshottest.EndpointsOnly(), checktest.Late, with(to("us-west-2.amazonaws.com"))), fail("S3")},
		{"another node is Ready", lateWith(with(to("amazonaws.com")), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0older", snapshottest.Private, 3600e9)
			snapshottest.Join(s, "i-0older")
		}), []string{"fail (possible) rslvr-rr-0a [subnet-0private] [i-0node] rslvr-rr-0a forwards the names of " + all}},
		{"unread", lateWith(checktest.Unread(snapshot.ResolverRulesOf)), []string{"unknown prod [] resolver rules: denied"}},
	}
}
