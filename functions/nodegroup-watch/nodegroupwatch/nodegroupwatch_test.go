package nodegroupwatch

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/nodegroup-watch/spec"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/node/outcome"
	"rollcall/shared/nodegroup"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
	"rollcall/tools/testfile"
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

// TestBusDown: what the bus did not take stands in the record, and is sent by
// the next sweep under the same id.
func TestBusDown(t *testing.T) {
	o := healthy
	o.Faults = []simaws.FaultRule{{Call: "events:PutEvents", Deny: true, Times: 1}}
	b := bench(t, o)
	b.degrade("default", "DEGRADED", "AccessDenied")
	if _, err := b.Handle(b.Sweep()); err == nil || !strings.Contains(err.Error(), "on the bus") {
		t.Fatalf("error %v, want that the bus refused", err)
	}
	if r, _ := b.NodegroupRecord("default"); len(r.Untold) != 1 || len(statusChanges(b)) != 0 {
		t.Fatalf("record %+v, told %q", r, statusChanges(b))
	}
	b.Observations()
	b.Advance(5 * time.Minute)
	sweep(t, b)
	b.Advance(5 * time.Minute)
	sweep(t, b)
	if diff := cmp.Diff([]string{"1 first-seen >DEGRADED by sweep AccessDenied"}, statusChanges(b)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if r, _ := b.NodegroupRecord("default"); len(r.Untold) != 0 {
		t.Errorf("untold %+v", r.Untold)
	}
}

// TestBlind: what could not be read is reported, and nothing passes, changes or is
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
			if source == snapshot.Nodegroups && len(statusChanges(b)) > 0 {
				t.Errorf("told %q", statusChanges(b))
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
	if got := statusChanges(b); len(got) > 0 {
		t.Errorf("told %q, which another is telling", got)
	}
	b.Advance(2 * time.Minute)
	sweep(t, b)
	if diff := cmp.Diff([]string{"1 status-changed DEGRADED>ACTIVE by event"}, statusChanges(b)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// harness is a bench on which EKS says of nodegroups what the test wants.
type harness struct {
	*stagetest.Bench
	says map[string]func(*snapshot.Nodegroup)
}

// opinion is a reader that changes what EKS says of nodegroups.
type opinion struct {
	detect.Reader
	says map[string]func(*snapshot.Nodegroup)
}

func (o opinion) Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	s, err := o.Reader.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	for i := range s.Nodegroups {
		if change := o.says[s.Nodegroups[i].Name]; change != nil {
			change(&s.Nodegroups[i])
		}
	}
	return s, nil
}

func bench(t *testing.T, o stagetest.Options) harness {
	t.Helper()
	says := map[string]func(*snapshot.Nodegroup){}
	return harness{says: says, Bench: stagetest.Start(t, spec.Spec(), func(_ context.Context, e lambda.Env) (lambda.Handler, error) {
		h := newHandler(e)
		h.Detector.Reader = opinion{h.Detector.Reader, says}
		return h.handle, nil
	}, o)}
}

// degrade makes EKS say a status and an issue from now on, if there is one.
func (b harness) degrade(name, status, code string, ids ...string) {
	b.says[name] = func(n *snapshot.Nodegroup) {
		n.Status, n.Issues = status, nil
		if code != "" {
			n.Issues = []snapshot.Issue{{Code: code, Message: "about it", Resources: ids}}
		}
	}
}

// healthy is a world in which nodes join, and which launches none by itself.
var healthy = stagetest.Options{World: "healthy-nat.yaml", Over: "timeline: []\n"}

func sample(t *testing.T, name string) string {
	t.Helper()
	return string(testfile.Read(t, filepath.Join("../../../events/in", name)))
}

func sweep(t *testing.T, b harness) report.Observation {
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

// statusChanges are the changes on the bus, in short.
func statusChanges(b harness) []string {
	var list []string
	for _, e := range b.NodegroupEvents() {
		text := fmt.Sprintf("%d %s %s>%s by %s", e.Sequence, e.Reason, e.Previous, e.Status, e.WokenBy)
		for _, i := range e.Issues {
			text += " " + i.Code
		}
		if e.Update != nil {
			text += " update " + e.Update.Status
		}
		list = append(list, text)
	}
	return list
}

func passes(o report.Observation, check checkid.ID, name string) (finding.Evidence, bool) {
	for _, p := range o.Diagnosis.Passed {
		if p.Check == check && slices.Contains(p.Covers, name) {
			return p.Evidence[0], true
		}
	}
	return finding.Evidence{}, false
}

// TestSweepOfWell: what is well is sent to report and nowhere else, and
// costs a few calls: each nodegroup once, its updates only when it has changed.
func TestSweepOfWell(t *testing.T) {
	b := bench(t, healthy)
	o := sweep(t, b)
	if len(o.Diagnosis.Causes) > 0 || len(o.Blind) > 0 || len(statusChanges(b)) > 0 {
		t.Errorf("causes %+v, blind %+v, told %q", o.Diagnosis.Causes, o.Blind, statusChanges(b))
	}
	for _, check := range []checkid.ID{"nodegroup/health", "nodegroup/status", "nodegroup/update-failed"} {
		if _, ok := passes(o, check, "default"); !ok {
			t.Errorf("%s does not pass: %+v", check, o.Diagnosis)
		}
	}
	// That instances were not looked at is no proof that they can be read.
	if slices.Contains(o.Read, snapshot.Instances) || slices.Contains(o.Read, snapshot.Groups) || !slices.Contains(o.Read, snapshot.Nodegroups) {
		t.Errorf("read %q", o.Read)
	}
	b.Calls()
	b.Advance(5 * time.Minute)
	sweep(t, b)
	want := map[string]int{
		"dynamodb:Query": 2, "eks:DescribeCluster": 1, "eks:ListNodegroups": 1, "eks:DescribeNodegroup": 2,
		"eks:ListAddons": 1, "eks:DescribeAddon": 3, "sqs:SendMessage": 1,
	}
	if diff := cmp.Diff(want, b.Calls()); diff != "" {
		t.Errorf("calls of a second sweep (-want +got):\n%s", diff)
	}
}

// TestUpdateIsFollowed: a call wakes it, it looks again each minute until EKS
// is done, and tells each step once.
func TestUpdateIsFollowed(t *testing.T) {
	b := bench(t, healthy)
	sweep(t, b)
	b.Call("eks:UpdateNodegroupConfig", `{"clusterName":"eks-workshop","nodegroupName":"new_nodegroup_2","labels":{"addOrUpdateLabels":{"a":"b"}}}`)
	call := sample(t, "eks-call-update-nodegroup-config.json")
	if back := b.Send(call, call); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	b.Send(call)
	b.Observations()
	bodies, delay := b.NodegroupReminders()
	if len(bodies) != 1 || delay != soon {
		t.Fatalf("%d reminders in %s, want one in %s", len(bodies), delay, soon)
	}
	// The reminder comes twice too: still it does not multiply.
	b.Advance(soon)
	b.Send(bodies[0], bodies[0])
	b.Send(bodies[0])
	if more, _ := b.NodegroupReminders(); len(more) != 1 {
		t.Errorf("%d reminders once it is done, want no more", len(more))
	}
	want := []string{
		"1 update-changed ACTIVE>UPDATING by UpdateNodegroupConfig update InProgress", "2 status-changed ACTIVE>UPDATING by UpdateNodegroupConfig",
		"3 update-changed UPDATING>ACTIVE by reminder update Successful", "4 status-changed UPDATING>ACTIVE by reminder",
	}
	if diff := cmp.Diff(want, statusChanges(b)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	for _, o := range b.Observations() {
		if o.Account != "111122223333" {
			t.Errorf("an observation of account %q", o.Account)
		}
	}
}

// TestOneChain: a nodegroup that stays on its way has one chain of reminders,
// whatever comes twice, until the sweep is enough.
func TestOneChain(t *testing.T) {
	b := bench(t, healthy)
	b.degrade("new_nodegroup_2", "UPDATING", "")
	call := sample(t, "eks-call-update-nodegroup-config.json")
	b.Send(call, call, call)
	last := 0
	for minute := range 70 {
		bodies, _ := b.NodegroupReminders()
		if n := len(bodies) - last; n > 1 || minute < 55 && n != 1 || minute > 61 && n != 0 {
			t.Fatalf("minute %d: %d new reminders", minute, n)
		}
		last = len(bodies)
		b.Advance(soon)
		b.Send(bodies[len(bodies)-1], bodies[len(bodies)-1])
		if minute%5 == 0 {
			if _, err := b.Handle(b.Sweep()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := statusChanges(b); len(got) != 1 {
		t.Errorf("told %q, want the first sight alone", got)
	}
}

// TestNamedInstances: what EKS says of instances that did not join is hidden
// behind the cause that they have.
func TestNamedInstances(t *testing.T) {
	b := bench(t, stagetest.Options{})
	b.Scale(1)
	id := b.Instance(b.LaunchEvents(0)[0])
	b.Advance(25 * time.Minute)
	record(t, b, nodegroup.Record{
		Format: nodegroup.Format, Cluster: stagetest.Cluster, Nodegroup: stagetest.Nodegroup, Status: "ACTIVE", Since: b.Now(), First: b.Now(), Seen: b.Now().Add(-time.Hour),
	})
	b.degrade(stagetest.Nodegroup, "DEGRADED", "NodeCreationFailure", id)
	o := sweep(t, b)
	causes := stagetest.Causes(o)
	if causes["route/no-egress"] != stagetest.Table || causes["nodegroup/health"] != "" || causes["nodegroup/status"] != "" {
		t.Errorf("causes %v, want the route alone", causes)
	}
	i := slices.IndexFunc(o.Diagnosis.Causes, func(c diagnosis.Cause) bool { return c.Check == "route/no-egress" })
	if i < 0 || !slices.Contains(o.Diagnosis.Causes[i].Symptoms, "nodegroup/health") || !slices.Contains(o.Diagnosis.Causes[i].Instances, id) {
		t.Errorf("cause %+v, want %s and what EKS says as its symptom", o.Diagnosis.Causes, id)
	}
	if got := statusChanges(b); !slices.Contains(got, "1 status-changed ACTIVE>DEGRADED by sweep NodeCreationFailure") {
		t.Errorf("told %q", got)
	}
}

func record(t *testing.T, b harness, r nodegroup.Record) {
	t.Helper()
	if _, err := b.Store.SaveNodegroup(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// TestStickyIssue: an issue that EKS keeps is over once a later launch joined.
func TestStickyIssue(t *testing.T) {
	b := bench(t, healthy)
	b.degrade("new_nodegroup_2", "DEGRADED", "InstanceLimitExceeded")
	if got := stagetest.Causes(sweep(t, b)); got["nodegroup/health"] != "new_nodegroup_2" || got["nodegroup/status"] != "" {
		t.Errorf("causes %v, want the issue and not its sum", got)
	}
	b.Scale(1)
	b.Advance(5 * time.Minute)
	seen := sweep(t, b)
	if e, ok := passes(seen, "nodegroup/health", "new_nodegroup_2"); !ok || !strings.HasPrefix(e.Value, "EKS still reports DEGRADED; i-") {
		t.Errorf("passed %t: %+v; causes %v", ok, e, stagetest.Causes(seen))
	}
}

// TestDeleted: a nodegroup that is gone is reported, and closes what is about it.
func TestDeleted(t *testing.T) {
	b := bench(t, healthy)
	record(t, b, nodegroup.Record{Format: nodegroup.Format, Cluster: stagetest.Cluster, Nodegroup: "gone", Status: "DEGRADED", Since: b.Now(), First: b.Now(), Seen: b.Now().Add(-time.Minute)})
	if _, err := b.Store.SaveIncident(t.Context(), incident.Incident{
		Format: report.Format, Key: report.Key{Cluster: stagetest.Cluster, Check: "nodegroup/health", Resource: "gone"}, State: incident.Open, Covers: []string{"gone"},
	}); err != nil {
		t.Fatal(err)
	}
	if o := sweep(t, b); !slices.Equal(o.Absent, []string{"gone"}) {
		t.Errorf("absent %q", o.Absent)
	}
	if diff := cmp.Diff([]string{"1 deleted DEGRADED>DELETED by sweep"}, statusChanges(b)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	// An event of one nodegroup does not make the others absent.
	b.Send(sample(t, "eks-call-create-nodegroup.json"))
	if r, _ := b.NodegroupRecord("default"); r.Status != "ACTIVE" {
		t.Errorf("record of default: %+v", r)
	}
}

// TestDeletedBeforeTheFirstSweep: the call that deletes a nodegroup is word
// enough to look at it while it goes, and so to tell of its end.
func TestDeletedBeforeTheFirstSweep(t *testing.T) {
	b := bench(t, healthy)
	b.degrade("new_nodegroup_2", "DELETING", "")
	b.Send(sample(t, "eks-call-delete-nodegroup.json"))
	if diff := cmp.Diff([]string{"1 first-seen >DELETING by DeleteNodegroup"}, statusChanges(b)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if r, known := b.NodegroupRecord("new_nodegroup_2"); !known || r.Again.IsZero() {
		t.Errorf("record %+v: it is not followed", r)
	}
}

// TestAddonEvent: an add-on's event is answered by a look at the add-ons.
func TestAddonEvent(t *testing.T) {
	b := bench(t, healthy)
	b.Send(sample(t, "eks-addon-health-degraded.json"))
	o := b.Observation()
	if _, ok := passes(o, "addon/degraded", "vpc-cni"); !ok || b.Calls()["eks:DescribeNodegroup"] > 0 {
		t.Errorf("passed %+v", o.Diagnosis.Passed)
	}
}

// TestKilledAtEachWrite: that a nodegroup changes is recorded, told to anyone once
// by its id, and followed, wherever the function ends.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"PutEvents", "PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		o := healthy
		o.Kill = k
		b := bench(t, o)
		sweep(t, b)
		b.degrade(stagetest.Nodegroup, "UPDATING", "")
		k.Invoke(b.Sweep())
		events := map[string]string{}
		for _, e := range b.NodegroupEvents() {
			events[e.ID] = e.Nodegroup + " " + string(e.Reason)
		}
		reminders, _ := b.NodegroupReminders()
		return stagetest.Timeless(t, map[string]any{
			"followed": len(reminders) > 0, "records": b.Kept(), "told": b.Concluded(b.Observations()), "events": events,
		})
	})
}

// TestForgottenInstance: EC2 forgets an instance an hour after its end, EKS
// still names it, and the record of its launch explains it.
func TestForgottenInstance(t *testing.T) {
	const id = "i-0ccccccccccccccc1"
	b := bench(t, stagetest.Options{Over: "timeline: []\n"})
	started := b.Now().Add(-3 * time.Hour)
	if _, err := b.Store.CreateLaunch(t.Context(), store.LaunchRecord{
		Launch:  outcome.Launch{Instance: id, Nodegroup: stagetest.Nodegroup, Subnet: stagetest.Subnet, Zone: "us-west-2a", Type: "m5.large", Started: started, Status: outcome.Gone},
		Cluster: stagetest.Cluster,
		Due:     started.Add(5 * time.Minute),
		Machine: &store.Machine{VPC: "vpc-0a1b2c3d4e5f60718", Tags: map[string]string{"eks:nodegroup-name": stagetest.Nodegroup, "eks:cluster-name": stagetest.Cluster}},
	}); err != nil {
		t.Fatal(err)
	}
	b.degrade(stagetest.Nodegroup, "DEGRADED", "NodeCreationFailure", id)
	o := sweep(t, b)
	if causes := stagetest.Causes(o); causes["route/no-egress"] != stagetest.Table || causes["nodegroup/health"] != "" {
		t.Errorf("causes %v, want the route, and what EKS says behind it", causes)
	}
	if len(o.Launches) != 1 || o.Launches[0].Instance != id || o.Launches[0].Status != outcome.Gone {
		t.Errorf("launches %+v, want the one that is remembered, as it is remembered", o.Launches)
	}
}

// TestNobodyKnowsIt: of an instance that neither EC2 nor a record knows only
// EKS's word is left.
func TestNobodyKnowsIt(t *testing.T) {
	b := bench(t, healthy)
	b.degrade("new_nodegroup_2", "CREATE_FAILED", "NodeCreationFailure", "i-0ccccccccccccccc9")
	if causes := stagetest.Causes(sweep(t, b)); causes["nodegroup/health"] != "new_nodegroup_2" || len(causes) != 1 {
		t.Errorf("causes %v, want what EKS says, once", causes)
	}
}

// TestTroubled: what is looked at more closely.
func TestTroubled(t *testing.T) {
	for name, test := range map[string]struct {
		s    snapshot.Snapshot
		want bool
	}{
		"well":               {snapshot.Snapshot{Nodegroups: []snapshot.Nodegroup{{Status: "ACTIVE"}}, Addons: []snapshot.Addon{{Status: "ACTIVE"}}}, false},
		"an issue":           {snapshot.Snapshot{Nodegroups: []snapshot.Nodegroup{{Status: "ACTIVE", Issues: []snapshot.Issue{{Code: "x"}}}}}, true},
		"a status":           {snapshot.Snapshot{Nodegroups: []snapshot.Nodegroup{{Status: "CREATE_FAILED"}}}, true},
		"an update that is":  {snapshot.Snapshot{Nodegroups: []snapshot.Nodegroup{{Status: "ACTIVE", Updates: []snapshot.Update{{Status: "Failed", Errors: []snapshot.Issue{{Code: "x"}}}}}}}, true},
		"an update that was": {snapshot.Snapshot{Nodegroups: []snapshot.Nodegroup{{Status: "ACTIVE", Updates: []snapshot.Update{{Status: "Successful"}, {Status: "Failed", Errors: []snapshot.Issue{{Code: "x"}}}}}}}, false},
		"an add-on":          {snapshot.Snapshot{Addons: []snapshot.Addon{{Status: "DEGRADED"}}}, true},
	} {
		if got := troubled(&test.s).any(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

// TestWanted: who wants a cause to be looked at gets a sweep of that cluster now.
func TestWanted(t *testing.T) {
	b := bench(t, healthy)
	b.degrade(stagetest.Nodegroup, "DEGRADED", "AccessDenied")
	if _, err := b.Handle(b.Wanted(stagetest.Cluster, "nodegroup/degraded", stagetest.Nodegroup)); err != nil {
		t.Fatal(err)
	}
	if o := b.Observation(); !o.Sweep || len(o.Diagnosis.Causes) == 0 {
		t.Errorf("sweep %v, causes %+v", o.Sweep, o.Diagnosis.Causes)
	}
}
