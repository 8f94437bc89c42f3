package response_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// What a run that is told makes of an incident, all of it.
func TestWhatARunChanges(t *testing.T) {
	nat := incidenttest.RoutePlan("nat-0aa4")
	broken := incidenttest.Broken(t)
	told := func(result action.Status, change func(*report.RemedyResult)) report.RemedyResult {
		d := incidenttest.Run(result)
		d.ID = "told"
		if result == "" {
			d.Run.Ended = time.Time{}
		}
		if change != nil {
			change(&d)
		}
		return d
	}
	rehash := func(change func(*remedy.Plan)) func(*report.RemedyResult) {
		return func(d *report.RemedyResult) { change(&d.Run.Plan); d.Run.Hash = d.Run.Plan.Hash() }
	}
	another := func(d *report.RemedyResult) { d.Run.ID = "d2" }
	approved := offer(incident.Approved, nat, 3)
	known := func(state incident.OfferState, result action.Status) incident.Offer {
		o, d := offer(state, nat, 3), told(result, nil).Run
		o.Run = &d
		return o
	}
	said := func(r incident.Reason) func(*incident.Incident) {
		return func(i *incident.Incident) {
			o := i.Offers[len(i.Offers)-1]
			i.AddNote(r, incidenttest.At(8)).Offer = &o
			i.AddActed(r, o, incidenttest.At(8))
		}
	}
	becomesActed := func(result action.Status, r incident.Reason) func(*incident.Incident) {
		return func(i *incident.Incident) { i.Offers = []incident.Offer{known(incident.Acted, result)}; said(r)(i) }
	}
	ofNobody := func(d remedy.Run) incident.Offer {
		return incident.Offer{Plan: nat, Hash: nat.Hash(), Policy: optin.Approve, State: incident.Acted, Made: incidenttest.At(6), Decided: incidenttest.At(5), By: report.User{ID: incidenttest.Oncall.ID}, Run: &d}
	}
	next := &remedy.Next{At: incidenttest.At(60), Reason: report.LimitReached, Says: "more"}
	replaced := told(action.Done, rehash(func(p *remedy.Plan) { *p = replacePlan("i-1") }))
	replaced.Run.Next = next
	unsaid := broken.Clone()
	unsaid.Number = 0
	for name, test := range map[string]struct {
		inc    incident.Incident
		d      report.RemedyResult
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"of what nobody was told":   {unsaid, told(action.Done, nil), incident.OutOfDate, nil},
		"of another check":          {with(broken, approved), told(action.Done, rehash(func(p *remedy.Plan) { p.Check = "route/blackhole" })), incident.IsMalformed, nil},
		"of another cluster":        {with(broken, approved), told(action.Done, rehash(func(p *remedy.Plan) { p.Cluster = "dev" })), incident.IsMalformed, nil},
		"of another resource":       {with(broken, approved), told(action.Done, rehash(func(p *remedy.Plan) { p.Resource = "rtb-0eee" })), incident.IsMalformed, nil},
		"written ahead":             {with(broken, approved), told("", nil), incident.NothingNew, func(i *incident.Incident) { i.Offers = []incident.Offer{known(incident.Approved, "")} }},
		"done":                      {with(broken, approved), told(action.Done, nil), incident.RemedyDone, becomesActed(action.Done, incident.RemedyDone)},
		"done after that":           {with(broken, known(incident.Approved, "")), told(action.Done, nil), incident.RemedyDone, becomesActed(action.Done, incident.RemedyDone)},
		"refused":                   {with(broken, approved), told(action.Refused, nil), incident.RemedyFailed, becomesActed(action.Refused, incident.RemedyFailed)},
		"the same once more":        {with(broken, known(incident.Acted, action.Refused)), told(action.Refused, nil), incident.OutOfDate, nil},
		"told ahead after the end":  {with(broken, known(incident.Acted, action.Uncertain)), told("", nil), incident.OutOfDate, nil},
		"otherwise after it failed": {with(broken, known(incident.Acted, action.Failed)), told(action.Done, nil), incident.OutOfDate, nil},
		"another one of the same plan": {with(broken, known(incident.Acted, action.Failed)), told(action.Done, another), incident.RemedyDone, func(i *incident.Incident) {
			d := told(action.Done, another).Run
			i.Offers = append(i.Offers, ofNobody(d))
			said(incident.RemedyDone)(i)
		}},
		"what was left waits for a cause that is gone": {with(broken), replaced, incident.RemedyDone, func(i *incident.Incident) {
			o := ofNobody(replaced.Run)
			o.Plan, o.Hash = replaced.Run.Plan, replaced.Run.Hash
			i.Offers = []incident.Offer{o}
			said(incident.RemedyDone)(i)
		}},
	} {
		change := test.change
		if change != nil {
			change = func(i *incident.Incident) { test.change(i); i.Applied = append(i.Applied, "told") }
		}
		becomes(t, name, test.inc, func(inc incident.Incident) incident.Decision {
			return response.ApplyRemedyResult(inc, test.d, incidenttest.At(8))
		}, test.reason, change)
	}
}

// What CloudTrail knows of the time before makes of an incident, all of it.
func TestWhatChangesChange(t *testing.T) {
	broken := incidenttest.Broken(t)
	a, b, c := incidenttest.Change("a", -18), incidenttest.Change("b", -5), incidenttest.Change("c", -1)
	with := func(shown, more int, noted bool, list ...report.Change) incident.Incident {
		inc := broken.Clone()
		inc.RecentChanges = &report.RecentChanges{Changes: list, Shown: shown, More: more}
		if noted {
			inc.AddNote(incident.HasChanges, incidenttest.At(4))
		}
		return inc
	}
	is := func(trail report.RecentChanges, noted bool) func(*incident.Incident) {
		return func(i *incident.Incident) {
			i.RecentChanges = &trail
			if noted {
				i.AddNote(incident.HasChanges, incidenttest.At(6)).RecentChanges = &trail
			}
			i.Applied = append(i.Applied, "c1")
		}
	}
	long, longest := strings.Repeat("w", 301), strings.Repeat("w", 300)
	cut := longest + "…"
	umlauts := strings.Repeat("w", 299) + "ä"
	wordy := func(w string) report.Change {
		return report.Change{ID: w, At: incidenttest.At(-1), Call: w, Resource: w, Actor: w, Principal: w, By: w, Error: w}
	}
	unsaid := incident.Incident{}
	for name, test := range map[string]struct {
		inc    incident.Incident
		found  report.RecentChanges
		reason incident.Reason
		change func(*incident.Incident)
	}{
		"some, newest first":        {broken, report.RecentChanges{Changes: []report.Change{a, c, b}}, incident.HasChanges, is(report.RecentChanges{Changes: []report.Change{c, b, a}, Shown: 3}, true)},
		"some yet, and it was said": {broken, report.RecentChanges{Changes: []report.Change{a}, Open: true, Shown: 7}, incident.HasChanges, is(report.RecentChanges{Changes: []report.Change{a}, Open: true, Shown: 1}, true)},
		"none yet":                  {broken, report.RecentChanges{Open: true, Shown: 7}, incident.NothingNew, is(report.RecentChanges{Open: true}, false)},
		"none at all":               {broken, report.RecentChanges{}, incident.HasChanges, is(report.RecentChanges{}, true)},
		"more, not all yet":         {with(1, 0, true, a), report.RecentChanges{Changes: []report.Change{b}, Open: true}, incident.NothingNew, is(report.RecentChanges{Changes: []report.Change{b, a}, Open: true, Shown: 1}, false)},
		"more, and that is all":     {with(1, 0, true, a), report.RecentChanges{Changes: []report.Change{b}}, incident.HasChanges, is(report.RecentChanges{Changes: []report.Change{b, a}, Shown: 2}, true)},
		"no more":                   {with(1, 0, true, a), report.RecentChanges{Changes: []report.Change{a}}, incident.NothingNew, is(report.RecentChanges{Changes: []report.Change{a}, Shown: 1}, false)},
		"fewer left out":            {with(1, 7, true, a), report.RecentChanges{More: 3}, incident.NothingNew, is(report.RecentChanges{Changes: []report.Change{a}, Shown: 1, More: 7}, false)},
		"more left out":             {with(1, 3, true, a), report.RecentChanges{More: 7}, incident.NothingNew, is(report.RecentChanges{Changes: []report.Change{a}, Shown: 1, More: 7}, false)},
		"long words": {broken, report.RecentChanges{Changes: []report.Change{wordy(long)}, LastGood: long, Blind: long}, incident.HasChanges,
			is(report.RecentChanges{Changes: []report.Change{wordy(cut)}, LastGood: cut, Blind: cut, Shown: 1}, true)},
		"words of the longest": {broken, report.RecentChanges{Changes: []report.Change{wordy(longest)}, LastGood: umlauts}, incident.HasChanges,
			is(report.RecentChanges{Changes: []report.Change{wordy(longest)}, LastGood: longest[:299] + "…", Shown: 1}, true)},
		"nobody was told of it": {unsaid, report.RecentChanges{}, incident.OutOfDate, nil},
	} {
		m := incidenttest.Changes("c1", test.found)
		m.Opened = test.inc.Opened
		before := incidenttest.Encoded(t, m)
		becomes(t, name, test.inc, func(inc incident.Incident) incident.Decision {
			return response.ApplyChanges(inc, m, incidenttest.At(6))
		}, test.reason, test.change)
		if diff := cmp.Diff(before, incidenttest.Encoded(t, m)); diff != "" {
			t.Errorf("%s: the message is another now (-before +after):\n%s", name, diff)
		}
	}
}
