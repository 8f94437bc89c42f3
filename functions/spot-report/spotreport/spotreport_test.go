package spotreport

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

	"rollcall/functions/spot-report/spec"
	"rollcall/shared/checkid"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/digest"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
	"rollcall/stage/stagetest"
)

// memory is a history in memory.
type memory struct {
	past     []snapshot.Past
	samples  []snapshot.Sample
	recorded []snapshot.Sample
	postings []outbox.Posting
	since    time.Time
	err      error
}

func (m *memory) History(_ context.Context, _ string, since time.Time) ([]snapshot.Past, error) {
	m.since = since
	// Oldest first, as the store gives them.
	slices.SortStableFunc(m.past, func(a, b snapshot.Past) int { return a.Started.Compare(b.Started) })
	return m.past, m.err
}

func (m *memory) Samples(_ context.Context, subnet string, _ time.Time) ([]snapshot.Sample, error) {
	return slices.DeleteFunc(slices.Clone(m.samples), func(s snapshot.Sample) bool { return s.Subnet != subnet }), nil
}

func (m *memory) RecordSamples(_ context.Context, list []snapshot.Sample) error {
	m.recorded = append(m.recorded, list...)
	return nil
}

func (m *memory) Postings(context.Context, string) ([]outbox.Posting, error) { return m.postings, nil }

// account is AWS with a cluster "prod" that has one group.
type account struct {
	names  []string
	failed *snapshot.Failure
	asked  []snapshot.Source
}

func (a *account) Clusters(context.Context) ([]string, *snapshot.Failure) { return a.names, a.failed }

func (a *account) GroupsOf(context.Context, string) ([]snapshot.Group, *snapshot.Failure) {
	return []snapshot.Group{{Name: "eks-workers", Subnets: []string{"subnet-a", "subnet-b"}, Types: []string{"c5.large"}}}, a.failed
}

func (a *account) Read(_ context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	a.asked = q.Sources
	if q.Cluster == "gone" {
		return nil, gather.ErrNoCluster
	}
	s := &snapshot.Snapshot{
		Time: q.Time, Account: q.Account, Region: q.Region, Partition: "aws", Scope: q.Scope, Groups: q.Groups,
		Read:     map[snapshot.Source]bool{snapshot.Instances: true, snapshot.Groups: true, snapshot.Subnets: true, snapshot.Clusters: true},
		Failures: map[snapshot.Source]snapshot.Failure{},
		Subnets:  []snapshot.Subnet{{ID: "subnet-a", Free: 240}, {ID: "subnet-b", Free: 99}, {ID: "subnet-other"}},
	}
	if s.Account == "" {
		s.Account = "111122223333" // as the reader does, by the cluster's ARN
	}
	s.Cluster.Name, s.Cluster.ARN = q.Cluster, "arn:aws:eks:us-west-2:111122223333:cluster/"+q.Cluster
	return s, nil
}

func (a *account) More(_ context.Context, s *snapshot.Snapshot, _ gather.Query, sources ...snapshot.Source) {
	for _, name := range s.Groups[0].Types {
		s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: name})
	}
	for _, source := range sources {
		s.Read[source] = true
	}
}

// results keeps what report is sent.
type results struct {
	observations []report.Observation
	summaries    []report.Summary
	err          error
}

func (q *results) SendResult(_ context.Context, o report.Observation) error {
	q.observations = append(q.observations, o)
	return q.err
}

func (q *results) SendSummary(_ context.Context, s report.Summary) error {
	if q.err == nil {
		q.summaries = append(q.summaries, s)
	}
	return q.err
}

func (q *results) ids() []string {
	var ids []string
	for _, s := range q.summaries {
		ids = append(ids, s.ID)
	}
	return ids
}

type bench struct {
	handler
	*memory
	*account
	*results
	clock time.Time
}

// morning is two minutes into the hour of the report.
var morning = time.Date(2026, 11, 21, 8, 2, 0, 0, time.UTC)

func newBench() *bench {
	b := &bench{memory: &memory{}, account: &account{names: []string{"prod"}}, results: &results{}, clock: morning}
	b.handler = handler{
		Detector: detect.Detector{
			By: spec.Name, Region: "us-west-2", Reader: b.account, Results: b.results, Watches: func(name string) bool { return name != "dev" },
			Now: func() time.Time { return b.clock }, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {},
		},
		Table: b.memory, Reader: b.account, Send: b.results, Config: config.Config{ReportHour: 8},
	}
	return b
}

// launches are Spot launches that began at an hour before the report.
func launches(n int, hours float64, end snapshot.End) []snapshot.Past {
	var list []snapshot.Past
	for i := range n {
		p := snapshot.Past{
			ID: fmt.Sprintf("i-%s-%v-%d", end, hours, i), Nodegroup: "workers", Group: "eks-workers", Type: "m5.large", Zone: "us-west-2a", Subnet: "subnet-a", Spot: true,
			Started: morning.Truncate(time.Hour).Add(-time.Duration(hours * float64(time.Hour))), End: end,
		}
		if end == snapshot.Joined {
			p.Ready = p.Started.Add(time.Duration(60+i) * time.Second)
		}
		list = append(list, p)
	}
	return list
}

func tick(at time.Time) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"id":"x","detail-type":"Scheduled Event","source":"aws.events","account":"111122223333","time":%q,"region":"us-west-2","detail":{}}`, at.Format(time.RFC3339)))
}

func wish(detail string) json.RawMessage {
	return json.RawMessage(`{"source":"rollcall","detail-type":"Rollcall Spot Report Wanted","detail":` + detail + `}`)
}

func (b *bench) run(t *testing.T) {
	t.Helper()
	if _, err := b.handle(t.Context(), tick(b.clock)); err != nil {
		t.Fatal(err)
	}
}

func TestDaily(t *testing.T) {
	b := newBench()
	b.past = slices.Concat(launches(20, 3, snapshot.Joined), launches(4, 2.5, snapshot.NotJoined),
		launches(50, 30, snapshot.NotJoined),   // the day before: not in this report
		launches(7, -0.01, snapshot.NotJoined)) // after the hour: in the next
	b.samples = []snapshot.Sample{{Subnet: "subnet-a", At: morning.Add(-4 * time.Hour), Free: 200, Total: 251}}
	b.run(t)
	if len(b.summaries) != 1 {
		t.Fatalf("%d summaries, want 1", len(b.summaries))
	}
	s := b.summaries[0]
	if s.ID != "spot/prod/2026-11-21" || s.Spot.Spot.Requested != 24 || s.Failed() != 4 || s.Account != "111122223333" || s.Partition != "aws" {
		t.Errorf("summary %s of %+v in account %q", s.ID, s.Spot.Spot, s.Account)
	}
	if from, to := s.Spot.From, s.Spot.To; !to.Equal(morning.Truncate(time.Hour)) || to.Sub(from) != 24*time.Hour {
		t.Errorf("it is of %s to %s", from, to)
	}
	if !strings.HasPrefix(string(s.Chart), "\x89PNG") {
		t.Error("it has no chart")
	}
	if diff := cmp.Diff(&report.Slowest{Type: "m5.large", Zone: "us-west-2a", Median: 70 * time.Second, Joined: 20}, s.Slowest); diff != "" {
		t.Errorf("slowest (-want +got):\n%s", diff)
	}
	if len(b.observations) != 1 || !slices.Contains(b.observations[0].Read, snapshot.LaunchHistory) || slices.Contains(b.observations[0].Read, snapshot.Instances) {
		t.Errorf("observations %+v, want one of the history and of no instance", b.observations)
	}
	if got := b.clock.Sub(b.since); got != 7*24*time.Hour {
		t.Errorf("the history of %s was read, want of a week", got)
	}
}

// However often, late or early the function runs: one summary a day.
func TestOneADay(t *testing.T) {
	b := newBench()
	b.past = launches(5, 3, snapshot.NotJoined)
	b.clock = morning.Add(-3 * time.Hour)
	for range 6 { // until 10:02, but nothing runs at 8 o'clock
		if b.clock.Hour() != 8 {
			b.run(t)
			b.run(t)
		}
		b.clock = b.clock.Add(time.Hour)
	}
	// Until report has it the same is sent again, which report and SQS drop.
	if got := slices.Compact(b.ids()); !slices.Equal(got, []string{"spot/prod/2026-11-21"}) {
		t.Errorf("summaries %q, want one", got)
	}
	for i, s := range b.summaries {
		if !cmp.Equal(s.Spot, b.summaries[0].Spot) {
			t.Errorf("the summary with the number %d says something else", i)
		}
	}
	b.postings = []outbox.Posting{{Summary: b.summaries[0]}}
	b.results.summaries = nil
	b.run(t)
	if len(b.summaries) != 0 {
		t.Errorf("report has it, and %q was sent", b.ids())
	}
	b.past = append(b.past, launches(5, -3, snapshot.NotJoined)...)
	b.clock = morning.Add(24 * time.Hour)
	b.run(t)
	if got := b.ids(); !slices.Equal(got, []string{"spot/prod/2026-11-22"}) {
		t.Errorf("the day after: %q", got)
	}
}

func TestQuietDays(t *testing.T) {
	b := newBench()
	onDemand := launches(9, 3, snapshot.NotJoined)
	for i := range onDemand {
		onDemand[i].Spot = false
	}
	b.past = slices.Concat(onDemand, launches(9, 40, snapshot.Joined))
	b.run(t)
	if len(b.summaries) != 0 || len(b.observations) != 1 {
		t.Errorf("without Spot launches: %d summaries, %d observations; want 0 and 1", len(b.summaries), len(b.observations))
	}
	b.past = launches(9, 3, snapshot.Joined)
	b.run(t)
	if len(b.summaries) != 1 || !b.summaries[0].Quiet() || len(b.summaries[0].Chart) > 0 {
		t.Errorf("all joined: %+v, want a quiet one without a chart", b.ids())
	}
}

// The subnets of all groups are noted, of what else is in the VPC none.
func TestSamples(t *testing.T) {
	b := newBench()
	b.run(t)
	want := []snapshot.Sample{{Subnet: "subnet-a", At: morning, Free: 240}, {Subnet: "subnet-b", At: morning, Free: 99}}
	if diff := cmp.Diff(want, b.recorded); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
}

func TestAsked(t *testing.T) {
	b := newBench()
	b.past = slices.Concat(launches(3, 5, snapshot.NotJoined), launches(6, 200, snapshot.NotJoined))
	for detail, want := range map[string]int{`{"cluster":"prod","hours":6}`: 3, `{"cluster":"prod","hours":240}`: 9, `{}`: 3} {
		b.results.summaries = nil
		out, err := b.handle(t.Context(), wish(detail))
		if err != nil || len(b.summaries) != 1 || b.summaries[0].Spot.Spot.Requested != want {
			t.Fatalf("%s: %v, %q", detail, err, b.ids())
		}
		s := b.summaries[0]
		if got, span := b.clock.Sub(b.since), s.Spot.To.Sub(s.Spot.From); got != max(span, 7*24*time.Hour) {
			t.Errorf("%s: the history of %s was read", detail, got)
		}
		if diff := cmp.Diff(&answer{Sent: []string{s.ID}}, out); diff != "" || !strings.HasPrefix(s.ID, "spot/prod/asked/") || s.Account != "111122223333" {
			t.Errorf("%s: account %q, answer (-want +got):\n%s", detail, s.Account, diff)
		}
		if len(b.observations) != 0 {
			t.Errorf("%s: the checks ran too", detail)
		}
	}
	b.past = nil
	out, err := b.handle(t.Context(), wish(`{"cluster":"prod"}`))
	if diff := cmp.Diff(&answer{WithoutSpot: []string{"prod"}}, out); err != nil || diff != "" {
		t.Errorf("%v, answer (-want +got):\n%s", err, diff)
	}
	for detail, want := range map[string]string{`{"cluster":"dev"}`: "is not watched", `{"cluster":"gone"}`: gather.ErrNoCluster.Error()} {
		if _, err := b.handle(t.Context(), wish(detail)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", detail, err, want)
		}
	}
}

// One cluster's trouble does not keep the others from being looked at, and is
// not passed over.
func TestTrouble(t *testing.T) {
	b := newBench()
	b.names = []string{"gone", "prod"}
	b.past = launches(3, 5, snapshot.NotJoined)
	b.run(t)
	if len(b.summaries) != 1 {
		t.Errorf("%d summaries, want that of the cluster which is there", len(b.summaries))
	}
	down := errors.New("down")
	b.results.err = down
	if _, err := b.handle(t.Context(), tick(b.clock)); !errors.Is(err, down) {
		t.Errorf("the queue is down: %v", err)
	}
	b = newBench()
	b.memory.err = down
	if _, err := b.handle(t.Context(), tick(b.clock)); !errors.Is(err, down) || len(b.observations) != 0 {
		t.Errorf("the table is down: %v, %d observations", err, len(b.observations))
	}
	b = newBench()
	b.past, b.memory.err = launches(3, 5, snapshot.NotJoined), &store.NewerFormat{Record: "x", Written: 2, Known: 1}
	b.run(t)
	if len(b.summaries) != 1 || !strings.Contains(strings.Join(b.summaries[0].Spot.Assumed, " "), "newer version") {
		t.Errorf("records of a newer version: %+v", b.summaries)
	}
	// The day is reported with what there is; a verdict on a pool is not.
	if d := b.observations[0].Diagnosis; len(d.Passed) > 0 || len(d.Causes) > 0 || len(d.Unknown) == 0 {
		t.Errorf("pools were judged by a part of the history: %+v", d)
	}
	// Whatever else is wrong is not swallowed with it.
	b = newBench()
	b.memory.err = fmt.Errorf("read: %w", errors.Join(&store.NewerFormat{Record: "x", Written: 2, Known: 1}, down))
	if _, err := b.handle(t.Context(), tick(b.clock)); !errors.Is(err, down) {
		t.Errorf("a newer record hides that the table is down: %v", err)
	}
	b = newBench()
	b.account.failed = &snapshot.Failure{Source: snapshot.Clusters, Call: "eks:ListClusters", Reason: snapshot.Denied}
	if _, err := b.handle(t.Context(), tick(b.clock)); err == nil || !strings.Contains(err.Error(), "eks:ListClusters") {
		t.Errorf("clusters cannot be listed: %v", err)
	}
	for _, raw := range []string{`{`, `{"source":"aws.ec2","detail-type":"x","time":"2026-11-20T15:00:00Z"}`} {
		if _, err := b.handle(t.Context(), json.RawMessage(raw)); err == nil {
			t.Errorf("%s: no error", raw)
		}
	}
}

func TestSlowest(t *testing.T) {
	from, to := morning.Add(-24*time.Hour), morning
	few := launches(fewestJoins-1, 3, snapshot.Joined)
	if got := slowest(few, from, to); got != nil {
		t.Errorf("of few joins: %+v", got)
	}
	slow := launches(fewestJoins, 3, snapshot.Joined)
	for i := range slow {
		slow[i].Type, slow[i].Ready = "c5.large", slow[i].Started.Add(4*time.Minute)
	}
	got := slowest(slices.Concat(launches(50, 3, snapshot.Joined), slow), from, to)
	if diff := cmp.Diff(&report.Slowest{Type: "c5.large", Zone: "us-west-2a", Median: 4 * time.Minute, Joined: fewestJoins}, got); diff != "" {
		t.Errorf("slowest (-want +got):\n%s", diff)
	}
}

// TestKilledAtEachWrite: what subnets have is recorded, and sent to report,
// wherever the function ends.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Kill: k})
		k.Invoke(b.Sweep())
		list := b.Observations()
		return map[string]any{"records": b.Kept(), "told": len(list) > 0, "concluded": b.Concluded(list)}
	})
}

// TestOnTheStage: the real reader, table and queue, under the role's policy.
func TestOnTheStage(t *testing.T) {
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{})
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	if o.Cluster != stagetest.Cluster || o.By != spec.Name || o.Sweep {
		t.Errorf("observation %+v", o)
	}
	for _, source := range []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.Nodegroups, snapshot.Subnets, snapshot.AWSNode, snapshot.InstanceTypes, snapshot.LaunchHistory} {
		found := false
		for _, r := range o.Read {
			found = found || r == source
		}
		if !found {
			t.Errorf("%s was not read: %+v", source, o.Blind)
		}
	}
	calls := b.Calls()
	if n := calls["eks:DescribeNodegroup"]; n != 2 {
		t.Errorf("%d nodegroups were described, want both of the cluster: their pools are judged", n)
	}
	if n := calls["dynamodb:PutItem"]; n == 0 {
		t.Error("no sample was recorded")
	}
}

// overdue are open launches that have missed their time, for a cause.
func overdue(n int, hours float64, cause checkid.ID) []snapshot.Past {
	list := launches(n, hours, snapshot.Open)
	for i := range list {
		list[i].ID += "-overdue"
		list[i].Zone, list[i].Missed, list[i].Cause = "us-west-2c", list[i].Started.Add(5*time.Minute), cause
	}
	return list
}

// What is past its time has not joined so far, for the reason that was found;
// what is not due yet is open. The test of the pools knows neither.
func TestOverdueHaveNotJoinedSoFar(t *testing.T) {
	b := newBench()
	b.past = slices.Concat(launches(6, 3, snapshot.Joined), launches(2, 0.01, snapshot.Open), overdue(8, 0.5, "route/no-egress"), overdue(40, 0.7, ""))
	before := slices.Clone(b.past)
	b.run(t)
	if len(b.summaries) != 1 {
		t.Fatalf("%d summaries, want 1", len(b.summaries))
	}
	r := b.summaries[0].Spot
	want := spotreport.Funnel{Requested: 56, Launched: 56, Joined: 6, NotJoined: 48, Open: 2}
	if diff := cmp.Diff(want, r.Spot); diff != "" {
		t.Errorf("funnel (-want +got):\n%s", diff)
	}
	for _, p := range r.Pools {
		if p.Zone != "us-west-2c" {
			continue
		}
		if diff := cmp.Diff([]spotreport.Cause{{Name: "not joined", Count: 40}, {Name: "route/no-egress", Count: 8}}, p.Causes); diff != "" || p.Failing || p.P != 1 {
			t.Errorf("p = %v, failing %v, causes (-want +got):\n%s", p.P, p.Failing, diff)
		}
	}
	if !slices.Contains(r.Assumed, "Counted as not joined so far, and still looked at: 48 of the launches.") {
		t.Errorf("assumed %q", r.Assumed)
	}
	slices.SortStableFunc(before, func(a, b snapshot.Past) int { return a.Started.Compare(b.Started) })
	if diff := cmp.Diff(before, b.past); diff != "" {
		t.Errorf("the history itself was changed (-want +got):\n%s", diff)
	}
}

// Of too many launches it says from when on it counts, and the pools are judged
// from then on too.
func TestHistoryThatWasCut(t *testing.T) {
	for _, wrap := range []func(error) error{
		func(err error) error { return err },
		func(err error) error { return fmt.Errorf("read the launches of prod: %w", errors.Join(err)) },
		func(err error) error {
			return fmt.Errorf("read: %w", errors.Join(&store.NewerFormat{Record: "x", Written: 2, Known: 1}, err))
		},
	} {
		b := newBench()
		since := morning.Truncate(time.Hour).Add(-4 * time.Hour)
		b.past = launches(3, 3, snapshot.NotJoined)
		b.memory.err = wrap(&store.OlderLeftOut{Since: since, Most: 3})
		b.run(t)
		if len(b.summaries) != 1 {
			t.Fatalf("%d summaries, want 1", len(b.summaries))
		}
		r := b.summaries[0].Spot
		if !r.From.Equal(since) || r.Spot.NotJoined != 3 {
			t.Errorf("from %s: %+v", r.From, r.Spot)
		}
		said := strings.Join(r.Assumed, " ")
		for _, want := range []string{"it counts from 04:00 UTC on 21 Nov on, older launches are left out", "by more than chance is judged since 04:00 UTC on 21 Nov"} {
			if !strings.Contains(said, want) {
				t.Errorf("assumed %q, want %q", said, want)
			}
		}
	}
	b := newBench()
	b.memory.err = fmt.Errorf("read: %w", errors.Join(errors.New("down"), &store.OlderLeftOut{Since: morning}))
	if _, err := b.handle(t.Context(), tick(b.clock)); err == nil || !strings.Contains(err.Error(), "down") {
		t.Errorf("error %v, want the other trouble", err)
	}
}

// records are those of one account, of which some cannot be read.
type records struct {
	sweeps    []overview.Sweep
	sweepsErr error
	slow      bool
}

func (r records) Sweeps(context.Context) ([]overview.Sweep, error)               { return r.sweeps, r.sweepsErr }
func (r records) ClusterRecords(context.Context) ([]outbox.ClusterRecord, error) { return nil, nil }
func (r records) AllSilences(context.Context) ([]silence.Silence, error)         { return nil, nil }
func (r records) Incidents(context.Context, string) ([]incident.Incident, error) { return nil, nil }
func (r records) Audits(context.Context, string, time.Time) ([]leak.Audit, error) {
	return nil, nil
}

func (r records) RecentHistory(ctx context.Context, _ string, since time.Time, _ int) ([]snapshot.Past, error) {
	if r.slow {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []snapshot.Past{{Started: since, End: snapshot.Joined}}, nil
}

// looked is a cluster that was looked at since a time.
func looked(since time.Time) overview.Sweep {
	return overview.Sweep{Cluster: "prod"}.After(overview.ClusterSweep{At: since}).After(overview.ClusterSweep{At: monday})
}

// monday is two minutes into the hour of the message.
var monday = time.Date(2026, 11, 23, 8, 2, 0, 0, time.UTC)

func newWeekly(r records, now time.Time) (weekly, *memory, *results) {
	m, q := &memory{}, &results{}
	return weekly{
		Weekly:   config.Weekly{Day: time.Monday, Hour: 8},
		Detector: detect.Detector{By: "spot-report", Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {}},
		said:     m, send: q, watched: []digest.Watched{{Table: r}},
	}, m, q
}

func deliveredWeek(to time.Time) outbox.Posting {
	return outbox.Posting{Summary: report.Summary{Kind: report.WeeklySummary, Period: &report.Period{To: to}}}.Delivered()
}

// TestWeekIsToldOnce: when it is due and until the next is, unless it was told; a stack tells
// of no week that ended before it was made.
func TestWeekIsToldOnce(t *testing.T) {
	ended := monday.Truncate(24 * time.Hour)
	before := looked(ended.AddDate(0, 0, -3))
	for name, c := range map[string]struct {
		records records
		now     time.Time
		known   []outbox.Posting
		want    string
	}{
		"in its hour":                 {records{sweeps: []overview.Sweep{before}}, monday, nil, "weekly/2026-11-23"},
		"late":                        {records{sweeps: []overview.Sweep{before}}, monday.AddDate(0, 0, 5), nil, "weekly/2026-11-23"},
		"told":                        {records{sweeps: []overview.Sweep{before}}, monday, []outbox.Posting{deliveredWeek(ended)}, ""},
		"the last one told":           {records{sweeps: []overview.Sweep{before}}, monday, []outbox.Posting{deliveredWeek(ended.AddDate(0, 0, -7))}, "weekly/2026-11-23"},
		"another day was set":         {records{sweeps: []overview.Sweep{before}}, monday, []outbox.Posting{deliveredWeek(ended.AddDate(0, 0, 2))}, ""},
		"made since":                  {records{sweeps: []overview.Sweep{looked(ended.Add(time.Hour))}}, monday, nil, ""},
		"upgraded since":              {records{sweeps: []overview.Sweep{{Cluster: "prod", At: monday}}}, monday, nil, ""},
		"nothing was looked at":       {records{}, monday, nil, ""},
		"nothing is looked at since":  {records{}, monday, []outbox.Posting{deliveredWeek(ended.AddDate(0, 0, -7))}, "weekly/2026-11-23"},
		"the looks cannot be read":    {records{sweepsErr: errors.New("throttled")}, monday, nil, "weekly/2026-11-23"},
		"before its hour on that day": {records{sweeps: []overview.Sweep{before}}, monday.Add(-3 * time.Minute), nil, ""},
	} {
		w, m, q := newWeekly(c.records, c.now)
		m.postings = c.known
		if err := w.handle(t.Context(), tick(c.now)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := ""
		if len(q.summaries) == 1 {
			got = q.summaries[0].ID
		}
		if got != c.want || len(q.summaries) > 1 {
			t.Errorf("%s: told %q, want %q", name, q.ids(), c.want)
		}
	}
}

// What was not read in time is not told as if it were all: the next hour tries again.
func TestWeekIsNotToldInPart(t *testing.T) {
	w, _, q := newWeekly(records{sweeps: []overview.Sweep{looked(monday.AddDate(0, 0, -9)), {Cluster: "b", At: monday}}, slow: true}, monday)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.handle(ctx, tick(monday)); err == nil || len(q.summaries) > 0 {
		t.Errorf("%v, told %q; want an error and nothing told", err, q.ids())
	}
	w.said = nobody{}
	if err := w.handle(t.Context(), tick(monday)); err == nil || len(q.summaries) > 0 {
		t.Errorf("%v, told %q; want an error and nothing told", err, q.ids())
	}
}

// the text is unknown.
type nobody struct{}

func (nobody) Postings(context.Context, string) ([]outbox.Posting, error) {
	return nil, errors.New("throttled")
}

// What a newer version of Rollcall wrote does not keep the message back, and a wish is none.
func TestWeekBesideNewerRecords(t *testing.T) {
	w, m, q := newWeekly(records{sweeps: []overview.Sweep{looked(monday.AddDate(0, 0, -9))}}, monday)
	w.said = newer{m}
	if err := w.handle(t.Context(), tick(monday)); err != nil || len(q.summaries) != 1 {
		t.Errorf("%v, told %q", err, q.ids())
	}
	q.err = errors.New("no queue")
	if err := w.handle(t.Context(), tick(monday)); err == nil {
		t.Error("the queue does not take it, and there is no error")
	}
	if err := w.handle(t.Context(), []byte(`{"source":"somebody"}`)); err != nil {
		t.Error(err)
	}
}

type newer struct{ *memory }

func (n newer) Postings(context.Context, string) ([]outbox.Posting, error) {
	return nil, &store.NewerFormat{}
}
