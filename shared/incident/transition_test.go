package incident_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		"all of it is gone":     {of(func(inc *incident.Incident) { inc.Verdicts[0].Found = incident.Absent }), 6, incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Withdrawn}},
		"nobody was told":       {of(func(inc *incident.Incident) { passes(inc); inc.State = incident.Pending }), 6, incident.Transition{To: incident.Closed, Reason: incident.NotYet, Resolution: incident.Withdrawn}},
		"EKS says it of itself": {of(func(inc *incident.Incident) { passes(inc); inc.Key.Check = "addon/degraded" }), 6, incident.Transition{To: incident.Closed, Reason: incident.IsProved, Resolution: incident.Proved, ClearedAt: after(5)}},
		"its instance is looked at no more": {of(func(inc *incident.Incident) {
			inc.Cause.Confidence = checks.Symptom
			inc.Covers, inc.Verdicts[0].Of = []string{"i-1"}, "i-1"
			inc.Launches = []report.Launch{{Instance: "i-1", Status: report.GivenUp}}
		}), 6, incident.Transition{To: incident.Closed, Reason: incident.IsGivenUpOn, Resolution: incident.GivenUpOn}},
		"its instance has ended, and nothing can show it well": {of(func(inc *incident.Incident) { inc.Key.Check = incident.EndedEarly }), 60, incident.Transition{To: incident.Closed, Reason: incident.IsUnproved, Resolution: incident.Unproved}},
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
	for name, test := range map[string]struct{ got, want incident.Transition }{
		"the cluster is deleted":         {open.AfterClusterDeleted(noon), incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.ClusterDeleted, SettledAt: noon}},
		"and nobody was told":            {pending.AfterClusterDeleted(noon), incident.Transition{To: incident.Closed, Reason: incident.NotYet, Resolution: incident.ClusterDeleted, SettledAt: noon}},
		"it was seen after that":         {open.AfterClusterDeleted(noon.Add(-1)), incident.Transition{}},
		"it was over before":             {over.AfterClusterDeleted(noon), incident.Transition{}},
		"nothing is heard for a while":   {open.AfterSilence(noon.Add(incident.MaxUnseen - 1)), incident.Transition{}},
		"nothing is heard for two weeks": {open.AfterSilence(noon.Add(incident.MaxUnseen)), incident.Transition{To: incident.Closed, Reason: incident.IsWithdrawn, Resolution: incident.Unseen}},
		"another one explains it":        {incident.SupersededBy(by, noon), incident.Transition{To: incident.Closed, Reason: incident.IsSuperseded, Resolution: incident.Superseded, SettledAt: noon, By: &by}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
