package overview

import (
	"encoding/json"
	"testing"
	"time"

	"rollcall/tools/testfile"

	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2026, 11, 16, 0, 2, 0, 0, time.UTC)

// week is a cluster after turns every five minutes for some days, but those that skip names.
func week(days int, skip func(at time.Time) bool) Sweep {
	s := Sweep{Cluster: "prod"}
	for at := start; at.Before(start.AddDate(0, 0, days)); at = at.Add(5 * time.Minute) {
		if skip == nil || !skip(at) {
			s = s.After(ClusterSweep{At: at})
		}
	}
	return s
}

// A week without a hole is one: 288 looks a day, and nothing between them.
func TestAWholeWeek(t *testing.T) {
	s := week(7, nil)
	from := start.Truncate(day)
	made, failed, silent := s.Turns.Between(from, from.AddDate(0, 0, 7))
	if made != 7*288 || failed != 0 || silent != 0 || len(s.GapsBetween(from, s.At)) != 0 {
		t.Errorf("%d looks, %d failed, %d silent, gaps %v", made, failed, silent, s.GapsBetween(from, s.At))
	}
	if made, _, _ := s.Turns.Between(from.AddDate(0, 0, 2), from.AddDate(0, 0, 3)); made != 288 {
		t.Errorf("%d looks of one day", made)
	}
}

// A relay that was used by an earlier release is asked for 30 days without the setting that
// names it, one that was not never.
func TestRelayUsed(t *testing.T) {
	now := start.AddDate(0, 0, 2)
	earlier := week(2, nil)
	earlier.KnowsRelays, earlier.RelayUntil = false, time.Time{} // as the release before wrote it
	silent := Sweep{Cluster: "prod"}.After(ClusterSweep{At: start, Silent: true})
	silent.KnowsRelays = false
	for name, x := range map[string]struct {
		swept Sweep
		at    time.Time
		want  bool
	}{
		"before this release's first turn": {earlier, now, true},
		"after it":                         {earlier.After(ClusterSweep{At: now}), now.Add(time.Hour), true},
		"on day 29":                        {earlier.After(ClusterSweep{At: now}).After(ClusterSweep{At: now.AddDate(0, 0, 1)}), now.AddDate(0, 0, 29), true},
		"after 30 days":                    {earlier.After(ClusterSweep{At: now}), now.AddDate(0, 0, 30), false},
		"never looked at":                  {Sweep{Cluster: "prod"}, now, false},
		"new with this release":            {Sweep{Cluster: "prod"}.After(ClusterSweep{At: start}).After(ClusterSweep{At: now}), now, false},
		"it did not answer":                {silent, now, false},
	} {
		if got := x.swept.RelayUsed(x.at); got != x.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What was not looked at is a gap: from the last look to the next, and to now where none came.
func TestGaps(t *testing.T) {
	out := func(from, to time.Time) func(time.Time) bool {
		return func(at time.Time) bool { return at.After(from) && at.Before(to) }
	}
	from, to := start.Add(30*time.Hour), start.Add(62*time.Hour)
	s := week(4, out(from, to))
	begin, end := start.Truncate(day), start.Truncate(day).AddDate(0, 0, 7)
	for name, c := range map[string]struct {
		from, to time.Time
		want     []Gap
	}{
		"in the middle, and to the end": {begin, end, []Gap{{from, to}, {s.At, end}}},
		"cut at both ends":              {from.Add(time.Hour), to.Add(-time.Hour), []Gap{{from.Add(time.Hour), to.Add(-time.Hour)}}},
		"before it":                     {begin, from, nil},
		"after it":                      {to, s.At, nil},
		"before all":                    {begin.AddDate(0, 0, -7), begin, nil},
	} {
		if diff := cmp.Diff(c.want, s.GapsBetween(c.from, c.to)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := week(1, func(at time.Time) bool { return at.Equal(start.Add(time.Hour)) }); len(got.Turns.Gaps) != 0 {
		t.Errorf("one turn that was missed is the gap %v", got.Turns.Gaps)
	}
}

// A turn that came twice, or late, makes no gap and does not turn the clock back.
func TestTurnsTwice(t *testing.T) {
	s := Sweep{Cluster: "prod"}.After(ClusterSweep{At: start}).After(ClusterSweep{At: start.Add(5 * time.Minute), Failed: []string{"zone-watch"}, Silent: true, Soonest: &Subnet{ID: "subnet-1"}})
	s = s.After(ClusterSweep{At: start})
	if made, failed, silent := s.Turns.Between(start, start.Add(day)); made != 3 || failed != 1 || silent != 1 || !s.At.Equal(start.Add(5*time.Minute)) || len(s.Turns.Gaps) != 0 || len(s.Failed) != 1 || s.Soonest.ID != "subnet-1" {
		t.Errorf("%+v", s)
	}
}

// A record of an earlier release knows no turns: nothing is reported of the time before, not even
// that there was no look.
func TestRecordOfAnEarlierRelease(t *testing.T) {
	s := Sweep{Cluster: "prod", At: start.Add(-time.Hour)}
	if got := s.GapsBetween(start.Add(-day), start); got != nil {
		t.Errorf("gaps %v", got)
	}
	s = s.After(ClusterSweep{At: start})
	if !s.Turns.Since.Equal(start) || len(s.Turns.Gaps) != 0 {
		t.Errorf("%+v", s)
	}
}

// The record stays small: a write unit while all is well, whatever happens a few.
func TestTurnsAreBounded(t *testing.T) {
	size := func(s Sweep) int {
		return len(testfile.JSON(t, s))
	}
	s := week(40, nil)
	if n := size(s); n > 700 || len(s.Turns.Made) != turnDays {
		t.Errorf("%d bytes, %d days", n, len(s.Turns.Made))
	}
	if made, _, _ := s.Turns.Between(s.At.Truncate(day).AddDate(0, 0, -7), s.At.Truncate(day)); made != 7*288 {
		t.Errorf("%d looks in the last week", made)
	}
	s = week(20, func(at time.Time) bool { return at.Minute() > 10 })
	if n := size(s); n > 2000 || len(s.Turns.Gaps) > mostGaps {
		t.Errorf("%d bytes, %d gaps", n, len(s.Turns.Gaps))
	}
	s = week(2, nil).After(ClusterSweep{At: start.AddDate(0, 3, 0)})
	if made, _, _ := s.Turns.Between(start, start.AddDate(0, 2, 0)); made != 0 || len(s.Turns.Made) > turnDays {
		t.Errorf("three months later %+v", s.Turns)
	}
}

// FuzzSweep: whatever a record holds, what is reported of it lies within what was asked for.
func FuzzSweep(f *testing.F) {
	for _, s := range []Sweep{week(2, nil), {Cluster: "prod", At: start}} {
		body := testfile.JSON(f, s)
		f.Add(body)
	}
	f.Add([]byte(`{"turns":{"since":"2026-11-01T00:00:00Z","first":"2026-11-30T00:00:00Z","made":[-1,2],"gaps":[{"f":"2026-11-20T00:00:00Z","t":"2026-11-10T00:00:00Z"}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var s Sweep
		if json.Unmarshal(body, &s) != nil {
			return
		}
		to := start.AddDate(0, 0, 7)
		for _, g := range s.GapsBetween(start, to) {
			if g.From.Before(start) || g.To.After(to) || g.Lasts() <= 0 {
				t.Errorf("gap %v", g)
			}
		}
		next := s.After(ClusterSweep{At: to})
		if len(next.Turns.Made) > turnDays+len(s.Turns.Made) || len(next.Turns.Gaps) > mostGaps {
			t.Errorf("%d days, %d gaps", len(next.Turns.Made), len(next.Turns.Gaps))
		}
	})
}
