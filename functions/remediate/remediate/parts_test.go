package remediate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot/snapshottest"
)

// When what a plan left is looked at, and how that is said.
func TestWhatAPlanLeft(t *testing.T) {
	var got stagetest.Traces
	for _, x := range []struct {
		name   string
		left   int
		result action.Status
		change func(*fake)
	}{
		{"none is left", 0, action.Done, func(*fake) {}},
		{"one is left", 1, action.Done, func(*fake) {}},
		{"two are left", 2, action.Partly, func(*fake) {}},
		{"many are left", 9, action.Done, func(*fake) {}},
		{"two are left, and it failed", 2, action.Failed, func(*fake) {}},
		{"the limit is full until the next look", 2, action.Done, func(f *fake) { f.room = minute(35) }},
		{"the limit is full for longer", 2, action.Done, func(f *fake) { f.room = minute(36) }},
		{"nobody knows of the limit", 2, action.Done, func(f *fake) { f.errs["room"] = errBroken }},
	} {
		f := newFake()
		x.change(f)
		f.result.Status = x.result
		inc := noWayOut()
		h := f.handler(optin.Auto)
		p := planned()
		p.Remedy = optin.ReplaceInstance
		d := h.newRun(inc, p, nil)
		got.Add(x.name, f.said(h.carryOut(t.Context(), inc, d, x.left)))
	}
	got.Golden(t, "testdata/left.txtar")
}

// What is to be said of an offer alone is not said where none stands.
func TestQuietReasons(t *testing.T) {
	for _, reason := range []action.Reason{policyOff, action.NothingToDo, action.NotSo, action.Gone, action.TooSoon, action.CauseIsThere, action.AlreadyThere, "of its own"} {
		for name, change := range map[string]func(*fake, *incident.Incident){"stands": with(incident.Offered, optin.Approve), "none": func(*fake, *incident.Incident) {}} {
			f, inc := newFake(), noWayOut()
			change(f, &inc)
			no := &action.Refusal{Reason: reason, Says: "why"}
			err := f.handler(optin.Approve).takeBack(t.Context(), inc, remedy.Remedy{Name: optin.AddNATRoute, Quiet: []action.Reason{"of its own"}}, no)
			if err != nil || (len(f.lines) > 0) != (name == "stands") {
				t.Errorf("%s, %s: %q, %v", reason, name, f.lines, err)
			}
		}
	}
}

// Nothing is done for what is no event of an incident, and it is counted.
func TestForeignMessages(t *testing.T) {
	told := func(kind string) string {
		return `{"version":"0","id":"e-1","source":"rollcall","detail-type":"Rollcall ` + kind + `","account":"9","region":"x",` +
			`"time":"2026-11-20T12:00:00Z","detail":{"cluster":"` + snapshottest.ClusterName + `","check":"route/no-egress","resource":"rtb-0new"}}`
	}
	for body, test := range map[string]struct {
		counts map[string]int
		fails  bool
	}{
		"{":                       {map[string]int{"MalformedEvents": 1}, true},
		told("Check Wanted"):      {map[string]int{"ForeignEvents": 1}, false},
		told("Incident Resolved"): {map[string]int{"ForeignEvents": 1}, false},
		told("Incident Opened"):   {map[string]int{"Proposals": 1}, false},
	} {
		f := newFake()
		f.incidents = []incident.Incident{noWayOut()}
		err := f.handler(optin.Approve).message(t.Context(), event.Message{ID: "m", Body: body})
		if diff := cmp.Diff(test.counts, f.counts); diff != "" || (err != nil) != test.fails {
			t.Errorf("%s: %v, counted (-want +got):\n%s", body, err, diff)
		}
	}
	if _, err := newFake().handler(optin.Approve).handle(t.Context(), json.RawMessage(`{}`)); err == nil || err.Error() != "remediate is woken by its queue alone" {
		t.Errorf("woken by nothing: %v", err)
	}
}

// What a plan needs to know of an incident.
func TestSubject(t *testing.T) {
	inc := noWayOut()
	inc.Cause = diagnose.Cause{Covers: []string{"a"}, Nodegroups: []string{"b"}}
	inc.Launches, inc.Cleared = []report.Launch{{Instance: "i-1"}}, minute(4)
	of := subject(inc)
	if of.Cluster != inc.Key.Cluster || of.Check != inc.Key.Check || of.Resource != table ||
		len(of.Covers) != 1 || len(of.Nodegroups) != 1 || len(of.Launches) != 1 || !of.Cleared.IsZero() {
		t.Errorf("open: %+v", of)
	}
	inc.State = incident.Cleared
	if of := subject(inc); !of.Cleared.Equal(minute(4)) {
		t.Errorf("cleared: %+v", of)
	}
}
