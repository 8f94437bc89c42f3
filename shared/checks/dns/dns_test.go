package dns

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func dnsSet(support, hostnames bool) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.VPCAttributes[0].DNSSupport, s.VPCAttributes[0].DNSHostnames = support, hostnames
	}
}

func domainNames(names ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.DHCPOptions[0].DomainNames = names }
}

func noAttributes(s *snapshot.Snapshot) { s.VPCAttributes = nil }

func TestDnsSupportOff(t *testing.T) { checktest.RunCases(t, SupportOff(), dnsSupportOffCases()) }

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

func TestDnsHostnamesOff(t *testing.T) {
	checktest.RunCases(t, HostnamesOff(), dnsHostnamesOffCases())
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

func TestDhcpOptions(t *testing.T) { checktest.RunCases(t, DHCPOptions(), dhcpOptionsCases()) }

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
		{"own name servers, private endpoint", world(checktest.NameServersOf("10.9.0.2"), checktest.PrivateAPI), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a gives name servers of its own"}},
		{"own name servers, a Ready node is not accused", checktest.Change(snapshottest.PrivateWithNAT(), checktest.NameServersOf("10.9.0.2"), checktest.PrivateAPI), []string{"pass vpc-0a [subnet-0private]"}},
		{"own name servers, a later node resolved all it needed", world(checktest.NameServersOf("10.9.0.2"), checktest.PrivateAPI, later), []string{"pass dopt-0a [subnet-0private]"}},
		{"Amazon's second", world(checktest.NameServersOf("10.9.0.2", "AmazonProvidedDNS"), checktest.PrivateAPI), []string{"fail (possible) dopt-0a [subnet-0private] [i-0node] dopt-0a gives name servers of its own"}},
		{"Amazon's by its address", world(checktest.NameServersOf("10.42.0.2"), checktest.PrivateAPI), []string{"pass dopt-0a [subnet-0private]"}},
		{"no name servers: the options called default", world(checktest.NameServersOf(), domainNames()), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a gives no name servers"}},
		{"a value that is no address", world(checktest.NameServersOf("ns.example.com"), checktest.PrivateAPI), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a gives name servers of its own"}},
		{"two domain names in one value", world(domainNames("ec2.internal acmedev.com")), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a gives 2 domain names at once"}},
		{"no domain name", world(domainNames()), []string{"fail dopt-0a [subnet-0private] [i-0node] dopt-0a gives no domain name"}},
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
		{SupportOff(), checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), dnsSet(false, true)), "aws ec2 modify-vpc-attribute --region us-west-2 --vpc-id vpc-0a --enable-dns-support Value=true"},
		{HostnamesOff(), checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), dnsSet(true, false)), "aws ec2 modify-vpc-attribute --region us-west-2 --vpc-id vpc-0a --enable-dns-hostnames Value=true"},
		{DHCPOptions(), checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), domainNames("a b")),
			`aws ec2 associate-dhcp-options --region us-west-2 --vpc-id vpc-0a --dhcp-options-id "$(aws ec2 create-dhcp-options --region us-west-2 --dhcp-configurations Key=domain-name-servers,Values=AmazonProvidedDNS Key=domain-name,Values=us-west-2.compute.internal --query DhcpOptions.DhcpOptionsId --output text)"`},
	}
	for _, tt := range tests {
		if got := checktest.Failed(t, tt.check, tt.world).Fix.Command; got != tt.want {
			t.Errorf("%s: Command = %q, want %q", tt.check.ID, got, tt.want)
		}
	}
	own := checktest.Failed(t, DHCPOptions(), checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), domainNames("a b"), checktest.NameServersOf("10.9.0.2")))
	if !strings.Contains(own.Fix.Command, "Values=10.9.0.2 ") {
		t.Errorf("Command = %q: name servers of one's own are kept where nothing private must resolve", own.Fix.Command)
	}
}
