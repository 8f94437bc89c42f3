package nodegroupwatch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/nodegroup-watch/spec"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/nodegroup"
	"rollcall/shared/report"

	"rollcall/shared/snapshot"
)

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
		h.Reader = opinion{h.Reader, says}
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
	data, err := os.ReadFile(filepath.Join("../../../events/in", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
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

// told are the changes on the bus, in short.
func told(b harness) []string {
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

func passes(o report.Observation, check checks.ID, name string) (checks.Evidence, bool) {
	for _, p := range o.Diagnosis.Passed {
		if p.Check == check && slices.Contains(p.Covers, name) {
			return p.Evidence[0], true
		}
	}
	return checks.Evidence{}, false
}

// TestSweepOfWell: what is well is told to report and to nobody else, and
// costs a few calls: each nodegroup once, its updates only when it has changed.
func TestSweepOfWell(t *testing.T) {
	b := bench(t, healthy)
	o := sweep(t, b)
	if len(o.Diagnosis.Causes) > 0 || len(o.Blind) > 0 || len(told(b)) > 0 {
		t.Errorf("causes %+v, blind %+v, told %q", o.Diagnosis.Causes, o.Blind, told(b))
	}
	for _, check := range []checks.ID{"nodegroup/health", "nodegroup/status", "nodegroup/update-failed"} {
		if _, ok := passes(o, check, "default"); !ok {
			t.Errorf("%s does not pass: %+v", check, o.Diagnosis)
		}
	}
	// That nobody looked at instances is no proof that they can be read.
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
	// The reminder comes twice too: still nobody multiplies.
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
	if diff := cmp.Diff(want, told(b)); diff != "" {
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
	if got := told(b); len(got) != 1 {
		t.Errorf("told %q, want the first sight alone", got)
	}
}

// TestNamedInstances: what EKS says of instances that did not join is hidden
// behind the cause that they have.
func TestNamedInstances(t *testing.T) {
	b := bench(t, stagetest.Options{})
	b.Scale(1)
	id := b.Instance(b.News(0)[0])
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
	i := slices.IndexFunc(o.Diagnosis.Causes, func(c diagnose.Cause) bool { return c.Check == "route/no-egress" })
	if i < 0 || !slices.Contains(o.Diagnosis.Causes[i].Symptoms, "nodegroup/health") || !slices.Contains(o.Diagnosis.Causes[i].Instances, id) {
		t.Errorf("cause %+v, want %s and what EKS says as its symptom", o.Diagnosis.Causes, id)
	}
	if got := told(b); !slices.Contains(got, "1 status-changed ACTIVE>DEGRADED by sweep NodeCreationFailure") {
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
	if e, ok := passes(seen, "nodegroup/health", "new_nodegroup_2"); !ok || !strings.HasPrefix(e.Value, "EKS still says DEGRADED; i-") {
		t.Errorf("passed %t: %+v; causes %v", ok, e, stagetest.Causes(seen))
	}
}

// TestDeleted: a nodegroup that is gone is told, and closes what is about it.
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
	if diff := cmp.Diff([]string{"1 deleted DEGRADED>DELETED by sweep"}, told(b)); diff != "" {
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
	if diff := cmp.Diff([]string{"1 first-seen >DELETING by DeleteNodegroup"}, told(b)); diff != "" {
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
