package incident

import (
	"slices"
	"time"
)

// MaxUnseen is how long an incident stays open of which nothing is heard any more:
// neither its cause nor anything that it covers was judged, because its cluster is
// watched no longer or cannot be looked at. Sweeps come every five minutes.
const MaxUnseen = 14 * 24 * time.Hour

// Heard is when something was last heard of an incident.
func (inc Incident) Heard() time.Time {
	at := inc.Opened
	for _, t := range []time.Time{inc.Seen, inc.Cleared} {
		if t.After(at) {
			at = t
		}
	}
	return slices.MaxFunc(append([]Verdict{{At: at}}, inc.Verdicts...), func(a, b Verdict) int { return a.At.Compare(b.At) }).At
}
