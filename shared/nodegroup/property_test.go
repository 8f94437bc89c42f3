package nodegroup

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"rollcall/shared/snapshot"
)

// Any sequence of looks, with repeats, looks that come late, and a bus that
// takes what is untold now and then, tells each transition once and in order.
func TestEachTransitionIsToldOnce(t *testing.T) {
	statuses := []string{Active, Degraded, Updating, CreateFailed, Deleting}
	issues := []string{"", "NodeCreationFailure i-1", "NodeCreationFailure i-2", "AccessDenied"}
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		var (
			r           Record
			bus         []Event
			want        []string // what a witness of every look would have told
			witness     string   // the state at the newest look
			old         []Look
			created     = at(-600)
			updates     []snapshot.Update
			updateTold  = map[string]string{}
			wantUpdates []string
		)
		for minute := range 60 {
			l := seen(minute, statuses[random.IntN(len(statuses))])
			l.Seen.Created = created
			if i := issues[random.IntN(len(issues))]; i != "" {
				var code, resource string
				if n, _ := fmt.Sscanf(i, "%s %s", &code, &resource); n == 2 {
					issue(code, resource)(&l)
				} else {
					issue(i)(&l)
				}
			}
			// An update is made, or the one in progress ends.
			switch {
			case len(updates) > 0 && updates[0].Status == InProgress:
				updates = slices.Clone(updates)
				updates[0].Status = []string{InProgress, Successful, Failed}[random.IntN(3)]
			case random.IntN(4) == 0 && minute > 0:
				updates = append([]snapshot.Update{{ID: fmt.Sprint("u", minute), Status: InProgress, Created: at(minute)}}, updates...)
				updates = updates[:min(len(updates), maxUpdates)]
			}
			l.Seen.Updates = updates
			switch random.IntN(8) {
			case 0: // late: from before the newest
				if len(old) > 0 {
					r, _ = Compare(r, old[random.IntN(len(old))])
				}
				continue
			case 1:
				l = gone(minute)
				updates = nil
			}
			for range 1 + random.IntN(3) { // repeats
				r, _ = Compare(r, l)
			}
			if state := stateOf(l); state != witness && !(witness == "" && (l.Seen == nil || state == Active)) {
				want = append(want, state)
				witness = state
			} else if witness == "" && l.Seen != nil {
				witness = state
			}
			if l.Seen == nil {
				clear(updateTold)
			} else {
				for _, u := range slices.Backward(l.Seen.Updates) {
					if updateTold[u.ID] != u.Status {
						updateTold[u.ID] = u.Status
						wantUpdates = append(wantUpdates, u.ID+" "+u.Status)
					}
				}
			}
			if l.At.After(at(0)) {
				old = append(old, seen(-1, Active))
			}
			r = stored(t, r)
			if random.IntN(3) == 0 || len(r.Untold) > maxUntold/2 {
				bus, r.Untold = append(bus, r.Untold...), nil
			}
		}
		bus = append(bus, r.Untold...)
		var got, gotUpdates []string
		for i, e := range bus {
			if e.Sequence != i+1 {
				t.Fatalf("seed %d: event %d has sequence %d", seed, i+1, e.Sequence)
			}
			if e.Update != nil {
				gotUpdates = append(gotUpdates, e.Update.ID+" "+e.Update.Status)
				continue
			}
			state := e.Status
			for _, i := range e.Issues {
				state += fmt.Sprint(" ", i.Code, i.Resources)
			}
			got = append(got, state)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: told\n%q\nwant\n%q", seed, got, want)
		}
		if !slices.Equal(gotUpdates, wantUpdates) {
			t.Fatalf("seed %d: updates told\n%q\nwant\n%q", seed, gotUpdates, wantUpdates)
		}
	}
}

func stateOf(l Look) string {
	if l.Seen == nil {
		return Deleted
	}
	state := l.Seen.Status
	for _, i := range l.Seen.Issues {
		state += fmt.Sprint(" ", i.Code, i.Resources)
	}
	return state
}

// stored is a record as the table gives it back.
func stored(t *testing.T, r Record) Record {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var out Record
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
