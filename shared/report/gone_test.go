package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/plan"
	"rollcall/shared/snapshot"
)

// seen is an observation of one certain cause, and of one thing that could not be
// looked at once.
func seen(at time.Time, id string) Observation {
	obs := Observation{Format: Format, ID: id, By: "join-check", At: at, Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "prod"}
	obs.Diagnosis.Causes = []diagnose.Cause{{Check: "route/no-egress", Resource: "rtb-1", Covers: []string{"subnet-1"}, Confidence: checks.Certain, Title: "subnet-1 has no way out"}}
	obs.Blind = []snapshot.Failure{{Source: snapshot.Images, Reason: snapshot.Throttled, Call: "ec2:DescribeImages"}}
	return obs
}

func goneAt(at time.Time) Observation {
	return Observation{Format: Format, ID: "gone " + at.String(), By: "join-check", At: at, Cluster: "prod", ClusterGone: true}
}

// decided are the incidents after an observation.
func decided(list []Incident, obs Observation, now time.Time) (after []Incident, decisions []Decision) {
	decisions = Decide(list, obs, now, Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour})
	after = slices.Clone(list)
	for _, d := range decisions {
		i := slices.IndexFunc(after, func(inc Incident) bool { return inc.Key == d.Incident.Key })
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
	list, _ := decided(nil, seen(noon, "a"), noon)
	if len(list) != 2 || list[0].State != Open || list[1].State != Pending {
		t.Fatalf("incidents %+v", list)
	}
	list[0].Offers = []Offer{{Plan: plan.Plan{Remedy: "add-nat-route"}, State: Offered, Made: noon, Expires: noon.Add(time.Hour)}}
	foreign := list[0].clone()
	foreign.Key.Cluster = "other"

	// From before what is known: somebody looked before it was made anew.
	if after, decisions := decided(list, goneAt(noon.Add(-time.Minute)), noon); len(decisions) > 0 || after[0].State != Open {
		t.Errorf("an answer of before closed it: %+v", decisions)
	}
	at := noon.Add(time.Hour)
	after, decisions := decided(append(list, foreign), goneAt(at), at)
	if len(decisions) != 2 || decisions[0].Reason != IsWithdrawn || decisions[1].Reason != NotYet {
		t.Fatalf("decisions %+v", decisions)
	}
	for _, inc := range after[:2] {
		if inc.State != Closed || inc.Ending != ClusterDeleted || !inc.Resolved.Equal(at) || len(inc.Joins) > 0 || inc.Times != 0 {
			t.Errorf("%s is %s, %s", inc.Key.Check, inc.State, inc.Ending)
		}
	}
	if after[2].State != Open {
		t.Error("another cluster's incident is closed")
	}
	first := after[0]
	if first.Offers[0].State != Outdated || first.Offers[0].Says != "the incident is over" {
		t.Errorf("the offer is %+v", first.Offers[0])
	}
	if n := first.Said.Notes; n[len(n)-1].Reason != IsWithdrawn || !first.Said.Behind {
		t.Errorf("notes %+v", n)
	}
	if e := first.Untold[len(first.Untold)-1]; e.Kind != EventResolved || e.Ending != ClusterDeleted {
		t.Errorf("the bus is told %+v", e)
	}
	if len(after[1].Said.Notes) > 0 || len(after[1].Untold) > 0 {
		t.Error("what was never said is taken back")
	}

	again, decisions := decided(after[:2], goneAt(at.Add(5*time.Minute)), at.Add(5*time.Minute))
	if len(decisions) > 0 {
		t.Errorf("said again: %+v", decisions)
	}
	late, decisions := decided(again, seen(at.Add(-time.Minute), "late"), at.Add(6*time.Minute))
	if late[0].State != Closed {
		t.Errorf("what was seen before the end opened it: %+v", decisions)
	}
	anew, _ := decided(again, seen(at.Add(time.Hour), "anew"), at.Add(time.Hour))
	if anew[0].State != Open || anew[0].Number != 2 {
		t.Errorf("the cluster is there again and fails: %s, number %d", anew[0].State, anew[0].Number)
	}
}

// An incident of which nothing is heard for two weeks is closed, and not called
// well.
func TestUnseen(t *testing.T) {
	list, _ := decided(nil, seen(noon, "a"), noon)
	inc := list[0]
	if d := Tick(inc, noon.Add(maxUnseen-time.Second), Policy{}); d.Incident.State != Open {
		t.Errorf("closed after %s", maxUnseen-time.Second)
	}
	d := Tick(inc, noon.Add(maxUnseen), Policy{})
	if !d.Changed || d.Reason != IsWithdrawn || d.Incident.State != Closed || d.Incident.Ending != Unseen || !d.Incident.Resolved.Equal(noon.Add(maxUnseen)) || !d.Incident.Said.Behind {
		t.Fatalf("%+v", d)
	}
	if n := d.Incident.Said.Notes; n[len(n)-1].Reason != IsWithdrawn || n[len(n)-1].Then.Ending != Unseen {
		t.Errorf("notes %+v", n)
	}
	if e := d.Incident.Untold[len(d.Incident.Untold)-1]; e.Kind != EventResolved || e.Ending != Unseen {
		t.Errorf("the bus is told %+v", e)
	}
	if inc.State != Open || len(inc.Said.Notes) != 1 {
		t.Error("what was given was changed")
	}
	// Whatever is heard of it counts: that it fails, that it passes, that it is gone.
	for name, change := range map[string]func(*Incident){
		"it failed":         func(i *Incident) { i.Seen = noon.Add(time.Hour) },
		"its cause is gone": func(i *Incident) { i.State, i.Cleared = Cleared, noon.Add(time.Hour) },
		"a subnet was seen": func(i *Incident) { i.Verdicts = []Verdict{{Of: "subnet-1", Found: Passing, At: noon.Add(time.Hour)}} },
		"it came back":      func(i *Incident) { i.Opened = noon.Add(time.Hour) },
	} {
		heard := inc.clone()
		change(&heard)
		if d := Tick(heard, noon.Add(maxUnseen), Policy{}); d.Incident.State == Closed {
			t.Errorf("%s since, and it is closed", name)
		}
		if d := Tick(heard, noon.Add(maxUnseen+time.Hour), Policy{}); d.Incident.State != Closed {
			t.Errorf("%s two weeks ago, and it is %s", name, d.Incident.State)
		}
	}
	closed := d.Incident
	if d := Tick(closed, noon.Add(3*maxUnseen), Policy{}); d.Changed {
		t.Errorf("closed again: %+v", d)
	}
	if strings.ContainsAny(AllClusters, " #") {
		t.Error("the name of all clusters is no message group, or no part of a key")
	}
}
