package outcome

import (
	"testing"
	"time"
)

// Each field of a merge is the one that Facts promises: the earliest time, but
// for Alive the latest, and the surest root.
func TestMergeTakesTheEarliest(t *testing.T) {
	early, late := after(time.Minute), after(9*time.Minute)
	all := func(at, alive time.Time, sure bool) Facts {
		return Facts{
			Started: at, Due: at, Registered: at, Ready: at, Ended: at, Alive: alive, Over: at, Forgotten: at, Noticed: at,
			Rebalance: at, Maintenance: at, Missed: at, GivenUp: at, Root: Root{Check: "route/no-egress", Sure: sure, At: at},
		}
	}
	a, b, want := all(early, early, false), all(late, late, true), all(early, late, false)
	want.Root = Root{Check: "route/no-egress", Sure: true, At: late}
	if got := Merge(a, b); got != want {
		t.Errorf("Merge = %+v\nwant %+v", got, want)
	}
	if got := Merge(b, a); got != want {
		t.Errorf("Merge the other way = %+v\nwant %+v", got, want)
	}
}

func TestLate(t *testing.T) {
	due := after(5 * time.Minute)
	tests := []struct {
		name  string
		facts Facts
		want  bool
	}{
		{"ended before it was due", Facts{Due: due, Ended: due.Add(-time.Second)}, false},
		{"ended when it was due", Facts{Due: due, Ended: due}, true},
		{"ended later", Facts{Due: due, Ended: due.Add(time.Second)}, true},
		{"ended before it was due, whatever was noticed", Facts{Due: due, Ended: due.Add(-time.Second), Noticed: due, Missed: due}, false},
		{"noticed so that it had until it was due", Facts{Due: due, Noticed: due.Add(-notice)}, true},
		{"noticed so that it had not", Facts{Due: due, Noticed: due.Add(-notice - time.Second)}, false},
		{"gone longer after the notice than EC2 gives", Facts{Due: due, Noticed: due.Add(-notice - time.Second), Over: due.Add(time.Hour)}, false},
		{"gone just as EC2 gives: the look tells", Facts{Due: due, Noticed: due.Add(-notice - time.Second), Over: due.Add(-time.Second)}, false},
		{"gone within the notice, seen to lack", Facts{Due: due, Noticed: due.Add(-notice), Over: due, Missed: due}, true},
		{"gone within the notice, not seen to lack", Facts{Due: due, Noticed: due.Add(-notice), Over: due}, false},
		{"over within a sweep of its time", Facts{Due: due, Over: due.Add(between)}, false},
		{"over later", Facts{Due: due, Over: due.Add(between + time.Second)}, true},
		{"nothing is known", Facts{Due: due}, false},
	}
	for _, tt := range tests {
		if got := tt.facts.late(); got != tt.want {
			t.Errorf("%s: late = %t, want %t", tt.name, got, tt.want)
		}
	}
}
