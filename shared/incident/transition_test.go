package incident_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// Each step says to where, how it ends, and why; what takes no step says nothing.
func TestNextStepOfAnIncident(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	after := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	node := report.Launch{Instance: "i-2", Subnet: "subnet-0ab1", Status: report.Joined, Ready: after(9)}
	of := func(change func(*incident.Incident)) incident.Incident {
		inc := incident.Incident{
			Key: report.Key{Cluster: "eks-workshop", Check: "route/no-egress", Resource: "rtb-0cd2"}, State: incident.Open, Number: 1, Seen: noon,
			Covers: []string{"subnet-0ab1"}, Verdicts: []incident.Verdict{{Of: "subnet-0ab1", Found: incident.Failing, At: noon}},
		}
		inc.Cause.Confidence = checks.Certain
		change(&inc)
		return inc
	}
	passes := func(inc *incident.Incident) { inc.Verdicts[0].Found, inc.Verdicts[0].At = incident.Passing, after(5) }
	cleared := func(inc *incident.Incident) { passes(inc); inc.State, inc.Cleared = incident.Cleared, after(5) }
	for name, test := range map[string]struct {
		inc  incident.Incident
		now  int
		want incident.Transition
	}{
		"fails still":       {of(func(*incident.Incident) {}), 30, incident.Transition{}},
		"the cause is gone": {of(passes), 6, incident.Transition{To: incident.Cleared, Reason: incident.CauseGone, ClearedAt: after(5)}},
		"and is back":       {of(func(inc *incident.Incident) { inc.State, inc.Cleared = incident.Cleared, after(5) }), 6, incident.Transition{To: incident.Open, Reason: incident.FailedAgain}},
		"no node came yet":  {of(cleared), 64, incident.Transition{}},
		"no node came":      {of(cleared), 65, incident.Transition{To: incident.Closed, Reason: incident.IsUnproved, Resolution: incident.Unproved}},
		"a node came":       {of(func(inc *incident.Incident) { cleared(inc); inc.Joins = []report.Launch{node} }), 10, incident.Transition{To: incident.Closed, Reason: incident.IsProved, Resolution: incident.Proved, Proof: &node, SettledAt: after(9)}},
		"a replacement waits": {of(func(inc *incident.Incident) {
			cleared(inc)
			inc.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Deferred, Again: true}}
		}), 65, incident.Transition{}},
		"a day is over for the replacement": {of(func(inc *incident.Incident) {
			cleared(inc)
			inc.Cleared = noon
			inc.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: incident.Deferred, Again: true}}
		}), 24 * 60, incident.Transition{To: incident.Closed, Reason: incident.IsUnproved, Resolution: incident.Unproved}},
		"an instance that had ended is not looked at any more": {of(func(inc *incident.Incident) {
			inc.Key.Check, inc.Verdicts[0].Found = checkid.InstanceEndedEarly, incident.Absent
		}), 1, incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Withdrawn}},
		"all of it is gone":     {of(func(inc *incident.Incident) { inc.Verdicts[0].Found = incident.Absent }), 6, incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Withdrawn}},
		"nobody was told":       {of(func(inc *incident.Incident) { passes(inc); inc.State = incident.Pending }), 6, incident.Transition{To: incident.Closed, Reason: incident.NotYet, Resolution: incident.Withdrawn}},
		"EKS says it of itself": {of(func(inc *incident.Incident) { passes(inc); inc.Key.Check = "addon/degraded" }), 6, incident.Transition{To: incident.Closed, Reason: incident.IsProved, Resolution: incident.Proved, ClearedAt: after(5)}},
		"its instance is looked at no more": {of(func(inc *incident.Incident) {
			inc.Cause.Confidence = checks.Symptom
			inc.Covers, inc.Verdicts[0].Of = []string{"i-1"}, "i-1"
			inc.Launches = []report.Launch{{Instance: "i-1", Status: report.GivenUp}}
		}), 6, incident.Transition{To: incident.Closed, Reason: incident.IsGivenUpOn, Resolution: incident.GivenUpOn}},
		"its instance has ended, and nothing can show it well": {of(func(inc *incident.Incident) { inc.Key.Check = checkid.InstanceEndedEarly }), 60, incident.Transition{To: incident.Closed, Reason: incident.IsUnproved, Resolution: incident.Unproved}},
		"it is over": {of(func(inc *incident.Incident) { passes(inc); inc.State = incident.Closed }), 6, incident.Transition{}},
	} {
		if diff := cmp.Diff(test.want, test.inc.Next(after(test.now), time.Hour)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestStepsFromOutside(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	by := report.Key{Cluster: "eks-workshop", Check: "ip/leaked-interfaces", Resource: "subnet-0ab1"}
	open := incident.Incident{State: incident.Open, Number: 1, Seen: noon, Opened: noon}
	pending, over := open, open
	pending.State, over.State = incident.Pending, incident.Closed
	cleared := open
	cleared.State = incident.Cleared
	unseen := incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Unseen}
	for name, test := range map[string]struct{ got, want incident.Transition }{
		"the cluster is deleted":         {open.AfterClusterDeleted(noon), incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.ClusterDeleted, SettledAt: noon}},
		"and nobody was told":            {pending.AfterClusterDeleted(noon), incident.Transition{To: incident.Closed, Reason: incident.NotYet, Resolution: incident.ClusterDeleted, SettledAt: noon}},
		"it is not watched any more":     {open.AfterUnwatched(noon), incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Unwatched, SettledAt: noon}},
		"not watched, and not told":      {pending.AfterUnwatched(noon), incident.Transition{To: incident.Closed, Reason: incident.NotYet, Resolution: incident.Unwatched, SettledAt: noon}},
		"not watched, and over before":   {incident.Incident{State: incident.Closed}.AfterUnwatched(noon), incident.Transition{}},
		"it was seen after that":         {open.AfterClusterDeleted(noon.Add(-1)), incident.Transition{}},
		"it was over before":             {over.AfterClusterDeleted(noon), incident.Transition{}},
		"nothing is heard for a while":   {open.AfterSilence(noon.Add(incident.MaxUnseen - 1)), incident.Transition{}},
		"nothing is heard for two weeks": {open.AfterSilence(noon.Add(incident.MaxUnseen)), incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Unseen}},
		"nor of one that is cleared":     {cleared.AfterSilence(noon.Add(incident.MaxUnseen)), unseen},
		"nor of one that nobody knows":   {pending.AfterSilence(noon.Add(incident.MaxUnseen)), incident.Transition{}},
		"nor of one that is over":        {over.AfterSilence(noon.Add(incident.MaxUnseen)), incident.Transition{}},
		"another one explains it":        {incident.SupersededBy(by, noon), incident.Transition{To: incident.Closed, Reason: incident.IsSuperseded, Resolution: incident.Superseded, SettledAt: noon, By: &by}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What each step changes of an incident, all of it.
func TestWhatAStepChanges(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	by, node := report.Key{Resource: "subnet-0ab1"}, report.Launch{Instance: "i-2"}
	offers := func(route, replace incident.OfferState, says string) []incident.Offer {
		list := []incident.Offer{{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: route}, {Plan: remedy.Plan{Remedy: optin.ReplaceInstance}, State: replace}}
		for i := range list {
			if list[i].State == incident.Outdated {
				list[i].Says = says
			}
		}
		return list
	}
	before := incident.Incident{
		State: incident.Open, Cleared: noon, ClearedBy: []checks.Evidence{{What: "w"}}, Settled: noon, Times: 2, Joins: []report.Launch{node}, Proof: &report.Launch{Instance: "i-0"},
		By: &report.Key{Resource: "old"}, Offers: offers(incident.Offered, incident.Offered, ""),
	}
	later := noon.Add(time.Minute)
	for name, test := range map[string]struct {
		t    incident.Transition
		want func(*incident.Incident)
	}{
		"none": {incident.Transition{Reason: incident.IsProved, ClearedAt: later}, func(*incident.Incident) {}},
		"the cause is back": {incident.Transition{To: incident.Open}, func(inc *incident.Incident) {
			inc.State, inc.Cleared, inc.ClearedBy, inc.Offers = incident.Open, time.Time{}, nil, offers(incident.Offered, incident.Outdated, "the cause is back")
		}},
		"the cause is gone": {incident.Transition{To: incident.Cleared, ClearedAt: later}, func(inc *incident.Incident) {
			inc.State, inc.Cleared, inc.Offers = incident.Cleared, later, offers(incident.Outdated, incident.Offered, "the cause is gone")
		}},
		"it is over": {incident.Transition{To: incident.Closed, Resolution: incident.Withdrawn}, func(inc *incident.Incident) {
			inc.State, inc.Resolution, inc.Resolved, inc.Times, inc.Joins = incident.Closed, incident.Withdrawn, later, 0, nil
			inc.Offers = offers(incident.Outdated, incident.Outdated, "the incident is over")
		}},
		"it is proved, and by what": {incident.Transition{To: incident.Closed, Resolution: incident.Proved, Proof: &node, By: &by, SettledAt: later, ClearedAt: later}, func(inc *incident.Incident) {
			inc.State, inc.Resolution, inc.Resolved, inc.Times, inc.Joins = incident.Closed, incident.Proved, later, 0, nil
			inc.Offers = offers(incident.Outdated, incident.Outdated, "the incident is over")
			inc.Proof, inc.By, inc.Settled, inc.Cleared = &node, &by, later, later
		}},
	} {
		got, want := before.Clone(), before.Clone()
		got.Apply(test.t, later)
		test.want(&want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		u := incident.Update{Incident: before.Clone()}
		u.Apply(test.t, later)
		reasons := []incident.Reason{test.t.Reason}
		if test.t.None() {
			reasons = nil
		}
		if diff := cmp.Diff(incident.Update{Incident: want, Reasons: reasons, Touched: !test.t.None()}, u); diff != "" {
			t.Errorf("%s, as an update (-want +got):\n%s", name, diff)
		}
	}
	var u incident.Update
	for _, r := range []incident.Reason{incident.IsProved, incident.HasMissed, incident.IsProved} {
		u.Because(r)
	}
	if diff := cmp.Diff([]incident.Reason{incident.IsProved, incident.HasMissed}, u.Reasons); diff != "" || !u.Touched {
		t.Errorf("why it changes, touched %t (-want +got):\n%s", u.Touched, diff)
	}
}
