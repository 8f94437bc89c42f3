package subnetwatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/subnet-watch/spec"
	"rollcall/shared/checks"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// memory is samples in memory.
type memory struct {
	samples   []snapshot.Sample
	recorded  []snapshot.Sample
	incidents []incident.Incident
	returned  []snapshot.Returned
	rolled    []string
	since     time.Time
	err       error
}

func (m *memory) Samples(_ context.Context, subnet string, since time.Time) ([]snapshot.Sample, error) {
	m.since = since
	return slices.DeleteFunc(slices.Clone(m.samples), func(s snapshot.Sample) bool { return s.Subnet != subnet }), m.err
}

func (m *memory) RecordSamples(_ context.Context, list []snapshot.Sample) error {
	m.recorded = append(m.recorded, list...)
	return m.err
}

func (m *memory) CatchUp(_ context.Context, subnet string) (int, error) {
	m.rolled = append(m.rolled, subnet)
	return 1, m.err
}

func (m *memory) Returned(context.Context, string, time.Time) ([]snapshot.Returned, error) {
	return m.returned, m.err
}

func (m *memory) Incidents(context.Context, string) ([]incident.Incident, error) {
	return m.incidents, m.err
}

// account is AWS with clusters in one VPC; "gone" is one that EKS does not have.
type account struct {
	names  []string
	failed *snapshot.Failure
	unread snapshot.Source
	asked  []gather.Query
	more   [][]snapshot.Source
}

func (a *account) Clusters(context.Context) ([]string, *snapshot.Failure) { return a.names, a.failed }

func (a *account) GroupsOf(_ context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure) {
	return []snapshot.Group{{Name: "eks-" + cluster, Subnets: []string{"subnet-a", "subnet-b", "subnet-deleted"}, Types: []string{"c5.large"}, Max: 5}}, a.failed
}

func (a *account) Read(_ context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	a.asked = append(a.asked, q)
	if q.Cluster == "gone" {
		return nil, fmt.Errorf("cluster gone: %w", gather.ErrNoCluster)
	}
	s := &snapshot.Snapshot{
		Time: q.Time, Account: q.Account, Region: q.Region, Partition: "aws", Scope: q.Scope, Groups: q.Groups,
		Read:       map[snapshot.Source]bool{snapshot.Instances: true, snapshot.Groups: true, snapshot.Clusters: true},
		Failures:   map[snapshot.Source]snapshot.Failure{},
		Nodegroups: []snapshot.Nodegroup{{Name: "workers", Types: []string{"m5.large"}}}, LaunchTemplates: []snapshot.LaunchTemplate{{ID: "lt-1", Type: "t3.large"}},
	}
	s.Cluster.Name, s.Cluster.VPC, s.Cluster.ARN = q.Cluster, "vpc-1", "arn:aws:eks:us-west-2:111122223333:cluster/"+q.Cluster
	return s, nil
}

func (a *account) More(_ context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source) {
	a.asked = append(a.asked, q)
	a.more = append(a.more, sources)
	for _, source := range sources {
		if source == a.unread {
			s.Failures[source] = snapshot.Failure{Source: source, Reason: snapshot.Denied, Call: "test"}
			continue
		}
		s.Read[source] = true
	}
	in := func(text string) netip.Prefix { return netip.MustParsePrefix(text) }
	s.Subnets = []snapshot.Subnet{
		{ID: "subnet-a", VPC: "vpc-1", CIDR: in("10.0.0.0/24"), Free: 200}, {ID: "subnet-b", VPC: "vpc-1", CIDR: in("10.0.1.0/24"), Free: 3},
		{ID: "subnet-other", VPC: "vpc-1", CIDR: in("10.0.2.0/24")}, {ID: "subnet-pods", VPC: "vpc-1", CIDR: in("100.64.0.0/24"), Free: 50, Tags: map[string]string{roleCNI: "1"}},
	}
	s.InstanceTypes = []snapshot.InstanceType{{Name: "m5.large", Interfaces: 3, IPv4PerInterface: 10, Hypervisor: "nitro"}}
	s.Uses = []snapshot.Use{{Subnet: "subnet-a", Blocks: 12}}
	s.CNI = &snapshot.CNI{Env: map[string]string{"CLUSTER_NAME": s.Cluster.Name}, Desired: 1}
}

type queue struct {
	observations []report.Observation
	err          error
}

func (q *queue) SendResult(_ context.Context, o report.Observation) error {
	q.observations = append(q.observations, o)
	return q.err
}

type bench struct {
	handler
	*memory
	*account
	*queue
	readers int
	gauges  map[string]float64
	counts  map[string]int
}

var morning = time.Date(2026, 11, 21, 8, 2, 0, 0, time.UTC)

func newBench() *bench {
	b := &bench{memory: &memory{}, account: &account{names: []string{"prod"}}, queue: &queue{}, gauges: map[string]float64{}, counts: map[string]int{}}
	b.handler = handler{
		Detector: detect.Detector{
			By: spec.Name, Region: "us-west-2", Reader: b.account, Results: b.queue, Watches: func(string) bool { return true },
			Now: func() time.Time { return morning }, Log: slog.New(slog.DiscardHandler),
			Count: func(name string, n int) { b.counts[name] += n },
		},
		history: b.memory, horizon: 12 * time.Hour,
		reader:  func() Reader { b.readers++; return b.account },
		cleanup: cleanup(config.Config{Cleanups: map[string]config.CleanupMode{"prod": config.Delete}, CleanupGrace: time.Hour, CleanupUntagged: []string{"vpc-1"}}),
		gauge: func(name, _ string, value float64, of ...lambda.Dimension) {
			var names []string
			for _, d := range of {
				names = append(names, d.Value)
			}
			b.gauges[strings.Join(append(names, name), " ")] = value
		},
	}
	return b
}

func (b *bench) run() error { return b.turn("prod") }

// turn gives a cluster its turn.
func (b *bench) turn(cluster string) error {
	raw, err := event.SweepCluster(spoke.ID{}, cluster, "111122223333", "us-west-2", morning)
	if err == nil {
		_, err = b.handle(context.Background(), raw)
	}
	return err
}

func TestWatch(t *testing.T) {
	b := newBench()
	b.samples = []snapshot.Sample{{Subnet: "subnet-a", At: morning.Add(-time.Hour), Free: 210}}
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	want := []snapshot.Sample{
		{Subnet: "subnet-a", At: morning, Free: 200, Total: 251}, {Subnet: "subnet-b", At: morning, Free: 3, Total: 251}, {Subnet: "subnet-pods", At: morning, Free: 50, Total: 251},
	}
	if diff := cmp.Diff(want, b.recorded); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	// The worst of the cluster's subnets: one metric while nothing is wrong.
	if diff := cmp.Diff(map[string]float64{"prod FreeAddresses": 3}, b.gauges); diff != "" {
		t.Errorf("gauges (-want +got):\n%s", diff)
	}
	b = newBench()
	b.bySubnet = true
	b.samples = []snapshot.Sample{{Subnet: "subnet-a", At: morning.Add(-time.Hour), Free: 210}}
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]float64{
		"prod FreeAddresses":          3,
		"prod subnet-a FreeAddresses": 200, "prod subnet-a FreeBlocks": 12, "prod subnet-a LeakedAddresses": 0,
		"prod subnet-b FreeAddresses": 3, "prod subnet-b LeakedAddresses": 0,
		"prod subnet-pods FreeAddresses": 50, "prod subnet-pods LeakedAddresses": 0,
	}, b.gauges); diff != "" {
		t.Errorf("gauges (-want +got):\n%s", diff)
	}
	if got := morning.Sub(b.since); got != 15*24*time.Hour {
		t.Errorf("the samples of %s were read, want those of two weeks", got)
	}
	o := b.observations[0]
	if len(b.observations) != 1 || o.Sweep || o.Account != "111122223333" || slices.Contains(o.Read, snapshot.Instances) || !slices.Contains(o.Read, snapshot.LaunchHistory) {
		t.Errorf("observations %+v", b.observations)
	}
	if len(o.Diagnosis.Causes) == 0 || o.Diagnosis.Causes[0].Check != "ip/subnet-exhausted" || o.Diagnosis.Causes[0].Resource != "subnet-b" {
		t.Errorf("causes %+v, want the short subnet", o.Diagnosis.Causes)
	}
	// The types of nodegroups and templates tell what one more node takes.
	if got := b.asked[1].Types; !slices.Equal(got, []string{"c5.large", "m5.large", "t3.large"}) {
		t.Errorf("types %q", got)
	}
	if slices.Contains(b.more[0], snapshot.Instances) || !slices.Contains(b.more[0], snapshot.Usage) {
		t.Errorf("sources %q", b.more[0])
	}
}

// The settings reach what is said.
func TestSettings(t *testing.T) {
	b := newBench()
	s, err := b.read(t.Context(), b.account, "prod", "111122223333")
	if err != nil {
		t.Fatal(err)
	}
	if want := (snapshot.Cleanup{Mode: "delete", Grace: time.Hour, Untagged: true}); s.Cleanup != want || s.Horizon != 12*time.Hour {
		t.Errorf("cleanup %+v, horizon %s", s.Cleanup, s.Horizon)
	}
	if got := b.cleanup("dev", "vpc-2"); got.Mode != "report" || got.Untagged {
		t.Errorf("of a cluster that did not opt in: %+v", got)
	}
}

// A turn has a reader of its own, in which a VPC is described once; a cluster that EKS
// does not have is none of anybody's.
func TestTurns(t *testing.T) {
	b := newBench()
	for i, cluster := range []string{"dev", "gone", "prod"} {
		if err := b.turn(cluster); err != nil || b.readers != i+1 {
			t.Errorf("%s: %v; %d readers", cluster, err, b.readers)
		}
	}
	if len(b.observations) != 2 || b.counts["ForeignClusters"] != 1 {
		t.Errorf("%d observations, counts %v", len(b.observations), b.counts)
	}
}

// Without its own table it says what is now, and that something is wrong;
// without the queue it notes what is now all the same.
func TestTrouble(t *testing.T) {
	down := errors.New("down")
	b := newBench()
	b.memory.err = down
	if err := b.run(); !errors.Is(err, down) || len(b.observations) != 1 || slices.Contains(b.observations[0].Read, snapshot.LaunchHistory) {
		t.Errorf("the table is down: %v, observations %+v", err, b.observations)
	}
	b = newBench()
	b.queue.err = down
	if err := b.run(); !errors.Is(err, down) || len(b.recorded) != 3 {
		t.Errorf("the queue is down: %v, %d samples", err, len(b.recorded))
	}
	b = newBench()
	b.unread = snapshot.Subnets
	if err := b.run(); err != nil || len(b.recorded) > 0 || len(b.gauges) > 0 {
		t.Errorf("the subnets cannot be read: %v, samples %v, gauges %v", err, b.recorded, b.gauges)
	}
	b = newBench()
	b.unread = snapshot.CreatorsOf
	if err := b.run(); err != nil || len(b.gauges) != 1 {
		t.Errorf("the creators cannot be read: %v, gauges %v", err, b.gauges)
	}
	b = newBench()
	b.memory.err = fmt.Errorf("read: %w", &store.NewerFormat{Record: "x", Written: 2, Known: 1})
	if err := b.run(); b.counts["NewerRecords"] != 3 || !slices.Contains(b.observations[0].Read, snapshot.LaunchHistory) {
		t.Errorf("newer samples: %v, counts %v", err, b.counts)
	}
	if _, err := newBench().handle(t.Context(), json.RawMessage(`{"source":"rollcall","detail-type":"Rollcall Spot Report Wanted","detail":{}}`)); err == nil {
		t.Error("it takes a wish that is not its own")
	}
}

// Why a subnet is empty is said once: who sees the launches has said it.
func TestWhatIsExplainedIsNotSaidAgain(t *testing.T) {
	inc := func(check checks.ID, resource string, state incident.State) incident.Incident {
		return incident.Incident{Key: report.Key{Check: check, Resource: resource}, Covers: []string{resource}, State: state}
	}
	for name, test := range map[string]struct {
		incident incident.Incident
		told     bool
	}{
		"a burst":              {inc("spot/burst-exceeds-subnet", "subnet-b", incident.Open), false},
		"a refused launch":     {inc("launch/subnet-full", "subnet-b", incident.Open), false},
		"a burst elsewhere":    {inc("spot/burst-exceeds-subnet", "subnet-a", incident.Open), true},
		"a burst that is over": {inc("spot/burst-exceeds-subnet", "subnet-b", incident.Closed), true},
		"the incident itself":  {inc("ip/subnet-exhausted", "subnet-b", incident.Open), true},
		"a leak, judged anew":  {inc("ip/leaked-interfaces", "subnet-b", incident.Open), true},
		"something else of it": {inc("route/no-egress", "subnet-b", incident.Open), true},
	} {
		b := newBench()
		b.incidents = []incident.Incident{test.incident}
		if err := b.run(); err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(b.observations[0].Diagnosis.Causes, func(c diagnose.Cause) bool { return c.Check == "ip/subnet-exhausted" })
		if told != test.told {
			t.Errorf("%s: told %v, want %v", name, told, test.told)
		}
	}
}
