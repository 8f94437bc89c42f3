package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/plan"
)

// Each step says to where, how it ends, and why; what takes no step says nothing.
func TestNextStepOfAnIncident(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	after := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	node := Launch{Instance: "i-2", Subnet: "subnet-0ab1", Standing: Joined, Ready: after(9)}
	incident := func(change func(*Incident)) Incident {
		inc := Incident{
			Key: Key{Cluster: "eks-workshop", Check: "route/no-egress", Resource: "rtb-0cd2"}, State: Open, Number: 1, Seen: noon,
			Covers: []string{"subnet-0ab1"}, Verdicts: []Verdict{{Of: "subnet-0ab1", Found: Failing, At: noon}},
		}
		inc.Cause.Confidence = checks.Certain
		change(&inc)
		return inc
	}
	passes := func(inc *Incident) { inc.Verdicts[0].Found, inc.Verdicts[0].At = Passing, after(5) }
	cleared := func(inc *Incident) { passes(inc); inc.State, inc.Cleared = Cleared, after(5) }
	for name, test := range map[string]struct {
		inc  Incident
		now  int
		want Transition
	}{
		"fails still":       {incident(func(*Incident) {}), 30, Transition{}},
		"the cause is gone": {incident(passes), 6, Transition{To: Cleared, Reason: CauseGone, ClearedAt: after(5)}},
		"and is back":       {incident(func(inc *Incident) { inc.State, inc.Cleared = Cleared, after(5) }), 6, Transition{To: Open, Reason: FailedAgain}},
		"no node came yet":  {incident(cleared), 64, Transition{}},
		"no node came":      {incident(cleared), 65, Transition{To: Closed, Reason: IsUnproved, Ending: Unproved}},
		"a node came":       {incident(func(inc *Incident) { cleared(inc); inc.Joins = []Launch{node} }), 10, Transition{To: Closed, Reason: IsProved, Ending: Proved, Proof: &node, SettledAt: after(9)}},
		"a replacement waits": {incident(func(inc *Incident) {
			cleared(inc)
			inc.Offers = []Offer{{Plan: plan.Plan{Remedy: plan.ReplaceInstance}, State: Deferred, Again: true}}
		}), 65, Transition{}},
		"all of it is gone":     {incident(func(inc *Incident) { inc.Verdicts[0].Found = Absent }), 6, Transition{To: Closed, Reason: IsWithdrawn, Ending: Withdrawn}},
		"nobody was told":       {incident(func(inc *Incident) { passes(inc); inc.State = Pending }), 6, Transition{To: Closed, Reason: NotYet, Ending: Withdrawn}},
		"EKS says it of itself": {incident(func(inc *Incident) { passes(inc); inc.Key.Check = "addon/degraded" }), 6, Transition{To: Closed, Reason: IsProved, Ending: Proved, ClearedAt: after(5)}},
		"its instance is looked at no more": {incident(func(inc *Incident) {
			inc.Cause.Confidence = checks.Symptom
			inc.Covers, inc.Verdicts[0].Of = []string{"i-1"}, "i-1"
			inc.Launches = []Launch{{Instance: "i-1", Standing: GivenUp}}
		}), 6, Transition{To: Closed, Reason: IsGivenUpOn, Ending: GivenUpOn}},
		"its instance has ended, and nothing can show it well": {incident(func(inc *Incident) { inc.Key.Check = endedEarly }), 60, Transition{To: Closed, Reason: IsUnproved, Ending: Unproved}},
		"it is over": {incident(func(inc *Incident) { passes(inc); inc.State = Closed }), 6, Transition{}},
	} {
		if diff := cmp.Diff(test.want, test.inc.Next(after(test.now), time.Hour)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestStepsFromOutside(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	by := Key{Cluster: "eks-workshop", Check: "ip/leaked-interfaces", Resource: "subnet-0ab1"}
	open := Incident{State: Open, Number: 1, Seen: noon, Opened: noon}
	pending, over := open, open
	pending.State, over.State = Pending, Closed
	for name, test := range map[string]struct{ got, want Transition }{
		"the cluster is deleted":         {open.AfterClusterDeleted(noon), Transition{To: Closed, Reason: IsWithdrawn, Ending: ClusterDeleted, SettledAt: noon}},
		"and nobody was told":            {pending.AfterClusterDeleted(noon), Transition{To: Closed, Reason: NotYet, Ending: ClusterDeleted, SettledAt: noon}},
		"it was seen after that":         {open.AfterClusterDeleted(noon.Add(-1)), Transition{}},
		"it was over before":             {over.AfterClusterDeleted(noon), Transition{}},
		"nothing is heard for a while":   {open.AfterSilence(noon.Add(maxUnseen - 1)), Transition{}},
		"nothing is heard for two weeks": {open.AfterSilence(noon.Add(maxUnseen)), Transition{To: Closed, Reason: IsWithdrawn, Ending: Unseen}},
		"another one explains it":        {SupersededBy(by, noon), Transition{To: Closed, Reason: IsSuperseded, Ending: Superseded, SettledAt: noon, By: &by}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
