package subnetwatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"rollcall/functions/subnet-watch/spec"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event/inbox"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
)

// A picture goes with what is said of a subnet, and with what it got back.
func TestCharts(t *testing.T) {
	b := newBench()
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	if n := len(b.observations[0].Charts); n != 1 || b.observations[0].Charts[0].Of != "subnet-b" {
		t.Fatalf("%d charts, want that of subnet-b, which is nearly full", n)
	}
	b = newBench()
	for k := range 30 {
		b.samples = append(b.samples, snapshot.Sample{Subnet: "subnet-a", At: morning.Add(-time.Duration(30-k) * 5 * time.Minute), Free: 250 - k, Total: 251})
	}
	b.returned = []snapshot.Returned{{Subnet: "subnet-a", Interfaces: 12, Addresses: 31, Nodes: 4, Last: morning.Add(-time.Minute)}}
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	charts := b.observations[0].Charts
	if len(charts) != 2 || charts[1].Of != "subnet-a" || !strings.Contains(charts[1].Alt, "+31") || charts[1].Returned != 31 || charts[0].Returned != 0 {
		t.Fatalf("charts: %+v, want subnet-b's and that of subnet-a, with what came back", charts)
	}
	for _, c := range charts {
		if _, err := png.Decode(bytes.NewReader(c.PNG)); err != nil {
			t.Errorf("%s: %v", c.Of, err)
		}
	}
}

// What a cleanup gave back after the look began is not in the picture: who goes by
// what it says would never draw the one that has it.
func TestChartOfACleanupAfterTheLook(t *testing.T) {
	b := newBench()
	b.samples = []snapshot.Sample{{Subnet: "subnet-a", At: morning.Add(-5 * time.Minute), Free: 0, Total: 251}}
	b.returned = []snapshot.Returned{{Subnet: "subnet-a", Interfaces: 9, Addresses: 90, Nodes: 9, Last: morning.Add(time.Second)}}
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	charts := b.observations[0].Charts
	if len(charts) != 2 || charts[1].Of != "subnet-a" || charts[1].Returned != 0 || strings.Contains(charts[1].Alt, "+90") {
		t.Fatalf("charts: %+v, want subnet-a's without what came back after it", charts)
	}
}

// The hours of each watched subnet are rolled up.
func TestHoursAreRolledUp(t *testing.T) {
	b := newBench()
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"subnet-a", "subnet-b", "subnet-pods"}; !slices.Equal(b.rolled, want) {
		t.Errorf("rolled up %q, want %q", b.rolled, want)
	}
}

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

type results struct {
	observations []report.Observation
	err          error
}

func (q *results) SendResult(_ context.Context, o report.Observation) error {
	q.observations = append(q.observations, o)
	return q.err
}

type bench struct {
	handler
	*memory
	*account
	*results
	readers int
	gauges  map[string]float64
	counts  map[string]int
}

var morning = time.Date(2026, 11, 21, 8, 2, 0, 0, time.UTC)

func newBench() *bench {
	b := &bench{memory: &memory{}, account: &account{names: []string{"prod"}}, results: &results{}, gauges: map[string]float64{}, counts: map[string]int{}}
	b.handler = handler{
		Detector: detect.Detector{
			By: spec.Name, Region: "us-west-2", Reader: b.account, Results: b.results, Watches: func(string) bool { return true },
			Now: func() time.Time { return morning }, Log: slog.New(slog.DiscardHandler),
			Count: func(name string, n int) { b.counts[name] += n },
		},
		Table:  b.memory,
		Reader: func() Reader { b.readers++; return b.account },
		Config: config.Config{
			RunwayHorizon: 12 * time.Hour,
			Cleanups:      map[string]config.CleanupMode{"prod": config.Delete}, CleanupGrace: time.Hour, CleanupUntagged: []string{"vpc-1"},
		},
		Gauge: func(name, _ string, value float64, of ...lambda.Dimension) {
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
	raw, err := inbox.SweepCluster(spoke.ID{}, cluster, "111122223333", "us-west-2", morning)
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
	b.Config.SubnetMetrics = true
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
	b.results.err = down
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
	inc := func(check checkid.ID, resource string, state incident.State) incident.Incident {
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
		told := slices.ContainsFunc(b.observations[0].Diagnosis.Causes, func(c diagnosis.Cause) bool { return c.Check == "ip/subnet-exhausted" })
		if told != test.told {
			t.Errorf("%s: told %v, want %v", name, told, test.told)
		}
	}
}

// TestKilledAtEachWrite: what subnets have is recorded, the hours that are over
// are added up once, and sent to report, wherever the function ends.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Kill: k})
		if _, err := b.Handle(b.Sweep()); err != nil {
			t.Fatal(err)
		}
		b.Observations()
		b.Advance(65 * time.Minute)
		k.Invoke(b.Sweep())
		list := b.Observations()
		return map[string]any{"records": b.Kept(), "told": len(list) > 0, "concluded": b.Concluded(list)}
	})
}

// TestManagedInterfacesBreakBlocks: an interface that an AWS service manages is
// in no list of EC2 unless one asks for it, and breaks a /28 as any other.
func TestManagedInterfacesBreakBlocks(t *testing.T) {
	for world, want := range map[string]struct {
		blocks float64
		cause  string
	}{
		"corpus/ip-fragmented-managed.yaml":         {0, stagetest.Subnet},
		"corpus/ip-fragmented-managed-healthy.yaml": {10, ""},
	} {
		t.Run(world, func(t *testing.T) {
			b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{World: world, Settings: map[string]string{"ROLLCALL_SUBNET_METRICS": "on"}})
			if _, err := b.Handle(b.Sweep()); err != nil {
				t.Fatal(err)
			}
			if got := stagetest.Causes(b.Observation())["ip/fragmented"]; got != want.cause {
				t.Errorf("ip/fragmented of %q, want %q", got, want.cause)
			}
			if _, gauges := b.Numbers(); gauges[stagetest.Subnet]["FreeBlocks"] != want.blocks {
				t.Errorf("%s has %v free /28 blocks, want %v", stagetest.Subnet, gauges[stagetest.Subnet]["FreeBlocks"], want.blocks)
			}
		})
	}
}

// TestSubnetsOfNodePools: a subnet into which only a NodePool launches is watched as
// those of groups are: what it has is kept, and too little for what the pool's limit
// leaves is reported.
func TestSubnetsOfNodePools(t *testing.T) {
	const own = "subnet-0f10000000000077a"
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{World: "healthy-nat.yaml", ClusterRole: true, Over: `
timeline: []
ec2:
  Subnets:
    - {SubnetId: ` + own + `, VpcId: vpc-0a1b2c3d4e5f60718, AvailabilityZone: us-west-2a, AvailabilityZoneId: usw2-az1, CidrBlock: 10.42.240.0/26, AvailableIpAddressCount: 30}
kubernetes:
  eks-workshop:
    NodePools:
      - metadata: {name: web, generation: 1}
        spec: {limits: {nodes: 5}, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}, requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.extra-large]}]}}}
        status: {resources: {nodes: "1"}}
    EC2NodeClasses:
      - metadata: {name: web, generation: 1}
        status: {subnets: [{id: ` + own + `, zone: us-west-2a}], conditions: [{type: Ready, status: "True"}]}
    NodeClaims:
      - metadata: {name: web-x7k2p, labels: {karpenter.sh/nodepool: web, node.kubernetes.io/instance-type: m5.large}}
        status: {providerID: aws:///us-west-2a/i-0a700000000000001}
`})
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	var told []string
	for _, c := range o.Diagnosis.Causes {
		if c.Resource == own {
			told = append(told, string(c.Check)+" "+string(c.Confidence))
		}
	}
	if !slices.Equal(told, []string{"ip/scale-out-will-not-fit " + string(finding.Likely)}) {
		t.Errorf("of %s %q is told", own, told)
	}
	records, err := b.Stage.Records(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(records, func(item map[string]dynamotypes.AttributeValue) bool {
		pk, ok := item["pk"].(*dynamotypes.AttributeValueMemberS)
		return ok && pk.Value == "sample#"+own
	}) {
		t.Errorf("what %s has is not kept", own)
	}
}

// owner is an instance that EC2 does not know any more.
const owner = "i-0dead00000000dead"

// leave makes interfaces as the VPC CNI does, leaves them unattached, and gives
// their ids.
func leave(b *stagetest.Bench, t *testing.T, n int, cluster string) (ids []string) {
	t.Helper()
	made := b.Now().Add(-2 * time.Hour).UTC().Format(time.RFC3339)
	for range n {
		out, err := b.World.Call("ec2:CreateNetworkInterface", json.RawMessage(fmt.Sprintf(
			`{"SubnetId":%q,"Description":"aws-K8S-%s","SecondaryPrivateIpAddressCount":9,"TagSpecifications":[{"ResourceType":"network-interface","Tags":[{"Key":"node.k8s.amazonaws.com/instance_id","Value":%q},{"Key":"node.k8s.amazonaws.com/createdAt","Value":%q},{"Key":"cluster.k8s.amazonaws.com/name","Value":%q}]}]}`,
			stagetest.Subnet, owner, owner, made, cluster)))
		if err != nil {
			t.Fatal(err)
		}
		made, ok := out.(*ec2.CreateNetworkInterfaceOutput)
		if !ok {
			t.Fatalf("the world answers with %T", out)
		}
		ids = append(ids, *made.NetworkInterface.NetworkInterfaceId)
	}
	return ids
}

// TestOnTheStage: the real reader, table and queue, under the role's policy.
func TestOnTheStage(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP": "eks-workshop=dry-run", "ROLLCALL_SUBNET_METRICS": "on"}})
	left := leave(b, t, 6, stagetest.Cluster)
	leave(b, t, 1, "somebody-else")
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if o.Cluster != stagetest.Cluster || o.By != spec.Name || o.Sweep {
		t.Errorf("observation %+v", o)
	}
	for _, source := range []snapshot.Source{
		snapshot.Clusters, snapshot.Groups, snapshot.Nodegroups, snapshot.Subnets, snapshot.AWSNode, snapshot.InstanceTypes, snapshot.LaunchTemplates,
		snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf, snapshot.CIDRsKept, snapshot.ENIConfigsOf, snapshot.LaunchHistory,
	} {
		if !slices.Contains(o.Read, source) {
			t.Errorf("%s was not read: %+v", source, o.Blind)
		}
	}
	if slices.Contains(o.Read, snapshot.Instances) {
		t.Error("it claims that instances could be read")
	}
	for _, u := range o.Diagnosis.Unknown {
		if u.Check == "ip/subnet-exhausted" || u.Check == "ip/leaked-interfaces" {
			t.Errorf("%s is unknown: %+v", u.Check, u.Blocked)
		}
	}
	if got := stagetest.Causes(o)["ip/leaked-interfaces"]; got != stagetest.Subnet {
		t.Errorf("causes %v, want the leak in %s", stagetest.Causes(o), stagetest.Subnet)
	}
	i := slices.IndexFunc(o.Diagnosis.Causes, func(c diagnosis.Cause) bool { return c.Check == "ip/leaked-interfaces" })
	if i < 0 || o.Diagnosis.Causes[i].Confidence != finding.Likely || !slices.Contains(o.Diagnosis.Causes[i].Evidence, finding.Evidence{What: "eni-cleanup", Value: "dry-run: would delete 6 of them"}) {
		t.Errorf("causes %+v", o.Diagnosis.Causes)
	}
	_, gauges := b.Numbers()
	if g := gauges[stagetest.Subnet]; g["LeakedAddresses"] != 60 || g["FreeAddresses"] < 1000 || g["FreeBlocks"] < 100 {
		t.Errorf("gauges of %s: %v", stagetest.Subnet, g)
	}
	if g := gauges[stagetest.Cluster]; g["LeakedAddresses"] != 60 || g["FreeAddresses"] == 0 || g["FreeAddresses"] > gauges[stagetest.Subnet]["FreeAddresses"] {
		t.Errorf("gauges of the cluster: %v", g)
	}
	if len(gauges) != 4+1 {
		t.Errorf("gauges of %d subnets, want of those that the groups launch into", len(gauges)-1)
	}
	calls := b.Calls()
	for call, want := range map[string]int{"ec2:DescribeNetworkInterfaces": 1, "ec2:DescribeInstances": 1, "ec2:DescribeSubnets": 1, "dynamodb:PutItem": 4} {
		if calls[call] != want {
			t.Errorf("%d calls of %s, want %d", calls[call], call, want)
		}
	}
	// What is given back is proof enough, and is measured too.
	b.Advance(5 * time.Minute)
	for _, id := range left {
		b.Call("ec2:DeleteNetworkInterface", fmt.Sprintf(`{"NetworkInterfaceId":%q}`, id))
	}
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	if causes := stagetest.Causes(b.Observation()); causes["ip/leaked-interfaces"] != "" {
		t.Errorf("after the cleanup: %v", causes)
	}
}

// TestBlindToCreators: who cannot ask how the owners are accuses none, and says
// which permission is missing.
func TestBlindToCreators(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DescribeInstances", Deny: true}}})
	leave(b, t, 6, stagetest.Cluster)
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if causes := stagetest.Causes(o); causes["ip/leaked-interfaces"] != "" {
		t.Errorf("causes %v, though nobody knows how the owner is", causes)
	}
	if !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool { return f.Call == "ec2:DescribeInstances" && f.Reason == snapshot.Denied }) {
		t.Errorf("blind %+v, want ec2:DescribeInstances", o.Blind)
	}
	if _, gauges := b.Numbers(); len(gauges) != 1 || gauges[stagetest.Cluster]["FreeAddresses"] == 0 {
		t.Errorf("gauges %v, want those of the cluster alone", gauges)
	} else if _, told := gauges[stagetest.Cluster]["LeakedAddresses"]; told {
		t.Error("the metric says that nothing is leaked, and nobody knows")
	}
}

// TestWanted: who wants a cause to be looked at gets a look at that cluster
// now, and at no other.
func TestWanted(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLUSTERS": stagetest.Cluster}})
	leave(b, t, 6, stagetest.Cluster)
	if _, err := b.Handle(b.Wanted("somebody-else", "ip/leaked-interfaces", stagetest.Subnet)); err != nil {
		t.Fatal(err)
	}
	if n := len(b.Calls()); n != 0 {
		t.Errorf("%d kinds of calls for a cluster that is not watched", n)
	}
	if _, err := b.Handle(b.Wanted(stagetest.Cluster, "ip/leaked-interfaces", stagetest.Subnet)); err != nil {
		t.Fatal(err)
	}
	if o := b.Observation(); stagetest.Causes(o)["ip/leaked-interfaces"] != stagetest.Subnet {
		t.Errorf("causes %v", stagetest.Causes(o))
	}
}
