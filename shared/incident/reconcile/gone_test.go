package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// seen is an observation of one certain cause, and of one thing that could not be
// looked at once.
func seen(at time.Time, id string) report.Observation {
	obs := report.Observation{Format: report.Format, ID: id, By: "join-check", At: at, Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "prod"}
	obs.Diagnosis.Causes = []diagnose.Cause{{Check: "route/no-egress", Resource: "rtb-1", Covers: []string{"subnet-1"}, Confidence: checks.Certain, Title: "subnet-1 has no route to the internet"}}
	obs.Blind = []snapshot.Failure{{Source: snapshot.Images, Reason: snapshot.Throttled, Call: "ec2:DescribeImages"}}
	return obs
}

func goneAt(at time.Time) report.Observation {
	return report.Observation{Format: report.Format, ID: "gone " + at.String(), By: "join-check", At: at, Cluster: "prod", ClusterGone: true}
}

// decided are the incidents after an observation.
func decided(list []incident.Incident, obs report.Observation, now time.Time) (after []incident.Incident, decisions []incident.Decision) {
	decisions = reconcile.Decide(list, obs, now, incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour})
	after = slices.Clone(list)
	for _, d := range decisions {
		i := slices.IndexFunc(after, func(inc incident.Incident) bool { return inc.Key == d.Incident.Key })
		if i < 0 {
			after = append(after, d.Incident)
		} else {
			after[i] = d.Incident
		}
	}
	return after, decisions
}

// All of a deleted cluster is closed, said or not, with its offers; what was seen
// before and comes late opens nothing, and a cluster of the same name does.
func TestClusterGone(t *testing.T) {
	list, _ := decided(nil, seen(incidenttest.Noon, "a"), incidenttest.Noon)
	if len(list) != 2 || list[0].State != incident.Open || list[1].State != incident.Pending {
		t.Fatalf("incidents %+v", list)
	}
	list[0].Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: "add-nat-route"}, State: incident.Offered, Made: incidenttest.Noon, Expires: incidenttest.Noon.Add(time.Hour)}}
	foreign := list[0].Clone()
	foreign.Key.Cluster = "other"

	// From before what is known: somebody looked before it was made anew.
	if after, decisions := decided(list, goneAt(incidenttest.Noon.Add(-time.Minute)), incidenttest.Noon); len(decisions) > 0 || after[0].State != incident.Open {
		t.Errorf("an answer of before closed it: %+v", decisions)
	}
	at := incidenttest.Noon.Add(time.Hour)
	after, decisions := decided(append(list, foreign), goneAt(at), at)
	if len(decisions) != 2 || decisions[0].Reason != incident.IsWithdrawn || decisions[1].Reason != incident.NotYet {
		t.Fatalf("decisions %+v", decisions)
	}
	for _, inc := range after[:2] {
		if inc.State != incident.Closed || inc.Resolution != incident.ClusterDeleted || !inc.Resolved.Equal(at) || len(inc.Joins) > 0 || inc.Times != 0 {
			t.Errorf("%s is %s, %s", inc.Key.Check, inc.State, inc.Resolution)
		}
	}
	if after[2].State != incident.Open {
		t.Error("another cluster's incident is closed")
	}
	first := after[0]
	if first.Offers[0].State != incident.Outdated || first.Offers[0].Says != "the incident is over" {
		t.Errorf("the offer is %+v", first.Offers[0])
	}
	if n := first.Delivery.Notes; n[len(n)-1].Reason != incident.IsWithdrawn || !first.Delivery.Dirty {
		t.Errorf("notes %+v", n)
	}
	if e := first.PendingEvents[len(first.PendingEvents)-1]; e.Kind != incident.EventResolved || e.Resolution != incident.ClusterDeleted {
		t.Errorf("the bus is told %+v", e)
	}
	if len(after[1].Delivery.Notes) > 0 || len(after[1].PendingEvents) > 0 {
		t.Error("what was never said is taken back")
	}

	again, decisions := decided(after[:2], goneAt(at.Add(5*time.Minute)), at.Add(5*time.Minute))
	if len(decisions) > 0 {
		t.Errorf("said again: %+v", decisions)
	}
	late, decisions := decided(again, seen(at.Add(-time.Minute), "late"), at.Add(6*time.Minute))
	if late[0].State != incident.Closed {
		t.Errorf("what was seen before the end opened it: %+v", decisions)
	}
	anew, _ := decided(again, seen(at.Add(time.Hour), "anew"), at.Add(time.Hour))
	if anew[0].State != incident.Open || anew[0].Number != 2 {
		t.Errorf("the cluster is there again and fails: %s, number %d", anew[0].State, anew[0].Number)
	}
}

// An incident of which nothing is heard for two weeks is closed, and not called
// well.
func TestUnseen(t *testing.T) {
	list, _ := decided(nil, seen(incidenttest.Noon, "a"), incidenttest.Noon)
	inc := list[0]
	if d := response.Tick(inc, incidenttest.Noon.Add(incident.MaxUnseen-time.Second), incident.Policy{}); d.Incident.State != incident.Open {
		t.Errorf("closed after %s", incident.MaxUnseen-time.Second)
	}
	d := response.Tick(inc, incidenttest.Noon.Add(incident.MaxUnseen), incident.Policy{})
	if !d.Changed || d.Reason != incident.IsWithdrawn || d.Incident.State != incident.Closed || d.Incident.Resolution != incident.Unseen || !d.Incident.Resolved.Equal(incidenttest.Noon.Add(incident.MaxUnseen)) || !d.Incident.Delivery.Dirty {
		t.Fatalf("%+v", d)
	}
	if n := d.Incident.Delivery.Notes; n[len(n)-1].Reason != incident.IsWithdrawn || n[len(n)-1].Then.Resolution != incident.Unseen {
		t.Errorf("notes %+v", n)
	}
	if e := d.Incident.PendingEvents[len(d.Incident.PendingEvents)-1]; e.Kind != incident.EventResolved || e.Resolution != incident.Unseen {
		t.Errorf("the bus is told %+v", e)
	}
	if inc.State != incident.Open || len(inc.Delivery.Notes) != 1 {
		t.Error("what was given was changed")
	}
	// Whatever is heard of it counts: that it fails, that it passes, that it is gone.
	for name, change := range map[string]func(*incident.Incident){
		"it failed":         func(i *incident.Incident) { i.Seen = incidenttest.Noon.Add(time.Hour) },
		"its cause is gone": func(i *incident.Incident) { i.State, i.Cleared = incident.Cleared, incidenttest.Noon.Add(time.Hour) },
		"a subnet was seen": func(i *incident.Incident) {
			i.Verdicts = []incident.Verdict{{Of: "subnet-1", Found: incident.Passing, At: incidenttest.Noon.Add(time.Hour)}}
		},
		"it came back": func(i *incident.Incident) { i.Opened = incidenttest.Noon.Add(time.Hour) },
	} {
		heard := inc.Clone()
		change(&heard)
		if d := response.Tick(heard, incidenttest.Noon.Add(incident.MaxUnseen), incident.Policy{}); d.Incident.State == incident.Closed {
			t.Errorf("%s since, and it is closed", name)
		}
		if d := response.Tick(heard, incidenttest.Noon.Add(incident.MaxUnseen+time.Hour), incident.Policy{}); d.Incident.State != incident.Closed {
			t.Errorf("%s two weeks ago, and it is %s", name, d.Incident.State)
		}
	}
	closed := d.Incident
	if d := response.Tick(closed, incidenttest.Noon.Add(3*incident.MaxUnseen), incident.Policy{}); d.Changed {
		t.Errorf("closed again: %+v", d)
	}
	if strings.ContainsAny(report.AllClusters, " #") {
		t.Error("the name of all clusters is no message group, or no part of a key")
	}
}
