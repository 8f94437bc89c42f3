package incident

import (
	"rollcall/shared/checks"
	"slices"
	"strings"
	"time"
)

// Effect is another check's failure that belongs to an incident of a subnet's
// addresses: it has no message of its own.
type Effect struct {
	Check checks.ID `json:"check"`
	// Told is the last look that told how the two belong together, Apart that it
	// found both and did not explain the one with the other.
	Told  time.Time `json:"told,omitzero"`
	Apart bool      `json:"apart,omitempty"`
	// Title is what that failure said, Since and Last when it was first and last
	// seen by a look that did not say where it belongs; all are empty for one
	// that each look has explained.
	Title string    `json:"title,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Over is when that check passed again.
	Over time.Time `json:"over,omitzero"`
}

// Here tells that the failure is there now, as far as is known.
func (e Effect) Here() bool {
	return (!e.Apart || !e.Told.After(e.Last)) && !e.Over.After(Later(e.Told, e.Last))
}

// EffectOf is what is known of a check's failure, made if need be.
func (inc *Incident) EffectOf(check checks.ID) (e *Effect, known bool) {
	i, known := slices.BinarySearchFunc(inc.Effects, check, func(e Effect, id checks.ID) int { return strings.Compare(string(e.Check), string(id)) })
	if !known {
		inc.Effects = slices.Insert(inc.Effects, i, Effect{Check: check})
	}
	return &inc.Effects[i], known
}

func (inc Incident) KnownEffect(check checks.ID) (Effect, bool) {
	i := slices.IndexFunc(inc.Effects, func(e Effect) bool { return e.Check == check })
	if i < 0 {
		return Effect{}, false
	}
	return inc.Effects[i], true
}
