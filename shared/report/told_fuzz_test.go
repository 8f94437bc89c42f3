package report

import (
	"encoding/json"
	"testing"

	"rollcall/shared/plan"
)

// Whatever can be decoded of presses, plans, deeds and changes can be decided
// on; what comes out can be stored, read again, and approves nothing that no
// approver pressed.
func FuzzDecodeTold(f *testing.F) {
	for _, v := range []any{
		press(ApprovePlan, 5), press(MuteFor, 5), press("delete", 5), proposal("p", 2, routePlan("nat-0aa4"), plan.Approve),
		proposal("p", 2, routePlan("nat-0aa4"), plan.Auto), deed(plan.Done), deed(""), changes("c", Trail{Changes: []Change{change("a", -18)}}),
	} {
		body, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"format":999,"kind":"press"}`))
	f.Add([]byte(`{"format":201,"kind":"deed","deed":{"plan":null}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := DecodeMessage(body)
		if err != nil {
			return
		}
		inc := Incident{Key: theRoute, Format: Format, State: Open, Number: 1, Opened: at(0), Began: at(0)}
		for range 2 {
			var d Decision
			switch {
			case m.Press != nil:
				d, _ = Act(inc, *m.Press, Who{}, at(10))
			case m.Proposal != nil:
				d = Propose(inc, *m.Proposal, at(10))
			case m.Deed != nil:
				d = TakeDeed(inc, *m.Deed, at(10))
			case m.Changes != nil:
				d = TakeChanges(inc, *m.Changes, at(10))
			default:
				return
			}
			d = Tick(d.Incident, at(11), policy)
			data, err := json.Marshal(d.Incident)
			if err != nil {
				return // times past the year 9999
			}
			if err := json.Unmarshal(data, &inc); err != nil {
				t.Fatalf("the record cannot be read again: %v", err)
			}
			for _, o := range inc.Offers {
				if o.State == Approved && o.Policy != plan.Auto {
					t.Fatalf("nobody may approve, and approved is %+v", o)
				}
			}
		}
	})
}
