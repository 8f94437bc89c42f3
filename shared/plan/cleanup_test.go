package plan

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

const dead = "i-0dead00000000dead"

func leftBehind(n int) snapshot.Interface {
	return snapshot.Interface{
		ID: fmt.Sprintf("eni-0left%04d", n), Account: "123456789012", VPC: snapshottest.VPC, Subnet: snapshottest.Private, Status: "available", Kind: "interface",
		Description: "aws-K8S-" + dead, PrivateIPs: []netip.Addr{netip.MustParseAddr("10.42.192.77")},
		Prefixes: []netip.Prefix{netip.MustParsePrefix("10.42.193.0/28")},
		Tags: map[string]string{
			leak.TagInstance: dead, leak.TagCluster: snapshottest.ClusterName, leak.TagCreated: snapshottest.Now().Add(-3 * time.Hour).Format(time.RFC3339),
		},
	}
}

// leaked is a subnet with an interface left behind, which a run has seen before.
func leaked() (*snapshot.Snapshot, Subject) {
	s := snapshottest.PrivateWithNAT()
	i := leftBehind(0)
	s.Idle = []snapshot.Interface{i}
	s.Creators = []snapshot.Creator{{Instance: dead, State: "terminated"}}
	return s, Subject{
		Remedy: DeleteLeakedInterfaces, Cluster: snapshottest.ClusterName, Check: "ip/leaked-interfaces", Resource: snapshottest.Private, Covers: []string{snapshottest.Private},
		Sightings: map[string]leak.Sighting{i.ID: {Interface: i.ID, First: s.Time.Add(-time.Hour), Print: leak.Print(i), Version: 1}},
	}
}

func TestDeleteLeakedInterfacesRefuses(t *testing.T) {
	idle := func(change func(*snapshot.Interface)) func(*snapshot.Snapshot, *Subject) {
		return func(s *snapshot.Snapshot, of *Subject) {
			change(&s.Idle[0])
			seen := of.Sightings[s.Idle[0].ID]
			seen.Print = leak.Print(s.Idle[0])
			of.Sightings[s.Idle[0].ID] = seen
		}
	}
	sighting := func(change func(*leak.Sighting)) func(*snapshot.Snapshot, *Subject) {
		return func(s *snapshot.Snapshot, of *Subject) {
			seen := of.Sightings[s.Idle[0].ID]
			change(&seen)
			of.Sightings[s.Idle[0].ID] = seen
		}
	}
	owner := func(c snapshot.Creator) func(*snapshot.Snapshot, *Subject) {
		return func(s *snapshot.Snapshot, _ *Subject) { s.Creators = []snapshot.Creator{c} }
	}
	p := refuses(t, leaked, checks.All(), []wrong{
		{"in another subnet", idle(func(i *snapshot.Interface) { i.Subnet = snapshottest.Public }), NothingToDo},
		{"in use", idle(func(i *snapshot.Interface) { i.Status = "in-use" }), NothingToDo},
		{"of another kind", idle(func(i *snapshot.Interface) { i.Kind = "lambda" }), NothingToDo},
		{"another account's", idle(func(i *snapshot.Interface) { i.Account = "999999999999" }), NothingToDo},
		{"another VPC's", idle(func(i *snapshot.Interface) { i.VPC = "vpc-0b" }), NothingToDo},
		{"not the VPC CNI's", idle(func(i *snapshot.Interface) { i.Description = "aws-k8s-" + dead }), NothingToDo},
		{"another cluster's", idle(func(i *snapshot.Interface) { i.Tags[leak.TagCluster] = "dev" }), NothingToDo},
		{"no cluster's", idle(func(i *snapshot.Interface) { delete(i.Tags, leak.TagCluster) }), NothingToDo},
		{"too young", idle(func(i *snapshot.Interface) { i.Tags[leak.TagCreated] = snapshottest.Now().Format(time.RFC3339) }), NothingToDo},
		{"of no known age", idle(func(i *snapshot.Interface) { i.Tags[leak.TagCreated] = "yesterday" }), NothingToDo},
		{"its instance lives", owner(snapshot.Creator{Instance: dead, State: "stopped"}), NothingToDo},
		{"its instance was not asked for", owner(snapshot.Creator{Instance: "i-0other"}), NothingToDo},
		{"never seen before", func(_ *snapshot.Snapshot, of *Subject) { of.Sightings = nil }, NotSeenTwice},
		{"seen just now", sighting(func(x *leak.Sighting) { x.First = snapshottest.Now() }), NotSeenTwice},
		{"seen in another state", sighting(func(x *leak.Sighting) { x.Print = "other" }), NotSeenTwice},
		{"seen, and not written", sighting(func(x *leak.Sighting) { x.Version = 0 }), NotSeenTwice},
		{"nothing is idle", func(s *snapshot.Snapshot, _ *Subject) { s.Idle = nil }, NothingToDo},
	})
	if c := p.Cleanup; len(c.Interfaces) != 1 || c.Interfaces[0] != "eni-0left0000" || c.Addresses != 17 || c.Subnet != snapshottest.Private || c.VPC != snapshottest.VPC {
		t.Errorf("plan %+v", c)
	}
	wordsAreWhole(t, p)
	if got, want := p.Title(), "Delete 1 interface left behind in subnet-0private"; got != want {
		t.Errorf("title %q", got)
	}
}

func TestDeleteLeakedInterfacesIsBounded(t *testing.T) {
	s, of := leaked()
	s.Idle = nil
	for n := range 3 * MostInterfaces {
		i := leftBehind(n)
		s.Idle = append(s.Idle, i)
		of.Sightings[i.ID] = leak.Sighting{Interface: i.ID, First: s.Time.Add(-time.Hour), Print: leak.Print(i), Version: 1}
	}
	p, no := Make(s, of)
	if no != nil || len(p.Cleanup.Interfaces) != MostInterfaces || p.Cleanup.Addresses != 17*MostInterfaces {
		t.Fatalf("%+v, %+v", no, p.Cleanup)
	}
}
