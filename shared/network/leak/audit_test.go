package leak

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/snapshot"
)

func TestDraft(t *testing.T) {
	v := Judge(left(), ground())
	first, at := now.Add(-time.Hour), now.Add(1234567*time.Microsecond).In(time.FixedZone("", 3600))
	v.Interface.Prefixes = []netip.Prefix{netip.MustParsePrefix("10.42.2.0/28")}
	v.Interface.IPv6 = []netip.Addr{netip.MustParseAddr("fd00::1")}
	want := Audit{
		Format: 1, Account: account, Cluster: "prod", VPC: vpc, Interface: "eni-0a000000000000001", Subnet: "subnet-0b20000000000000a", Zone: "us-west-2a",
		Owner: owner, Created: now.Add(-time.Hour), First: first, IPs: left().PrivateIPs, Prefixes: v.Interface.Prefixes, IPv6: v.Interface.IPv6,
		At: now.Add(1234 * time.Millisecond), Result: Deleting, Run: "run-1",
	}
	got := Draft(v, Sighting{First: first}, "run-1", at)
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// It names no cluster: somebody opted the VPC in.
	v.Cluster = ""
	if !Draft(v, Sighting{}, "run-1", at).Untagged {
		t.Error("a record without a cluster does not say that the interface was untagged")
	}
}

// A prefix is a /28.
func TestAddresses(t *testing.T) {
	ip, prefix := netip.MustParseAddr("10.42.1.4"), netip.MustParsePrefix("10.42.2.0/28")
	for _, test := range []struct {
		audit Audit
		want  int
	}{
		{Audit{}, 0},
		{Audit{IPs: []netip.Addr{ip, ip}}, 2},
		{Audit{Prefixes: []netip.Prefix{prefix, prefix}}, 32},
		{Audit{IPs: []netip.Addr{ip}, Prefixes: []netip.Prefix{prefix, prefix, prefix}}, 49},
		{Audit{IPv6: []netip.Addr{netip.MustParseAddr("fd00::1")}}, 0}, // the subnet has no lack of those
	} {
		if got := test.audit.Addresses(); got != test.want {
			t.Errorf("%+v: %d addresses, want %d", test.audit, got, test.want)
		}
	}
}

func TestReturned(t *testing.T) {
	ip := netip.MustParseAddr("10.42.1.4")
	record := func(subnet, node string, minute int, result Result, addresses int) Audit {
		a := Audit{Subnet: subnet, Owner: node, At: now.Add(time.Duration(minute) * time.Minute), Result: result}
		for range addresses {
			a.IPs = append(a.IPs, ip)
		}
		return a
	}
	list := []Audit{
		record("a", "i-1", 5, Deleting, 100), // not known yet
		record("a", "i-1", 3, Deleted, 2),
		record("b", "i-1", 1, Deleted, 1),
		record("a", "i-1", 4, Deleted, 3),
		record("a", "i-2", 2, Deleted, 5),
		record("b", "i-3", 9, WouldDelete, 7),
	}
	want := []snapshot.Returned{
		{Subnet: "a", Interfaces: 3, Addresses: 10, Nodes: 2, Last: now.Add(4 * time.Minute)},
		{Subnet: "b", Interfaces: 1, Addresses: 1, Nodes: 1, Last: now.Add(time.Minute)},
	}
	if diff := cmp.Diff(want, Returned(list, Deleted)); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	want = []snapshot.Returned{{Subnet: "b", Interfaces: 1, Addresses: 7, Nodes: 1, Last: now.Add(9 * time.Minute)}}
	if diff := cmp.Diff(want, Returned(list, WouldDelete)); diff != "" {
		t.Errorf("would be deleted (-want +got):\n%s", diff)
	}
}

func TestEvent(t *testing.T) {
	a := Draft(Judge(left(), ground()), Sighting{First: now.Add(-time.Hour)}, "run-1", now)
	a.Partition, a.Region, a.Request, a.Settled = "aws", "us-west-2", "request-1", true
	want := Event{
		ID: "prod/eni-0a000000000000001/deleted", Format: 1, At: now, Partition: "aws", Account: account, Region: "us-west-2", Cluster: "prod",
		VPC: vpc, Subnet: "subnet-0b20000000000000a", Zone: "us-west-2a", Interface: "eni-0a000000000000001", Instance: owner,
		Created: now.Add(-time.Hour), FirstSeen: now.Add(-time.Hour), Addresses: 2, IPs: left().PrivateIPs, Run: "run-1", Request: "request-1", Settled: true,
	}
	if diff := cmp.Diff(want, a.Event(), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
