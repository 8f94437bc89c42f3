package zonewatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/zone-watch/spec"
	"rollcall/shared/checks/finding"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
)

// account is AWS with clusters of one group over three zones, two nodes, and a
// volume in the third zone.
type account struct {
	names  []string
	failed *snapshot.Failure
	unread snapshot.Source
	asked  []gather.Query
	// attached is what the volume is attached to; unshown are the instances that
	// EC2 was asked for and does not show.
	attached []string
	unshown  []map[string]string
}

func (a *account) Unshown(_ context.Context, s *snapshot.Snapshot, named map[string]string) {
	a.unshown = append(a.unshown, named)
	for id, by := range named {
		s.Lack(snapshot.Instances, id, snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.NotShown, Call: "ec2:DescribeInstances", Message: by + " names " + id})
	}
}

func (a *account) Clusters(context.Context) ([]string, *snapshot.Failure) { return a.names, a.failed }

func (a *account) GroupsOf(_ context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure) {
	return []snapshot.Group{{Name: "eks-" + cluster, Desired: 2, Max: 3, Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}, Instances: []snapshot.GroupInstance{
		{ID: "i-1", Lifecycle: "InService", Zone: "us-west-2a"}, {ID: "i-2", Lifecycle: "InService", Zone: "us-west-2b"},
	}}}, nil
}

func (a *account) FindTagged(context.Context, string) ([]snapshot.Instance, *snapshot.Failure) {
	if a.unread == snapshot.Instances {
		return nil, &snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.Denied, Call: "ec2:DescribeInstances"}
	}
	return nil, nil
}

func (a *account) Read(_ context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	a.asked = append(a.asked, q)
	if q.Cluster == "gone" {
		return nil, fmt.Errorf("cluster gone: %w", gather.ErrNoCluster)
	}
	s := &snapshot.Snapshot{
		Time: q.Time, Account: q.Account, Region: q.Region, Partition: "aws", Groups: q.Groups, Instances: q.Instances,
		Read: map[snapshot.Source]bool{snapshot.Instances: true}, Failures: map[snapshot.Source]snapshot.Failure{},
	}
	for _, source := range q.Sources {
		s.Read[source] = true
	}
	for _, f := range q.Failed {
		s.Failures[f.Source] = f
		delete(s.Read, f.Source)
	}
	if a.unread != "" {
		s.Failures[a.unread] = snapshot.Failure{Source: a.unread, Reason: snapshot.Denied, Call: "test"}
		delete(s.Read, a.unread)
	}
	s.Cluster.Name, s.Cluster.ARN = q.Cluster, "arn:aws:eks:us-west-2:111122223333:cluster/"+q.Cluster
	for i, z := range []string{"us-west-2a", "us-west-2b", "us-west-2c"} {
		s.Zones = append(s.Zones, snapshot.Zone{Name: z, ID: fmt.Sprintf("usw2-az%d", i+1), State: "available"})
	}
	s.Nodes = []snapshot.Node{
		{Name: "n1", Instance: "i-1", Zone: "us-west-2a", Ready: snapshot.Condition{Status: "True"}},
		{Name: "n2", Instance: "i-2", Zone: "us-west-2b", Ready: snapshot.Condition{Status: "True"}},
	}
	s.Volumes = []snapshot.Volume{{ID: "vol-1", Zone: "us-west-2c", State: "available", Tags: map[string]string{"kubernetes.io/cluster/" + q.Cluster: "owned", "CSIVolumeName": "pv-1"}}}
	if s.Volumes[0].Attached = a.attached; len(a.attached) > 0 {
		s.Volumes[0].State = "in-use"
	}
	s.PersistentVolumes = []snapshot.PersistentVolume{{Name: "pv-1", Phase: "Bound", Volume: "vol-1", Zones: []string{"us-west-2c"}, Claim: "redash/redis"}}
	s.Claims = []snapshot.Claim{{Namespace: "redash", Name: "redis", Phase: "Bound", Volume: "pv-1"}}
	s.WaitingPods = []snapshot.WaitingPod{{Namespace: "redash", Name: "redis-0", Claims: []string{"redis"}, Created: q.Time.Add(-time.Hour), Scheduled: snapshot.Condition{
		Status: "False", Reason: "Unschedulable", Message: "0/2 nodes are available: 2 node(s) had volume node affinity conflict.",
	}}}
	if a.unread == snapshot.WaitingPods {
		s.WaitingPods = nil
	}
	return s, nil
}

type results struct {
	observations []report.Observation
	err          error
}

func (q *results) SendResult(_ context.Context, o report.Observation) error {
	q.observations = append(q.observations, o)
	return q.err
}

type memory struct {
	past []snapshot.Past
	err  error
}

func (m *memory) History(context.Context, string, time.Time) ([]snapshot.Past, error) {
	return m.past, m.err
}

type bench struct {
	handler
	*account
	*results
	*memory
	gauges map[string]float64
	counts map[string]int
}

func newBench() *bench {
	b := &bench{account: &account{names: []string{"prod"}}, results: &results{}, memory: &memory{}, gauges: map[string]float64{}, counts: map[string]int{}}
	b.handler = handler{
		Detector: detect.Detector{
			By: spec.Name, Region: "us-west-2", Reader: b.account, Results: b.results,
			Watches: func(cluster string) bool { return cluster != "other" },
			Now:     func() time.Time { return time.Date(2026, 11, 21, 8, 2, 0, 0, time.UTC) },
			Log:     slog.New(slog.DiscardHandler),
			Count:   func(name string, n int) { b.counts[name] += n },
		},
		Reader: b.account, Table: b.memory,
		Gauge: func(name, _ string, value float64, of ...lambda.Dimension) { b.gauges[of[0].Value+" "+name] = value },
	}
	return b
}

const (
	sweep   = `{"id":"x","detail-type":"Rollcall Cluster Sweep","source":"rollcall","account":"111122223333","time":"2026-11-21T08:02:00Z","region":"us-west-2","detail":{"cluster":"prod"}}`
	changed = `{"id":"x","detail-type":"EKS Nodegroup Status Change","source":"rollcall","account":"111122223333","time":"2026-11-21T08:02:00Z","region":"us-west-2","detail":{"cluster":%q,"nodegroup":"workers","status":"ACTIVE"}}`
	wanted  = `{"id":"x","detail-type":"Rollcall Check Wanted","source":"rollcall","account":"111122223333","time":"2026-11-21T08:02:00Z","region":"us-west-2","detail":{"cluster":%q,"check":"zone/nodegroup-gap","resource":"eks-prod"}}`
	started = `{"id":"x","detail-type":"EC2 Instance State-change Notification","source":"aws.ec2","account":"111122223333","time":"2026-11-21T08:02:00Z","region":"us-west-2","detail":{"instance-id":"i-1","state":"running"}}`
)

func (b *bench) run(raw string) error {
	_, err := b.handle(context.Background(), json.RawMessage(raw))
	return err
}

func TestWhatWakesIt(t *testing.T) {
	for name, test := range map[string]struct {
		event string
		want  []string
		fails bool
	}{
		"its turn":                            {sweep, []string{"prod"}, false},
		"a nodegroup has changed":             {fmt.Sprintf(changed, "dev"), []string{"dev"}, false},
		"a wish":                              {fmt.Sprintf(wanted, "dev"), []string{"dev"}, false},
		"a nodegroup of a cluster of nobody":  {fmt.Sprintf(changed, "other"), nil, false},
		"a wish about a cluster of nobody":    {fmt.Sprintf(wanted, "other"), nil, false},
		"a cluster that is gone":              {fmt.Sprintf(changed, "gone"), nil, false},
		"an event that it was not made for":   {started, nil, true},
		"what is no event":                    {`{}`, nil, true},
		"a wish without a cluster, malformed": {fmt.Sprintf(wanted, ""), nil, true},
	} {
		b := newBench()
		b.names = []string{"prod", "dev"}
		if err := b.run(test.event); (err != nil) != test.fails {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, o := range b.observations {
			got = append(got, o.Cluster)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTheStoryIsOneCause: the gap, to which the waiting pod only adds.
func TestTheStoryIsOneCause(t *testing.T) {
	b := newBench()
	if err := b.run(sweep); err != nil {
		t.Fatal(err)
	}
	o := b.observations[0]
	if len(o.Diagnosis.Causes) != 1 {
		t.Fatalf("causes %+v, want one", o.Diagnosis.Causes)
	}
	c := o.Diagnosis.Causes[0]
	if c.Check != "zone/nodegroup-gap" || c.Confidence != finding.Certain || !slices.Contains(c.Contributing, "zone/pod-unschedulable") || c.Fix.Remedy != "cover-zones" {
		t.Errorf("cause %+v", c)
	}
	if !slices.Equal(c.Nodegroups, []string{"eks-prod"}) {
		t.Errorf("nodegroups %v", c.Nodegroups)
	}
	want := map[string]float64{"prod StrandedVolumes": 1, "prod WaitingPods": 1}
	if diff := cmp.Diff(want, b.gauges); diff != "" {
		t.Errorf("gauges (-want +got):\n%s", diff)
	}
}

// TestBlind: what cannot be read keeps the rest from nothing, and is no zero.
func TestBlind(t *testing.T) {
	for _, source := range []snapshot.Source{snapshot.WaitingPods, snapshot.VolumesOf, snapshot.Instances, snapshot.ZonesOf} {
		b := newBench()
		b.unread = source
		if err := b.run(sweep); err != nil {
			t.Fatal(err)
		}
		o := b.observations[0]
		if !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool { return f.Source == source }) {
			t.Errorf("%s: blind %+v", source, o.Blind)
		}
		_, measured := b.gauges["prod WaitingPods"]
		if measured == (source == snapshot.WaitingPods || source == snapshot.VolumesOf) {
			t.Errorf("%s: gauges %v", source, b.gauges)
		}
		if found := len(o.Diagnosis.Causes) > 0; found == (source == snapshot.VolumesOf) && source != snapshot.VolumesOf {
			t.Errorf("%s: causes %+v", source, o.Diagnosis.Causes)
		}
	}
}

// TestWithoutHistory: our own table's trouble is reported, and what AWS says too.
func TestWithoutHistory(t *testing.T) {
	b := newBench()
	b.memory.err = errors.New("no answer")
	if err := b.run(sweep); err == nil {
		t.Error("the failed table is not told")
	}
	if len(b.observations) != 1 || len(b.observations[0].Diagnosis.Causes) != 1 {
		t.Errorf("observations %+v", b.observations)
	}
	b = newBench()
	b.memory.err = &store.OlderLeftOut{Most: 1}
	if err := b.run(sweep); err != nil || !slices.Contains(b.observations[0].Read, snapshot.LaunchHistory) {
		t.Errorf("%v: what was left out is not of the last hours", err)
	}
}

// TestNotTold: what report was not told of is an error.
func TestNotTold(t *testing.T) {
	b := newBench()
	b.results.err = errors.New("full")
	if err := b.run(sweep); !errors.Is(err, b.results.err) {
		t.Errorf("error %v, want the queue's", err)
	}
}

// TestAttachedToWhatEC2DoesNotShow: of a volume that is attached to an instance
// which EC2 does not show it is unknown whether it is served.
func TestAttachedToWhatEC2DoesNotShow(t *testing.T) {
	b := newBench()
	b.attached = []string{"i-0hidden"}
	if _, err := b.handle(t.Context(), json.RawMessage(sweep)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]map[string]string{{"i-0hidden": "volume vol-1"}}, b.unshown); diff != "" {
		t.Errorf("instances that EC2 was asked for (-want +got):\n%s", diff)
	}
	o := b.observations[0]
	i := slices.IndexFunc(o.Diagnosis.Unknown, func(u diagnosis.Unknown) bool { return u.Check == "zone/volume-stranded" })
	if i < 0 {
		t.Fatalf("unknown %+v, causes %+v; want that the volume cannot be told", o.Diagnosis.Unknown, o.Diagnosis.Causes)
	}
	want := []snapshot.Failure{{Source: snapshot.Instances, Reason: snapshot.NotShown, Call: "ec2:DescribeInstances", Message: "volume vol-1 names i-0hidden"}}
	if diff := cmp.Diff(want, o.Diagnosis.Unknown[i].Blocked); diff != "" {
		t.Errorf("because (-want +got):\n%s", diff)
	}
	if slices.ContainsFunc(o.Diagnosis.Passed, func(p diagnosis.Passed) bool {
		return p.Check == "zone/volume-stranded" && slices.Contains(p.Covers, "us-west-2c")
	}) {
		t.Error("its zone passes")
	}
}

// TestKilledAtEachWrite: what it finds is sent, and report makes one incident of
// it, wherever the function ends.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Kill: k, Over: volumes(stagetest.Cluster, longAgo())})
		k.Invoke(b.Sweep())
		told := b.Concluded(b.Observations())
		if len(told) != 1 {
			t.Errorf("told is %v, want one incident", told)
		}
		return map[string]any{"records": b.Kept(), "told": told}
	})
}

// volumes are two of the world: one that is the cluster's, in a zone of the
// Region where no group of it launches, and the like of another cluster.
func volumes(cluster string, waitsSince time.Time) string {
	return fmt.Sprintf(`
ec2:
  Volumes:
    - {VolumeId: vol-0redis, AvailabilityZone: us-west-2d, State: available, VolumeType: gp3, Size: 8, Tags: [
        {Key: kubernetes.io/cluster/%[1]s, Value: owned}, {Key: ebs.csi.aws.com/cluster, Value: "true"}, {Key: CSIVolumeName, Value: pvc-1},
        {Key: kubernetes.io/created-for/pvc/namespace, Value: redash}, {Key: kubernetes.io/created-for/pvc/name, Value: redis}]}
    - {VolumeId: vol-0other, AvailabilityZone: us-west-2e, State: available, VolumeType: gp3, Size: 8, Tags: [
        {Key: kubernetes.io/cluster/other, Value: owned}, {Key: ebs.csi.aws.com/cluster, Value: "true"}, {Key: CSIVolumeName, Value: pvc-2}]}
kubernetes:
  %[1]s:
    PersistentVolumes:
      - {metadata: {name: pvc-1}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0redis}, claimRef: {namespace: redash, name: redis},
          nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.ebs.csi.aws.com/zone, operator: In, values: [us-west-2d]}]}]}}}, status: {phase: Bound}}
    PersistentVolumeClaims:
      - {metadata: {name: redis, namespace: redash}, spec: {volumeName: pvc-1}, status: {phase: Bound}}
    Pods:
      - {metadata: {name: redis-0, namespace: redash, creationTimestamp: %[2]q}, spec: {volumes: [{name: data, persistentVolumeClaim: {claimName: redis}}]},
          status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, lastTransitionTime: %[2]q,
            message: "0/2 nodes are available: 2 node(s) had volume node affinity conflict. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."}]}}
      - {metadata: {name: web-0, namespace: shop, creationTimestamp: %[2]q}, spec: {nodeName: ip-10-0-0-1}, status: {phase: Running}}
`, cluster, waitsSince.UTC().Format(time.RFC3339))
}

// long ago, by any world's clock.
func longAgo() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// TestOnTheStage: the real reader, table and queue, under the role's policy.
func TestOnTheStage(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Over: volumes(stagetest.Cluster, longAgo())})
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	for _, source := range []snapshot.Source{
		snapshot.Clusters, snapshot.Groups, snapshot.Nodegroups, snapshot.Instances, snapshot.Nodes, snapshot.Activities,
		snapshot.VolumesOf, snapshot.PersistentVolumes, snapshot.ClaimsOf, snapshot.WaitingPods, snapshot.ZonesOf, snapshot.LaunchHistory,
	} {
		if !slices.Contains(o.Read, source) {
			t.Errorf("%s was not read: %+v", source, o.Blind)
		}
	}
	if len(o.Diagnosis.Causes) != 1 {
		t.Fatalf("causes %+v, want one", o.Diagnosis.Causes)
	}
	c := o.Diagnosis.Causes[0]
	if c.Check != "zone/volume-stranded" || c.Resource != "us-west-2d" || c.Confidence != finding.Certain || !strings.HasPrefix(c.Why, "Volume vol-0redis of claim redash/redis is in us-west-2d") {
		t.Errorf("cause %+v", c)
	}
	calls := b.Calls()
	for _, call := range []string{"ec2:DescribeVolumes", "ec2:DescribeAvailabilityZones", "ec2:DescribeInstances"} {
		if n := calls[call]; n != 1 {
			t.Errorf("%d calls of %s, want 1", n, call)
		}
	}
}

// TestALookIsCheap: it is taken every five minutes, of every cluster. The world
// has one with two nodegroups; the list of NodePools is one of the reads, and there
// are none.
func TestALookIsCheap(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Over: volumes(stagetest.Cluster, longAgo())})
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	reads := 0
	for call, n := range b.Calls() {
		if service, _, _ := strings.Cut(call, ":"); slices.Contains([]string{"ec2", "eks", "autoscaling", "kubernetes"}, service) {
			reads += n
		}
	}
	if reads == 0 || reads > 18 {
		t.Errorf("%d reads of AWS and Kubernetes, want at most 18", reads)
	}
}

// TestWithoutRightsInTheCluster: the tags alone still tell.
func TestWithoutRightsInTheCluster(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{
		Over:   volumes(stagetest.Cluster, longAgo()),
		Faults: []simaws.FaultRule{{Call: "kubernetes:list persistentvolumes", Deny: true}, {Call: "kubernetes:list persistentvolumeclaims", Deny: true}, {Call: "kubernetes:list pods", Deny: true}},
	})
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if causes := stagetest.Causes(o); causes["zone/volume-stranded"] != "us-west-2d" {
		t.Errorf("causes %v, blind %+v", causes, o.Blind)
	}
	for _, c := range o.Diagnosis.Causes {
		if c.Confidence == finding.Certain {
			t.Errorf("%s is certain, though Kubernetes could not be asked", c.Check)
		}
	}
}
