package incident_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// many makes a list of n.
func many[T any](n int, of func(i int) T) []T {
	list := make([]T, 0, n)
	for i := range n {
		list = append(list, of(i))
	}
	return list
}

// big is a text that counts in a record's size.
var big = strings.Repeat("w", 200)

// What does not fit is left out in order: of each kind of detail just as much as
// is said, and no further kind once it fits.
func TestWhatIsLeftOutToFit(t *testing.T) {
	at := incidenttest.At
	untold := func(kind incident.EventKind, lists bool) func(i int) incident.Event {
		return func(i int) incident.Event {
			e := incident.Event{Sequence: i, Kind: kind, Title: big}
			if lists {
				e.Evidence, e.Instances, e.Covers, e.Blind = []finding.Evidence{{What: big}}, []incident.EventInstance{{Instance: big}}, []string{big}, []snapshot.Failure{{Call: big}}
			}
			return e
		}
	}
	note := func(r incident.Reason, ts string, lists bool) func(i int) incident.Note {
		return func(i int) incident.Note {
			n := incident.Note{ID: fmt.Sprint(ts, r, i), Reason: r, TS: ts, Says: big}
			if lists {
				n.Evidence, n.Facts, n.Blind = []finding.Evidence{{What: big}}, []report.Fact{{What: big}}, []snapshot.Failure{{Call: big}}
				n.Instances = many(7, func(i int) string { return fmt.Sprint(i) })
				n.RecentChanges, n.Offer = &report.RecentChanges{Blind: big}, &incident.Offer{Says: big}
				n.Then = &incident.Then{Number: 3, ByStatus: map[report.LaunchStatus][]string{report.Missed: {big}}, ClearedBy: []finding.Evidence{{What: big}}, Launches: []report.Launch{{Instance: big}}}
			}
			return n
		}
	}
	short := func(n incident.Note) incident.Note {
		return incident.Note{ID: n.ID, Reason: n.Reason, Says: big, Instances: []string{"0", "1", "2", "3", "4"}, Then: &incident.Then{Number: 3}}
	}
	notes := func(inc *incident.Incident, list ...[]incident.Note) { inc.Delivery.Notes = slices.Concat(list...) }
	over := incident.Offer{State: incident.Expired, Says: big}
	helped := incident.Offer{State: incident.Helped, Says: big}
	live := incident.Offer{State: incident.Offered, Says: big}
	refused := incident.Offer{State: incident.RefusedByUs, Says: big}
	mixed := func(i int) incident.Event { // what opened, what was asked for, and changes
		return untold([]incident.EventKind{incident.EventOpened, incident.EventCheckWanted, incident.EventChanged}[i%3], false)(i)
	}
	comesAndGoes := func(i int) incident.Note {
		return note([]incident.Reason{incident.CauseGone, incident.FailedAgain, incident.HasMissed}[i%3], "", false)(i)
	}
	evidence := func(n int) []finding.Evidence {
		return many(n, func(i int) finding.Evidence { return finding.Evidence{What: fmt.Sprint(i), Value: big} })
	}
	for name, test := range map[string]struct {
		make, want func(inc *incident.Incident)
	}{
		"a picture": {
			func(i *incident.Incident) { i.Chart = &incident.Chart{PNG: []byte(big), Alt: "alt", Next: "F1"} },
			func(i *incident.Incident) { i.Chart = &incident.Chart{Alt: "alt", Next: "F1"} },
		},
		"no picture, and lists of all but the two newest events": {
			func(i *incident.Incident) {
				i.Chart, i.PendingEvents = &incident.Chart{Alt: "alt"}, many(5, untold(incident.EventOpened, true))
			},
			func(i *incident.Incident) {
				i.Chart = &incident.Chart{Alt: "alt"}
				i.PendingEvents = append(many(3, untold(incident.EventOpened, false)), many(5, untold(incident.EventOpened, true))[3:]...)
			},
		},
		"lists of all but the three newest notes that wait": {
			func(i *incident.Incident) {
				notes(i, many(2, note("a", "", true)), many(1, note("b", "1.2", true)), many(1, note("c", "", true)), many(1, note("d", "1.2", true)), many(2, note("e", "", true)))
			},
			func(i *incident.Incident) {
				notes(i, []incident.Note{short(note("a", "", true)(0)), short(note("a", "", true)(1))}, many(1, note("b", "1.2", true)), many(1, note("c", "", true)), many(1, note("d", "1.2", true)), many(2, note("e", "", true)))
			},
		},
		"all but fifty events": {
			func(i *incident.Incident) { i.PendingEvents = many(54, mixed) },
			func(i *incident.Incident) {
				i.PendingEvents = slices.Concat([]incident.Event{mixed(0), mixed(3)}, many(54, mixed)[6:])
			},
		},
		"all but ten changes": {
			func(i *incident.Incident) {
				i.RecentChanges = &report.RecentChanges{More: 2, Shown: 1, Changes: many(13, func(i int) report.Change { return report.Change{ID: fmt.Sprint(i), Call: big} })}
			},
			func(i *incident.Incident) {
				i.RecentChanges = &report.RecentChanges{More: 5, Shown: 1, Changes: many(10, func(i int) report.Change { return report.Change{ID: fmt.Sprint(i), Call: big} })}
			},
		},
		"offers that are over, but for the last and what helped": {
			func(i *incident.Incident) { i.Offers = []incident.Offer{over, live, over, helped, over, refused} },
			func(i *incident.Incident) { i.Offers = []incident.Offer{live, helped, refused} },
		},
		"lists of all events": {
			func(i *incident.Incident) { i.PendingEvents = many(2, untold(incident.EventOpened, true)) },
			func(i *incident.Incident) { i.PendingEvents = many(2, untold(incident.EventOpened, false)) },
		},
		"lists of all notes that wait": {
			func(i *incident.Incident) { notes(i, many(1, note("b", "1.2", true)), many(1, note("c", "", true))) },
			func(i *incident.Incident) {
				notes(i, many(1, note("b", "1.2", true)), []incident.Note{short(note("c", "", true)(0))})
			},
		},
		"what is long of why instances ended": {
			func(i *incident.Incident) {
				i.Launches = []report.Launch{{EndedWhy: strings.Repeat("ä", 120)}, {EndedWhy: strings.Repeat("ä", 121)}}
			},
			func(i *incident.Incident) {
				i.Launches = []report.Launch{{EndedWhy: strings.Repeat("ä", 120)}, {EndedWhy: strings.Repeat("ä", 119) + "…"}}
			},
		},
		"all but five of the evidence": {
			func(i *incident.Incident) { i.Cause.Evidence = evidence(8) },
			func(i *incident.Incident) { i.Cause.Evidence = evidence(5) },
		},
		"all but five of what cleared it": {
			func(i *incident.Incident) { i.ClearedBy = evidence(8) },
			func(i *incident.Incident) { i.ClearedBy = evidence(5) },
		},
		"all but five facts": {
			func(i *incident.Incident) {
				i.Facts = many(8, func(i int) report.Fact { return report.Fact{What: fmt.Sprint(i), Value: big} })
			},
			func(i *incident.Incident) {
				i.Facts = many(5, func(i int) report.Fact { return report.Fact{What: fmt.Sprint(i), Value: big} })
			},
		},
		"all but ten notes of what comes and goes": {
			func(i *incident.Incident) {
				notes(i, many(1, note(incident.CauseGone, "1.2", false)), many(1, note(incident.IsProved, "", false)), many(11, comesAndGoes))
			},
			func(i *incident.Incident) {
				notes(i, many(1, note(incident.CauseGone, "1.2", false)), many(1, note(incident.IsProved, "", false)), many(11, comesAndGoes)[3:])
			},
		},
		"all but ten events": {
			func(i *incident.Incident) { i.PendingEvents = many(14, untold(incident.EventChanged, false)) },
			func(i *incident.Incident) { i.PendingEvents = many(14, untold(incident.EventChanged, false))[4:] },
		},
	} {
		inc := incident.Incident{Opened: at(0)}
		want := inc
		test.make(&inc)
		test.want(&want)
		before := incidenttest.Encoded(t, inc)
		equal := cmpopts.EquateEmpty()
		if diff := cmp.Diff(want, inc.Fit(want.Size()), equal); diff != "" {
			t.Errorf("%s is left out (-want +got):\n%s", name, diff)
		}
		if !bytes.Equal(before, incidenttest.Encoded(t, inc)) {
			t.Errorf("%s: the incident itself is another now", name)
		}
		if diff := cmp.Diff(inc, inc.Fit(inc.Size()), equal); diff != "" {
			t.Errorf("%s: where all of it fits (-want +got):\n%s", name, diff)
		}
		// No further kind is left out.
		inc.Cause = diagnosis.Cause{Title: big}
		inc.Facts = append(inc.Facts, report.Fact{What: "a", Value: big})
		if got := inc.Fit(1); got.Size() <= 1 || !got.Opened.Equal(at(0)) || got.Cause.Title != big {
			t.Errorf("%s: where nothing helps it is %+v", name, got)
		}
	}
	few := incident.Incident{RecentChanges: &report.RecentChanges{More: 2, Changes: []report.Change{{ID: "a"}}}}
	if diff := cmp.Diff(few, few.Fit(1)); diff != "" {
		t.Errorf("of few changes (-want +got):\n%s", diff)
	}
	both := incident.Incident{Chart: &incident.Chart{PNG: []byte(big)}, PendingEvents: many(3, untold(incident.EventOpened, true))}
	want := both
	want.Chart = &incident.Chart{}
	if diff := cmp.Diff(want, both.Fit(want.Size())); diff != "" {
		t.Errorf("it fits without its picture (-want +got):\n%s", diff)
	}
	if n := (incident.Incident{Opened: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}).Size(); n != 0 {
		t.Errorf("what cannot be written has %d bytes", n)
	}
}

func TestFactsAreBounded(t *testing.T) {
	fact := func(i int) report.Fact { return report.Fact{What: fmt.Sprint(i)} }
	for n, want := range map[int][]report.Fact{
		0:  {},
		30: many(30, fact),
		33: append(many(30, fact), report.Fact{What: "More", Value: "3 more were left out"}),
	} {
		if diff := cmp.Diff(want, incident.BoundedFacts(many(n, fact))); diff != "" {
			t.Errorf("of %d (-want +got):\n%s", n, diff)
		}
	}
}

// A copy shares no list that is changed in place.
func TestCloneSharesNothingThatChanges(t *testing.T) {
	full := func() incident.Incident {
		return incident.Incident{
			Covers: []string{"a"}, Launches: []report.Launch{{Instance: "a"}}, More: []string{"a"}, Verdicts: []incident.Verdict{{Of: "a"}}, Joins: []report.Launch{{Instance: "a"}},
			Applied: []string{"a"}, Delivery: incident.Delivery{Notes: []incident.Note{{ID: "a"}}}, PendingEvents: []incident.Event{{ID: "a"}}, Effects: []incident.Effect{{Title: "a"}},
			Offers: []incident.Offer{{Says: "a"}}, Acts: []incident.ActRecord{{ID: "a"}}, Chart: &incident.Chart{Alt: "a"}, Proof: &report.Launch{Instance: "a"},
		}
	}
	inc := full()
	c := inc.Clone()
	if diff := cmp.Diff(full(), c); diff != "" {
		t.Errorf("the copy (-want +got):\n%s", diff)
	}
	c.Covers[0], c.Launches[0].Instance, c.More[0], c.Verdicts[0].Of, c.Joins[0].Instance, c.Applied[0], c.Delivery.Notes[0].ID = "b", "b", "b", "b", "b", "b", "b"
	c.PendingEvents[0].ID, c.Effects[0].Title, c.Offers[0].Says, c.Acts[0].ID, c.Chart.Alt, c.Proof.Instance = "b", "b", "b", "b", "b", "b"
	if diff := cmp.Diff(full(), inc); diff != "" {
		t.Errorf("changes of the copy are seen (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(incident.Incident{}, incident.Incident{}.Clone()); diff != "" {
		t.Errorf("of nothing (-want +got):\n%s", diff)
	}
}

func TestAppliedAndHeard(t *testing.T) {
	var inc incident.Incident
	for i := range 40 {
		inc.MarkApplied(fmt.Sprint(i))
	}
	if diff := cmp.Diff(many(32, func(i int) string { return fmt.Sprint(i + 8) }), inc.Applied); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	one := incident.Incident{}
	if one.MarkApplied("a"); !slices.Equal(one.Applied, []string{"a"}) {
		t.Errorf("the first: %v", one.Applied)
	}
	at := incidenttest.At
	v := func(minute int) incident.Verdict { return incident.Verdict{At: at(minute)} }
	for want, inc := range map[int]incident.Incident{
		1: {Opened: at(1)},
		2: {Opened: at(1), Seen: at(2)},
		3: {Opened: at(1), Seen: at(2), Cleared: at(3)},
		4: {Opened: at(4), Seen: at(2), Cleared: at(3)},
		5: {Opened: at(1), Seen: at(5), Cleared: at(3), Verdicts: []incident.Verdict{v(4), v(2)}},
		6: {Opened: at(1), Seen: at(5), Verdicts: []incident.Verdict{v(4), v(6), v(2)}},
	} {
		if got := inc.Heard(); !got.Equal(at(want)) {
			t.Errorf("heard at %s, want minute %d", got, want)
		}
	}
}

func offerIn(state incident.OfferState, result remedy.Status, ended bool) incident.Offer {
	o := incident.Offer{State: state, Run: &remedy.Run{Result: result}}
	if ended {
		o.Run.Ended = incidenttest.At(1)
	}
	return o
}

// What people and remedies did fits into an item of the table beside the
// largest burst, and what counts of it stays.
func TestActsFit(t *testing.T) {
	const limit = 384 << 10
	inc := incidenttest.Broken(t)
	for i := range incident.MaxLaunches {
		inc.AddAffected(report.Launch{Instance: fmt.Sprintf("i-%017d", i), Nodegroup: "workers", Group: strings.Repeat("g", 200), Subnet: incidenttest.Subnet, Started: incidenttest.At(0), Status: report.Missed, EndedWhy: strings.Repeat("w", 300)})
	}
	for i := range 3 {
		p := incidenttest.RoutePlan(fmt.Sprint("nat-", i))
		for range 400 {
			p.Route.Subnets = append(p.Route.Subnets, "subnet-0123456789abcdef0")
		}
		d := response.Propose(inc, incidenttest.Proposal(fmt.Sprint("p", i), 2+3*i, p, optin.Approve), incidenttest.At(2+3*i))
		yes := incidenttest.Press(report.ApprovePlan, 2+3*i)
		yes.ID, yes.Plan = fmt.Sprint("yes", i), p.Hash()
		approved, a := response.Act(d.Incident, yes, incidenttest.May, incidenttest.At(2+3*i))
		if a.Reason != incident.AnswerApproved {
			t.Fatalf("plan %d is %+v", i, a)
		}
		told := incidenttest.Run(remedy.Failed)
		told.ID, told.Run.ID, told.Run.Plan, told.Run.Hash, told.Run.Ended = fmt.Sprint("d", i), fmt.Sprint("run", i), p, p.Hash(), incidenttest.At(3+3*i)
		inc = response.ApplyRemedyResult(approved.Incident, told, incidenttest.At(3+3*i)).Incident
	}
	var trail report.RecentChanges
	for i := range 200 {
		c := incidenttest.Change(fmt.Sprint(i), -i)
		c.Principal = strings.Repeat("p", 3000)
		trail.Changes = append(trail.Changes, c)
	}
	inc = response.ApplyChanges(inc, incidenttest.Changes("c", trail), incidenttest.At(9)).Incident
	for i := range 60 {
		offer := inc.Offers[i%3]
		inc.AddNote(incident.RemedyFailed, incidenttest.At(10+i)).Offer = &offer
	}
	last := incidenttest.Proposal("last", 80, incidenttest.RoutePlan("nat-last"), optin.Approve)
	last.Lasts = time.Hour
	inc = response.Propose(inc, last, incidenttest.At(80)).Incident
	if inc.Size() <= limit {
		t.Fatalf("%d bytes are too few to prove anything", inc.Size())
	}
	small := inc.Fit(limit)
	if size := small.Size(); size > limit {
		t.Errorf("%d bytes are left", size)
	}
	offer := small.Offers[len(small.Offers)-1]
	if offer.State != incident.Offered || offer.Hash != offer.Plan.Hash() {
		t.Errorf("the offer that stands is %+v", offer)
	}
	approvals := 0
	for _, e := range small.PendingEvents {
		if e.Kind == incident.EventApproved && e.Offer != nil && e.Offer.Hash == e.Offer.Plan.Hash() {
			approvals++
		}
	}
	if approvals != 3 || small.RecentChanges == nil {
		t.Errorf("%d of 3 approvals are still to be told; the trail is %v", approvals, small.RecentChanges)
	}
}

func TestPlansAreBounded(t *testing.T) {
	p := incidenttest.RoutePlan("nat-0aa4")
	p.Route.Subnets = strings.Split(strings.Repeat("subnet-0123456789abcdef0 ", 1000), " ")
	if d := response.Propose(incidenttest.Broken(t), incidenttest.Proposal("p", 2, p, optin.Approve), incidenttest.At(2)); d.Reason != incident.IsMalformed || d.Changed {
		t.Errorf("a plan of %d subnets is %q", len(p.Route.Subnets), d.Reason)
	}
}
