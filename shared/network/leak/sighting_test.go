package leak

import (
	"testing"
	"time"
)

// What is written ahead is its run's for a while, then anybody's to settle; a
// clock that was ahead does not make it longer.
func TestUnsettled(t *testing.T) {
	for _, test := range []struct {
		name   string
		at     time.Time
		settle bool
	}{
		{"just now", now, false},
		{"within the lease", now.Add(time.Second - Lease), false},
		{"after the lease", now.Add(-Lease), true},
		{"by a clock a little ahead", now.Add(Lease - time.Second), false},
		{"by a clock that is a year ahead", now.Add(365 * 24 * time.Hour), true},
		{"by a clock that is a year behind", now.Add(-365 * 24 * time.Hour), true},
	} {
		s := Sighting{Interface: "eni-1", Deleting: &Audit{At: test.at}}
		if got := s.Unsettled(now); got != test.settle || s.leased(now) == test.settle {
			t.Errorf("%s: to be settled %v, leased %v; want it settled: %v", test.name, got, s.leased(now), test.settle)
		}
	}
	if s := (Sighting{Interface: "eni-1"}); s.Unsettled(now) || s.leased(now) {
		t.Error("nothing was written ahead, and it counts as if")
	}
}
