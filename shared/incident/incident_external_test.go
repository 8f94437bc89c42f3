package incident_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// TestCapacityIn: what a look counted of the groups that an incident is about, each once; and
// nothing where it did not count one of them.
func TestCapacityIn(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	workers := report.Capacity{Group: "eks-workers-1", Nodegroup: "workers", Desired: 5, Ready: 3}
	batch := report.Capacity{Group: "batch-asg", Desired: 4, Ready: 4}
	failing := func(group, nodegroup string) report.Launch {
		return report.Launch{Instance: "i-" + group + nodegroup, Group: group, Nodegroup: nodegroup, Status: report.Missed}
	}
	joined := func(group string) report.Launch {
		return report.Launch{Instance: "i-ok", Group: group, Status: report.Joined}
	}
	caused := func(inc incident.Incident, nodegroups ...string) incident.Incident {
		inc.Cause = diagnosis.Cause{Nodegroups: nodegroups}
		return inc
	}
	of := func(list ...report.Launch) incident.Incident { return incident.Incident{Launches: list, Affected: 7} }
	for name, test := range map[string]struct {
		inc     incident.Incident
		counted []report.Capacity
		want    *incident.Capacity
	}{
		"nothing it is about":           {of(), []report.Capacity{workers}, nil},
		"only what joined":              {of(joined("eks-workers-1")), []report.Capacity{workers}, nil},
		"a group":                       {of(failing("eks-workers-1", "")), []report.Capacity{batch, workers}, &incident.Capacity{At: at, Desired: 5, Ready: 3, Affected: 7}},
		"by its nodegroup":              {of(failing("", "workers")), []report.Capacity{workers, batch}, &incident.Capacity{At: at, Desired: 5, Ready: 3, Affected: 7}},
		"by both, once":                 {caused(of(failing("eks-workers-1", "workers"), failing("eks-workers-1", "workers")), "workers"), []report.Capacity{workers}, &incident.Capacity{At: at, Desired: 5, Ready: 3, Affected: 7}},
		"two groups":                    {caused(of(failing("batch-asg", ""), joined("other")), "workers"), []report.Capacity{workers, batch}, &incident.Capacity{At: at, Desired: 9, Ready: 7, Affected: 7, Joined: 1}},
		"one of two was not counted":    {of(failing("eks-workers-1", ""), failing("batch-asg", "")), []report.Capacity{workers}, nil},
		"of the cause, and not counted": {caused(of(failing("eks-workers-1", "")), "batch"), []report.Capacity{workers, batch}, nil},
		"nothing was counted":           {of(failing("eks-workers-1", "")), nil, nil},
	} {
		got := test.inc.CapacityIn(report.Observation{At: at, Capacity: test.counted})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCapacityStands: what was counted is reported while the launches stand as they did, for a
// quarter of an hour.
func TestCapacityStands(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	counted := func(c *incident.Capacity) incident.Incident {
		return incident.Incident{Affected: 3, Launches: []report.Launch{{Instance: "i-1", Status: report.Joined}}, Capacity: c}
	}
	for name, test := range map[string]struct {
		inc  incident.Incident
		at   time.Time
		want bool
	}{
		"not counted":          {counted(nil), at, false},
		"now":                  {counted(&incident.Capacity{At: at, Affected: 3, Joined: 1}), at, true},
		"a quarter of an hour": {counted(&incident.Capacity{At: at, Affected: 3, Joined: 1}), at.Add(15 * time.Minute), true},
		"longer":               {counted(&incident.Capacity{At: at, Affected: 3, Joined: 1}), at.Add(15*time.Minute + 1), false},
		"one more is affected": {counted(&incident.Capacity{At: at, Affected: 2, Joined: 1}), at, false},
		"one more has joined":  {counted(&incident.Capacity{At: at, Affected: 3}), at, false},
	} {
		if got := test.inc.CapacityStands(test.at); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCapacityMissing(t *testing.T) {
	for want, c := range map[int]*incident.Capacity{2: {Desired: 5, Ready: 3}, 0: {Desired: 3, Ready: 5}} {
		if got := c.Missing(); got != want {
			t.Errorf("%+v: %d, want %d", c, got, want)
		}
	}
	var none, other *incident.Capacity
	one := &incident.Capacity{Desired: 5, Ready: 3}
	if none.Missing() != 0 || (&incident.Capacity{}).Missing() != 0 {
		t.Error("what was not counted is missing")
	}
	if !none.Same(other) || none.Same(one) || one.Same(none) || !one.Same(&incident.Capacity{At: time.Unix(9, 0), Desired: 5, Ready: 3, Affected: 4}) ||
		one.Same(&incident.Capacity{Desired: 5, Ready: 4}) || one.Same(&incident.Capacity{Desired: 4, Ready: 3}) {
		t.Error("two looks that counted the same, or did not")
	}
}

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
	inc.Cause.Confidence, inc.Cause.Title, inc.Cause.Why, inc.Cause.Nodegroups = catalog.Certain, "title", "why", []string{"workers"}
	inc.Cause.Evidence, inc.Cause.Fix = []finding.Evidence{{What: "w"}}, finding.Fix{Text: "do"}
	want := incident.Event{
		ID: "eks-workshop/route/no-egress/rtb-0cd2/20261120T150000.000Z/5", Format: 1, Kind: incident.EventResolved, Reason: incident.IsProved, At: at(9),
		Partition: "aws", Account: "1", Region: "r", Cluster: "eks-workshop", Check: "route/no-egress", Resource: "rtb-0cd2",
		State: incident.Closed, Severity: incident.Info, Number: 2, Sequence: 5, Began: at(0), Opened: at(1), Cleared: at(6), Resolved: at(8), Resolution: incident.Proved, LastedSeconds: 480,
		Confidence: catalog.Certain, Title: "title", Why: "why", Evidence: []finding.Evidence{{What: "w"}}, Fix: finding.Fix{Text: "do"}, Nodegroups: []string{"workers"},
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
	inc.Cause.Evidence, inc.Cause.Covers, inc.Cause.Title = []finding.Evidence{{What: "w"}}, []string{"s"}, "title"
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
	now.Cause.Evidence = []finding.Evidence{{What: "now"}}
	n := incident.Note{At: at(5), Evidence: []finding.Evidence{{What: "then"}}, Facts: []report.Fact{{What: "then"}}, Blind: []snapshot.Failure{{Call: "then"}}, Then: &incident.Then{
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
	want.Cause.Evidence = []finding.Evidence{{What: "then"}}
	if diff := cmp.Diff(want, now.AsOf(n)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	none := incident.Incident{State: incident.Open}
	if then := none.ForNote(); then.ByStatus != nil {
		t.Errorf("without launches: %v", then.ByStatus)
	}
}

func TestChecksOfAddresses(t *testing.T) {
	type is struct{ shortage, starvation, addresses bool }
	for check, want := range map[checkid.ID]is{
		checkid.IPLeakedInterfaces:     {addresses: true},
		checkid.IPRunway:               {addresses: true},
		checkid.IPSubnetExhausted:      {shortage: true, addresses: true},
		checkid.SpotBurstExceedsSubnet: {shortage: true, addresses: true},
		checkid.LaunchSubnetFull:       {shortage: true, addresses: true},
		checkid.NodeCNINotReady:        {starvation: true},
		checkid.NodeNotReady:           {starvation: true},
		"route/no-egress":              {},
		"spot/pool-failing":            {},
	} {
		if got := (is{incident.IsShortage(check), incident.IsStarvationSymptom(check), incident.OfAddresses(check)}); got != want {
			t.Errorf("%s: %+v, want %+v", check, got, want)
		}
	}
}

// What needs no node as a proof.
func TestByItself(t *testing.T) {
	for check, want := range map[checkid.ID][2]bool{ // with none affected, and with one instance
		"zone/nodegroup-gap":         {true, true},
		"addon/degraded":             {true, true},
		"cluster/health":             {true, true},
		"nodegroup/status":           {true, true},
		"spot/pool-failing":          {true, true},
		"spot/other":                 {false, false},
		"route/no-egress":            {false, false},
		checkid.IPLeakedInterfaces:   {true, false},
		checkid.IPSubnetExhausted:    {false, false},
		incident.CannotLook:          {false, false},
		"launch/subnet-full":         {false, false},
		"node/cni-not-ready":         {false, false},
		"instance/ended-early":       {false, false},
		"spot/burst-exceeds-subnet":  {false, false},
		"ip/scale-out-will-not-fit":  {true, false},
		"nodegroups/of-another-name": {false, false},
	} {
		for affected, want := range want {
			if got := (incident.Incident{Key: report.Key{Check: check}, Affected: affected}).ByItself(); got != want {
				t.Errorf("%s, %d affected: %t", check, affected, got)
			}
		}
	}
}

// A cause of pods on Ready nodes has no launch to wait for, until one fails for it too.
func TestPodsNeedNoNode(t *testing.T) {
	pods := diagnosis.Cause{Check: checkid.InstanceMaxPods, Symptoms: []checkid.ID{checkid.IPPodWithoutAddress}}
	for affected, want := range []bool{true, false} {
		inc := incident.Incident{Key: report.Key{Check: pods.Check}, Cause: pods, Affected: affected}
		if got := inc.ByItself(); got != want {
			t.Errorf("%d launches affected: %t", affected, got)
		}
	}
}

func TestExplains(t *testing.T) {
	for _, test := range []struct {
		check      checkid.ID
		confidence catalog.Confidence
		want       bool
	}{
		{"route/no-egress", catalog.Certain, true},
		{"route/no-egress", catalog.Likely, true},
		{"route/no-egress", catalog.Possible, false},
		{"node/not-ready", catalog.Symptom, false},
		{"route/no-egress", catalog.Advice, false},
		{incident.CannotLook, catalog.Certain, false},
	} {
		inc := incident.Incident{Key: report.Key{Check: test.check}}
		inc.Cause.Confidence = test.confidence
		if got := inc.Explains(); got != test.want {
			t.Errorf("%s, %s: %t", test.check, test.confidence, got)
		}
	}
}

// An incident has another picture where it is elsewhere in its life, and a new one
// each time it opens.
func TestPhaseOfAPicture(t *testing.T) {
	with := func(check checkid.ID, number int, state incident.State, c catalog.Confidence, end incident.Resolution) incident.Incident {
		inc := incident.Incident{Key: report.Key{Check: check}, Number: number, State: state, Resolution: end}
		inc.Cause.Confidence = c
		return inc
	}
	const ip = checkid.IPLeakedInterfaces
	for _, test := range []struct {
		inc  incident.Incident
		want string
	}{
		{with(ip, 1, incident.Open, catalog.Certain, ""), "1 open short"},
		{with(ip, 1, incident.Open, catalog.Likely, ""), "1 open"},
		{with(ip, 2, incident.Cleared, catalog.Certain, ""), "2 cleared"},
		{with(ip, 2, incident.Closed, catalog.Certain, incident.Proved), "2 proved"},
		{with(ip, 2, incident.Closed, catalog.Likely, incident.Unproved), "2 unproved"},
		{with(ip, 2, incident.Closed, catalog.Likely, incident.Withdrawn), ""},
		{with(ip, 2, incident.Pending, catalog.Likely, incident.Proved), ""},
		{with(ip, 2, incident.Pending, catalog.Certain, ""), ""},
		{with(ip, 0, incident.Open, catalog.Certain, ""), ""},
		{with("route/no-egress", 1, incident.Open, catalog.Certain, ""), ""},
	} {
		if got := test.inc.Phase(); got != test.want {
			t.Errorf("%s, %s %s, the time %d: %q, want %q", test.inc.Key.Check, test.inc.State, test.inc.Resolution, test.inc.Number, got, test.want)
		}
	}
}

func TestPicturesAndFilesThatWait(t *testing.T) {
	var none *incident.Chart
	for name, test := range map[string]struct {
		chart *incident.Chart
		want  bool
	}{
		"none":              {none, false},
		"drawn":             {&incident.Chart{PNG: []byte("p")}, true},
		"given to Slack":    {&incident.Chart{Next: "F1"}, true},
		"shown":             {&incident.Chart{File: "F1"}, false},
		"a new one drawn":   {&incident.Chart{PNG: []byte("p"), File: "F1"}, true},
		"there can be none": {&incident.Chart{Missing: "no room", PNG: []byte{}}, false},
	} {
		if got := test.chart.Due(); got != test.want {
			t.Errorf("a picture, %s: %t", name, got)
		}
	}
	sent := incident.Note{ID: "opened", Count: 3}.SentShortened("1.2")
	if sent.TS != "1.2" || sent.ID != "opened" || sent.Count != 3 || !sent.Owes() || sent.Attach.Tries != 0 {
		t.Errorf("shortened: %+v", sent)
	}
	if (incident.Note{Attach: &incident.Attach{}}).Owes() {
		t.Error("it owes a file to what Slack does not have")
	}
	if (incident.Note{TS: "1.2"}).Owes() {
		t.Error("what was not shortened owes a file")
	}
}

// A cause that no check confirms any more is not there.
func TestEffects(t *testing.T) {
	at := incidenttest.At
	for name, test := range map[string]struct {
		e    incident.Effect
		want bool
	}{
		"seen":                               {incident.Effect{Last: at(1)}, true},
		"told to belong":                     {incident.Effect{Told: at(1)}, true},
		"told to be apart":                   {incident.Effect{Told: at(1), Apart: true}, false},
		"told to be apart, and seen since":   {incident.Effect{Told: at(1), Apart: true, Last: at(2)}, true},
		"seen, and told to be apart since":   {incident.Effect{Told: at(2), Apart: true, Last: at(1)}, false},
		"it passed":                          {incident.Effect{Told: at(1), Over: at(2)}, false},
		"it passed, and was seen again":      {incident.Effect{Told: at(1), Over: at(2), Last: at(3)}, true},
		"it passed, and was told of again":   {incident.Effect{Last: at(1), Over: at(2), Told: at(3)}, true},
		"seen at the minute in which it was": {incident.Effect{Last: at(2), Over: at(2)}, true},
	} {
		if got := test.e.Present(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	var inc incident.Incident
	for i, check := range []checkid.ID{"ip/c", "ip/a", "ip/b", "ip/a"} {
		e, known := inc.EffectOf(check)
		if known != (i == 3) || e.Check != check || e != &inc.Effects[map[checkid.ID]int{"ip/a": 0, "ip/b": min(i, 1), "ip/c": 0}[check]] {
			t.Errorf("%s, known %t: %+v of %+v", check, known, e, inc.Effects)
		}
		e.Title = string(check)
	}
	for _, check := range []checkid.ID{"ip/a", "ip/b", "ip/c", "ip/d"} {
		want := check != "ip/d"
		if e, known := inc.KnownEffect(check); known != want || want && e.Title != string(check) || !want && e != (incident.Effect{}) {
			t.Errorf("%s: %+v, known %t", check, e, known)
		}
	}
	if len(inc.Effects) != 3 {
		t.Errorf("%+v", inc.Effects)
	}
}

// Two sights of one launch are one, in whichever order they come.
func TestSightsOfALaunch(t *testing.T) {
	at := incidenttest.At
	full := report.Launch{
		Instance: "i-1", Nodegroup: "g", Group: "asg", Subnet: "s", Zone: "z", Type: "t", EndedWhy: "w",
		Started: at(1), Registered: at(2), Ready: at(3), Ended: at(4), Status: report.Gone,
	}
	bare := report.Launch{Instance: "i-1", Status: report.Waiting}
	later := report.Launch{
		Instance: "i-1", Nodegroup: "h", Group: "b", Subnet: "t", Zone: "a", Type: "u", EndedWhy: "v",
		Started: at(2), Registered: at(3), Ready: at(4), Ended: at(5), Status: report.Missed,
	}
	both := full
	both.Group, both.Zone, both.EndedWhy = "asg", "a", "v"
	for name, test := range map[string]struct{ a, b, want report.Launch }{
		"one that says all":  {full, bare, full},
		"the same":           {full, full, full},
		"each says its part": {full, later, both},
	} {
		for _, order := range [][]report.Launch{{test.a, test.b}, {test.b, test.a}} {
			inc := incident.Incident{}
			first, second := inc.AddAffected(order[0]), inc.AddAffected(order[1])
			if diff := cmp.Diff([]report.Launch{test.want}, inc.Launches); diff != "" || inc.Affected != 1 || !first || second {
				t.Errorf("%s: %d affected, added %t, %t (-want +got):\n%s", name, inc.Affected, first, second, diff)
			}
		}
	}
	// A launch never goes back.
	steps := []report.LaunchStatus{"never heard of", report.Waiting, report.Missed, report.GivenUp, report.Gone, report.Joined}
	for i, a := range steps {
		for j, b := range steps {
			inc := incident.Incident{}
			inc.AddAffected(report.Launch{Instance: "i-1", Status: a})
			inc.AddAffected(report.Launch{Instance: "i-1", Status: b})
			if want := steps[max(i, j)]; inc.Launches[0].Status != want {
				t.Errorf("%s and then %s is %s", a, b, inc.Launches[0].Status)
			}
		}
	}
	inc := incident.Incident{}
	inc.AddAffected(report.Launch{Instance: "i-1", Status: "one word"})
	inc.AddAffected(report.Launch{Instance: "i-1", Status: "another"})
	if got := inc.Launches[0].Status; got != "one word" {
		t.Errorf("of two that nobody knows it is %q", got)
	}
}

func TestEarlierAndLater(t *testing.T) {
	one, two, none := incidenttest.At(1), incidenttest.At(2), time.Time{}
	for _, test := range []struct{ a, b, earlier, later time.Time }{
		{one, two, one, two}, {two, one, one, two}, {one, none, one, one}, {none, one, one, one}, {none, none, none, none},
	} {
		if got := incident.Earlier(test.a, test.b); !got.Equal(test.earlier) {
			t.Errorf("the earlier of %s and %s is %s", test.a, test.b, got)
		}
		if got := incident.Later(test.a, test.b); !got.Equal(test.later) {
			t.Errorf("the later of %s and %s is %s", test.a, test.b, got)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, incident.Union([]string{"c", "a"}, []string{"b", "a"})); diff != "" {
		t.Errorf("both lists (-want +got):\n%s", diff)
	}
}

// 300 launches are kept by name, 5,000 more by id; each is counted once.
func TestHowManyLaunchesAreKept(t *testing.T) {
	id := func(i int) string { return fmt.Sprintf("i-%05d", i) }
	var inc incident.Incident
	const most = incident.MaxLaunches + 5000
	for i := range most + 3 {
		if added := inc.AddAffected(report.Launch{Instance: id(most + 3 - i)}); added != (i < most) {
			t.Fatalf("launch %d: added %t", i, added)
		}
	}
	last, kept := id(most+3), id(4)
	if len(inc.Launches) != incident.MaxLaunches || len(inc.More) != 5000 || inc.Affected != most || !slices.IsSorted(inc.More) || !slices.IsSortedFunc(inc.Launches, func(a, b report.Launch) int { return strings.Compare(a.Instance, b.Instance) }) {
		t.Errorf("%d launches, %d more, %d affected", len(inc.Launches), len(inc.More), inc.Affected)
	}
	if inc.AddAffected(report.Launch{Instance: kept}) || inc.AddAffected(report.Launch{Instance: last}) || inc.Affected != most {
		t.Errorf("one is counted twice: %d", inc.Affected)
	}
	for who, want := range map[string]bool{last: true, kept: true, id(1): false} {
		if got := inc.Affects(who); got != want {
			t.Errorf("%s is affected: %t", who, got)
		}
	}
	if _, known := inc.KeptLaunch(kept); known {
		t.Error("one beyond those that are kept by name has a name")
	}
	inc.More = inc.More[1:]
	if !inc.AddAffected(report.Launch{Instance: id(1)}) || inc.Affected != most+1 || inc.More[0] != id(1) {
		t.Errorf("where there is room for one, it is not added: %d", inc.Affected)
	}
	if inc.AddAffected(report.Launch{Instance: id(1)}) {
		t.Error("and then again")
	}
	inc.More = inc.More[:4998]
	if inc.AddAffected(report.Launch{Instance: inc.More[7]}) || len(inc.More) != 4998 {
		t.Error("one that is known by its id is added again where there is room")
	}
}

// Of launches that are known, what changed is reported; who missed the join check is reported
// once.
func TestWhoMissedRollCall(t *testing.T) {
	with := func(statuses ...report.LaunchStatus) []report.Launch {
		var list []report.Launch
		for i, s := range statuses {
			list = append(list, report.Launch{Instance: fmt.Sprint("i-", i), Status: s})
		}
		return list
	}
	known := with(report.Waiting, report.Waiting, report.Waiting, report.Waiting, report.Missed)
	for name, test := range map[string]struct {
		seen    []report.Launch
		missed  []string
		changed bool
	}{
		"nothing new":   {with(report.Waiting, report.Waiting), nil, false},
		"a stranger":    {[]report.Launch{{Instance: "i-99", Status: report.Missed}}, nil, false},
		"all that may":  {append([]report.Launch{{Instance: "i-99", Status: report.Missed}}, with(report.Waiting, report.Missed, report.GivenUp, report.Gone, report.GivenUp)...), []string{"i-1", "i-2"}, true},
		"one has ended": {with(report.Gone), nil, true},
	} {
		inc := incident.Incident{Launches: slices.Clone(known)}
		missed, changed := inc.UpdateLaunches(test.seen)
		if diff := cmp.Diff(test.missed, missed); diff != "" || changed != test.changed {
			t.Errorf("%s: changed %t, missed (-want +got):\n%s", name, changed, diff)
		}
	}
	inc := incident.Incident{Launches: with(report.Waiting, report.Missed, report.Waiting)}
	if got := []int{inc.Count(report.Waiting), inc.Count(report.Missed), inc.Count(report.Gone)}; !slices.Equal(got, []int{2, 1, 0}) {
		t.Errorf("waiting, missed, gone: %v", got)
	}
}

// Where an offer is: whether something may come of it, before and after it is
// done.
func TestWhereAnOfferIs(t *testing.T) {
	type is struct{ live, over, unverified bool }
	for name, test := range map[string]struct {
		o    incident.Offer
		want is
	}{
		"offered":                 {incident.Offer{State: incident.Offered}, is{live: true}},
		"approved":                {incident.Offer{State: incident.Approved}, is{live: true}},
		"being done":              {offerIn(incident.Approved, remedy.Done, true), is{live: true}},
		"deferred":                {incident.Offer{State: incident.Deferred}, is{live: true}},
		"refused":                 {incident.Offer{State: incident.RefusedByUs}, is{over: true}},
		"expired":                 {incident.Offer{State: incident.Expired}, is{over: true}},
		"outdated":                {incident.Offer{State: incident.Outdated}, is{over: true}},
		"done":                    {offerIn(incident.Acted, remedy.Done, true), is{unverified: true}},
		"partly done":             {offerIn(incident.Acted, remedy.Partly, true), is{unverified: true}},
		"uncertain":               {offerIn(incident.Acted, remedy.Uncertain, true), is{unverified: true}},
		"failed":                  {offerIn(incident.Acted, remedy.Failed, true), is{over: true}},
		"refused by a rule":       {offerIn(incident.Acted, remedy.Refused, true), is{over: true}},
		"done, and not ended":     {offerIn(incident.Acted, remedy.Done, false), is{over: true}},
		"done, and nobody wrote":  {incident.Offer{State: incident.Acted}, is{over: true}},
		"it helped":               {offerIn(incident.Helped, remedy.Done, true), is{over: true}},
		"it did not":              {offerIn(incident.Unhelpful, remedy.Done, true), is{over: true}},
		"of a state that is none": {incident.Offer{State: "resting"}, is{over: true}},
	} {
		if got := (is{test.o.Live(), test.o.Over(), test.o.Unverified()}); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestLastOffer(t *testing.T) {
	inc := incident.Incident{Offers: []incident.Offer{{State: incident.Offered, Says: "a"}, {State: incident.Offered, Says: "b"}, {State: incident.Expired, Says: "c"}}}
	if o := inc.LastOffer(incident.Offered); o == nil || o.Says != "b" {
		t.Errorf("offered: %+v", o)
	}
	if o := inc.LastOffer(incident.Helped); o != nil {
		t.Errorf("that helped: %+v", o)
	}
}

// What becomes of offers when the cause is gone, is back, or the incident is over.
func TestOffersAreTakenBack(t *testing.T) {
	const route, parts = optin.AddNATRoute, optin.ReplaceInstance
	at := incidenttest.At
	of := func(id string, r optin.Remedy, state incident.OfferState) incident.Offer {
		return incident.Offer{Hash: id, Plan: remedy.Plan{Remedy: r}, State: state, Made: at(5)}
	}
	begun := func(o incident.Offer) incident.Offer { o.Run = &remedy.Run{}; return o }
	before := func(o incident.Offer) incident.Offer { o.Made = at(3); return o }
	outdated := func(o incident.Offer) incident.Offer { o.State, o.Says = incident.Outdated, "it is over"; return o }
	all := func(incident.Offer) bool { return true }
	for name, test := range map[string]struct {
		offers []incident.Offer
		of     func(incident.Offer) bool
		want   []incident.Offer
	}{
		"what is offered, approved or waits": {
			[]incident.Offer{of("a", route, incident.Offered), of("b", route, incident.Approved), of("c", parts, incident.Deferred)}, all,
			[]incident.Offer{outdated(of("a", route, incident.Offered)), outdated(of("b", route, incident.Approved)), outdated(of("c", parts, incident.Deferred))},
		},
		"not what is being done": {[]incident.Offer{begun(of("a", route, incident.Approved))}, all, []incident.Offer{begun(of("a", route, incident.Approved))}},
		"what is offered again after a run": {
			[]incident.Offer{begun(of("a", route, incident.Offered))}, all, []incident.Offer{outdated(begun(of("a", route, incident.Offered)))},
		},
		"not what was decided": {
			[]incident.Offer{of("a", route, incident.RefusedByUs), begun(of("b", route, incident.Acted)), of("c", route, incident.Expired)}, all,
			[]incident.Offer{of("a", route, incident.RefusedByUs), begun(of("b", route, incident.Acted)), of("c", route, incident.Expired)},
		},
		"only those that are meant": {
			[]incident.Offer{of("a", route, incident.Offered), of("b", parts, incident.Offered)}, incident.IsReplacement,
			[]incident.Offer{of("a", route, incident.Offered), outdated(of("b", parts, incident.Offered))},
		},
		"a wait after a part of it is forgotten": {
			[]incident.Offer{begun(of("a", parts, incident.Acted)), of("b", parts, incident.Deferred), of("c", route, incident.Offered)}, all,
			[]incident.Offer{begun(of("a", parts, incident.Acted)), outdated(of("c", route, incident.Offered))},
		},
		"a wait after another remedy's run is not": {
			[]incident.Offer{begun(of("a", route, incident.Acted)), of("b", parts, incident.Deferred)}, all,
			[]incident.Offer{begun(of("a", route, incident.Acted)), outdated(of("b", parts, incident.Deferred))},
		},
		"nor after a part of an earlier opening": {
			[]incident.Offer{before(begun(of("a", parts, incident.Acted))), of("b", parts, incident.Deferred)}, all,
			[]incident.Offer{before(begun(of("a", parts, incident.Acted))), outdated(of("b", parts, incident.Deferred))},
		},
		"nor after what was not done": {
			[]incident.Offer{of("a", parts, incident.RefusedByUs), of("b", parts, incident.Deferred)}, all,
			[]incident.Offer{of("a", parts, incident.RefusedByUs), outdated(of("b", parts, incident.Deferred))},
		},
	} {
		inc := incident.Incident{Opened: at(4), Offers: test.offers}.Clone()
		inc.OutdateOffers("it is over", test.of)
		if diff := cmp.Diff(test.want, inc.Offers); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	inc := incident.Incident{Offers: []incident.Offer{of("a", route, incident.Offered), of("b", route, incident.Offered), of("c", route, incident.Offered)}}
	elsewhere := inc.Offers[1]
	if inc.ForgetOffer(&elsewhere); len(inc.Offers) != 3 {
		t.Errorf("what is not in the list is forgotten: %+v", inc.Offers)
	}
	inc.ForgetOffer(&inc.Offers[1])
	if diff := cmp.Diff([]incident.Offer{of("a", route, incident.Offered), of("c", route, incident.Offered)}, inc.Offers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplacing(t *testing.T) {
	for name, test := range map[string]struct {
		state incident.State
		o     incident.Offer
		want  bool
	}{
		"waits for the limit":    {incident.Cleared, incident.Offer{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Deferred, Again: true}, true},
		"waits for a yes after":  {incident.Cleared, incident.Offer{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Offered, Again: true}, true},
		"waits for a look":       {incident.Cleared, incident.Offer{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Deferred}, false},
		"waits no more":          {incident.Cleared, incident.Offer{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Expired, Again: true}, false},
		"another remedy":         {incident.Cleared, incident.Offer{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: incident.Deferred, Again: true}, false},
		"the cause is there yet": {incident.Open, incident.Offer{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Deferred, Again: true}, false},
	} {
		if got := (incident.Incident{State: test.state, Offers: []incident.Offer{test.o}}).Replacing(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The tags that are kept: of the nodegroups in question, those that routes ask
// for, of a hundred nodegroups.
func TestTagsThatAreKept(t *testing.T) {
	type tags = map[string]map[string]string
	broken := incidenttest.Broken(t) // of nodegroup workers, and the launch i-1 of it
	broken.Launches[0].Nodegroup, broken.Launches[0].Group = "launched", "asg-of-it"
	broken.Launches = append(broken.Launches, broken.Launches[0])
	broken.Launches[1].Instance, broken.Launches[1].Nodegroup, broken.Launches[1].Group = "i-2", "", "asg"
	many := tags{}
	for i := range 100 {
		name := "n" + string(rune('a'+i/10)) + string(rune('a'+i%10))
		many[name] = map[string]string{"team": "x"}
	}
	crowd := broken.Clone()
	crowd.Tags = many
	wanted := func(change func(tags)) tags {
		m := tags{}
		for k, v := range many {
			m[k] = v
		}
		change(m)
		return m
	}
	crowd.Cause.Nodegroups = []string{"workers", "naa"}
	known := broken.Clone()
	known.Tags = tags{"workers": {"team": "old"}}
	for name, test := range map[string]struct {
		inc  incident.Incident
		seen tags
		want tags
	}{
		"what routes ask for":              {broken, tags{"workers": {"team": "a", "owner": "b"}}, tags{"workers": {"team": "a"}}},
		"of a nodegroup that was launched": {broken, tags{"launched": {"team": "a"}}, tags{"launched": {"team": "a"}}},
		"of a group without a nodegroup":   {broken, tags{"asg": {"team": "a"}}, tags{"asg": {"team": "a"}}},
		"not of a nodegroup's group":       {broken, tags{"asg-of-it": {"team": "a"}}, nil},
		"not of others":                    {broken, tags{"a": {"team": "a"}, "workers": {"team": "a"}}, tags{"workers": {"team": "a"}}},
		"not what nobody asks for":         {broken, tags{"launched": {"owner": "b"}, "workers": {"team": "a"}}, tags{"workers": {"team": "a"}}},
		"anew":                             {known, tags{"workers": {"team": "new"}}, tags{"workers": {"team": "new"}}},
		"that there is none any more":      {known, tags{"workers": {}}, tags{"workers": {}}},
		"nothing":                          {known, nil, tags{"workers": {"team": "old"}}},
		"not of the hundred and first":     {crowd, tags{"workers": {"team": "a"}}, many},
		"of those that are known":          {crowd, tags{"naa": {"team": "a"}}, wanted(func(m tags) { m["naa"] = map[string]string{"team": "a"} })},
	} {
		inc := test.inc.Clone()
		inc.AddTags(test.seen, []string{"team"})
		if diff := cmp.Diff(test.want, inc.Tags, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(map[string]string{"team": "old"}, known.Tags["workers"]); diff != "" {
		t.Errorf("those of before are another now (-want +got):\n%s", diff)
	}
	almost := crowd.Clone()
	almost.Tags = wanted(func(m tags) { delete(m, "nbb") })
	almost.AddTags(tags{"workers": {"team": "a"}}, []string{"team"})
	if len(almost.Tags) != 100 || almost.Tags["workers"] == nil {
		t.Errorf("the hundredth is not kept: %d", len(almost.Tags))
	}
}

// What an incident covers is kept, whether or not the verdicts, the launches
// and the cause name the same.
func TestPack(t *testing.T) {
	v := func(of string, found incident.Found, minute int) incident.Verdict {
		return incident.Verdict{Of: of, Found: found, At: incidenttest.At(minute)}
	}
	tests := []struct {
		name string
		inc  incident.Incident
	}{
		{"empty", incident.Incident{}},
		{"a subnet", incident.Incident{Covers: []string{"subnet-1"}, Verdicts: []incident.Verdict{v("subnet-1", incident.Failing, 1)}}},
		{"covered without a verdict", incident.Incident{Covers: []string{"a", "b"}, Verdicts: []incident.Verdict{v("b", incident.Failing, 1)}}},
		{"verdicts of several times", incident.Incident{
			Covers: []string{"a", "b", "c"}, Verdicts: []incident.Verdict{v("a", incident.Failing, 1), v("b", incident.Passing, 2), v("c", incident.Failing, 1)},
		}},
		{"more than are kept, and covered", incident.Incident{
			Covers: []string{"i-1", "i-2", "i-3"}, Launches: []report.Launch{{Instance: "i-1"}}, More: []string{"i-2", "i-3"},
			Verdicts: []incident.Verdict{v("i-1", incident.Failing, 1), v("i-2", incident.Failing, 1), v("i-3", incident.Failing, 1)},
		}},
		{"more than are kept, one of them let go of", incident.Incident{
			Covers: []string{"i-1", "i-3"}, Launches: []report.Launch{{Instance: "i-1"}}, More: []string{"i-2", "i-3"},
			Verdicts: []incident.Verdict{v("i-1", incident.Failing, 1), v("i-3", incident.Failing, 1)},
		}},
		{"more than are kept, and a subnet covered", incident.Incident{
			Covers: []string{"subnet-1"}, Launches: []report.Launch{{Instance: "i-1"}}, More: []string{"i-2", "i-3"},
			Verdicts: []incident.Verdict{v("subnet-1", incident.Failing, 1)},
		}},
	}
	for _, tt := range tests {
		for _, cause := range [][]string{nil, {"other"}, tt.inc.Covers} {
			inc := tt.inc
			inc.Cause.Covers = cause
			body, err := json.Marshal(inc)
			if err != nil {
				t.Fatal(err)
			}
			var got incident.Incident
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(inc, got); diff != "" {
				t.Errorf("%s, the cause covers %q (-want +got):\n%s", tt.name, cause, diff)
			}
		}
	}
}

// Whatever lies in the table, what is read of it is written as it was read.
func FuzzPack(f *testing.F) {
	f.Add([]byte(`{"covers":["a"],"verdicts":[{"found":"failing","at":"2026-11-20T15:00:00Z","of":["i-1","i-2"]}],"launches":[{"instance":"i-1"}],"moreCovers":true,"causeCovers":true}`))
	f.Add([]byte(`{"verdicts":[{"of":["b","a","b"]},{"of":null}],"more":["z","a"]}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"covers":"a"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var first, second incident.Incident
		if json.Unmarshal(body, &first) != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			return // a year that JSON has no form for
		}
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		same := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
		if diff := cmp.Diff(first.Covers, second.Covers, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("covers (-read +read again):\n%s", diff)
		}
		if diff := cmp.Diff(first.Verdicts, second.Verdicts, same, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("verdicts (-read +read again):\n%s", diff)
		}
		for _, id := range first.More {
			if !second.Affects(id) && first.Affects(id) {
				t.Errorf("%q is not among those affected any more", id)
			}
		}
	})
}

// What is written of an incident names each instance once.
func TestWhatIsWritten(t *testing.T) {
	v := func(of string, found incident.Found, minute int) incident.Verdict {
		return incident.Verdict{Of: of, Found: found, At: incidenttest.At(minute)}
	}
	type same struct {
		Found incident.Found
		Of    []string
	}
	type written struct {
		Covers      []string
		More        []string
		Verdicts    []same
		CauseCovers bool
		MoreCovers  bool
		Cause       struct{ Covers []string }
	}
	with := func(covers, cause, more []string, verdicts ...incident.Verdict) incident.Incident {
		inc := incident.Incident{Covers: covers, More: more, Verdicts: verdicts, Launches: []report.Launch{{Instance: "i-1"}}}
		inc.Cause.Covers = cause
		return inc
	}
	causes := func(w written, covers ...string) written { w.Cause.Covers = covers; return w }
	const fails, well = incident.Failing, incident.Passing
	for name, test := range map[string]struct {
		inc  incident.Incident
		want written
	}{
		"nothing":              {with(nil, nil, nil), written{}},
		"by verdict":           {with([]string{"a", "b", "c", "d"}, nil, nil, v("a", fails, 1), v("b", well, 1), v("c", fails, 1), v("d", fails, 2)), written{Verdicts: []same{{fails, []string{"a", "c"}}, {well, []string{"b"}}, {fails, []string{"d"}}}}},
		"of one time":          {with([]string{"a", "b"}, nil, nil, v("a", fails, 1), v("b", fails, 1)), written{Verdicts: []same{{fails, []string{"a", "b"}}}}},
		"in another order":     {with([]string{"a", "b"}, nil, nil, v("b", fails, 1), v("a", fails, 1)), written{Verdicts: []same{{fails, []string{"b", "a"}}}}},
		"without a verdict":    {with([]string{"a", "b"}, nil, nil, v("b", fails, 1)), written{Covers: []string{"a"}, Verdicts: []same{{fails, []string{"b"}}}}},
		"the cause's too":      {with([]string{"a"}, []string{"a"}, nil, v("a", fails, 1)), written{Verdicts: []same{{fails, []string{"a"}}}, CauseCovers: true}},
		"the cause's are less": {with([]string{"a", "b"}, []string{"a"}, nil, v("a", fails, 1), v("b", fails, 1)), causes(written{Verdicts: []same{{fails, []string{"a", "b"}}}}, "a")},
		"more than are kept":   {with([]string{"i-1", "i-2"}, nil, []string{"i-2", "i-3"}, v("i-1", fails, 1), v("i-2", fails, 1)), written{More: []string{"i-3"}, Verdicts: []same{{fails, []string{"i-1", "i-2"}}}, MoreCovers: true}},
		"more, not covered":    {with([]string{"i-1"}, nil, []string{"i-3"}, v("i-1", fails, 1)), written{More: []string{"i-3"}, Verdicts: []same{{fails, []string{"i-1"}}}}},
		"covered, not more":    {with([]string{"i-2", "i-3"}, nil, []string{"i-3"}, v("i-2", fails, 1), v("i-3", fails, 1)), written{More: []string{"i-3"}, Verdicts: []same{{fails, []string{"i-2", "i-3"}}}}},
	} {
		var got written
		if err := json.Unmarshal(incidenttest.Encoded(t, test.inc), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What is read is in order, whatever lies in the table.
func TestWhatIsRead(t *testing.T) {
	var inc incident.Incident
	body := `{"covers":["z","c"],"verdicts":[{"found":"failing","at":"2026-11-20T15:00:00Z","of":["i-2","c"]},{"found":"passing","at":"2026-11-20T15:00:00Z","of":["a"]}],"more":["i-9"],"moreCovers":true,"causeCovers":true}`
	if err := json.Unmarshal([]byte(body), &inc); err != nil {
		t.Fatal(err)
	}
	at := incidenttest.At(1)
	want := incident.Incident{
		Covers: []string{"a", "c", "i-2", "z"}, More: []string{"a", "c", "i-2", "i-9", "z"},
		Verdicts: []incident.Verdict{{Of: "a", Found: incident.Passing, At: at}, {Of: "c", Found: incident.Failing, At: at}, {Of: "i-2", Found: incident.Failing, At: at}},
	}
	want.Cause.Covers = want.Covers
	if diff := cmp.Diff(want, inc); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal([]byte(`{"covers":"a"}`), &inc); !errors.As(err, &wrong) || wrong.Field != "covers" {
		t.Errorf("what is no list is read: %v", err)
	}
}

// What each reason does: what the bus receives, whether the thread gets a reply,
// and whether a mute drops that.
func TestWhatEachReasonDoes(t *testing.T) {
	type does struct {
		bus            incident.EventKind
		noted, dropped bool
	}
	const (
		nothing  = incident.EventKind("")
		changed  = incident.EventChanged
		resolved = incident.EventResolved
	)
	for reason, want := range map[incident.Reason]does{
		incident.Opened:       {incident.EventOpened, true, true},
		incident.Reopened:     {incident.EventReopened, true, true},
		incident.FailedAgain:  {changed, true, true},
		incident.IsProved:     {resolved, true, false},
		incident.IsUnproved:   {resolved, true, false},
		incident.IsSuperseded: {resolved, true, false},
		incident.IsWithdrawn:  {resolved, true, false},
		incident.IsGivenUpOn:  {resolved, true, false},
		incident.CauseGone:    {changed, true, true},
		incident.HasMissed:    {changed, true, true},
		incident.MoreAffected: {changed, false, false},
		incident.BetterKnown:  {changed, false, false},
		incident.HasJoined:    {nothing, false, true}, // attached by hand

		incident.IsProposed:      {nothing, true, true},
		incident.IsApproved:      {incident.EventApproved, true, false},
		incident.IsRefused:       {nothing, true, false},
		incident.RemedyDone:      {incident.EventActed, true, false},
		incident.RemedyFailed:    {incident.EventActed, true, false},
		incident.IsVerified:      {changed, true, false},
		incident.IsUnhelpful:     {changed, true, false},
		incident.IsDeferred:      {nothing, true, true},
		incident.HasChanges:      {nothing, true, true},
		incident.IsTakenOver:     {incident.EventAcknowledged, true, false},
		incident.IsCalled:        {nothing, true, true},
		incident.IsAlertResolved: {nothing, true, false},
		incident.IsReminded:      {nothing, true, true},
		incident.IsEscalated:     {nothing, true, true},

		incident.IsAcknowledged: {incident.EventAcknowledged, false, false},
		incident.IsMuted:        {nothing, false, false},
		incident.IsUnmuted:      {nothing, false, false},
		incident.IsOutdated:     {nothing, false, false},
		incident.IsExpired:      {nothing, false, false},
		incident.IsAsked:        {incident.EventCheckWanted, false, false},
		incident.IsCalmed:       {nothing, false, false},
		incident.IsRenewed:      {nothing, false, false},
		incident.IsDue:          {changed, false, false},

		incident.PressRefused:   {nothing, false, false},
		incident.IsMalformed:    {nothing, false, false},
		incident.NothingNew:     {nothing, false, false},
		incident.NotYet:         {nothing, false, false},
		incident.OutOfDate:      {nothing, false, false},
		incident.AlreadyApplied: {nothing, false, false},
	} {
		if got := (does{reason.Event(), reason.Noted(), reason.DroppedByMute()}); got != want {
			t.Errorf("%s: %+v, want %+v", reason, got, want)
		}
	}
	for how, want := range map[incident.Resolution]incident.Reason{
		incident.Proved: incident.IsProved, incident.Unproved: incident.IsUnproved, incident.Superseded: incident.IsSuperseded, incident.GivenUpOn: incident.IsGivenUpOn,
		incident.Withdrawn: incident.IsWithdrawn, incident.ClusterDeleted: incident.IsWithdrawn, incident.Unseen: incident.IsWithdrawn,
	} {
		if got := how.Reason(); got != want {
			t.Errorf("the end %s is said as %s, want %s", how, got, want)
		}
	}
	for kind, want := range map[incident.EventKind]string{
		incident.EventOpened: "Rollcall Incident Opened", incident.EventReopened: "Rollcall Incident Reopened", incident.EventChanged: "Rollcall Incident Changed",
		incident.EventResolved: "Rollcall Incident Resolved", incident.EventApproved: "Rollcall Remedy Approved", incident.EventCheckWanted: "Rollcall Check Wanted",
	} {
		if got := kind.DetailType(); got != want {
			t.Errorf("%s is %q on the bus, want %q", kind, got, want)
		}
	}
}

func TestWhichAnswersDidSomething(t *testing.T) {
	for _, done := range []incident.AnswerReason{
		incident.AnswerApproved, incident.AnswerRefused, incident.AnswerAcknowledged, incident.AnswerTakenOver, incident.AnswerMuted, incident.AnswerUnmuted, incident.AnswerChecking,
	} {
		if a := (incident.Answer{Reason: done}); !a.Done() || !a.Proven() {
			t.Errorf("%s: done %t, proven %t", done, a.Done(), a.Proven())
		}
	}
	for _, not := range []incident.AnswerReason{incident.NotAllowed, incident.PlanExpired, incident.AlreadyTaken, ""} {
		if a := (incident.Answer{Reason: not}); a.Done() || !a.Proven() {
			t.Errorf("%s: done %t, proven %t", not, a.Done(), a.Proven())
		}
	}
	if a := (incident.Answer{Reason: incident.NotPassedOn}); a.Done() || a.Proven() {
		t.Error("what a function made up is told to the person whom it names")
	}
}

// What an event says is believed as far as the record says the same.
func TestFromRecord(t *testing.T) {
	opened := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	record := func(state incident.State, acked bool) incident.Incident {
		inc := incident.Incident{Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0a"}, State: state, Opened: opened, Changed: opened.Add(time.Hour), Events: 4}
		if acked {
			inc.Ack = &incident.Ack{}
		}
		return inc
	}
	for name, tt := range map[string]struct {
		state    incident.State
		acked    bool
		kind     incident.EventKind
		sequence int
		opened   time.Time
		want     bool
	}{
		"opened":                     {incident.Open, false, incident.EventOpened, 1, opened, true},
		"reopened":                   {incident.Open, false, incident.EventReopened, 3, opened, true},
		"changed, the newest":        {incident.Open, false, incident.EventChanged, 4, opened, true},
		"changed, of a closed one":   {incident.Closed, false, incident.EventChanged, 4, opened, false},
		"resolved":                   {incident.Closed, false, incident.EventResolved, 4, opened, true},
		"resolved, and is open":      {incident.Open, false, incident.EventResolved, 4, opened, false},
		"acknowledged":               {incident.Open, true, incident.EventAcknowledged, 2, opened, true},
		"acknowledged by nobody":     {incident.Open, false, incident.EventAcknowledged, 2, opened, false},
		"acknowledged, and closed":   {incident.Closed, true, incident.EventAcknowledged, 2, opened, false},
		"newer than the record":      {incident.Open, false, incident.EventChanged, 5, opened, false},
		"before the first":           {incident.Open, false, incident.EventChanged, 0, opened, false},
		"of another opening":         {incident.Open, false, incident.EventChanged, 4, opened.Add(time.Second), false},
		"a remedy, of which it says": {incident.Open, false, incident.EventActed, 4, opened, false},
	} {
		inc := record(tt.state, tt.acked)
		e, ok := inc.FromRecord(incident.Event{Kind: tt.kind, Sequence: tt.sequence, Opened: tt.opened, Title: "forged"})
		if ok != tt.want || ok && (e.Kind != tt.kind || e.Sequence != tt.sequence || e.Cluster != "prod" || e.Title == "forged") {
			t.Errorf("%s: %t, %+v", name, ok, e)
		}
		if !ok && e.Kind != "" {
			t.Errorf("%s: refused with an event: %+v", name, e)
		}
	}
}

// An event is the record's where the bus took it, or is about to, with all that it says.
func TestWasPublished(t *testing.T) {
	e := incident.Event{ID: "a/1", Kind: incident.EventOpened, Title: "said"}
	other := e
	other.Title = "forged"
	if d := e.Digest(); len(d) != 24 || d == other.Digest() {
		t.Fatalf("digests %q and %q", d, other.Digest())
	}
	for name, inc := range map[string]incident.Incident{
		"published": {Published: []string{e.Digest()}},
		"pending":   {PendingEvents: []incident.Event{e}},
	} {
		if !inc.WasPublished(e) || inc.WasPublished(other) {
			t.Errorf("%s: %t, and the forged one %t", name, inc.WasPublished(e), inc.WasPublished(other))
		}
	}
	if (&incident.Incident{}).WasPublished(e) {
		t.Error("of a record without events")
	}
}

func TestSeverity(t *testing.T) {
	with := func(check checkid.ID, c catalog.Confidence, standings ...report.LaunchStatus) incident.Incident {
		inc := incident.Incident{Key: report.Key{Check: check}, State: incident.Open, Affected: len(standings)}
		inc.Cause.Confidence = c
		for _, s := range standings {
			inc.Launches = append(inc.Launches, report.Launch{Status: s})
		}
		return inc
	}
	in := func(inc incident.Incident, s incident.State, e incident.Resolution) incident.Incident {
		inc.State, inc.Resolution = s, e
		return inc
	}
	short := with(checkid.IPLeakedInterfaces, catalog.Certain)
	short.Effects = []incident.Effect{{Check: checkid.IPSubnetExhausted, Told: incidenttest.At(1)}}
	foreseen := with(checkid.IPLeakedInterfaces, catalog.Certain)
	foreseen.Effects = []incident.Effect{{Check: checkid.IPRunway, Told: incidenttest.At(1)}}
	starved := with(checkid.IPLeakedInterfaces, catalog.Certain, report.Joined, report.Joined)
	starved.Effects = short.Effects
	waited := with("zone/nodegroup-gap", catalog.Certain)
	waited.Cause.Pods = []string{"redash/redis-0"}
	unlikely, advised := waited, waited
	unlikely.Cause.Confidence, advised.Cause.Confidence = catalog.Likely, catalog.Advice
	crowd := with("route/no-egress", catalog.Certain, report.Joined)
	crowd.Affected = 500
	unnamed := with("dns/dhcp-options", catalog.Likely)
	unnamed.Affected = 5
	idle := with("launch/unauthorized", catalog.Certain)
	idle.Cause.Idle = true
	half := with("launch/subnet-full", catalog.Certain, report.Joined, report.Missed)
	effectOf := func(check, effect checkid.ID) incident.Incident {
		inc := with(check, catalog.Certain)
		inc.Effects = []incident.Effect{{Check: effect, Told: incidenttest.At(1)}}
		return inc
	}
	past := effectOf(checkid.IPLeakedInterfaces, checkid.IPSubnetExhausted)
	past.Effects[0].Over = incidenttest.At(2)
	podsOf := with("ip/runway", catalog.Likely)
	podsOf.Cause.Pods = waited.Cause.Pods
	for name, test := range map[string]struct {
		inc  incident.Incident
		want incident.Severity
	}{
		"likely, and none is named":                {unnamed, incident.Critical},
		"one launch of two came":                   {half, incident.Critical},
		"all that is ahead of a leak: a leak":      {effectOf(checkid.IPRunway, checkid.IPLeakedInterfaces), incident.Warning},
		"all that is ahead of a leak: a scale-out": {effectOf(checkid.IPLeakedInterfaces, checkid.IPScaleOutWillNotFit), incident.Warning},
		"all that is ahead of a leak: its cause":   {effectOf(checkid.IPLeakedInterfaces, "ip/leak-cause"), incident.Warning},
		"an effect of what is no address":          {effectOf("route/no-egress", checkid.IPSubnetExhausted), incident.Warning},
		"a leak that had reached launches":         {past, incident.Warning},
		"pods that wait for no zone":               {podsOf, incident.Warning},
		"open again after it was given up on":      {in(with("route/no-egress", catalog.Advice), incident.Open, incident.GivenUpOn), incident.Info},
		"certain, not due yet":                     {with("route/no-egress", catalog.Certain, report.Waiting), incident.Critical},
		"likely, not due yet":                      {with("dns/dhcp-options", catalog.Likely, report.Waiting), incident.Warning},
		"possible, not due yet":                    {with("dns/dhcp-options", catalog.Possible, report.Waiting), incident.Warning},
		"symptom, not due yet":                     {with("node/not-registered", catalog.Symptom, report.Waiting), incident.Warning},
		"possible, missed":                         {with("dns/dhcp-options", catalog.Possible, report.Missed, report.Waiting), incident.Critical},
		"symptom, missed":                          {with("node/not-registered", catalog.Symptom, report.Missed), incident.Critical},
		"a standing that nobody knows":             {with("dns/dhcp-options", catalog.Likely, "lost"), incident.Critical},
		"all joined":                               {with("route/no-egress", catalog.Certain, report.Joined), incident.Warning},
		"one joined, the rest not named":           {crowd, incident.Critical},
		"nobody affected":                          {with("route/no-egress", catalog.Certain), incident.Warning},
		"advice":                                   {with("route/no-egress", catalog.Advice, report.Missed), incident.Info},
		"ended early":                              {with(checkid.InstanceEndedEarly, catalog.Certain, report.Gone), incident.Critical},
		"cannot look":                              {with(incident.CannotLook, catalog.Possible), incident.Warning},
		"launches refused that nothing waits for":  {idle, incident.Warning},
		"launches refused, no instance":            {with("launch/subnet-full", catalog.Certain), incident.Critical},
		"addon degraded":                           {with("addon/degraded", catalog.Certain), incident.Warning},
		"a leak that reached launches":             {short, incident.Critical},
		"a leak that is only foreseen":             {foreseen, incident.Warning},
		"nodes joined, and none is left":           {starved, incident.Critical},
		"all joined, of a leak":                    {with(checkid.IPLeakedInterfaces, catalog.Certain, report.Joined), incident.Warning},
		"launches that came in the end":            {with("launch/subnet-full", catalog.Certain, report.Joined), incident.Warning},
		"a pod waits for a zone":                   {waited, incident.Critical},
		"a pod may wait for a zone":                {unlikely, incident.Critical},
		"a zone, and advice":                       {advised, incident.Info},
		"a zone, and nobody waits":                 {with("zone/nodegroup-gap", catalog.Likely), incident.Warning},
		"a pod waits, it is over":                  {in(waited, incident.Closed, incident.Proved), incident.Info},
		"cleared":                                  {in(with("route/no-egress", catalog.Certain, report.Missed), incident.Cleared, ""), incident.Info},
		"proved":                                   {in(with("route/no-egress", catalog.Certain, report.Missed), incident.Closed, incident.Proved), incident.Info},
		"given up on":                              {in(with("node/not-ready", catalog.Symptom, report.GivenUp), incident.Closed, incident.GivenUpOn), incident.Critical},
	} {
		if got := test.inc.Severity(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestPodsIn: which pods of a look wait for an incident's cause; those that wait for
// something else are not counted.
func TestPodsIn(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	work := func(owner string, pods int) diagnosis.Workload {
		return diagnosis.Workload{Namespace: "shop", Owner: owner, Pods: pods}
	}
	waits := func(owner string, pods int, fits ...string) report.WaitingWorkload {
		return report.WaitingWorkload{Workload: work(owner, pods), Fits: fits}
	}
	unsure := waits("Job unsure", 3)
	unsure.Unsure = []string{"workers"}
	starved := waits("Deployment starved", 12)
	starved.On = []string{"i-1", "subnet-1"}
	somewhere := waits("Deployment somewhere", 4)
	somewhere.On = []string{"i-2"}
	sources := []report.NodeSource{{Name: "workers", Group: "eks-workers-1"}, {Name: "batch", Group: "eks-batch-1"}, {Name: "spot", Launches: true}}
	looked := func(list ...report.WaitingWorkload) *report.WaitingPods {
		return &report.WaitingPods{Workloads: list, Sources: sources}
	}
	more := func(n int) *report.WaitingPods { w := looked(); w.More = n; return w }
	two := func(w *report.WaitingPods) *report.WaitingPods {
		w.Sources = append(slices.Clone(w.Sources), report.NodeSource{Name: "more", Launches: true})
		return w
	}
	missed := incident.Incident{
		Key: report.Key{Cluster: "prod", Check: checkid.RouteNoEgress}, State: incident.Open, Affected: 1, Seen: at,
		Launches: []report.Launch{{Instance: "i-9", Group: "eks-workers-1", Nodegroup: "workers", Status: report.Missed}},
		Cause:    diagnosis.Cause{Confidence: catalog.Certain, Nodegroups: []string{"workers"}},
	}
	with := func(change func(*incident.Incident)) incident.Incident {
		inc := missed.Clone()
		change(&inc)
		return inc
	}
	foreseen := with(func(i *incident.Incident) { i.Affected, i.Launches = 0, nil })
	joined := with(func(i *incident.Incident) { i.Launches[0].Status = report.Joined })
	unknown := with(func(i *incident.Incident) { i.Cause.Nodegroups = []string{"gone"} })
	addresses := with(func(i *incident.Incident) {
		i.Key.Check, i.Covers, i.Affected, i.Launches = checkid.IPLeakedInterfaces, []string{"subnet-1"}, 0, nil
		i.Cause.Nodegroups = nil
	})
	plugin := with(func(i *incident.Incident) { i.Key.Check, i.Covers = checkid.NodeCNINotReady, []string{"i-1"} })
	pool := with(func(i *incident.Incident) {
		i.Covers, i.Launches, i.Affected, i.Cause.Nodegroups = []string{snapshot.PoolKey("spot")}, nil, 0, nil
		i.Key.Check = checkid.LaunchVCPULimit
	})
	named := with(func(i *incident.Incident) {
		i.Cause.Pods, i.Cause.Workloads = []string{"shop/db-0"}, []diagnosis.Workload{work("StatefulSet db", 1)}
	})
	namedBefore := with(func(i *incident.Incident) { i.Cause, i.Seen = named.Cause, at.Add(-time.Minute) })
	denied := &snapshot.Failure{Source: snapshot.WaitingPods, Reason: snapshot.Denied, Call: "kubernetes: list pods", Message: "request 1"}
	for name, test := range map[string]struct {
		inc  incident.Incident
		pods *report.WaitingPods
		want *incident.PodImpact
	}{
		"not looked at":                  {missed, nil, nil},
		"denied":                         {missed, &report.WaitingPods{Unread: denied}, &incident.PodImpact{At: at, Unread: &snapshot.Failure{Source: snapshot.WaitingPods, Reason: snapshot.Denied, Call: "kubernetes: list pods"}}},
		"none wait":                      {missed, looked(), &incident.PodImpact{At: at}},
		"for another nodegroup":          {missed, looked(waits("Job other", 7, "batch"), waits("Job nowhere", 7)), &incident.PodImpact{At: at}},
		"on a node of another subnet":    {missed, looked(starved), &incident.PodImpact{At: at}},
		"for this nodegroup":             {missed, looked(waits("Job web", 2, "workers"), waits("Job other", 7, "batch")), &incident.PodImpact{At: at, Count: 2, Owners: 1, Workloads: []diagnosis.Workload{work("Job web", 2)}}},
		"another pool can run them":      {missed, looked(waits("Job web", 2, "spot", "workers")), &incident.PodImpact{At: at, Count: 2, Owners: 1, Workloads: []diagnosis.Workload{work("Job web", 2)}, Elsewhere: sources[2], Served: 2}},
		"another group does not scale":   {missed, looked(waits("Job web", 2, "batch", "workers")), &incident.PodImpact{At: at, Count: 2, Owners: 1, Workloads: []diagnosis.Workload{work("Job web", 2)}}},
		"perhaps":                        {missed, looked(unsure), &incident.PodImpact{At: at, Unsure: 3}},
		"nobody launched yet":            {foreseen, looked(waits("Job web", 2, "workers")), &incident.PodImpact{At: at, Unsure: 2}},
		"all that launched joined":       {joined, looked(waits("Job web", 2, "workers")), &incident.PodImpact{At: at, Unsure: 2}},
		"not compared with its group":    {unknown, looked(waits("Job web", 2, "workers"), waits("Job other", 7, "batch")), &incident.PodImpact{At: at, OfCluster: true, Count: 9, Owners: 2, Workloads: []diagnosis.Workload{work("Job other", 7), work("Job web", 2)}}},
		"without an address":             {addresses, looked(starved, waits("Job web", 2, "workers")), &incident.PodImpact{At: at, Count: 12, Owners: 1, Workloads: []diagnosis.Workload{work("Deployment starved", 12)}}},
		"on a node of an unknown subnet": {addresses, looked(somewhere), nil},
		"not about addresses":            {missed, looked(somewhere), &incident.PodImpact{At: at}},
		"on its instance":                {plugin, looked(starved), &incident.PodImpact{At: at, Count: 12, Owners: 1, Workloads: []diagnosis.Workload{work("Deployment starved", 12)}}},
		"of a NodePool":                  {pool, looked(waits("Job web", 2, "spot"), waits("Job other", 7, "workers")), &incident.PodImpact{At: at, Count: 2, Owners: 1, Workloads: []diagnosis.Workload{work("Job web", 2)}}},
		"named by the check":             {named, looked(waits("Job web", 2, "workers")), &incident.PodImpact{At: at, Count: 1, Owners: 1, Workloads: []diagnosis.Workload{work("StatefulSet db", 1)}}},
		"named by an earlier look":       {namedBefore, looked(waits("Job web", 2, "workers")), nil},
		"the instance was not lost, and its severity is low": {with(func(i *incident.Incident) { i.Affected, i.Launches, i.Cause.Confidence = 0, nil, catalog.Likely }), looked(waits("Job web", 2, "workers")), &incident.PodImpact{At: at, Unsure: 2}},
		"more than are named, of a nodegroup":                {missed, more(4), &incident.PodImpact{At: at, Unsure: 4}},
		"more than are named, of the cluster":                {unknown, more(4), &incident.PodImpact{At: at, OfCluster: true, Unsure: 4}},
		"more than are named, about addresses":               {addresses, more(4), &incident.PodImpact{At: at}},
		"not compared, on a node elsewhere":                  {unknown, looked(starved), &incident.PodImpact{At: at, OfCluster: true}},
		"two pools can run them": {missed, two(looked(waits("Job web", 2, "more", "spot", "workers"))),
			&incident.PodImpact{At: at, Count: 2, Owners: 1, Workloads: []diagnosis.Workload{work("Job web", 2)}, Elsewhere: sources[2], Served: 2}},
		"the largest are named": {missed, looked(waits("Job a", 1, "workers"), waits("Job b", 4, "workers"), waits("Job c", 3, "workers"), waits("Job d", 2, "workers")),
			&incident.PodImpact{At: at, Count: 10, Owners: 4, Workloads: []diagnosis.Workload{work("Job b", 4), work("Job c", 3), work("Job d", 2)}}},
	} {
		if diff := cmp.Diff(test.want, test.inc.PodsIn(report.Observation{At: at, Waiting: test.pods})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
