package response_test

import (
	"encoding/json"
	"testing"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// Whatever can be decoded of presses, plans, runs and changes can be decided
// on; what comes out can be stored, read again, and approves nothing that no
// approver pressed.
func FuzzDecodeTold(f *testing.F) {
	for _, v := range []any{
		incidenttest.Press(report.ApprovePlan, 5), incidenttest.Press(report.MuteFor, 5), incidenttest.Press("delete", 5), incidenttest.Proposal("p", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Approve),
		incidenttest.Proposal("p", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Auto), incidenttest.Run(action.Done), incidenttest.Run(""), incidenttest.Changes("c", report.RecentChanges{Changes: []report.Change{incidenttest.Change("a", -18)}}),
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
		m, err := report.DecodeMessage(body)
		if err != nil {
			return
		}
		inc := incident.Incident{Key: incidenttest.TheRoute, Format: report.Format, State: incident.Open, Number: 1, Opened: incidenttest.At(0), Began: incidenttest.At(0)}
		for range 2 {
			var d incident.Decision
			switch {
			case m.Press != nil:
				d, _ = response.Act(inc, *m.Press, response.Who{}, incidenttest.At(10))
			case m.Proposal != nil:
				d = response.Propose(inc, *m.Proposal, incidenttest.At(10))
			case m.RemedyResult != nil:
				d = response.ApplyRemedyResult(inc, *m.RemedyResult, incidenttest.At(10))
			case m.Changes != nil:
				d = response.ApplyChanges(inc, *m.Changes, incidenttest.At(10))
			default:
				return
			}
			d = response.Tick(d.Incident, incidenttest.At(11), incidenttest.Policy)
			data, err := json.Marshal(d.Incident)
			if err != nil {
				return // times past the year 9999
			}
			if err := json.Unmarshal(data, &inc); err != nil {
				t.Fatalf("the record cannot be read again: %v", err)
			}
			for _, o := range inc.Offers {
				if o.State == incident.Approved && o.Policy != optin.Auto {
					t.Fatalf("nobody may approve, and approved is %+v", o)
				}
			}
		}
	})
}
