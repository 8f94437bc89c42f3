package deleteleakedinterfaces

import (
	"rollcall/shared/checks"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"testing"
)

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), func() (*snapshot.Snapshot, action.Subject) {
		s, of := leaked()
		for n := 1; n < 2*MostInterfaces; n++ {
			i := leftBehind(n)
			s.Idle = append(s.Idle, i)
			seen := of.Sightings["eni-0left0000"]
			seen.Interface = i.ID
			of.Sightings[i.ID] = seen
		}
		for _, i := range s.Idle {
			seen := of.Sightings[i.ID]
			seen.Print = leak.Print(i)
			of.Sightings[i.ID] = seen
		}
		return s, of
	}, checks.All())
}
