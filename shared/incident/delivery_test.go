package incident

import (
	"testing"
	"time"
)

// When a message says anew when it was last checked: asked for, or an hour later.
func TestStampDue(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	inc := func(looked, asked, told int) Incident {
		i := Incident{State: Open, Verdicts: []Verdict{{Of: "a", At: noon}, {Of: "b", At: at(looked)}}, Delivery: Delivery{Looked: at(told)}}
		if asked >= 0 {
			i.Asked = at(asked)
		}
		return i
	}
	never, closed, blank := inc(120, -1, 0), inc(120, -1, 0), inc(120, -1, 0)
	never.Delivery.Looked, closed.State, blank.Verdicts = time.Time{}, Closed, nil
	for name, test := range map[string]struct {
		inc  Incident
		want bool
	}{
		"the look that is told":           {inc(10, -1, 10), false},
		"a later look":                    {inc(69, -1, 10), false},
		"an hour later":                   {inc(70, -1, 10), true},
		"asked for, and looked":           {inc(13, 12, 10), true},
		"asked for, not looked yet":       {inc(11, 12, 10), false},
		"asked for, and told":             {inc(15, 12, 13), false},
		"of an earlier release":           {never, false},
		"it is over":                      {closed, false},
		"nothing was ever looked at":      {blank, false},
		"what failed last counts as well": {Incident{State: Open, Seen: at(70), Delivery: Delivery{Looked: at(10)}}, true},
	} {
		if got := test.inc.StampDue(); got != test.want {
			t.Errorf("%s: due %t, want %t", name, got, test.want)
		}
	}
}
