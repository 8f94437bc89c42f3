package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// silentLook is a look at a cluster whose Kubernetes API does not answer, by some calls.
func silentLook(at time.Time, reason snapshot.Reason, calls ...string) report.Observation {
	o := report.Observation{Format: report.Format, ID: strings.Join(calls, " ") + at.String(), By: "sweep", At: at, Cluster: "prod", Sweep: true}
	for _, c := range calls {
		o.Blind = append(o.Blind, snapshot.Failure{Source: snapshot.Source(c), Call: "kubernetes: list " + c, Reason: reason})
	}
	return o
}

// An API that does not answer is one fault, whatever each watcher asks of it; a call that it
// refuses is another. It is over when any of it was read, and not before.
func TestSilentAPIIsOneFault(t *testing.T) {
	at := func(minutes int) time.Time { return incidenttest.Noon.Add(time.Duration(minutes) * time.Minute) }
	var list []incident.Incident
	for i, o := range []report.Observation{
		silentLook(at(0), snapshot.Unreachable, "nodes"), silentLook(at(5), snapshot.TimedOut, "nodes", "pods", "persistentvolumes"), silentLook(at(10), snapshot.Unreachable, "nodepools", "nodes"),
	} {
		list, _ = decided(list, o, o.At)
		if len(list) != 1 || list[0].Key.Resource != report.KubernetesAPI || (list[0].State == incident.Open) != (i == 2) {
			t.Fatalf("after %d looks there is %+v", i+1, list)
		}
	}
	if got := list[0].Cause; got.Title != "cannot look into the cluster: its Kubernetes API cannot be reached" || !strings.Contains(got.Fix.Text, "endpoint") || len(got.Evidence) > 0 {
		t.Errorf("said is %q, %q, %+v", got.Title, got.Fix.Text, got.Evidence)
	}
	other := silentLook(at(15), snapshot.Denied, "pods")
	if list, _ = decided(list, other, other.At); len(list) != 2 || list[1].Key.Resource != "kubernetes: list pods" || list[0].State != incident.Open {
		t.Fatalf("with a call that is refused there is %+v", list)
	}
	elsewhere := report.Observation{Format: report.Format, ID: "aws", By: "sweep", At: at(16), Cluster: "prod", Sweep: true, Read: []snapshot.Source{snapshot.Subnets}}
	if list, _ = decided(list, elsewhere, elsewhere.At); list[0].State != incident.Open {
		t.Error("it is over for what AWS told")
	}
	well := report.Observation{Format: report.Format, ID: "well", By: "sweep", At: at(20), Cluster: "prod", Sweep: true, Read: []snapshot.Source{"nodes"}}
	if list, _ = decided(list, well, well.At); list[0].State != incident.Closed || list[0].Resolution != incident.Proved {
		t.Errorf("when it answers it is %s, %s", list[0].State, list[0].Resolution)
	}
}

// TestKnownAgain: a cluster that knows us again is over as told, also where one of its lists is
// still refused, which is another fault; it is not over for what AWS told.
func TestKnownAgain(t *testing.T) {
	look := func(minute int, blind []snapshot.Failure, read ...snapshot.Source) report.Observation {
		at := incidenttest.Noon.Add(time.Duration(minute) * time.Minute)
		return report.Observation{Format: report.Format, ID: at.String(), By: "sweep", At: at, Cluster: "prod", Sweep: true, Blind: blind, Read: read}
	}
	unknown := func(s snapshot.Source) snapshot.Failure {
		return snapshot.Failure{Source: s, Call: snapshot.WholeKubernetesAPI, Reason: snapshot.Denied, Code: "Unauthorized"}
	}
	o := look(0, []snapshot.Failure{unknown(snapshot.Nodes), unknown(snapshot.NodePoolsOf)})
	list, _ := decided(nil, o, o.At)
	if len(list) != 1 || list[0].State != incident.Open || list[0].Key.Resource != snapshot.WholeKubernetesAPI {
		t.Fatalf("there is %+v", list)
	}
	o = look(5, nil, snapshot.Subnets)
	if list, _ = decided(list, o, o.At); list[0].State != incident.Open {
		t.Error("it is over for what AWS told")
	}
	forbidden := snapshot.Failure{Source: snapshot.NodePoolsOf, Call: "kubernetes: list nodepools", Reason: snapshot.Denied, Code: "Forbidden"}
	o = look(10, []snapshot.Failure{forbidden}, snapshot.Nodes)
	list, _ = decided(list, o, o.At)
	if len(list) != 2 || list[0].State != incident.Closed || list[0].Resolution != incident.Proved || list[1].Key.Resource != forbidden.Call {
		t.Errorf("known again, and one list refused: %+v", list)
	}
}
