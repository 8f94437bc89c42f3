package response_test

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/shared/routing"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/report"
)

func TestChangesAreSaidOnce(t *testing.T) {
	inc := incidenttest.Broken(t)
	other := incidenttest.Changes("c0", report.RecentChanges{Changes: []report.Change{incidenttest.Change("a", -18)}})
	other.Opened = incidenttest.At(-60)
	if d := response.ApplyChanges(inc, other, incidenttest.At(6)); d.Reason != incident.OutOfDate || d.Changed {
		t.Errorf("of an earlier opening: %q", d.Reason)
	}
	steps := []struct {
		trail report.RecentChanges
		want  incident.Reason
		found int
	}{
		{report.RecentChanges{Open: true}, incident.NothingNew, 0},
		{report.RecentChanges{Open: true, Changes: []report.Change{incidenttest.Change("a", -18)}}, incident.HasChanges, 1},
		{report.RecentChanges{Open: true, Changes: []report.Change{incidenttest.Change("b", -5), incidenttest.Change("a", -18)}}, incident.NothingNew, 2},
		{report.RecentChanges{Open: true, Blind: "cloudtrail:LookupEvents throttled"}, incident.NothingNew, 2},
		{report.RecentChanges{Changes: []report.Change{incidenttest.Change("b", -5)}}, incident.HasChanges, 2}, // the thread has one of them
		{report.RecentChanges{Changes: []report.Change{incidenttest.Change("b", -5)}, Shown: 1}, incident.NothingNew, 2},
	}
	for i, s := range steps {
		c := incidenttest.Changes(fmt.Sprint("c", i+1), s.trail)
		d := response.ApplyChanges(inc, c, incidenttest.At(6+i))
		if d.Reason != s.want || len(d.Incident.RecentChanges.Changes) != s.found || !d.Incident.Delivery.Dirty {
			t.Errorf("step %d: %q, %+v", i, d.Reason, d.Incident.RecentChanges)
		}
		if again := response.ApplyChanges(d.Incident, c, incidenttest.At(6+i)); again.Reason != incident.AlreadyApplied {
			t.Errorf("step %d twice: %q", i, again.Reason)
		}
		inc = d.Incident
	}
	if got := inc.RecentChanges.Changes[0].ID; got != "b" || strings.Count(incidenttest.NotesOf(inc), "changes") != 2 {
		t.Errorf("the newest is %q, the thread has %q", got, incidenttest.NotesOf(inc))
	}
	if d := response.ApplyChanges(incidenttest.Broken(t), incidenttest.Changes("c9", report.RecentChanges{}), incidenttest.At(6)); d.Reason != incident.HasChanges {
		t.Errorf("that nothing was found is %q", d.Reason)
	}
}

func TestTrailIsBounded(t *testing.T) {
	trail := report.RecentChanges{More: 7}
	for i := range 500 {
		c := incidenttest.Change(fmt.Sprint(i), -i)
		c.Principal = strings.Repeat("ä", 3000)
		trail.Changes = append(trail.Changes, c)
	}
	got := response.ApplyChanges(incidenttest.Broken(t), incidenttest.Changes("c", trail), incidenttest.At(6)).Incident
	if n := len(got.RecentChanges.Changes); n != response.MaxChanges || got.RecentChanges.More != 457 || got.RecentChanges.Changes[0].ID != "0" || got.Size() > 120<<10 {
		t.Errorf("%d changes and %d more, %d bytes", n, got.RecentChanges.More, got.Size())
	}
	if small := got.Fit(8 << 10); small.RecentChanges.More != 497 || len(small.RecentChanges.Changes) != 10 {
		t.Errorf("where there is no room: %d changes and %d more", len(small.RecentChanges.Changes), small.RecentChanges.More)
	}
}

func TestRouteByTagsOfItsNodegroups(t *testing.T) {
	routes, err := routing.Parse("eks-workshop/team:payments=C0PAY,all/critical=C0PAGES")
	if err != nil {
		t.Fatal(err)
	}
	p := incidenttest.Policy
	p.Routes, p.TagKeys, p.Channel = routes, routing.TagKeys(routes), "C0USUAL"
	obs := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting), incidenttest.Named("a"))
	obs.At = incidenttest.At(0)
	obs.Tags = map[string]map[string]string{"workers": {"team": "payments", "owner": "x"}, "other": {"team": "search"}}
	inc := reconcile.Decide(nil, obs, incidenttest.At(0), p)[0].Incident
	if got := inc.Tags; len(got) != 1 || len(got["workers"]) != 1 {
		t.Errorf("kept are %v, want the one tag that routes ask for, of the nodegroup in question", got)
	}
	if channel, _ := incident.Route(inc, p); channel != "C0PAY" {
		t.Errorf("it goes to %s", channel)
	}
	inc.Tags = nil
	if channel, _ := incident.Route(inc, p); channel != "C0PAGES" {
		t.Errorf("without tags it goes to %s", channel)
	}
	inc.State = incident.Cleared
	if channel, _ := incident.Route(inc, p); channel != "C0USUAL" {
		t.Errorf("not critical it goes to %s", channel)
	}
}
