package response_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/report"
	"rollcall/shared/routing"
)

// What a responder did elsewhere counts for the opening that the alert is of, and closes nothing.
func TestApplyAlert(t *testing.T) {
	open := incidenttest.Broken(t)
	now := incidenttest.At(10)
	change := func(of func(*report.AlertChange)) report.AlertChange {
		a := report.AlertChange{Head: report.Head{ID: "pd", At: now, Key: open.Key}, Opened: open.Opened, In: "PagerDuty", State: report.AlertAcknowledged, By: "Ana Example", When: incidenttest.At(9)}
		of(&a)
		return a
	}
	as := func(of func(*incident.Incident)) incident.Incident {
		i := open.Clone()
		of(&i)
		return i
	}
	yours := &incident.Ack{By: report.User{ID: "U1"}, At: incidenttest.At(3)}
	for name, test := range map[string]struct {
		inc    incident.Incident
		change report.AlertChange
		want   incident.Reason
	}{
		"closed meanwhile":        {as(func(i *incident.Incident) { i.State = incident.Closed }), change(func(*report.AlertChange) {}), incident.OutOfDate},
		"of an earlier opening":   {open, change(func(a *report.AlertChange) { a.Opened = a.Opened.Add(-time.Hour) }), incident.OutOfDate},
		"older than the opening":  {open, change(func(a *report.AlertChange) { a.When = open.Opened.Add(-2 * time.Second) }), incident.OutOfDate},
		"of the future":           {open, change(func(a *report.AlertChange) { a.When = now.Add(time.Hour) }), incident.IsMalformed},
		"of no service":           {open, change(func(a *report.AlertChange) { a.In = "" }), incident.IsMalformed},
		"only triggered":          {open, change(func(a *report.AlertChange) { a.State = report.AlertTriggered }), incident.IsMalformed},
		"twice":                   {as(func(i *incident.Incident) { i.MarkApplied("pd") }), change(func(*report.AlertChange) {}), incident.AlreadyApplied},
		"acknowledged in Slack":   {as(func(i *incident.Incident) { i.Ack = yours }), change(func(*report.AlertChange) {}), incident.NothingNew},
		"acknowledged":            {open, change(func(*report.AlertChange) {}), incident.IsAcknowledged},
		"resolved, and not fixed": {open, change(func(a *report.AlertChange) { a.State = report.AlertResolved }), incident.IsAlertResolved},
	} {
		d := response.ApplyAlert(test.inc, test.change, now)
		if d.Reason != test.want {
			t.Errorf("%s: %s, want %s", name, d.Reason, test.want)
		}
		after := test.inc.Clone()
		switch d.Reason {
		case incident.IsAcknowledged:
			after.Ack = &incident.Ack{By: report.User{Name: "Ana Example"}, At: incidenttest.At(9), In: "PagerDuty"}
			after.AddEvent(incident.IsAcknowledged, now)
		case incident.IsAlertResolved:
			after.AddNote(incident.IsAlertResolved, now).Ack = &incident.Ack{By: report.User{Name: "Ana Example"}, At: incidenttest.At(9), In: "PagerDuty"}
		}
		if d.Changed {
			after.MarkApplied("pd")
			after.Delivery.Dirty = true
		}
		if diff := cmp.Diff(after, d.Incident); diff != "" || d.Incident.State != test.inc.State {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Reminders stop on an acknowledgement elsewhere, and go on when the alert was resolved only.
func TestRemindersAfterAnAlert(t *testing.T) {
	routes, err := routing.Parse("all=C0PAGES0001@S0ONCALL01")
	if err != nil {
		t.Fatal(err)
	}
	policy := incident.Policy{RemindAfter: 30 * time.Minute, Routes: routes}
	open := incidenttest.Broken(t)
	for state, want := range map[report.AlertState]incident.Reason{report.AlertAcknowledged: incident.NothingNew, report.AlertResolved: incident.IsReminded} {
		d := response.ApplyAlert(open, report.AlertChange{Head: report.Head{ID: "pd", Key: open.Key}, Opened: open.Opened, In: "PagerDuty", State: state, When: incidenttest.At(9)}, incidenttest.At(10))
		inc := d.Incident
		inc.Calls, inc.Called = 1, incidenttest.At(0)
		for i := range inc.Delivery.Notes {
			inc.Delivery.Notes[i].TS = "1.2"
		}
		if got := response.Tick(inc, incidenttest.At(120), policy).Reason; got != want {
			t.Errorf("%s (%s): %s, want %s", state, d.Reason, got, want)
		}
	}
}
