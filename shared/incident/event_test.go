package incident_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// The event has all that a rule can ask for.
func TestWhatAnEventTells(t *testing.T) {
	at := incidenttest.At
	node := report.Launch{Instance: "i-9", Nodegroup: "workers", Subnet: "s", Started: at(7), Status: report.Joined, Ready: at(8), Group: "g"}
	helped := incident.Offer{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: incident.Helped}
	inc := incident.Incident{
		Key: incidenttest.TheRoute, Account: "1", Region: "r", Partition: "aws", State: incident.Closed, Number: 2, Events: 4,
		Began: at(0), Opened: at(1), Cleared: at(6), Resolved: at(8), Resolution: incident.Proved,
		Covers: []string{"s"}, Launches: []report.Launch{{Instance: "i-1", Status: report.Gone}}, Affected: 1, Proof: &node,
		Blind: []snapshot.Failure{{Call: "ec2:DescribeVpcs"}}, Offers: []incident.Offer{helped},
	}
	inc.Cause.Confidence, inc.Cause.Title, inc.Cause.Why, inc.Cause.Nodegroups = checks.Certain, "title", "why", []string{"workers"}
	inc.Cause.Evidence, inc.Cause.Fix = []checks.Evidence{{What: "w"}}, checks.Fix{Text: "do"}
	want := incident.Event{
		ID: "eks-workshop/route/no-egress/rtb-0cd2/20261120T150000.000Z/5", Format: 1, Kind: incident.EventResolved, Reason: incident.IsProved, At: at(9),
		Partition: "aws", Account: "1", Region: "r", Cluster: "eks-workshop", Check: "route/no-egress", Resource: "rtb-0cd2",
		State: incident.Closed, Severity: incident.Info, Number: 2, Sequence: 5, Began: at(0), Opened: at(1), Cleared: at(6), Resolved: at(8), Resolution: incident.Proved, LastedSeconds: 480,
		Confidence: checks.Certain, Title: "title", Why: "why", Evidence: []checks.Evidence{{What: "w"}}, Fix: checks.Fix{Text: "do"}, Nodegroups: []string{"workers"},
		Covers: []string{"s"}, Affected: 1, Instances: []incident.EventInstance{{Instance: "i-1", Status: report.Gone}},
		Proof: &incident.EventInstance{Instance: "i-9", Nodegroup: "workers", Subnet: "s", Started: at(7), Status: report.Joined, Ready: at(8)},
		Offer: &helped, Blind: []snapshot.Failure{{Call: "ec2:DescribeVpcs"}},
	}
	for name, test := range map[string]struct {
		change func(*incident.Incident)
		reason incident.Reason
		want   func(*incident.Event)
	}{
		"an end":                  {func(*incident.Incident) {}, incident.IsProved, func(*incident.Event) {}},
		"an end without a remedy": {func(i *incident.Incident) { i.Offers = nil }, incident.IsProved, func(e *incident.Event) { e.Offer = nil }},
		"what is not over": {func(i *incident.Incident) { i.State, i.Proof = incident.Open, nil }, incident.BetterKnown, func(e *incident.Event) {
			e.Kind, e.Reason, e.State, e.Severity, e.LastedSeconds, e.Proof, e.Offer = incident.EventChanged, incident.BetterKnown, incident.Open, incident.Critical, 0, nil, nil
		}},
	} {
		inc, want := inc.Clone(), want
		test.change(&inc)
		test.want(&want)
		inc.AddEvent(test.reason, at(9))
		if diff := cmp.Diff([]incident.Event{want}, inc.PendingEvents, cmpopts.EquateEmpty()); diff != "" || inc.Events != 5 {
			t.Errorf("%s, event %d (-want +got):\n%s", name, inc.Events, diff)
		}
	}
}

// While the bus is away only the newest change waits; what opened and ended stays.
func TestEventsThatWait(t *testing.T) {
	var inc incident.Incident
	for i, r := range []incident.Reason{
		incident.BetterKnown, incident.CauseGone, incident.IsMuted, incident.IsProved, incident.HasMissed, incident.IsAsked, incident.FailedAgain, incident.MoreAffected, incident.IsUnproved, incident.IsAsked,
	} {
		inc.AddEvent(r, incidenttest.At(i))
	}
	var got []string
	for _, e := range inc.PendingEvents {
		got = append(got, fmt.Sprint(e.Sequence, " ", e.Reason))
	}
	if diff := cmp.Diff([]string{"2 cleared", "3 proved", "4 missed", "5 check-wanted", "7 more-affected", "8 unproved", "9 check-wanted"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each reply has its number, a mute drops some, and the oldest go when Slack has
// them.
func TestNotes(t *testing.T) {
	at := incidenttest.At
	inc := incident.Incident{State: incident.Open, Number: 1, Mute: &incident.Mute{Until: at(5)}}
	inc.Cause.Evidence, inc.Cause.Covers, inc.Cause.Title = []checks.Evidence{{What: "w"}}, []string{"s"}, "title"
	if n := inc.AddNote(incident.CauseGone, at(4)); n != nil || len(inc.Delivery.Notes) != 0 {
		t.Errorf("while it is muted: %+v", n)
	}
	if n := inc.AddNote(incident.IsProved, at(4)); n == nil || n.Reason != incident.IsProved {
		t.Errorf("the end is not said while it is muted: %+v", n)
	}
	inc.Delivery.Notes = nil
	for i, want := range []string{"approved", "cleared", "approved-2", "cleared-2", "approved-3"} {
		r := incident.IsApproved
		if i%2 == 1 {
			r = incident.CauseGone
		}
		n := inc.AddNote(r, at(5+i))
		then := &incident.Then{State: incident.Open, Number: 1}
		then.Cause.Title = "title"
		if diff := cmp.Diff(&incident.Note{ID: want, At: at(5 + i), Reason: r, Times: 1 + i/2, Then: then}, n); diff != "" || n != &inc.Delivery.Notes[i] {
			t.Errorf("note %d (-want +got):\n%s", i, diff)
		}
	}
	full := func(sent ...int) *incident.Incident {
		var inc incident.Incident
		for i := range incident.MaxNotes {
			inc.Delivery.Notes = append(inc.Delivery.Notes, incident.Note{ID: fmt.Sprint(i)})
		}
		for _, i := range sent {
			inc.Delivery.Notes[i].TS = "1.2"
		}
		return &inc
	}
	for _, test := range []struct {
		inc   *incident.Incident
		first string
		n     int
	}{
		{full(0), "1", incident.MaxNotes}, {full(0, 1), "1", incident.MaxNotes}, {full(1), "0", incident.MaxNotes + 1}, {full(), "0", incident.MaxNotes + 1},
	} {
		test.inc.AddNote(incident.IsProved, at(1))
		if notes := test.inc.Delivery.Notes; len(notes) != test.n || notes[0].ID != test.first {
			t.Errorf("%d notes, the first %s; want %d, %s", len(notes), notes[0].ID, test.n, test.first)
		}
	}
	room := full(0)
	room.Delivery.Notes = room.Delivery.Notes[:incident.MaxNotes-1]
	if room.AddNote(incident.IsProved, at(1)); len(room.Delivery.Notes) != incident.MaxNotes || room.Delivery.Notes[0].ID != "0" {
		t.Errorf("%d notes, the first %s", len(room.Delivery.Notes), room.Delivery.Notes[0].ID)
	}
}

// Whether something was said counts since the last opening.
func TestWhatWasSaidSince(t *testing.T) {
	for _, test := range []struct {
		notes []incident.Reason
		want  bool
	}{
		{nil, false},
		{[]incident.Reason{incident.Opened, incident.IsProved}, false},
		{[]incident.Reason{incident.Opened, incident.HasChanges, incident.IsProved}, true},
		{[]incident.Reason{incident.Opened, incident.HasChanges, incident.Reopened, incident.IsProved}, false},
		{[]incident.Reason{incident.HasChanges, incident.Opened}, false},
		{[]incident.Reason{incident.Reopened, incident.HasChanges}, true},
		{[]incident.Reason{incident.HasChanges}, true},
	} {
		var inc incident.Incident
		for _, r := range test.notes {
			inc.Delivery.Notes = append(inc.Delivery.Notes, incident.Note{Reason: r})
		}
		if got := inc.HasNote(incident.HasChanges); got != test.want {
			t.Errorf("%v: %t", test.notes, got)
		}
	}
}

// A note that waits keeps the launches of its time before the incident forgets
// them; one that Slack has, or that has them, does not.
func TestNotesKeepTheirLaunches(t *testing.T) {
	launches := []report.Launch{{Instance: "i-1", Status: report.Missed, Subnet: "s"}}
	old := []report.Launch{{Instance: "i-0"}}
	notes := []incident.Note{
		{ID: "sent", TS: "1.2", Then: &incident.Then{}}, {ID: "of an old release"}, {ID: "has", Then: &incident.Then{Launches: old}}, {ID: "waits", Then: &incident.Then{Number: 1}},
	}
	inc := incident.Incident{Launches: launches}
	inc.Delivery.Notes = notes
	inc.KeepForNotes()
	want := []incident.Note{
		{ID: "sent", TS: "1.2", Then: &incident.Then{}}, {ID: "of an old release"}, {ID: "has", Then: &incident.Then{Launches: old}}, {ID: "waits", Then: &incident.Then{Number: 1, Launches: launches}},
	}
	if diff := cmp.Diff(want, inc.Delivery.Notes); diff != "" || notes[3].Then.Launches != nil {
		t.Errorf("before it was %+v (-want +got):\n%s", notes[3].Then, diff)
	}
	inc.Launches = nil
	inc.Delivery.Notes = notes
	inc.KeepForNotes()
	if &inc.Delivery.Notes[0] != &notes[0] || inc.Delivery.Notes[3].Then.Launches != nil {
		t.Errorf("there was nothing to keep: %+v", inc.Delivery.Notes[3].Then)
	}
}

// What a note shows is of its time: of launches what had happened then, also of
// those that the incident has forgotten.
func TestWhatALateNoteShows(t *testing.T) {
	at := incidenttest.At
	now := incident.Incident{State: incident.Open, Number: 2, Launches: []report.Launch{
		{Instance: "i-1", Subnet: "s", Registered: at(4), Ready: at(6), Ended: at(7), EndedWhy: "w", Status: report.Gone},
		{Instance: "i-2", Subnet: "s", Registered: at(9), Status: report.Waiting},
		{Instance: "i-3", Subnet: "s", Ended: at(3), EndedWhy: "w", Status: report.Gone},
		{Instance: "i-8", Subnet: "s", Status: report.Missed},
	}, More: []string{"i-9"}, Affected: 5, Facts: []report.Fact{{What: "now"}}, Blind: []snapshot.Failure{{Call: "now"}}}
	now.Cause.Evidence = []checks.Evidence{{What: "now"}}
	n := incident.Note{At: at(5), Evidence: []checks.Evidence{{What: "then"}}, Facts: []report.Fact{{What: "then"}}, Blind: []snapshot.Failure{{Call: "then"}}, Then: &incident.Then{
		State: incident.Cleared, Number: 1, Affected: 300, Launches: []report.Launch{{Instance: "i-4", Subnet: "old"}, {Instance: "i-5", Subnet: "older", Ended: at(2), Status: report.Missed}},
		ByStatus: map[report.LaunchStatus][]string{report.Joined: {"i-1"}, report.Missed: {"i-2", "i-4", "i-6"}, report.Gone: {"i-3", "i-5"}},
	}}
	want := incident.Incident{State: incident.Cleared, Number: 1, Changed: at(5), Affected: 300, Facts: []report.Fact{{What: "then"}}, Blind: []snapshot.Failure{{Call: "then"}}, Launches: []report.Launch{
		{Instance: "i-1", Subnet: "s", Registered: at(4), Ready: at(6), Status: report.Joined},
		{Instance: "i-2", Subnet: "s", Status: report.Missed},
		{Instance: "i-3", Subnet: "s", Ended: at(3), EndedWhy: "w", Status: report.Gone},
		{Instance: "i-4", Subnet: "old", Status: report.Missed},
		{Instance: "i-5", Subnet: "older", Ended: at(2), Status: report.Gone},
		{Instance: "i-6", Status: report.Missed},
	}}
	want.Cause.Evidence = []checks.Evidence{{What: "then"}}
	if diff := cmp.Diff(want, now.AsOf(n)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	none := incident.Incident{State: incident.Open}
	if then := none.ForNote(); then.ByStatus != nil {
		t.Errorf("without launches: %v", then.ByStatus)
	}
}
