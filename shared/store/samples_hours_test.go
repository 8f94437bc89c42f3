package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// A subnet is looked at every five minutes for ten days; one day nobody rolls up.
func TestSamplesAreRolledUp(t *testing.T) {
	now := start.Truncate(time.Hour)
	s := open(t, &now)
	begin := now
	var all []snapshot.Sample
	rolled := 0
	for i := range 240 * 2 { // every half hour
		now = begin.Add(time.Duration(i) * 30 * time.Minute)
		x := snapshot.Sample{Subnet: "subnet-1", At: now, Free: 1000 - i, Total: 1019}
		all = append(all, x)
		if err := s.RecordSamples(t.Context(), []snapshot.Sample{x}); err != nil {
			t.Fatal(err)
		}
		if i > 48 && i < 96 {
			continue
		}
		n, err := s.CatchUp(t.Context(), "subnet-1")
		if err != nil {
			t.Fatal(err)
		}
		rolled += n
	}
	if rolled != 239 {
		t.Errorf("%d hours were rolled up, want each of the 239 that are over once", rolled)
	}
	got, err := s.Samples(t.Context(), "subnet-1", begin)
	if err != nil {
		t.Fatal(err)
	}
	whole := now.Add(-keepSamples).Add(time.Hour).Truncate(time.Hour)
	var want []snapshot.Sample
	for i, x := range all {
		// Of an hour that was rolled up the later sample, which has less.
		if !x.At.Before(whole) || i%2 == 1 {
			want = append(want, x)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ten days (-want +got):\n%s", diff)
	}
	if got, err = s.Samples(t.Context(), "subnet-1", now.Add(-time.Hour)); err != nil || len(got) != 3 {
		t.Errorf("the last hour: %v, %v", got, err)
	}
	now = begin.Add(keepHours + 300*time.Hour)
	if got, err = s.Samples(t.Context(), "subnet-1", begin); err != nil || len(got) != 0 {
		t.Errorf("when all has expired: %v, %v", got, err)
	}
}

func TestRollUpAgain(t *testing.T) {
	now := start.Truncate(time.Hour)
	hour := now
	s := open(t, &now)
	for i, free := range []int{9, 3, 7} {
		if err := s.RecordSamples(t.Context(), []snapshot.Sample{{Subnet: "subnet-1", At: hour.Add(time.Duration(5*i) * time.Minute), Free: free, Total: 11}}); err != nil {
			t.Fatal(err)
		}
	}
	want := []sampleHour{{Hour: hour.UTC(), Low: 3, At: hour.Add(5 * time.Minute).UTC(), High: 9, Last: 7, Total: 11, Count: 3}}
	for _, later := range []time.Duration{time.Hour, time.Hour, keepSamples + time.Minute} {
		now = hour.Add(later)
		if err := s.RollUp(t.Context(), "subnet-1", hour.Add(20*time.Minute)); err != nil {
			t.Fatal(err)
		}
		got, err := s.hours(t.Context(), "subnet-1", hour, hour.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", later, diff)
		}
	}
	// Nothing is there to roll up.
	if n, err := s.CatchUp(t.Context(), "subnet-2"); n != 0 || err != nil {
		t.Errorf("another subnet: %d, %v", n, err)
	}
	if err := s.RollUp(t.Context(), "subnet-2", hour); err != nil {
		t.Error(err)
	}
}
