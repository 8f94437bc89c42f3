package nodegroupwatch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
)

func TestWhatIsNotOurs(t *testing.T) {
	o := healthy
	o.Settings = map[string]string{"ROLLCALL_CLUSTERS": "eks-workshop"}
	b := bench(t, o)
	other := strings.ReplaceAll(sample(t, "eks-call-create-nodegroup.json"), "eks-workshop", "other")
	unnamed := `{"id":"1","source":"aws.eks","detail-type":"EKS Addon Health Degraded","time":"2026-11-20T15:00:00Z","detail":{}}`
	back := b.Send("{", other, sample(t, "eks-call-refused.json"), sample(t, "ec2-state-running.json"), unnamed)
	if !slices.Equal(back, []string{"m0"}) {
		t.Errorf("gave back %q, want what cannot be read", back)
	}
	want := map[string]int{"MalformedEvents": 1, "ForeignClusters": 1, "ForeignEvents": 2, "UnnamedClusters": 1}
	if diff := cmp.Diff(want, b.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if n := len(b.Observations()); n > 0 {
		t.Errorf("%d observations", n)
	}
	b = bench(t, healthy)
	if back := b.Send(other); len(back) > 0 || b.Counts()["ForeignClusters"] != 1 {
		t.Errorf("a cluster that EKS does not have: gave back %q", back)
	}
	if _, err := b.Handle([]byte(sample(t, "ec2-state-running.json"))); err == nil {
		t.Error("an event that comes directly is taken")
	}
}

// TestBusDown: what the bus did not take stands in the record, and is told by
// the next sweep under the same id.
func TestBusDown(t *testing.T) {
	o := healthy
	o.Faults = []simaws.FaultRule{{Call: "events:PutEvents", Deny: true, Times: 1}}
	b := bench(t, o)
	b.degrade("default", "DEGRADED", "AccessDenied")
	if _, err := b.Handle(b.Sweep()); err == nil || !strings.Contains(err.Error(), "on the bus") {
		t.Fatalf("error %v, want that the bus refused", err)
	}
	if r, _ := b.NodegroupRecord("default"); len(r.Untold) != 1 || len(told(b)) != 0 {
		t.Fatalf("record %+v, told %q", r, told(b))
	}
	b.Observations()
	b.Advance(5 * time.Minute)
	sweep(t, b)
	b.Advance(5 * time.Minute)
	sweep(t, b)
	if diff := cmp.Diff([]string{"1 first-seen >DEGRADED by sweep AccessDenied"}, told(b)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if r, _ := b.NodegroupRecord("default"); len(r.Untold) != 0 {
		t.Errorf("untold %+v", r.Untold)
	}
}

// TestBlind: what could not be read is told, and nothing passes, changes or is
// absent because of it.
func TestBlind(t *testing.T) {
	for call, source := range map[string]snapshot.Source{
		"eks:ListNodegroups": snapshot.Nodegroups, "eks:DescribeNodegroup": snapshot.Nodegroups,
		"eks:ListUpdates": snapshot.Updates, "eks:ListAddons": snapshot.Addons, "eks:DescribeCluster": snapshot.Clusters,
	} {
		t.Run(call, func(t *testing.T) {
			o := healthy
			o.Faults = []simaws.FaultRule{{Call: call, Deny: true}}
			b := bench(t, o)
			record(t, b, nodegroup.Record{Format: nodegroup.Format, Cluster: stagetest.Cluster, Nodegroup: "default", Status: "DEGRADED", Since: b.Now(), First: b.Now(), Seen: b.Now().Add(-time.Minute)})
			seen := sweep(t, b)
			if !slices.ContainsFunc(seen.Blind, func(f snapshot.Failure) bool {
				return f.Source == source && f.Call == call && f.Reason == snapshot.Denied
			}) {
				t.Errorf("blind %+v, want %s", seen.Blind, call)
			}
			for _, p := range seen.Diagnosis.Passed {
				if source == snapshot.Nodegroups && strings.HasPrefix(string(p.Check), "nodegroup/") || source == snapshot.Updates && p.Check == "nodegroup/update-failed" {
					t.Errorf("%s passes", p.Check)
				}
			}
			if source == snapshot.Nodegroups && len(told(b)) > 0 {
				t.Errorf("told %q", told(b))
			}
		})
	}
}

// TestNobodyTellsForAnother: two looks at once, because of two events, find one
// change between them. Who found it tells it, unless that one died.
func TestNobodyTellsForAnother(t *testing.T) {
	b := bench(t, healthy)
	event := nodegroup.Event{ID: "1", Format: nodegroup.EventFormat, Sequence: 1, At: b.Now(), Reason: nodegroup.StatusChanged, Cluster: stagetest.Cluster, Nodegroup: "default", Previous: "DEGRADED", Status: "ACTIVE", WokenBy: "event"}
	record(t, b, nodegroup.Record{Format: nodegroup.Format, Cluster: stagetest.Cluster, Nodegroup: "default", Status: "ACTIVE", Since: b.Now(), First: b.Now(), Seen: b.Now().Add(-time.Second), Events: 1, Untold: []nodegroup.Event{event}})
	sweep(t, b)
	if got := told(b); len(got) > 0 {
		t.Errorf("told %q, which another is telling", got)
	}
	b.Advance(2 * time.Minute)
	sweep(t, b)
	if diff := cmp.Diff([]string{"1 status-changed DEGRADED>ACTIVE by event"}, told(b)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
