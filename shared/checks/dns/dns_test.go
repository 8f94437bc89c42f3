package dns

import (
	"fmt"
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
		checkid.DNSSupportOff:   dnsSupportOffCases(),
		checkid.DNSHostnamesOff: dnsHostnamesOffCases(),
		checkid.DNSDHCPOptions:  dhcpOptionsCases(),
		checkid.DNSFirewall:     firewallCases(),
		checkid.DNSResolverRule: resolverRuleCases(),
		checkid.DNSPrivateZone:  privateZoneCases(),
	})
}

func dnsSet(support, hostnames bool) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.VPCAttributes[0].DNSSupport, s.VPCAttributes[0].DNSHostnames = support, hostnames
	}
}

func domainNames(names ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.DHCPOptions[0].DomainNames = names }
}

func noAttributes(s *snapshot.Snapshot) { s.VPCAttributes = nil }

func dnsSupportOffCases() []checktest.Case {
	private := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), changes...)
	}
	public := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), changes...)
	}
	const off = "vpc-0a [subnet-0private] [i-0node] DNS support of vpc-0a is off"
	return []checktest.Case{
		{"on", private(), []string{"pass vpc-0a [subnet-0private]"}},
		{"off", private(dnsSet(false, false)), []string{"fail " + off}},
		{"off, and all is public: still nothing resolves", public(dnsSet(false, false)), []string{"fail " + off}},
		{"off, a Ready node is not accused", checktest.Change(snapshottest.EndpointsOnly(), dnsSet(false, false)), []string{"pass vpc-0a [subnet-0private]"}},
		{"off, with name servers of one's own, all public", public(dnsSet(false, false), checktest.NameServersOf("10.9.0.2")), []string{"pass vpc-0a [subnet-0private]"}},
		{"off, with name servers of one's own, private names", private(dnsSet(false, false), checktest.NameServersOf("10.9.0.2")), []string{"fail (likely) " + off}},
		{"off, the name servers were not read, all public", public(dnsSet(false, false), checktest.Unread(snapshot.DHCP)), []string{"unknown vpc-0a [subnet-0private] dhcp options: denied"}},
		{"off, the name servers were not read, private names", private(dnsSet(false, false), checktest.Unread(snapshot.DHCP)), []string{"fail (likely) " + off}},
		{"this VPC's were not read", private(noAttributes), []string{"unknown vpc-0a [subnet-0private] vpc attributes: not read: the DNS attributes of vpc-0a were not read"}},
		{"unread", private(checktest.Unread(snapshot.VPCDNS)), []string{"unknown prod [] vpc attributes: denied"}},
	}
}

func dnsHostnamesOffCases() []checktest.Case {
	private := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), changes...)
	}
	return []checktest.Case{
		{"on", private(), []string{"pass vpc-0a [subnet-0private]"}},
		{"off", private(dnsSet(true, false)), []string{"fail vpc-0a [subnet-0private] [i-0node] DNS hostnames of vpc-0a are off"}},
		{"off, and all is public", checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), dnsSet(true, false)), []string{"pass vpc-0a [subnet-0private]"}},
		{"off, and the cluster's endpoint is private", checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), checktest.PrivateAPI, dnsSet(true, false)), []string{"fail vpc-0a [subnet-0private] [i-0node] DNS hostnames of vpc-0a are off"}},
		{"this VPC's could not be read", private(noAttributes, func(s *snapshot.Snapshot) {
			s.Lack(snapshot.VPCDNS, snapshottest.VPC, snapshot.Failure{Source: snapshot.VPCDNS, Reason: snapshot.Throttled, Call: "ec2:DescribeVpcAttribute"})
		}), []string{"unknown vpc-0a [subnet-0private] vpc attributes: throttled"}},
		{"unread", private(checktest.Unread(snapshot.VPCDNS)), []string{"unknown prod [] vpc attributes: denied"}},
	}
}

func dhcpOptionsCases() []checktest.Case {
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), changes...)
	}
	later := func(s *snapshot.Snapshot) {
		snapshottest.Launch(s, "i-0later", snapshottest.Private, time.Minute)
		snapshottest.Join(s, "i-0later")
	}
	return []checktest.Case{
		{"Amazon's", world(), []string{"pass dopt-0a [subnet-0private]"}},
		{"own name servers, all public", world(checktest.NameServersOf("10.9.0.2")), []string{"pass dopt-0a [subnet-0private]"}},
		{"own name servers, private endpoint", world(checktest.NameServersOf("10.9.0.2"), checktest.PrivateAPI), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a has its own name servers"}},
		{"own name servers, a Ready node is not accused", checktest.Change(snapshottest.PrivateWithNAT(), checktest.NameServersOf("10.9.0.2"), checktest.PrivateAPI), []string{"pass vpc-0a [subnet-0private]"}},
		{"own name servers, a later node resolved all it needed", world(checktest.NameServersOf("10.9.0.2"), checktest.PrivateAPI, later), []string{"pass dopt-0a [subnet-0private]"}},
		{"Amazon's second", world(checktest.NameServersOf("10.9.0.2", "AmazonProvidedDNS"), checktest.PrivateAPI), []string{"fail (possible) dopt-0a [subnet-0private] [i-0node] dopt-0a has its own name servers"}},
		{"Amazon's by its address", world(checktest.NameServersOf("10.42.0.2"), checktest.PrivateAPI), []string{"pass dopt-0a [subnet-0private]"}},
		{"no name servers: the options called default", world(checktest.NameServersOf(), domainNames()), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a has no name servers"}},
		{"a value that is no address", world(checktest.NameServersOf("ns.example.com"), checktest.PrivateAPI), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a has its own name servers"}},
		{"two domain names in one value", world(domainNames("ec2.internal acmedev.com")), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a has 2 domain names at once"}},
		{"no domain name", world(domainNames()), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a has no domain name"}},
		{"one of one's own", world(domainNames("corp.example.com")), []string{"pass dopt-0a [subnet-0private]"}},
		{"a long one", world(domainNames("a-rather-long-name-of-a-department.corp.example.com")), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a makes host names too long"}},
		{"options that are not there", world(func(s *snapshot.Snapshot) { s.VPCs[0].DHCP = "dopt-0b" }), []string{
			"unknown vpc-0a [subnet-0private] dhcp options: not read: the DHCP options dopt-0b of vpc-0a are not among those that EC2 lists",
		}},
		{"unread", world(checktest.Unread(snapshot.DHCP)), []string{"unknown prod [] dhcp options: denied"}},
	}
}

func TestDNSFixes(t *testing.T) {
	tests := []struct {
		check check.Check
		world *snapshot.Snapshot
		want  string
	}{
		{checkOf(checkid.DNSSupportOff), checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), dnsSet(false, true)), "aws ec2 modify-vpc-attribute --region us-west-2 --vpc-id vpc-0a --enable-dns-support Value=true"},
		{checkOf(checkid.DNSHostnamesOff), checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), dnsSet(true, false)), "aws ec2 modify-vpc-attribute --region us-west-2 --vpc-id vpc-0a --enable-dns-hostnames Value=true"},
		{checkOf(checkid.DNSDHCPOptions), checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), domainNames("a b")),
			`aws ec2 associate-dhcp-options --region us-west-2 --vpc-id vpc-0a --dhcp-options-id "$(aws ec2 create-dhcp-options --region us-west-2 --dhcp-configurations Key=domain-name-servers,Values=AmazonProvidedDNS Key=domain-name,Values=us-west-2.compute.internal --query DhcpOptions.DhcpOptionsId --output text)"`},
	}
	for _, tt := range tests {
		expect.Equal(t, fmt.Sprintf("%s: Command", tt.check.ID), checktest.Failed(t, tt.check, tt.world).Fix.Command, tt.want)
	}
	own := checktest.Failed(t, checkOf(checkid.DNSDHCPOptions), checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), domainNames("a b"), checktest.NameServersOf("10.9.0.2")))
	if !strings.Contains(own.Fix.Command, "Values=10.9.0.2 ") {
		t.Errorf("Command = %q: name servers of one's own are kept where nothing private must resolve", own.Fix.Command)
	}
}

// lateWith is a private world with a NAT gateway in which the node has not joined.
func lateWith(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	return checktest.Change(snapshottest.PrivateWithNAT(), append([]func(*snapshot.Snapshot){checktest.Late}, changes...)...)
}

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

func privateZoneCases() []checktest.Case {
	with := func(zones ...snapshot.PrivateZone) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i := range zones {
				zones[i].VPC = snapshottest.VPC
			}
			s.PrivateZones = zones
		}
	}
	zone := func(id, domain string, records ...snapshot.ZoneRecord) snapshot.PrivateZone {
		return snapshot.PrivateZone{ID: id, Domain: domain, Records: append([]snapshot.ZoneRecord{{Name: domain, Type: "NS"}, {Name: domain, Type: "SOA"}}, records...)}
	}
	record := func(name, kind string) snapshot.ZoneRecord { return snapshot.ZoneRecord{Name: name, Type: kind} }
	rule := func(domain string, forward bool) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.ResolverRules = []snapshot.ResolverRule{{ID: "rslvr-rr-0a", VPC: snapshottest.VPC, Domain: domain, Forward: forward}}
		}
	}
	const sts = "sts.us-west-2.amazonaws.com"
	denied := snapshot.Failure{Source: snapshot.PrivateZonesOf, Reason: snapshot.Denied, Call: "route53:ListResourceRecordSets"}
	unread := func(z snapshot.PrivateZone) snapshot.PrivateZone {
		z.Records, z.Unread = nil, &denied
		return z
	}
	service := func(z snapshot.PrivateZone) snapshot.PrivateZone {
		z.Records, z.Service = nil, "vpce.amazonaws.com"
		return z
	}
	by := func(z snapshot.PrivateZone) snapshot.PrivateZone {
		z.Profile = "rp-0a"
		return z
	}
	pass := []string{"pass vpc-0a [subnet-0private]"}
	unknown := []string{"unknown vpc-0a [subnet-0private] private hosted zones: denied"}
	fail := func(zone, services string) []string {
		return []string{"fail " + zone + " [subnet-0private] [i-0node] Private zone " + zone + " hides the names of " + services}
	}
	all := record("*.amazonaws.com", "A")
	return []checktest.Case{
		{"none", lateWith(), pass},
		{"of one's own domain", lateWith(with(zone("Z0A", "corp.example.com"))), pass},
		{"without a record", lateWith(with(zone("Z0A", sts))), fail("Z0A", "STS")},
		{"with a record", lateWith(with(zone("Z0A", sts, record(sts, "A")))), pass},
		{"with a name for another name", lateWith(with(zone("Z0A", sts, record(sts, "CNAME")))), pass},
		{"with a record of another type", lateWith(with(zone("Z0A", sts, record(sts, "TXT")))), fail("Z0A", "STS")},
		{"with an IPv6 address alone", lateWith(with(zone("Z0A", sts, record(sts, "AAAA")))), fail("Z0A", "STS")},
		{"with a record for a name below", lateWith(with(zone("Z0A", sts, record("x."+sts, "A")))), fail("Z0A", "STS")},
		{"for all of AWS", lateWith(with(zone("Z0A", "amazonaws.com"))), fail("Z0A", "5 services")},
		{"with a wildcard", lateWith(with(zone("Z0A", "amazonaws.com", all))), pass},
		{"that delegates", lateWith(with(zone("Z0A", "us-west-2.amazonaws.com", record("ec2.us-west-2.amazonaws.com", "NS"), record("ecr.us-west-2.amazonaws.com", "NS"), record("s3.us-west-2.amazonaws.com", "NS")))), fail("Z0A", "STS")},
		{"a more specific zone", lateWith(with(zone("Z0A", "amazonaws.com", all), zone("Z0B", sts))), fail("Z0B", "STS")},
		{"a more specific zone that answers", lateWith(with(zone("Z0A", "us-west-2.amazonaws.com", record("*.us-west-2.amazonaws.com", "A")), zone("Z0B", sts, record(sts, "A")))), pass},
		{"a zone of a service of AWS", lateWith(with(service(zone("Z0A", sts)))), pass},
		{"by a Route 53 Profile", lateWith(with(by(zone("Z0A", sts)))), fail("Z0A", "STS")},
		{"the VPC's own before a Profile's", lateWith(with(zone("Z0A", sts, record(sts, "A")), by(zone("Z0B", sts)))), pass},
		{"of another account", lateWith(with(unread(zone("Z0A", sts)))), unknown},
		{"of another account, below one that answers", lateWith(with(unread(zone("Z0A", "amazonaws.com")), zone("Z0B", sts))), fail("Z0B", "STS")},
		{"of a Profile, for what is not known", lateWith(with(by(unread(zone("Z0A", ""))))), unknown},
		{"a rule that forwards the zone's domain", lateWith(with(zone("Z0A", sts)), rule(sts, true)), pass},
		{"a rule that forwards more", lateWith(with(zone("Z0A", sts)), rule("amazonaws.com", true)), fail("Z0A", "STS")},
		{"a rule that forwards nothing", lateWith(with(zone("Z0A", sts)), rule(sts, false)), fail("Z0A", "STS")},
		{"an interface endpoint's name", checktest.Change(snapshottest.EndpointsOnly(), checktest.Late, with(zone("Z0A", "us-west-2.amazonaws.com", record("*.s3.us-west-2.amazonaws.com", "A")))), pass},
		{"another VPC's", lateWith(with(zone("Z0A", sts)), func(s *snapshot.Snapshot) { s.PrivateZones[0].VPC = "vpc-0other" }), pass},
		{"name servers of one's own", lateWith(with(zone("Z0A", sts)), func(s *snapshot.Snapshot) { s.DHCPOptions[0].DomainNameServers = []string{"10.9.0.2"} }), pass},
		{"unread", lateWith(checktest.Unread(snapshot.PrivateZonesOf)), []string{"unknown prod [] private hosted zones: denied"}},
	}
}
