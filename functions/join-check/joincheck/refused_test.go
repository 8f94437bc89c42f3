package joincheck

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"rollcall/local/simaws"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

const gpu = "nodepool/gpu"

// refuse takes down a run of refused calls as launch-watch does.
func refuse(t *testing.T, b *stagetest.Bench, class checkid.ID, first, last time.Time) {
	t.Helper()
	r := store.RefusedRecord{Cluster: stagetest.Cluster, RefusedLaunch: snapshot.RefusedLaunch{
		Launcher: gpu, Class: class, Call: "CreateFleet", Text: "InsufficientInstanceCapacity: There is no Spot capacity available that matches your request.",
		Asked: 3, Types: []string{"g5.xlarge"}, First: first, Last: last,
	}}
	if err := b.Store.SaveRefusedLaunch(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// sweeps gives what one more sweep says.
func sweeps(t *testing.T, b *stagetest.Bench) report.Observation {
	t.Helper()
	b.Advance(time.Second)
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	return b.Observation()
}

func passed(o report.Observation, id checkid.ID) bool {
	for _, p := range o.Diagnosis.Passed {
		if p.Check == id && slices.Contains(p.Covers, gpu) {
			return true
		}
	}
	return false
}

const shortage = checkid.LaunchInsufficientCapacity

// The sweep reports what launch-watch took down: a shortage once it has lasted while a pod
// waits, as advice where none does, and no more when an instance of the pool came, or no
// call is made any longer.
func TestSweepTellsOfRefusedLaunches(t *testing.T) {
	const instance = "ec2:\n  Instances:\n    - {InstanceId: i-0aaaaaaaaaaaaaab1, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.31, LaunchTime: 2026-11-20T14:59:20Z, " +
		"Tags: [{Key: \"kubernetes.io/cluster/eks-workshop\", Value: owned}, {Key: \"eks:kubernetes-node-pool-name\", Value: gpu}]}\n"
	const waits = "kubernetes:\n  eks-workshop:\n    Pods:\n      - metadata: {name: train-0, namespace: ml, creationTimestamp: \"2026-11-20T14:40:00Z\"}\n        spec: {containers: [{name: train}]}\n" +
		"        status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, lastTransitionTime: \"2026-11-20T14:40:00Z\"}]}\n"
	for _, test := range []struct {
		name        string
		first, last time.Duration // before the sweep
		over        string
		want        checks.Confidence // empty for one that passes
	}{
		{"it has just begun", 4 * time.Minute, 0, "", ""},
		{"it lasts", 7 * time.Minute, 0, waits, checks.Certain},
		{"it lasts, and no pod waits", 7 * time.Minute, 0, "", checks.Advice},
		{"nobody asks any more", 80 * time.Minute, 61 * time.Minute, waits, ""},
		{"an instance came", 20 * time.Minute, 10 * time.Minute, instance + waits, ""},
		{"an instance that came before", 5 * time.Minute, 0, instance + waits, checks.Certain},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: "samples.yaml", Over: test.over})
			b.Advance(6 * time.Minute)
			refuse(t, b, shortage, b.Now().Add(-test.first), b.Now().Add(-test.last))
			o := sweeps(t, b)
			var got checks.Confidence
			for _, c := range o.Diagnosis.Causes {
				if c.Check == shortage && c.Resource == gpu {
					got = c.Confidence
				}
			}
			if got != test.want || passed(o, shortage) != (got == "") {
				t.Errorf("confidence %q, want %q; passes %v", got, test.want, passed(o, shortage))
			}
		})
	}
}

// What is refused for a pool whose class is not ready is one cause with the class.
func TestClassExplainsRefusedLaunches(t *testing.T) {
	b := bench(t, stagetest.Options{World: "corpus/karpenter-nodeclass-not-ready.yaml", ClusterRole: true})
	refuse(t, b, checkid.LaunchUnauthorized, b.Now(), b.Now())
	o := sweeps(t, b)
	_, told := stagetest.Causes(o)["launch/unauthorized"]
	hidden := slices.ContainsFunc(o.Diagnosis.Causes, func(c diagnose.Cause) bool {
		return c.Check == checkid.KarpenterNodeclassNotReady && slices.Contains(c.Hidden, diagnose.Hidden{Check: checkid.LaunchUnauthorized, Because: c.Check})
	})
	if told || !hidden {
		t.Errorf("told by itself %v, hidden behind the class %v", told, hidden)
	}
}

// What cannot be read is told, and neither fails nor passes.
func TestRefusedLaunchesUnread(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	refuse(t, b, checkid.LaunchUnauthorized, b.Now(), b.Now())
	if o := sweeps(t, b); stagetest.Causes(o)["launch/unauthorized"] != gpu || !slices.Contains(o.Read, snapshot.RefusedLaunches) {
		t.Fatalf("causes %v, read %v", stagetest.Causes(o), o.Read)
	}
	h := handler{refused: failing{}}
	s := &snapshot.Snapshot{Failures: map[snapshot.Source]snapshot.Failure{}, Read: map[snapshot.Source]bool{}}
	if runs := h.addRefused(t.Context(), s, roll{}); runs != nil || s.Read[snapshot.RefusedLaunches] || s.Failures[snapshot.RefusedLaunches].Reason != snapshot.Throttled {
		t.Errorf("read %v, failures %v", s.Read, s.Failures)
	}
}

// The incidents of a NodePool and of a class: that a right in the cluster is taken
// away, or a list cannot be read, ends none; a sweep that reads all and finds the
// NodePool well does.
func TestRightsTakenAwayEndNoIncident(t *testing.T) {
	const world = "corpus/karpenter-nodeclass-not-ready.yaml"
	policy := incident.Policy{ProofTime: time.Hour}
	var list []incident.Incident
	for _, o := range []stagetest.Options{{World: world, ClusterRole: true}, {World: "corpus/karpenter-nodepool-limit.yaml", ClusterRole: true}} {
		b := bench(t, o)
		b.Advance(time.Minute)
		refuse(t, b, checkid.LaunchUnauthorized, b.Now(), b.Now())
		for _, d := range reconcile.Decide(nil, sweeps(t, b), b.Now(), policy) {
			list = append(list, d.Incident)
		}
	}
	states := func(o report.Observation, now time.Time) map[string]string {
		all := map[string]string{}
		for _, d := range reconcile.Decide(list, o, now, policy) {
			all[string(d.Incident.Key.Check)] = string(d.Incident.State)
		}
		for _, inc := range list {
			if id := string(inc.Key.Check); all[id] == "" {
				all[id] = "untouched"
			}
		}
		return all
	}
	want := []string{"karpenter/nodeclass-not-ready", "karpenter/nodepool-limit", "launch/unauthorized"}
	for _, id := range want {
		if !slices.ContainsFunc(list, func(inc incident.Incident) bool { return string(inc.Key.Check) == id && inc.State == incident.Open }) {
			t.Fatalf("no incident of %s at first: %d incidents", id, len(list))
		}
	}
	blind := map[string]stagetest.Options{"the rights taken away": {World: world}}
	for _, kind := range []string{"nodepools", "ec2nodeclasses", "nodeclaims", "nodes", "*"} {
		for _, fault := range []simaws.FaultRule{{Deny: true}, {Fail: 1}, {Throttle: 1}} {
			fault.Call = "kubernetes:list " + kind
			blind[fmt.Sprintf("%+v", fault)] = stagetest.Options{World: world, ClusterRole: true, Faults: []simaws.FaultRule{fault}}
		}
	}
	for name, o := range blind {
		b := bench(t, o)
		b.Advance(10 * time.Minute)
		refuse(t, b, checkid.LaunchUnauthorized, b.Now(), b.Now())
		got := states(sweeps(t, b), b.Now())
		for _, id := range want {
			if got[id] != string(incident.Open) && got[id] != "untouched" {
				t.Errorf("%s: %s is %s", name, id, got[id])
			}
		}
	}
	b := bench(t, stagetest.Options{World: "corpus/karpenter-nodeclass-not-ready-healthy.yaml", ClusterRole: true})
	b.Advance(10 * time.Minute)
	if got := states(sweeps(t, b), b.Now()); got[want[1]] != string(incident.Closed) {
		t.Errorf("a sweep that reads all: %v", got)
	}
}

// failing is a table that cannot be read.
type failing struct{}

func (failing) RefusedLaunches(context.Context, string) ([]store.RefusedRecord, error) {
	return nil, fmt.Errorf("read: %w", &store.AtLimit{Code: "ThrottlingException"})
}

func (failing) SaveRefusedLaunch(context.Context, store.RefusedRecord) error { return nil }
