package reconcile

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// What the thread is told for each reason.
func TestWhatANoteTells(t *testing.T) {
	cause, gone := []checks.Evidence{{What: "cause"}}, []checks.Evidence{{What: "gone"}}
	facts, blind := []report.Fact{{What: "known"}}, []snapshot.Failure{{Call: "known"}}
	now, nowBlind := []report.Fact{{What: "now"}}, []snapshot.Failure{{Call: "now"}}
	node := report.Launch{Instance: "i-9"}
	var launches []report.Launch
	var ids []string
	for i := range 102 {
		ids = append(ids, fmt.Sprintf("i-%03d", i))
		launches = append(launches, report.Launch{Instance: ids[i]})
	}
	helped, did := incident.Offer{State: incident.Helped, Says: "a"}, incident.Offer{State: incident.Unhelpful, Says: "b"}
	full := func() *incident.Update {
		u := open()
		u.Cause.Evidence, u.ClearedBy, u.Facts, u.Blind, u.Proof = cause, gone, facts, blind, &node
		u.Launches, u.Affected, u.Missed, u.Offers = launches, 500, ids[:101], []incident.Offer{helped, did}
		return u
	}
	opened := incident.Note{Count: 500, Instances: ids[:100], Evidence: cause, Facts: facts, Blind: blind}
	reopened := opened
	reopened.Line = true
	over := incident.Note{Evidence: gone, Launch: &node}
	for reason, want := range map[incident.Reason]incident.Note{
		incident.Opened: opened, incident.Reopened: reopened,
		incident.HasMissed:   {Count: 101, Instances: ids[:100], Facts: now, Blind: nowBlind},
		incident.FailedAgain: {Evidence: cause, Line: true},
		incident.CauseGone:   over, incident.IsProved: over, incident.IsUnproved: over,
		incident.IsVerified:  {Evidence: gone, Offer: &helped},
		incident.IsUnhelpful: {Evidence: cause, Offer: &did, Line: true},
		incident.IsWithdrawn: {},
	} {
		u := full()
		looking(report.Observation{Facts: now, Blind: nowBlind}).addNote(u, reason)
		want.ID, want.At, want.Reason, want.Times, want.Then = string(reason), at(501), reason, 1, full().ForNote()
		if diff := cmp.Diff([]incident.Note{want}, u.Delivery.Notes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	muted := full()
	muted.Mute = &incident.Mute{Until: at(600)}
	if looking(report.Observation{}).addNote(muted, incident.HasMissed); len(muted.Delivery.Notes) != 0 {
		t.Error("it is said while it is muted")
	}
}

// What is recorded, said and told of an incident that an observation touches.
func TestWhatIsDecided(t *testing.T) {
	because := func(reasons ...incident.Reason) func(*incident.Update) {
		return func(u *incident.Update) {
			for _, r := range reasons {
				u.Because(r)
			}
		}
	}
	touched := func(u *incident.Update) { u.Touched = true }
	joined := func(u *incident.Update) { u.JoinedNotes = []incident.Note{{ID: "joined"}} }
	muted := func(u *incident.Update) { u.Mute = &incident.Mute{Until: at(600)} }
	missed := func(u *incident.Update) { u.Missed = []string{"i-2"} }
	said := func(n incident.Note) func(*incident.Update) {
		return func(u *incident.Update) { u.Delivery.Notes = append(u.Delivery.Notes, n) }
	}
	unsent := incident.Note{ID: "missed", Reason: incident.HasMissed, At: at(501), Count: 2}
	sent := incident.Note{ID: "missed", Reason: incident.HasMissed, At: at(400), TS: "1.2"}
	ip := check(checkid.IPLeakedInterfaces, "subnet-1")
	number := func(n int) func(*incident.Update) { return func(u *incident.Update) { u.Number = n } }
	ended := func(how incident.Resolution) func(*incident.Update) {
		return func(u *incident.Update) { u.State, u.Resolution = incident.Closed, how }
	}
	for name, test := range map[string]struct {
		u       *incident.Update
		reason  incident.Reason
		notes   []string
		events  []incident.Reason
		changed bool
	}{
		"nothing that is said":              {open(touched), incident.NothingNew, nil, nil, false},
		"better known":                      {open(because(incident.BetterKnown)), incident.BetterKnown, nil, []incident.Reason{incident.BetterKnown}, true},
		"not yet":                           {open(because(incident.NotYet), number(0)), incident.NotYet, nil, nil, false},
		"the most telling first":            {open(because(incident.MoreAffected, incident.CauseGone, incident.HasMissed)), incident.CauseGone, []string{"cleared", "missed"}, []incident.Reason{incident.CauseGone}, true},
		"verified":                          {open(because(incident.MoreAffected, incident.IsVerified)), incident.IsVerified, []string{"verified"}, []incident.Reason{incident.IsVerified}, true},
		"unhelpful":                         {open(because(incident.IsVerified, incident.IsUnhelpful)), incident.IsUnhelpful, []string{"verified", "unhelpful"}, []incident.Reason{incident.IsUnhelpful}, true},
		"gone and proved at once":           {open(because(incident.CauseGone, incident.IsProved), ended(incident.Proved)), incident.IsProved, []string{"proved"}, []incident.Reason{incident.IsProved}, true},
		"gone, said to nobody":              {open(because(incident.CauseGone, incident.NotYet), ended(incident.Withdrawn), number(0)), incident.CauseGone, []string{"cleared"}, []incident.Reason{incident.CauseGone}, true},
		"opened and over at once":           {open(because(incident.Opened, incident.IsSuperseded), ended(incident.Superseded)), incident.Opened, []string{"opened", "superseded"}, []incident.Reason{incident.Opened, incident.IsSuperseded}, true},
		"opened, and it was over before":    {open(because(incident.Opened), ended(incident.Superseded)), incident.Opened, []string{"opened"}, []incident.Reason{incident.Opened}, true},
		"open, whatever the end was":        {open(because(incident.Opened, incident.IsSuperseded), func(u *incident.Update) { u.Resolution = incident.Superseded }), incident.Opened, []string{"opened", "superseded"}, []incident.Reason{incident.Opened}, true},
		"missed":                            {open(because(incident.HasMissed), missed), incident.HasMissed, []string{"missed"}, []incident.Reason{incident.HasMissed}, true},
		"missed, which the thread has":      {open(because(incident.HasMissed), missed, said(sent)), incident.HasMissed, []string{"missed"}, []incident.Reason{incident.HasMissed}, true},
		"missed, of the same look":          {open(because(incident.HasMissed, incident.IsVerified), missed, said(unsent)), incident.IsVerified, []string{"missed 3", "verified"}, []incident.Reason{incident.IsVerified}, true},
		"otherwise, beside who missed":      {open(because(incident.IsVerified), missed, said(unsent)), incident.IsVerified, []string{"missed 2", "verified"}, []incident.Reason{incident.IsVerified}, true},
		"what belongs to it":                {open(because(incident.MoreAffected), joined), incident.MoreAffected, []string{"joined"}, []incident.Reason{incident.MoreAffected}, true},
		"what belongs to it, muted":         {open(because(incident.MoreAffected), joined, muted), incident.MoreAffected, nil, []incident.Reason{incident.MoreAffected}, true},
		"what belongs to it from the start": {open(because(incident.Opened), joined), incident.Opened, []string{"opened"}, []incident.Reason{incident.Opened}, true},
		"what belongs to it as it is back":  {open(because(incident.Reopened), joined), incident.Reopened, []string{"reopened"}, []incident.Reason{incident.Reopened}, true},
		"a subnet that is back":             {open(ip, number(3), because(incident.Reopened)), incident.Reopened, []string{"reopened"}, []incident.Reason{incident.Reopened}, true},
		"a subnet that hovers":              {open(ip, number(4), because(incident.Reopened)), incident.Reopened, nil, []incident.Reason{incident.Reopened}, true},
		"a subnet that hovers, and is well": {open(ip, number(4), because(incident.IsProved), ended(incident.Proved)), incident.IsProved, nil, []incident.Reason{incident.IsProved}, true},
		"a subnet that hovers, and another": {open(ip, number(4), because(incident.IsSuperseded), ended(incident.Superseded)), incident.IsSuperseded, nil, []incident.Reason{incident.IsSuperseded}, true},
		"a subnet that hovers, and missed":  {open(ip, number(4), because(incident.HasMissed), missed), incident.HasMissed, []string{"missed"}, []incident.Reason{incident.HasMissed}, true},
		"a route that hovers":               {open(number(4), because(incident.Reopened)), incident.Reopened, []string{"reopened"}, []incident.Reason{incident.Reopened}, true},
	} {
		d, is := looking(report.Observation{ID: "id"}).decisionOn(test.u)
		if !is || !d.Changed || d.Reason != test.reason || d.Incident.Changed.Equal(at(501)) != test.changed || d.Incident.Delivery.Dirty != (test.u.Number > 0) || !slices.Equal(d.Incident.Applied, []string{"id"}) {
			t.Errorf("%s: %q, touched %t, changed at %s, dirty %t", name, d.Reason, is, d.Incident.Changed, d.Incident.Delivery.Dirty)
		}
		var notes []string
		for _, n := range d.Incident.Delivery.Notes {
			text := n.ID
			if slices.ContainsFunc(test.notes, func(want string) bool { return want == fmt.Sprint(n.ID, " ", n.Count) }) {
				text = fmt.Sprint(n.ID, " ", n.Count)
			}
			notes = append(notes, text)
		}
		if diff := cmp.Diff(test.notes, notes, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", name, diff)
		}
		var events []incident.Reason
		for _, e := range d.Incident.PendingEvents {
			events = append(events, e.Reason)
		}
		if diff := cmp.Diff(test.events, events, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", name, diff)
		}
	}
	for name, test := range map[string]struct {
		u      *incident.Update
		reason incident.Reason
		is     bool
	}{
		"delivered twice":  {open(touched, func(u *incident.Update) { u.Repeated = true }), incident.AlreadyApplied, true},
		"late":             {open(func(u *incident.Update) { u.Late = true }), incident.OutOfDate, true},
		"untouched":        {open(), "", false},
		"late and touched": {open(touched, func(u *incident.Update) { u.Late = true }), incident.NothingNew, true},
	} {
		if d, is := looking(report.Observation{}).decisionOn(test.u); is != test.is || d.Reason != test.reason || d.Changed != (name == "late and touched") {
			t.Errorf("%s: %q, changed %t, %t", name, d.Reason, d.Changed, is)
		}
	}
}

// What a failure makes of an incident that is open, and of one that was over.
func TestWhatAFailureChanges(t *testing.T) {
	fails := diagnose.Cause{Check: "route/a", Resource: "rtb-1", Confidence: checks.Certain, Title: "title", Covers: []string{"subnet-1"}}
	change := func(f func(*diagnose.Cause)) diagnose.Cause { c := fails; f(&c); return c }
	worded := change(func(c *diagnose.Cause) { c.Title = "other" })
	hurts := change(func(c *diagnose.Cause) { c.Instances = []string{"i-1"} })
	grouped := change(func(c *diagnose.Cause) { c.Nodegroups = []string{"b", "a"} })
	bare := change(func(c *diagnose.Cause) { c.Covers = nil })
	full := report.Observation{
		Account: "1", Region: "r", Partition: "p", Facts: []report.Fact{{What: "f"}}, Blind: []snapshot.Failure{{Call: "x"}},
		Launches: []report.Launch{{Instance: "i-1", Nodegroup: "a", Started: at(250), Status: report.Missed}}, Tags: map[string]map[string]string{"a": {"team": "t", "x": "y"}},
	}
	seen := func(u *incident.Update) {
		u.Verdicts[0] = incident.Verdict{Of: "subnet-1", Found: incident.Failing, At: at(500)}
		u.Seen, u.Touched = at(500), true
	}
	took := func(u *incident.Update) {
		seen(u)
		u.Account, u.Region, u.Partition, u.Facts, u.Blind = "1", "r", "p", full.Facts, full.Blind
	}
	late := func(u *incident.Update) { u.Seen, u.Verdicts[0].At, u.Cause.Title = at(600), at(600), "newer" }
	known := func(u *incident.Update) {
		u.Facts, u.Blind = []report.Fact{{What: "old"}}, []snapshot.Failure{{Call: "old"}}
	}
	affected := func(u *incident.Update) { u.Launches, u.Affected = full.Launches, 1 }
	for name, test := range map[string]struct {
		u      *incident.Update
		cause  diagnose.Cause
		obs    report.Observation
		change func(*incident.Update)
	}{
		"the same":            {open(), fails, report.Observation{}, seen},
		"other words":         {open(), worded, report.Observation{}, func(u *incident.Update) { seen(u); u.Cause.Title = "other"; u.Because(incident.BetterKnown) }},
		"other words, late":   {open(late), worded, report.Observation{}, func(u *incident.Update) { u.Late = true }},
		"where it is":         {open(), fails, full, took},
		"what is known stays": {open(known), fails, report.Observation{}, func(u *incident.Update) { seen(u); u.Blind = nil }},
		"an instance": {open(), hurts, full, func(u *incident.Update) {
			took(u)
			affected(u)
			u.Began = at(250)
			u.Tags = map[string]map[string]string{"a": {"team": "t"}}
			u.Because(incident.MoreAffected)
		}},
		"an instance, known": {open(affected, func(u *incident.Update) { u.Began = at(200) }), hurts, full, func(u *incident.Update) { took(u); u.Tags = map[string]map[string]string{"a": {"team": "t"}} }},
		"an instance, late": {open(late), hurts, full, func(u *incident.Update) {
			affected(u)
			u.Late, u.Touched = true, true
			u.Began = at(250)
			u.Because(incident.MoreAffected)
		}},
		"one from before": {open(func(u *incident.Update) { u.Before = at(250) }), hurts, full, func(u *incident.Update) {
			took(u)
			affected(u)
			u.Tags = map[string]map[string]string{"a": {"team": "t"}}
			u.Because(incident.MoreAffected)
		}},
		"since earlier": {open(), change(func(c *diagnose.Cause) { c.Since = at(250) }), report.Observation{}, func(u *incident.Update) {
			seen(u)
			u.Began, u.Cause.Since = at(250), at(250)
		}},
		"since before the last opening": {open(func(u *incident.Update) { u.Before = at(250) }), change(func(c *diagnose.Cause) { c.Since = at(250) }), report.Observation{}, func(u *incident.Update) {
			seen(u)
			u.Cause.Since = at(250)
		}},
		"since later": {open(), change(func(c *diagnose.Cause) { c.Since = at(350) }), report.Observation{}, func(u *incident.Update) {
			seen(u)
			u.Cause.Since = at(350)
		}},
		"nodegroups":        {open(func(u *incident.Update) { u.Cause.Nodegroups = []string{"c", "a"} }), grouped, report.Observation{}, func(u *incident.Update) { seen(u); u.Cause.Nodegroups = []string{"a", "b", "c"} }},
		"it covers its own": {open(check("route/a", "subnet-1")), change(func(c *diagnose.Cause) { c.Resource, c.Covers = "subnet-1", nil }), report.Observation{}, seen},
		"it says what it hits": {open(), bare, report.Observation{}, func(u *incident.Update) {
			u.Seen, u.Touched = at(500), true
			u.Covers = []string{"rtb-1", "subnet-1"}
			u.Verdicts = append([]incident.Verdict{{Of: "rtb-1", Found: incident.Failing, At: at(500)}}, u.Verdicts...)
			u.Cause.Covers = u.Covers
		}},
	} {
		becomes(t, name, test.u, func(u *incident.Update) {
			rec := looking(test.obs)
			rec.Updates = []*incident.Update{u}
			rec.applyCause(test.cause)
		}, test.change)
	}
}

// What an incident that was over is when it comes back.
func TestWhatComesBack(t *testing.T) {
	fails := diagnose.Cause{Check: "route/a", Resource: "rtb-1", Confidence: checks.Certain, Title: "title", Covers: []string{"subnet-1"}}
	node := report.Launch{Instance: "i-1", Status: report.Gone}
	over := func(resolved int) *incident.Update {
		u := open(closed(resolved))
		u.Version, u.Settled, u.Cleared, u.Format = 7, at(450), at(440), 1
		u.Launches, u.More, u.Affected, u.Joins, u.Proof = []report.Launch{node}, []string{"i-2"}, 2, []report.Launch{node}, &node
		u.ClearedBy, u.Effects, u.By = []checks.Evidence{{What: "w"}}, []incident.Effect{{Check: "x"}}, &report.Key{Resource: "y"}
		u.Ack, u.Offers, u.RecentChanges, u.Calls, u.Called = &incident.Ack{At: at(1)}, []incident.Offer{{Says: "o"}}, &report.RecentChanges{}, 3, at(350)
		u.Mute, u.Acts = &incident.Mute{Until: at(600)}, []incident.ActRecord{{ID: "a"}}
		u.Delivery.Notes = []incident.Note{{ID: "n", Then: &incident.Then{}}}
		return u
	}
	back := func(u *incident.Update) {
		u.State, u.Number, u.Opened, u.Began, u.Before, u.Seen = incident.Open, 2, at(501), at(500), u.Resolved, at(500)
		u.Launches, u.More, u.Affected, u.Joins, u.Proof, u.ClearedBy, u.Effects, u.By = nil, nil, 0, nil, nil, nil, nil, nil
		u.Cleared, u.Resolved, u.Resolution = time.Time{}, time.Time{}, ""
		u.Ack, u.Offers, u.RecentChanges, u.Calls, u.Times = nil, nil, nil, 0, 1
		u.Verdicts[0] = incident.Verdict{Of: "subnet-1", Found: incident.Failing, At: at(500)}
		u.Delivery.Notes = []incident.Note{{ID: "n", Then: &incident.Then{Launches: []report.Launch{node}}}}
		u.Because(incident.Reopened)
	}
	anew := func(u *incident.Update) {
		acts := u.Acts
		u.Incident = incident.Incident{
			Key: u.Key, Version: 7, Acts: acts, Format: report.Format, State: incident.Open, Number: 1, Opened: at(501), Began: at(500), Seen: at(500), Times: 1,
			Covers: []string{"subnet-1"}, Verdicts: []incident.Verdict{{Of: "subnet-1", Found: incident.Failing, At: at(500)}}, Cause: fails,
		}
		u.Because(incident.Opened)
	}
	settled := over(480)
	settled.Settled = at(500)
	for name, test := range map[string]struct {
		u      *incident.Update
		change func(*incident.Update)
	}{
		"soon":              {over(480), back},
		"just in time":      {over(401), back},
		"too late":          {over(400), anew},
		"it was settled":    {settled, func(u *incident.Update) { u.Late = true }},
		"it was never said": {func() *incident.Update { u := over(480); u.Number = 0; return u }(), anew},
	} {
		becomes(t, name, test.u, func(u *incident.Update) {
			rec := looking(report.Observation{})
			rec.Updates = []*incident.Update{u}
			rec.applyCause(fails)
		}, test.change)
	}
}

// What may pass by itself is said when it was seen three times.
func TestWhatMayPassByItself(t *testing.T) {
	slow := []snapshot.Failure{{Call: "ec2:A", Source: "tables", Reason: snapshot.Throttled}}
	denied := []snapshot.Failure{{Call: "ec2:A", Source: "tables", Reason: snapshot.Denied}}
	cause := func(list []snapshot.Failure) diagnose.Cause { return blindCause(list[0], nil, spoke.Cluster{}) }
	of := func(state incident.State, times int) *incident.Update {
		u := open(check(incident.CannotLook, "ec2:A"))
		u.State, u.Times, u.Number, u.Covers, u.Verdicts, u.Cause.Covers = state, times, 0, []string{"ec2:A"}, []incident.Verdict{{Of: "ec2:A", Found: incident.Passing, At: at(400)}}, nil
		if state == incident.Closed {
			u.Number, u.Resolved = 1, at(490)
		}
		return u
	}
	later := of(incident.Pending, 2)
	later.Began = at(501)
	for name, test := range map[string]struct {
		u      *incident.Update
		list   []snapshot.Failure
		state  incident.State
		times  int
		began  int
		reason []incident.Reason
	}{
		"the second time":               {of(incident.Pending, 1), slow, incident.Pending, 2, 300, []incident.Reason{incident.NotYet}},
		"the third time":                {of(incident.Pending, 2), slow, incident.Open, 3, 300, []incident.Reason{incident.NotYet, incident.Opened}},
		"the third, of an earlier look": {later, slow, incident.Open, 3, 500, []incident.Reason{incident.NotYet, incident.Opened}},
		"denied by now":                 {of(incident.Pending, 1), denied, incident.Open, 2, 300, []incident.Reason{incident.NotYet, incident.Opened}},
		"back, the second time":         {of(incident.Closed, 1), slow, incident.Closed, 2, 300, []incident.Reason{incident.NotYet}},
		"back, the third time":          {of(incident.Closed, 2), slow, incident.Open, 3, 500, []incident.Reason{incident.Reopened}},
		"back, and denied":              {of(incident.Closed, 0), denied, incident.Open, 1, 500, []incident.Reason{incident.Reopened}},
	} {
		rec := looking(report.Observation{Blind: test.list})
		rec.Updates = []*incident.Update{test.u}
		rec.applyCause(cause(test.list))
		u := test.u
		if diff := cmp.Diff(test.reason, u.Reasons); diff != "" || u.State != test.state || u.Times != test.times || !u.Began.Equal(at(test.began)) {
			t.Errorf("%s: %s, %d times, began %s, reasons (-want +got):\n%s", name, u.State, u.Times, u.Began, diff)
		}
		if test.state != incident.Closed && !slices.Equal(u.Blind, test.list) {
			t.Errorf("%s: it lacks %v", name, u.Blind)
		}
	}
	fresh := looking(report.Observation{Blind: slow})
	fresh.applyCause(cause(slow))
	if u := fresh.Updates[0]; u.State != incident.Pending || u.Times != 1 || u.Format != report.Format || !slices.Equal(u.Reasons, []incident.Reason{incident.NotYet}) {
		t.Errorf("the first time: %+v", u)
	}
}

// What ended long ago is let go of when an incident comes back.
func TestWhatIsLetGoOf(t *testing.T) {
	v := func(of string, found incident.Found, minute int) incident.Verdict {
		return incident.Verdict{Of: of, Found: found, At: at(minute)}
	}
	of := func(id checks.ID, c checks.Confidence) *incident.Update {
		u := open(check(id, "r"))
		u.Cause.Confidence = c
		u.Verdicts = []incident.Verdict{v("a", incident.Failing, 400), v("b", incident.Passing, 400), v("c", incident.Passing, 401), v("d", incident.Absent, 400), v("e", incident.Failing, 401)}
		u.Covers = []string{"a", "b", "c", "d", "e"}
		u.Launches = []report.Launch{{Instance: "a", Status: report.GivenUp}}
		return u
	}
	for name, test := range map[string]struct {
		u    *incident.Update
		want []incident.Verdict
	}{
		"what passed":       {of("route/a", checks.Certain), []incident.Verdict{v("a", incident.Failing, 400), v("c", incident.Passing, 401), v("e", incident.Failing, 401)}},
		"what ended once":   {of(checkid.InstanceEndedEarly, checks.Certain), []incident.Verdict{v("c", incident.Passing, 401), v("e", incident.Failing, 401)}},
		"what was given up": {of("node/a", checks.Symptom), []incident.Verdict{v("c", incident.Passing, 401), v("e", incident.Failing, 401)}},
	} {
		looking(report.Observation{}).forgetEnded(test.u)
		var covers []string
		for _, v := range test.want {
			covers = append(covers, v.Of)
		}
		if diff := cmp.Diff(test.want, test.u.Verdicts); diff != "" {
			t.Errorf("%s: verdicts (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(covers, test.u.Covers); diff != "" {
			t.Errorf("%s: covers (-want +got):\n%s", name, diff)
		}
	}
}
