package report

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/shared/audience"
)

func changes(id string, trail Trail) Changes {
	return Changes{Format: ChangesFormat, Kind: ChangesKind, ID: id, At: at(6), Cluster: cluster, Key: theRoute, Opened: at(0), Trail: trail}
}

func change(id string, minute int) Change {
	return Change{ID: id, At: at(minute), Call: "CreateRouteTable", Resource: table, Actor: "ci-deploy"}
}

func TestChangesAreSaidOnce(t *testing.T) {
	inc := broken(t)
	other := changes("c0", Trail{Changes: []Change{change("a", -18)}})
	other.Opened = at(-60)
	if d := TakeChanges(inc, other, at(6)); d.Reason != OutOfDate || d.Changed {
		t.Errorf("of an earlier opening: %q", d.Reason)
	}
	steps := []struct {
		trail Trail
		want  Reason
		found int
	}{
		{Trail{Open: true}, NothingNew, 0},
		{Trail{Open: true, Changes: []Change{change("a", -18)}}, HasChanges, 1},
		{Trail{Open: true, Changes: []Change{change("b", -5), change("a", -18)}}, NothingNew, 2},
		{Trail{Open: true, Blind: "cloudtrail:LookupEvents throttled"}, NothingNew, 2},
		{Trail{Changes: []Change{change("b", -5)}}, HasChanges, 2}, // the thread has one of them
		{Trail{Changes: []Change{change("b", -5)}, Shown: 1}, NothingNew, 2},
	}
	for i, s := range steps {
		c := changes(fmt.Sprint("c", i+1), s.trail)
		d := TakeChanges(inc, c, at(6+i))
		if d.Reason != s.want || len(d.Incident.Trail.Changes) != s.found || !d.Incident.Said.Behind {
			t.Errorf("step %d: %q, %+v", i, d.Reason, d.Incident.Trail)
		}
		if again := TakeChanges(d.Incident, c, at(6+i)); again.Reason != AlreadyApplied {
			t.Errorf("step %d twice: %q", i, again.Reason)
		}
		inc = d.Incident
	}
	if got := inc.Trail.Changes[0].ID; got != "b" || strings.Count(notesOf(inc), "changes") != 2 {
		t.Errorf("the newest is %q, the thread has %q", got, notesOf(inc))
	}
	if d := TakeChanges(broken(t), changes("c9", Trail{}), at(6)); d.Reason != HasChanges {
		t.Errorf("that nothing was found is %q", d.Reason)
	}
}

func TestTrailIsBounded(t *testing.T) {
	trail := Trail{More: 7}
	for i := range 500 {
		c := change(fmt.Sprint(i), -i)
		c.Principal = strings.Repeat("ä", 3000)
		trail.Changes = append(trail.Changes, c)
	}
	got := TakeChanges(broken(t), changes("c", trail), at(6)).Incident
	if n := len(got.Trail.Changes); n != maxChanges || got.Trail.More != 457 || got.Trail.Changes[0].ID != "0" || got.size() > 120<<10 {
		t.Errorf("%d changes and %d more, %d bytes", n, got.Trail.More, got.size())
	}
	if small := got.Fit(8 << 10); small.Trail.More != 497 || len(small.Trail.Changes) != 10 {
		t.Errorf("where there is no room: %d changes and %d more", len(small.Trail.Changes), small.Trail.More)
	}
}

func TestRouteByTagsOfItsNodegroups(t *testing.T) {
	routes, err := audience.Parse("eks-workshop/team:payments=C0PAY,all/critical=C0PAGES")
	if err != nil {
		t.Fatal(err)
	}
	p := policy
	p.Routes, p.TagKeys, p.Channel = routes, audience.TagKeys(routes), "C0USUAL"
	obs := observe(route("i-1"), launched("i-1", 0, Waiting), named("a"))
	obs.At = at(0)
	obs.Tags = map[string]map[string]string{"workers": {"team": "payments", "owner": "x"}, "other": {"team": "search"}}
	inc := Decide(nil, obs, at(0), p)[0].Incident
	if got := inc.Tags; len(got) != 1 || len(got["workers"]) != 1 {
		t.Errorf("kept are %v, want the one tag that routes ask for, of the nodegroup in question", got)
	}
	if channel, _ := Route(inc, p); channel != "C0PAY" {
		t.Errorf("it goes to %s", channel)
	}
	inc.Tags = nil
	if channel, _ := Route(inc, p); channel != "C0PAGES" {
		t.Errorf("without tags it goes to %s", channel)
	}
	inc.State = Cleared
	if channel, _ := Route(inc, p); channel != "C0USUAL" {
		t.Errorf("not critical it goes to %s", channel)
	}
}
