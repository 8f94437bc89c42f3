package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A note that is sent late shows what there was, not what there is.
func TestAsOf(t *testing.T) {
	steps := []step{
		{name: "launch", obs: observe(route("i-1", "i-2"), launched("i-1", 0, Waiting), launched("i-2", 0, Waiting)), want: map[Key]Reason{theRoute: Opened}},
		{name: "missed", minute: 5, obs: observe(route("i-1", "i-2"), launched("i-1", 0, Missed), launched("i-2", 0, Missed)), want: map[Key]Reason{theRoute: HasMissed}},
	}
	then := play(t, steps)[0]
	now := play(t, append(steps,
		step{name: "gone", minute: 10, obs: observe(passed("route/no-egress", subnet), launched("i-1", 0, Gone), launched("i-2", 0, Joined), readyAt(11)), want: map[Key]Reason{theRoute: IsProved}},
	))[0]
	got := now.AsOf(now.Said.Notes[1])
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"state", got.State, then.State},
		{"ending", got.Ending, then.Ending},
		{"resolved", got.Resolved, then.Resolved},
		{"cleared by", got.ClearedBy, then.ClearedBy},
		{"launches", got.Launches, then.Launches},
		{"affected", got.Affected, then.Affected},
		{"changed", got.Changed, at(5)},
	} {
		if diff := cmp.Diff(f.want, f.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.name, diff)
		}
	}
	if now.State != Closed || now.Count(Gone) != 1 {
		t.Errorf("AsOf changed the incident: %q, %d gone", now.State, now.Count(Gone))
	}
}

func TestSent(t *testing.T) {
	n := Note{ID: "opened", At: start, Reason: Opened, Times: 1, Sending: start.Add(time.Minute), Count: 3, Then: &Then{}}
	want := Note{ID: "opened", At: start, Reason: Opened, Times: 1, TS: "1.2"}
	got := n.Sent("1.2")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("note (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Incident{State: Open}, Incident{State: Open}.AsOf(got)); diff != "" {
		t.Errorf("a sent note changes nothing (-want +got):\n%s", diff)
	}
}
