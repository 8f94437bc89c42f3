package enicleanup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// TestLease: what another run has just written ahead is that run's. After the
// lease it is settled: gone is deleted by that run, and there is judged anew.
func TestLease(t *testing.T) {
	s := open(t, stagetest.Options{})
	there, gone := s.make(s.left()), s.make(s.left())
	s.sweep()
	s.Advance(cadence)
	// Another run begins to delete both, and is not heard of again.
	store := s.Store.At(s.Now)
	sightings, err := store.Sightings(t.Context(), vpc)
	if err != nil || len(sightings) != 2 {
		t.Fatalf("%d sightings, %v", len(sightings), err)
	}
	written := s.Now()
	for id, x := range sightings {
		v := leak.Verdict{Interface: snapshot.Interface{ID: id, VPC: vpc, Subnet: subnet, Account: s.Template.AccountID}, Owner: dead, Cluster: stagetest.Cluster}
		draft := leak.Draft(v, x, "another", written)
		draft.Region, draft.Partition = s.Template.Region, "aws"
		x.Deleting = &draft
		if _, err := store.SaveSighting(t.Context(), vpc, x); err != nil {
			t.Fatal(err)
		}
	}
	s.others("ec2:DeleteNetworkInterface", `{"NetworkInterfaceId":"`+gone+`"}`)

	s.Advance(leak.Lease - time.Minute)
	before, err := store.Sightings(t.Context(), vpc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Handle(s.Sweep()); err != nil {
		t.Fatal(err)
	}
	after, err := store.Sightings(t.Context(), vpc)
	if err != nil {
		t.Fatal(err)
	}
	versions := func(m map[string]leak.Sighting) map[string]int {
		out := map[string]int{}
		for id, x := range m {
			out[id] = x.Version
		}
		return out
	}
	if diff := cmp.Diff(versions(before), versions(after)); diff != "" || len(s.audits()) > 0 || !s.there(there) {
		t.Errorf("within the lease (-before +after), %d records:\n%s", len(s.audits()), diff)
	}
	if n := s.Counts()["LeftForNextRun"]; n != 1 {
		t.Errorf("%d left for the next run, want the one that is there", n)
	}

	s.sweep()
	s.sweep()
	got := map[string]leak.Audit{}
	for _, a := range s.audits() {
		got[a.Interface] = a
	}
	if len(got) != 2 || len(s.told()) != 2 || s.there(there) {
		t.Fatalf("records %+v, told %v", got, s.told())
	}
	if a := got[gone]; a.Run != "another" || !a.Settled || !a.At.Equal(written.Truncate(time.Millisecond)) || a.Result != leak.Deleted {
		t.Errorf("settled: %+v", a)
	}
	if a := got[there]; a.Run == "another" || a.Settled || a.Request == "" || a.Result != leak.Deleted {
		t.Errorf("judged anew: %+v", a)
	}
}
