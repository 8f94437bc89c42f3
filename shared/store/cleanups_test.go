package store

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

const vpc = "vpc-0a1b2c3d4e5f60718"

func audit(id string, minute int, result leak.Result) leak.Audit {
	return leak.Audit{
		Format: leak.AuditFormat, Cluster: "prod", VPC: vpc, Interface: id, Subnet: "subnet-1", Owner: "i-1", At: start.Add(time.Duration(minute) * time.Minute),
		Result: result, Run: "run-1", IPs: []netip.Addr{netip.MustParseAddr("10.42.1.4")}, Prefixes: []netip.Prefix{netip.MustParsePrefix("10.42.2.0/28")},
	}
}

func compareAddresses(a, b netip.Addr) bool  { return a == b }
func comparePrefixes(a, b netip.Prefix) bool { return a == b }
func addresses() []cmp.Option {
	return []cmp.Option{cmp.Comparer(compareAddresses), cmp.Comparer(comparePrefixes)}
}

func TestSightings(t *testing.T) {
	now := start
	s := open(t, &now)
	first := leak.Sighting{Interface: "eni-1", First: start, Print: "a"}
	saved, err := s.SaveSighting(t.Context(), vpc, first)
	if err != nil || saved.Version != 1 {
		t.Fatalf("%+v, %v", saved, err)
	}
	var conflict *Conflict
	if _, err := s.SaveSighting(t.Context(), vpc, first); !errors.As(err, &conflict) {
		t.Errorf("two runs that saw it first: %v", err)
	}
	// Of two runs that would delete it one alone may.
	mine := audit("eni-1", 1, leak.Deleting)
	saved.Deleting = &mine
	marked, err := s.SaveSighting(t.Context(), vpc, saved)
	if err != nil || marked.Version != 2 {
		t.Fatalf("%+v, %v", marked, err)
	}
	if _, err := s.SaveSighting(t.Context(), vpc, saved); !errors.As(err, &conflict) {
		t.Errorf("the second to write ahead: %v", err)
	}
	if err := s.ForgetSighting(t.Context(), vpc, saved); !errors.As(err, &conflict) {
		t.Errorf("what another run writes ahead is forgotten: %v", err)
	}
	got, err := s.Sightings(t.Context(), vpc)
	if diff := cmp.Diff(map[string]leak.Sighting{"eni-1": marked}, got, addresses()...); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if err := s.ForgetSighting(t.Context(), vpc, marked); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Sightings(t.Context(), vpc); err != nil || len(got) > 0 {
		t.Errorf("forgotten, and still there: %v, %v", got, err)
	}
	if _, err := s.SaveSighting(t.Context(), vpc, marked); err == nil {
		// DynamoDB has not dropped it yet, its version is another.
		t.Error("what was forgotten is written over")
	}
	if again, err := s.SaveSighting(t.Context(), vpc, first); err != nil || again.Version != 1 {
		t.Errorf("seen again: %+v, %v", again, err)
	}
	if got, err := s.Sightings(t.Context(), "vpc-other"); err != nil || len(got) > 0 {
		t.Errorf("another VPC's: %v, %v", got, err)
	}
}

func TestAudits(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, a := range []leak.Audit{audit("eni-2", 2, leak.Deleted), audit("eni-1", 1, leak.Deleted), audit("eni-3", 3, leak.LostInUse)} {
		if got, created, err := s.RecordAudit(t.Context(), a); err != nil || !created || got.Interface != a.Interface {
			t.Fatalf("%+v, %v, %v", got, created, err)
		}
	}
	// The record stays as it was written first.
	other := audit("eni-3", 3, leak.Deleted)
	if got, created, err := s.RecordAudit(t.Context(), other); err != nil || created || got.Result != leak.LostInUse {
		t.Errorf("written twice: %+v, %v, %v", got, created, err)
	}
	got, err := s.Audits(t.Context(), "prod", start.Add(2*time.Minute))
	if diff := cmp.Diff([]leak.Audit{audit("eni-2", 2, leak.Deleted), audit("eni-3", 3, leak.LostInUse)}, got, addresses()...); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	back, err := s.Returned(t.Context(), "prod", start)
	want := []snapshot.Returned{{Subnet: "subnet-1", Interfaces: 2, Addresses: 34, Nodes: 1, Last: start.Add(2 * time.Minute)}}
	if diff := cmp.Diff(want, back); diff != "" || err != nil {
		t.Errorf("returned: %v (-want +got):\n%s", err, diff)
	}
	if back, err := s.Returned(t.Context(), "dev", start); err != nil || len(back) > 0 {
		t.Errorf("another cluster's: %v, %v", back, err)
	}
	for after, n := range map[time.Duration]int{365 * 24 * time.Hour: 3, 367 * 24 * time.Hour: 0} {
		now = start.Add(after)
		if list, err := s.Audits(t.Context(), "prod", start); err != nil || len(list) != n {
			t.Errorf("after %s: %d records, %v", after, len(list), err)
		}
	}
}

func TestPaceAndWhatWasTold(t *testing.T) {
	now := start
	s := open(t, &now)
	if p, err := s.Pace(t.Context(), "111122223333", "us-west-2"); err != nil || p != (leak.Pace{}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, p := range []leak.Pace{{Level: 12.5, At: start, Rate: 5}, {Level: 1, At: start, Rate: 2.5, Cut: start}} {
		if err := s.SavePace(t.Context(), "111122223333", "us-west-2", p); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Pace(t.Context(), "111122223333", "us-west-2"); err != nil || got != p {
			t.Errorf("%+v, %v; want %+v", got, err, p)
		}
	}
	if p, err := s.Pace(t.Context(), "111122223333", "eu-west-1"); err != nil || p != (leak.Pace{}) {
		t.Errorf("another region's: %+v, %v", p, err)
	}
	for _, digest := range []string{"a", "b"} {
		if err := s.SaveCleanupTold(t.Context(), "prod", "2026-11-20", digest); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.CleanupsTold(t.Context(), "prod")
	if diff := cmp.Diff(map[string]string{"2026-11-20": "b"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
