package nacl

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestNaclReturn(t *testing.T) { checktest.RunCases(t, Return(), naclReturnCases()) }

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
			"fail acl-0n [subnet-0private] [i-0node] acl-0n denies answers to ports 32768-60999",
		}},
		{"answers from the VPC only", nat(underACL("acl-0n", private, allOut, aclIn(1024, 65535, vpcNet))), []string{
			"fail acl-0n [subnet-0private] [i-0node] acl-0n denies answers to ports 32768-60999",
		}},
		{"what Linux needs, and no more", nat(underACL("acl-0n", private, allOut, aclIn(32768, 60999, all4))), []string{"pass acl-0n [subnet-0private]"}},
		{"a part of what Linux needs", nat(underACL("acl-0n", private, allOut, aclIn(49152, 65535, all4))), []string{
			"fail (likely) acl-0n [subnet-0private] [i-0node] acl-0n denies answers to ports 32768-49151",
		}},
		{"the same is all that Windows needs", nat(windows, underACL("acl-0n", private, allOut, aclIn(49152, 65535, all4))), []string{"pass acl-0n [subnet-0private]"}},
		{"what Linux needs is a part of what a NAT gateway needs", nat(underACL("acl-0p", public, allOut, aclIn(443, 443, vpcNet), aclIn(32768, 65535, all4))), []string{
			"fail (likely) acl-0p [subnet-0private] [i-0node] acl-0p denies answers to ports 1024-32767",
		}},
		{"no answers into the NAT gateway's subnet", nat(underACL("acl-0p", public, allOut, aclIn(443, 443, vpcNet))), []string{
			"fail acl-0p [subnet-0private] [i-0node] acl-0p denies answers to ports 1024-65535",
		}},
		{"no answers out of the NAT gateway's subnet to the node", nat(underACL("acl-0p", public, aclOut(443, 443, all4), aclIn(0, 65535, all4))), []string{
			"fail acl-0p [subnet-0private] [i-0node] acl-0p denies answers to ports 32768-60999",
		}},
		{"no answers out of one of the control plane's subnets", nat(checktest.PrivateAPI, underACL("acl-0p", public, aclOut(443, 443, all4), denyEntry(aclOut(0, 65535, "10.42.192.0/19")), aclIn(0, 65535, all4), aclOut(0, 65535, all4)), func(s *snapshot.Snapshot) {
			s.NATGateways[0].Subnet = "subnet-0nat" // of which nothing is read
		}), []string{
			"fail (likely) acl-0p [subnet-0private] [i-0node] acl-0p denies answers to ports 32768-60999",
		}},
		{"a Ready node is not accused", checktest.Change(snapshottest.PrivateWithNAT(), underACL("acl-0n", private)), []string{"pass acl-0n [subnet-0private]"}},
		{"through a transit gateway, no answers", nat(underACL("acl-0n", private, allOut), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))), []string{
			"fail (likely) acl-0n [subnet-0private] [i-0node] acl-0n denies answers to ports 32768-60999",
		}},
		{"unread", nat(checktest.Unread(snapshot.NetworkACLs)), []string{"unknown prod [] network acls: denied"}},
	}
}

func TestNACLReturnWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, Return(), checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()),
		underACL("acl-0p", []string{snapshottest.Public}, aclOut(0, 65535, all4), aclIn(443, 443, vpcNet), aclIn(32768, 65535, all4))))
	for _, want := range []string{"1024-32767", "chosen by the NAT gateway nat-0a", "connections on the ports denied fail, the others work"} {
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
	got := checktest.Failed(t, Egress(), s)
	if got.Fix.Command != "" || !strings.HasPrefix(got.Fix.Text, "No rule number is free below rule 1 of acl-0n") {
		t.Errorf("Fix = %+v, want words and no command", got.Fix)
	}
}

func TestNACLNamesOnlyWhatItMeets(t *testing.T) {
	// Two subnets under one ACL: one finding.
	s := checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), underACL("acl-0n", []string{snapshottest.Private, "subnet-0second"}, aclIn(0, 65535, all4)), checktest.TwoTables)
	got := checktest.Failed(t, Egress(), s)
	if len(got.Covers) != 2 || len(got.Instances) != 2 {
		t.Errorf("covers %v, instances %v, want two of each", got.Covers, got.Instances)
	}
}
