package nacl

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
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

func TestCases(t *testing.T) {
	checktest.RunTable(t, Checks(), map[checkid.ID][]checktest.Case{
		checkid.NACLEgress: naclEgressCases(),
		checkid.NACLReturn: naclReturnCases(),
	})
}

// underACL puts subnets under a network ACL of their own. Entries are in the order
// of their numbers, 100, 200, …, and the last rule denies as always.
func underACL(id string, subnets []string, entries ...snapshot.ACLEntry) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for i := range s.NetworkACLs {
			s.NetworkACLs[i].Subnets = slices.DeleteFunc(s.NetworkACLs[i].Subnets, func(have string) bool { return slices.Contains(subnets, have) })
		}
		a := snapshot.NetworkACL{ID: id, VPC: snapshottest.VPC, Subnets: subnets}
		for i, e := range entries {
			e.Number = 100 * (i + 1)
			a.Entries = append(a.Entries, e)
		}
		for _, egress := range []bool{false, true} {
			a.Entries = append(a.Entries, snapshot.ACLEntry{Number: 32767, Egress: egress, Protocol: "-1", To: 65535, CIDR: netip.MustParsePrefix("0.0.0.0/0")})
		}
		s.NetworkACLs = append(s.NetworkACLs, a)
	}
}

func aclOut(from, to int, cidr string) snapshot.ACLEntry {
	e := aclIn(from, to, cidr)
	e.Egress = true
	return e
}

func aclIn(from, to int, cidr string) snapshot.ACLEntry {
	return snapshot.ACLEntry{Allow: true, Protocol: "6", From: from, To: to, CIDR: netip.MustParsePrefix(cidr)}
}

func denyEntry(e snapshot.ACLEntry) snapshot.ACLEntry {
	e.Allow = false
	return e
}

const (
	all4   = "0.0.0.0/0"
	vpcNet = "10.42.0.0/16"
)

func notJoined(s *snapshot.Snapshot) { snapshottest.Unjoin(s, snapshottest.Node) }

func naclEgressCases() []checktest.Case {
	nat := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), changes...)
	}
	private, public := []string{snapshottest.Private}, []string{snapshottest.Public}
	backIn := aclIn(1024, 65535, all4)
	return []checktest.Case{
		{"the default ACL", nat(), []string{"pass acl-0default [subnet-0private]"}},
		{"443 out of the node's subnet is denied", nat(underACL("acl-0n", private, backIn, aclOut(80, 80, all4))), []string{
			"fail acl-0n [subnet-0private] [i-0node] acl-0n denies 443 out of subnet-0private",
		}},
		{"a lower rule denies it", nat(underACL("acl-0n", private, backIn, denyEntry(aclOut(443, 443, all4)), aclOut(0, 65535, all4))), []string{
			"fail acl-0n [subnet-0private] [i-0node] acl-0n denies 443 out of subnet-0private",
		}},
		{"a NAT instance under the default ACL", checktest.Change(checktest.Forwarded(), notJoined), []string{"pass acl-0default [subnet-0private]"}},
		{"a NAT instance under an ACL that lets a part out", checktest.Change(checktest.Forwarded(), notJoined, underACL("acl-0n", public, aclIn(0, 65535, all4), aclOut(443, 443, all4))), []string{
			"unknown acl-0default [subnet-0private] network acls: not read: whether eni-0nat filters packets is not read",
		}},
		{"a NAT instance, and the node's own ACL denies it", checktest.Change(checktest.Forwarded(), notJoined, underACL("acl-0n", private, backIn)), []string{
			"fail acl-0n [subnet-0private] [i-0node] acl-0n denies 443 out of subnet-0private",
		}},
		{"a Ready node is not accused", checktest.Change(snapshottest.PrivateWithNAT(), underACL("acl-0n", private)), []string{"pass acl-0n [subnet-0private]"}},
		{"a Ready node in the same subnet speaks against it", checktest.Change(snapshottest.PrivateWithNAT(), underACL("acl-0n", private, backIn), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0late", snapshottest.Private, 10*time.Minute)
		}), []string{"fail (likely) acl-0n [subnet-0private] [i-0late] acl-0n denies 443 out of subnet-0private"}},
		{"the NAT gateway's subnet lets nothing in", nat(underACL("acl-0p", public, aclIn(1024, 65535, all4), denyEntry(aclIn(443, 443, vpcNet)), aclOut(0, 65535, all4))), []string{
			"fail acl-0p [subnet-0private] [i-0node] acl-0p denies 443 into subnet-0public",
		}},
		{"the NAT gateway's subnet lets nothing out", nat(underACL("acl-0p", public, aclIn(0, 65535, all4), aclOut(1024, 65535, vpcNet))), []string{
			"fail acl-0p [subnet-0private] [i-0node] acl-0p denies 443 out of subnet-0public",
		}},
		{"the NAT gateway is in the node's own subnet: between the two nothing is judged", nat(func(s *snapshot.Snapshot) {
			s.NATGateways[0].Subnet = snapshottest.Private
			checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT))(s)
		}), []string{"pass acl-0default [subnet-0private]"}},
		{"some hosts shut out", nat(underACL("acl-0n", private, denyEntry(aclOut(0, 65535, "198.51.100.0/24")), aclOut(0, 65535, all4), backIn)), []string{"pass acl-0n [subnet-0private]"}},
		{"a part of the internet", nat(underACL("acl-0n", private, aclOut(443, 443, "52.0.0.0/8"), backIn)), []string{
			"unknown acl-0n [subnet-0private] network acls: not read: acl-0n allows only some of the addresses in question, and which one counts is unknown",
		}},
		{"endpoints in the node's subnet are not judged, S3 is", checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), underACL("acl-0n", private, aclOut(443, 443, "3.5.76.0/22"), aclOut(443, 443, "52.218.0.0/16"), aclOut(443, 443, "10.42.0.0/19"), backIn)), []string{
			"pass acl-0n [subnet-0private]",
		}},
		{"S3's addresses are denied", checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), underACL("acl-0n", private, aclOut(443, 443, vpcNet), backIn)), []string{
			"fail acl-0n [subnet-0private] [i-0node] acl-0n denies 443 out of subnet-0private",
		}},
		{"between private subnets: one of the control plane's interfaces", nat(checktest.PrivateAPI, underACL("acl-0n", private, denyEntry(aclOut(0, 65535, "10.42.0.0/19")), aclOut(0, 65535, all4), backIn)), []string{
			"fail (likely) acl-0n [subnet-0private] [i-0node] acl-0n denies 443 out of subnet-0private",
		}},
		{"all of the control plane's interfaces, which are elsewhere", nat(checktest.PrivateAPI, func(s *snapshot.Snapshot) {
			s.Interfaces = s.Interfaces[1:]
		}, underACL("acl-0n", private, denyEntry(aclOut(0, 65535, "10.42.0.0/19")), aclOut(0, 65535, all4), backIn)), []string{
			"fail acl-0n [subnet-0private] [i-0node] acl-0n denies 443 out of subnet-0private",
		}},
		{"through a transit gateway: what is behind it is not judged", nat(checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))), []string{
			"unknown acl-0default [subnet-0private] network acls: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"routing is to blame for what is beyond it", checktest.Change(checktest.Isolated(), underACL("acl-0n", private)), []string{"pass acl-0n [subnet-0private]"}},
		{"the subnet's ACL is not there", nat(func(s *snapshot.Snapshot) { s.NetworkACLs = nil }), []string{
			"unknown subnet-0private [subnet-0private] network acls: not read: the network ACL of subnet-0private is not among those that EC2 lists network acls: not read: the network ACL of subnet-0public is not among those that EC2 lists",
		}},
		{"unread", nat(checktest.Unread(snapshot.NetworkACLs)), []string{"unknown prod [] network acls: denied"}},
	}
}

func TestNACLEgressFix(t *testing.T) {
	private := []string{snapshottest.Private}
	got := checktest.Failed(t, checkOf(checkid.NACLEgress), checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), underACL("acl-0n", private, denyEntry(aclOut(443, 443, all4)), aclOut(0, 65535, all4), aclIn(1024, 65535, all4))))
	want := "aws ec2 create-network-acl-entry --region us-west-2 --network-acl-id acl-0n --egress --rule-number 99 --protocol tcp --port-range From=443,To=443 --cidr-block 0.0.0.0/0 --rule-action allow"
	if got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if !strings.Contains(got.Why, "acl-0n of subnet-0private denies tcp 443 out to 0.0.0.0/0 (rule 100 denies tcp 443 → 0.0.0.0/0)") {
		t.Errorf("Why = %q", got.Why)
	}
	if rules := checktest.Value(t, got, "Outbound rules of acl-0n"); !strings.HasPrefix(rules, "rule 100 denies tcp 443 → 0.0.0.0/0; rule 200 allows tcp → 0.0.0.0/0; rule * denies all traffic") {
		t.Errorf("rules = %q", rules)
	}
}

func naclReturnCases() []checktest.Case {
	nat := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), changes...)
	}
	private, public := []string{snapshottest.Private}, []string{snapshottest.Public}
	allOut := aclOut(0, 65535, all4)
	windows := func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Windows = true }
	return []checktest.Case{
		{"the default ACL", nat(), []string{"pass acl-0default [subnet-0private]"}},
		{"no answers into the node's subnet", nat(underACL("acl-0n", private, allOut, aclIn(443, 443, all4))), []string{
			"fail acl-0n [subnet-0private] [i-0node] acl-0n denies responses to ports 32768-60999",
		}},
		{"answers from the VPC only", nat(underACL("acl-0n", private, allOut, aclIn(1024, 65535, vpcNet))), []string{
			"fail acl-0n [subnet-0private] [i-0node] acl-0n denies responses to ports 32768-60999",
		}},
		{"what Linux needs, and no more", nat(underACL("acl-0n", private, allOut, aclIn(32768, 60999, all4))), []string{"pass acl-0n [subnet-0private]"}},
		{"a part of what Linux needs", nat(underACL("acl-0n", private, allOut, aclIn(49152, 65535, all4))), []string{
			"fail (likely) acl-0n [subnet-0private] [i-0node] acl-0n denies responses to ports 32768-49151",
		}},
		{"the same is all that Windows needs", nat(windows, underACL("acl-0n", private, allOut, aclIn(49152, 65535, all4))), []string{"pass acl-0n [subnet-0private]"}},
		{"what Linux needs is a part of what a NAT gateway needs", nat(underACL("acl-0p", public, allOut, aclIn(443, 443, vpcNet), aclIn(32768, 65535, all4))), []string{
			"fail (likely) acl-0p [subnet-0private] [i-0node] acl-0p denies responses to ports 1024-32767",
		}},
		{"no answers into the NAT gateway's subnet", nat(underACL("acl-0p", public, allOut, aclIn(443, 443, vpcNet))), []string{
			"fail acl-0p [subnet-0private] [i-0node] acl-0p denies responses to ports 1024-65535",
		}},
		{"no answers out of the NAT gateway's subnet to the node", nat(underACL("acl-0p", public, aclOut(443, 443, all4), aclIn(0, 65535, all4))), []string{
			"fail acl-0p [subnet-0private] [i-0node] acl-0p denies responses to ports 32768-60999",
		}},
		{"no answers out of one of the control plane's subnets", nat(checktest.PrivateAPI, underACL("acl-0p", public, aclOut(443, 443, all4), denyEntry(aclOut(0, 65535, "10.42.192.0/19")), aclIn(0, 65535, all4), aclOut(0, 65535, all4)), func(s *snapshot.Snapshot) {
			s.NATGateways[0].Subnet = "subnet-0nat" // of which nothing is read
		}), []string{
			"fail (likely) acl-0p [subnet-0private] [i-0node] acl-0p denies responses to ports 32768-60999",
		}},
		{"a Ready node is not accused", checktest.Change(snapshottest.PrivateWithNAT(), underACL("acl-0n", private)), []string{"pass acl-0n [subnet-0private]"}},
		{"through a transit gateway, no answers", nat(underACL("acl-0n", private, allOut), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))), []string{
			"fail (likely) acl-0n [subnet-0private] [i-0node] acl-0n denies responses to ports 32768-60999",
		}},
		{"unread", nat(checktest.Unread(snapshot.NetworkACLs)), []string{"unknown prod [] network acls: denied"}},
	}
}

func TestNACLReturnWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.NACLReturn), checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()),
		underACL("acl-0p", []string{snapshottest.Public}, aclOut(0, 65535, all4), aclIn(443, 443, vpcNet), aclIn(32768, 65535, all4))))
	for _, want := range []string{"1024-32767", "chosen by the NAT gateway nat-0a", "connections on the denied ports fail, the others work"} {
		if !strings.Contains(got.Why, want) {
			t.Errorf("Why = %q, want %q in it", got.Why, want)
		}
	}
	want := "aws ec2 create-network-acl-entry --region us-west-2 --network-acl-id acl-0p --ingress --rule-number 310 --protocol tcp --port-range From=1024,To=65535 --cidr-block 0.0.0.0/0 --rule-action allow"
	if got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
}

func TestNACLWithoutAFreeNumberHasNoCommand(t *testing.T) {
	s := checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), underACL("acl-0n", []string{snapshottest.Private}, denyEntry(aclOut(443, 443, all4)), aclIn(0, 65535, all4)))
	s.NetworkACLs[1].Entries[0].Number = 1
	got := checktest.Failed(t, checkOf(checkid.NACLEgress), s)
	if got.Fix.Command != "" || !strings.HasPrefix(got.Fix.Text, "No rule number is free below rule 1 of acl-0n") {
		t.Errorf("Fix = %+v, want words and no command", got.Fix)
	}
}

func TestNACLNamesOnlyWhatItMeets(t *testing.T) {
	// Two subnets under one ACL: one finding.
	s := checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), underACL("acl-0n", []string{snapshottest.Private, "subnet-0second"}, aclIn(0, 65535, all4)), checktest.TwoTables)
	got := checktest.Failed(t, checkOf(checkid.NACLEgress), s)
	if len(got.Covers) != 2 || len(got.Instances) != 2 {
		t.Errorf("covers %v, instances %v, want two of each", got.Covers, got.Instances)
	}
}
