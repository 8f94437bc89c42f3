package joincheck

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/local/simaws"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/store"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// sweep plays one sweep and returns what it told of the cluster.
func sweep(t *testing.T, b *stagetest.Bench) report.Observation {
	t.Helper()
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if !o.Sweep || o.Cluster != stagetest.Cluster || o.Account != "111122223333" {
		t.Errorf("observation of %q in %q, sweep %v", o.Cluster, o.Account, o.Sweep)
	}
	return o
}

// TestSweepOfNothing: a sweep tells report the time even when all is well, and
// records no node that was there before.
func TestSweepOfNothing(t *testing.T) {
	b := bench(t, healthy)
	if o := sweep(t, b); len(o.Launches) > 0 || len(stagetest.Causes(o)) > 0 || len(o.Blind) > 0 {
		t.Errorf("launches %+v, causes %v, blind %v", o.Launches, stagetest.Causes(o), o.Blind)
	}
	if _, recorded := b.Launch("i-0d0000000000000a1"); recorded {
		t.Error("a node of old was recorded as a launch")
	}
}

// TestLostEvents: events are best effort; the sweep finds their launches.
func TestLostEvents(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{})
	b.Advance(6 * time.Minute)
	o := sweep(t, b)
	if len(o.Launches) != 1 || o.Launches[0].Instance != id || o.Launches[0].Status != outcome.Missed || stagetest.Causes(o)["route/no-egress"] != stagetest.Table {
		t.Errorf("launches %+v because of %v", o.Launches, stagetest.Causes(o))
	}
	first, ok := b.Launch(id)
	if !ok || first.Status != outcome.Missed {
		t.Errorf("record %+v (%v), want missed", first, ok)
	}
	b.Advance(5 * time.Minute)
	sweep(t, b)
	if again, _ := b.Launch(id); again.Looks != 2 || !again.Due.Equal(first.Due) {
		t.Errorf("record %+v, want a second look at the first", again)
	}
}

func TestSweepSeesItJoin(t *testing.T) {
	b, id, _ := launched(t, healthy)
	sweep(t, b)
	l, ok := b.Launch(id)
	if !ok || l.Status != outcome.Waiting || b.Reminders()[id] == 0 {
		t.Fatalf("record %+v (%v), reminders %v: want one that waits and is called when it is due", l, ok, b.Reminders())
	}
	b.Advance(5 * time.Minute)
	o := sweep(t, b)
	if len(o.Launches) != 1 || o.Launches[0].Status != outcome.Joined {
		t.Errorf("launches %+v, want that it joined", o.Launches)
	}
	if l, _ := b.Launch(id); l.Status != outcome.Joined || l.Ready.IsZero() || l.Registered.IsZero() {
		t.Errorf("record %+v, want joined and when", l)
	}
	b.Advance(5 * time.Minute)
	if o := sweep(t, b); len(o.Launches) > 0 {
		t.Errorf("launches %+v: the outcome is known", o.Launches)
	}
}

func TestSweepSeesItGone(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{})
	b.Advance(6 * time.Minute)
	sweep(t, b)
	b.Call("eks:UpdateNodegroupConfig", `{"clusterName":"`+stagetest.Cluster+`","nodegroupName":"`+stagetest.Nodegroup+`","scalingConfig":{"minSize":0,"maxSize":1,"desiredSize":0}}`)
	b.Advance(2 * time.Minute)
	o := sweep(t, b)
	if len(o.Launches) != 1 || o.Launches[0].Status != outcome.Gone || o.Launches[0].EndedWhy == "" {
		t.Errorf("launches %+v, want that it is gone and why", o.Launches)
	}
	if l, _ := b.Launch(id); l.Status != outcome.Gone {
		t.Errorf("record %+v, want gone", l)
	}
}

// TestSweepBlind: what cannot be seen is not gone.
func TestSweepBlind(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DescribeInstances", Deny: true}}})
	started := b.Now()
	b.Advance(6 * time.Minute)
	if _, err := b.Store.CreateLaunch(t.Context(), store.LaunchRecord{Launch: outcome.Launch{Instance: id, Subnet: stagetest.Subnet, Started: started, Status: outcome.Waiting}, Cluster: stagetest.Cluster, Due: started.Add(5 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	o := sweep(t, b)
	if !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool { return f.Call == "ec2:DescribeInstances" && f.Reason == snapshot.Denied }) {
		t.Errorf("blind %+v, want ec2:DescribeInstances", o.Blind)
	}
	if len(o.Launches) != 1 || o.Launches[0].Status != outcome.Missed {
		t.Errorf("launches %+v, want one that is missed, not gone", o.Launches)
	}
	if l, _ := b.Launch(id); l.Status.Final() {
		t.Errorf("record %+v is final", l)
	}
}

// TestSweepThatFails: what keeps a cluster from being looked at is told.
func TestSweepThatFails(t *testing.T) {
	b := bench(t, stagetest.Options{})
	newer := incident.Incident{Format: report.Format + 1, Key: report.Key{Cluster: "broken", Check: "route/no-egress", Resource: "rtb-1"}, State: incident.Open}
	if _, err := b.Store.SaveIncident(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Handle(b.SweepOf("broken")); err == nil || !strings.Contains(err.Error(), "read the incidents") {
		t.Errorf("error %v, want what could not be read", err)
	}
}

// TestCallsDoNotGrowWithNodes: a large healthy cluster costs what a small one
// does.
func TestCallsDoNotGrowWithNodes(t *testing.T) {
	totals := map[int]string{}
	for _, n := range []int{1, 200} {
		b := bench(t, stagetest.Options{World: "burst-200.yaml", Over: `
timeline: []
ec2:
  RouteTables:
    - RouteTableId: rtb-0cd20000000000002
      Routes:
        - {DestinationCidrBlock: 10.42.0.0/16, GatewayId: local}
        - {DestinationCidrBlock: 0.0.0.0/0, NatGatewayId: nat-0aa40000000000001}
`})
		b.Scale(n)
		b.Advance(unrecorded + 5*time.Minute) // younger ones are asked for their records
		b.Calls()
		if o := sweep(t, b); len(o.Launches) > 0 {
			t.Errorf("%d nodes: launches %+v, want none: all have joined unseen", n, o.Launches[0])
		}
		_, totals[n] = stagetest.Total(b.Calls())
		t.Logf("%d nodes: %s", n, totals[n])
	}
	if totals[1] != totals[200] {
		t.Errorf("one node: %s\n200 nodes: %s", totals[1], totals[200])
	}
}

// TestPodsWaitOnReadyNodes: pods that get no address on a Ready node are told in a sweep,
// though no launch is in trouble, and read of only then; they are over once they run.
func TestPodsWaitOnReadyNodes(t *testing.T) {
	const pods = `
kubernetes:
  eks-workshop:
    Pods:
      - metadata: {name: web-0, namespace: shop, creationTimestamp: "2026-11-20T14:00:00Z"}
        spec: {nodeName: ip-10-42-101-17.us-west-2.compute.internal, containers: [{name: web}]}
        status: {phase: Pending, conditions: [{type: PodReadyToStartContainers, status: "False"}, {type: PodScheduled, status: "True", lastTransitionTime: "2026-11-20T14:00:00Z"}]}
    Events:
      - {metadata: {name: web-0.1, namespace: shop}, involvedObject: {kind: Pod, namespace: shop, name: web-0}, type: Warning, reason: FailedCreatePodSandBox, message: "failed to assign an IP address to container", lastTimestamp: "2026-11-20T14:44:00Z"}
`
	b := bench(t, stagetest.Options{World: healthy.World, ClusterRole: true, Over: healthy.Over + pods})
	o := sweep(t, b)
	if got := stagetest.Causes(o)[string(checkid.IPPodWithoutAddress)]; got == "" || len(o.Blind) > 0 {
		t.Errorf("because of %v, launches %+v, blind %v", stagetest.Causes(o), o.Launches, o.Blind)
	}
	for _, c := range o.Diagnosis.Causes {
		if c.Check == checkid.IPPodWithoutAddress && (c.Confidence != checks.Symptom || !slices.Equal(c.Instances, []string{"i-0d0000000000000a1"}) || !slices.Equal(c.Pods, []string{"shop/web-0"})) {
			t.Errorf("%s %v of %v", c.Confidence, c.Pods, c.Instances)
		}
	}
	if len(o.Launches) != 1 || o.Launches[0].Status != report.Joined {
		t.Errorf("the node that joined, as a launch: %+v", o.Launches)
	}
	calm := bench(t, stagetest.Options{World: healthy.World, ClusterRole: true, Over: healthy.Over})
	sweep(t, calm)
	if calls := calm.Calls(); calls["kubernetes:list events"] != 1 || calls["kubernetes:list pods"] != 1 {
		t.Errorf("a look at a calm cluster listed events and pods more than once: %v", calls)
	}
}
