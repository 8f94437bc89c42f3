package response_test

import (
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/silence"
)

func quietFor(from, until int) silence.Silence {
	return silence.Silence{ID: "ab12cd34", Cluster: incidenttest.Cluster, From: incidenttest.At(from), Until: incidenttest.At(until), At: incidenttest.At(from), By: silence.Person(incidenttest.Oncall), Reason: "upgrade"}
}

// What a silence does not hide stays as it is; what it hides calls nobody, and ends once.
func TestSilence(t *testing.T) {
	open := incidenttest.Broken(t)
	other := quietFor(0, 60)
	other.Cluster = "another"
	pending := open
	pending.Number = 0
	closed := open
	closed.State = incident.Closed
	blind := open
	blind.Key.Check = incident.CannotLook
	for name, test := range map[string]struct {
		inc  incident.Incident
		list []silence.Silence
		want incident.Reason
	}{
		"nothing is silenced":     {open, nil, incident.NothingNew},
		"another cluster is":      {open, []silence.Silence{other}, incident.NothingNew},
		"it has not begun":        {open, []silence.Silence{quietFor(40, 60)}, incident.NothingNew},
		"it is over":              {open, []silence.Silence{quietFor(0, 30)}, incident.NothingNew},
		"it is not said yet":      {pending, []silence.Silence{quietFor(0, 60)}, incident.NothingNew},
		"it is closed":            {closed, []silence.Silence{quietFor(0, 60)}, incident.NothingNew},
		"Rollcall cannot see":     {blind, []silence.Silence{quietFor(0, 60)}, incident.NothingNew},
		"it is meant":             {open, []silence.Silence{other, quietFor(0, 60)}, incident.IsSilenced},
		"one that just began":     {open, []silence.Silence{quietFor(30, 60)}, incident.IsSilenced},
		"the longer of two hides": {open, []silence.Silence{quietFor(0, 40), quietFor(0, 60)}, incident.IsSilenced},
	} {
		d := response.Silence(test.inc, test.list, incidenttest.At(30))
		if d.Reason != test.want || d.Changed != (test.want == incident.IsSilenced) {
			t.Errorf("%s: %s, changed %t; want %s", name, d.Reason, d.Changed, test.want)
		}
		if d.Changed && (!d.Incident.Silence.Until.Equal(incidenttest.At(60)) || d.Incident.Silence.Reason != "upgrade" || !d.Incident.Delivery.Dirty) {
			t.Errorf("%s: %+v", name, d.Incident.Silence)
		}
	}
	d := response.Silence(open, []silence.Silence{quietFor(0, 60)}, incidenttest.At(30))
	if again := response.Silence(d.Incident, []silence.Silence{quietFor(0, 60)}, incidenttest.At(31)); again.Changed {
		t.Errorf("hidden a second time: %s", again.Reason)
	}
	notes := len(d.Incident.Delivery.Notes)
	over := response.Silence(d.Incident, []silence.Silence{quietFor(0, 60)}, incidenttest.At(60))
	if over.Reason != incident.IsUnsilenced || over.Incident.Silence != nil || len(over.Incident.Delivery.Notes) != notes+1 || !over.Incident.Delivery.Notes[notes].Line {
		t.Errorf("at its end: %s, %+v", over.Reason, over.Incident.Delivery.Notes)
	}
	if n := len(over.Incident.PendingEvents); n == 0 || over.Incident.PendingEvents[n-1].Silenced || over.Incident.PendingEvents[n-1].Reason != incident.IsUnsilenced {
		t.Errorf("the bus is told %+v", over.Incident.PendingEvents)
	}
}

// A hidden incident that is critical calls nobody; when the silence is over it does.
func TestSilenceCallsNobody(t *testing.T) {
	policy := calling(t)
	inc := response.Silence(incidenttest.Broken(t), []silence.Silence{quietFor(0, 60)}, incidenttest.At(1)).Incident
	if d := response.Tick(inc, incidenttest.At(2), policy); d.Incident.Calls != 0 {
		t.Errorf("called %d times", d.Incident.Calls)
	}
	inc = response.Silence(inc, nil, incidenttest.At(61)).Incident
	if d := response.Tick(inc, incidenttest.At(61), policy); d.Incident.Calls != 1 {
		t.Errorf("called %d times after its end", d.Incident.Calls)
	}
}

// A plan that arrives meanwhile makes no reply.
func TestSilencedProposal(t *testing.T) {
	inc := response.Silence(incidenttest.Broken(t), []silence.Silence{quietFor(0, 60)}, incidenttest.At(1)).Incident
	notes := len(inc.Delivery.Notes)
	d := response.Propose(inc, incidenttest.Proposal("p1", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.At(2))
	if len(d.Incident.Delivery.Notes) != notes {
		t.Errorf("the thread gets %+v", d.Incident.Delivery.Notes[notes:])
	}
}

// TestSilenceOfWhatIsOver: what closed while it was hidden is on record alone where nobody ever
// heard of it, and is edited where there is a message; no event says that it is still there.
func TestSilenceOfWhatIsOver(t *testing.T) {
	hidden := response.Silence(incidenttest.Broken(t), []silence.Silence{quietFor(0, 60)}, incidenttest.At(30)).Incident
	hidden.State, hidden.PendingEvents, hidden.Delivery.Dirty = incident.Closed, nil, false
	hidden.AddNote(incident.IsProved, incidenttest.At(40))
	for name, test := range map[string]struct {
		ts    string
		dirty bool
		notes int
	}{
		"with a message":   {"1.2", true, len(hidden.Delivery.Notes)},
		"nobody ever knew": {"", false, 0},
	} {
		inc := hidden.Clone()
		inc.Delivery.TS, inc.Delivery.Sending, inc.Delivery.Dirty = test.ts, time.Time{}, test.ts == ""
		// While the silence lasts it hides what is over no longer, either.
		d := response.Silence(inc, []silence.Silence{quietFor(0, 60)}, incidenttest.At(50))
		if d.Reason != incident.IsUnsilenced || !d.Changed || d.Incident.Silence != nil || d.Incident.Delivery.Dirty != test.dirty ||
			len(d.Incident.Delivery.Notes) != test.notes || len(d.Incident.PendingEvents) != 0 || !d.Incident.Changed.Equal(incidenttest.At(50)) {
			t.Errorf("%s: %s, changed %t, %+v, %d events", name, d.Reason, d.Changed, d.Incident.Delivery, len(d.Incident.PendingEvents))
		}
		if again := response.Silence(d.Incident, []silence.Silence{quietFor(0, 60)}, incidenttest.At(51)); again.Changed || again.Reason != incident.NothingNew {
			t.Errorf("%s: and again: %s", name, again.Reason)
		}
	}
}

// TestSilenceLeavesItsInput: a decision is a new incident; the one that it was made of stays as
// it was. Events of this very moment are silenced, those of before are not.
func TestSilenceLeavesItsInput(t *testing.T) {
	open := incidenttest.Broken(t)
	open.Delivery.Dirty, open.PendingEvents = false, nil
	open.AddEvent(incident.Opened, incidenttest.At(29))
	open.AddEvent(incident.IsAcknowledged, incidenttest.At(30))
	list := []silence.Silence{quietFor(0, 60)}
	d := response.Silence(open, list, incidenttest.At(30))
	if open.Silence != nil || open.Delivery.Dirty || open.PendingEvents[1].Silenced || !d.Incident.Delivery.Dirty {
		t.Errorf("the decision changed what it was made of: %+v", open.PendingEvents)
	}
	if e := d.Incident.PendingEvents; e[0].Silenced || !e[1].Silenced {
		t.Errorf("silenced are %t, %t", e[0].Silenced, e[1].Silenced)
	}
	if longer := response.Silence(d.Incident, []silence.Silence{quietFor(0, 90)}, incidenttest.At(31)); longer.Reason != incident.IsSilenced || !longer.Incident.Silence.Until.Equal(incidenttest.At(90)) {
		t.Errorf("by a longer one: %s", longer.Reason)
	}
	before := d.Incident
	before.Delivery.Dirty = false
	over := response.Silence(before, nil, incidenttest.At(61))
	if before.Silence == nil || len(before.PendingEvents) != 2 || before.Delivery.Dirty || !over.Incident.Delivery.Dirty || !over.Incident.Changed.Equal(incidenttest.At(61)) || !over.Changed {
		t.Errorf("the end changed what it was made of, or not what it should: %+v", over.Incident.Delivery)
	}
}
