package detect

import (
	"rollcall/shared/event"
	"rollcall/shared/node/outcome"
)

// Notice is what an event says beforehand of an instance's end; false for an
// event of another kind.
func Notice(t event.Trigger) (outcome.Facts, bool) {
	switch t.Kind {
	case event.Interruption:
		return outcome.Facts{Noticed: t.Time}, true
	case event.Rebalance:
		return outcome.Facts{Rebalance: t.Time}, true
	case event.Maintenance:
		return outcome.Facts{Maintenance: t.Time}, true
	}
	return outcome.Facts{}, false
}
