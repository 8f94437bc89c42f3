// Package look looks at clusters once: the functions' own sweeps, over any AWS and
// Kubernetes that answer, with nothing deployed. What they would keep in their table
// is gone with the look, and only the caller gets the result.
//
// It is one engine for an account that is there, with its caller's credentials, and
// for one that was captured.
package look

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/sync/errgroup"

	"rollcall/functions/join-check/joincheck"
	joincheckspec "rollcall/functions/join-check/spec"
	"rollcall/functions/launch-watch/launchwatch"
	launchwatchspec "rollcall/functions/launch-watch/spec"
	"rollcall/functions/nodegroup-watch/nodegroupwatch"
	nodegroupwatchspec "rollcall/functions/nodegroup-watch/spec"
	spotreportspec "rollcall/functions/spot-report/spec"
	"rollcall/functions/spot-report/spotreport"
	subnetwatchspec "rollcall/functions/subnet-watch/spec"
	"rollcall/functions/subnet-watch/subnetwatch"
	sweepspec "rollcall/functions/sweep/spec"
	zonewatchspec "rollcall/functions/zone-watch/spec"
	"rollcall/functions/zone-watch/zonewatch"
	"rollcall/shared/askonce"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/node/text"
	"rollcall/shared/nodegroup"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Endpoints finds another way to the Kubernetes API of a cluster, if there is one; via
// is taken in place of a connection.
type Endpoints = func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool)

// Record is a record of CloudTrail, JSON.
type Record = json.RawMessage

// Account is what is looked at.
type Account struct {
	ID, Region string
	// AWS makes the clients that read it.
	AWS aws.Config
	// Endpoints are other ways to the Kubernetes APIs than those that EKS tells; nil:
	// none.
	Endpoints Endpoints
	// Clusters are those that are looked at; nil: all that EKS lists.
	Clusters []string
	// Functions are those that look; nil: all.
	Functions []string
	// Once, if any, is of several looks at one time, which ask nothing twice; nil: of this
	// look alone.
	Once *askonce.Once
	// Refused gives CloudTrail's records of calls for instances, oldest first. It is
	// called beside all that needs none of them; nil: not read.
	Refused func(context.Context) []Record
	// Event, if any, is an event of EventBridge that is played first.
	Event json.RawMessage
	// Logs are the log groups in which EKS Auto Mode's logs may be looked for; a star at
	// the end stands for any end.
	Logs []string
	// Decode has the messages of denied launches decoded.
	Decode bool
	Now    func() time.Time
	Log    *slog.Logger
}

// Seen is what the functions found.
type Seen struct {
	// Observations are in the order in which report would have got them.
	Observations []report.Observation
	// Failed are the functions that did not come to an end.
	Failed []Failed
}

// Failed is a function that failed.
type Failed struct {
	Function string
	Err      error
}

// settings are those of a new deployment, but that no launch is given up: an instance
// that failed days ago is what the caller asks about.
func settings() (config.Config, error) {
	c, err := config.Load(func(string) string { return "" }, []spec.Variable{
		config.JoinTime, config.ReportHour, config.Cleanup, config.CleanupGrace, config.CleanupUntagged, config.RunwayHorizon, config.SubnetMetrics,
	})
	c.GiveUp = math.MaxInt64
	return c, err
}

// At looks at an account. What cannot be read is in the observations; the error is
// one of this program.
func At(ctx context.Context, a Account) (Seen, error) {
	c, err := settings()
	if err != nil {
		return Seen{}, err
	}
	if a.Once == nil {
		a.Once = &askonce.Once{}
	}
	a.AWS = a.Once.Client(a.AWS)
	p := parts{account: a, config: c, memory: newMemory(), reader: gather.New(a.AWS).WithEndpoints(a.Endpoints).Sharing(a.Once.Cluster).Decoding(a.Decode)}
	p.reader.ReadingLogs(cloudwatchlogs.New(a.AWS), a.Logs, text.CauseOfKarpenter)
	schedule, err := p.event("Scheduled Event", "aws.events", json.RawMessage("{}"))
	if err != nil {
		return Seen{}, err
	}
	turns, list, err := p.turns(ctx)
	if err != nil {
		return Seen{}, err
	}
	var played []json.RawMessage
	if Takes(a.Event) == nodegroupwatchspec.Name {
		raw, err := batch([]json.RawMessage{a.Event})
		if err != nil {
			return Seen{}, err
		}
		played = append(played, raw)
	}
	// In the order of the template, which is that in which report hears of them.
	runs := make([]run, 7)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		runs[0] = p.launches(ctx)
	}()
	p.heard = heard
	// The others look up what the roll call took down.
	runs[1], runs[2] = list, p.run(ctx, joinCheck(), turns...)
	<-heard
	var g errgroup.Group
	g.Go(func() error { runs[3] = p.run(ctx, nodegroupWatch(), append(played, turns...)...); return nil })
	g.Go(func() error {
		runs[4] = p.run(ctx, spotReport(), schedule)
		runs[5] = p.run(ctx, subnetWatch(), turns...) // what subnets have stands in the samples of both
		return nil
	})
	g.Go(func() error { runs[6] = p.run(ctx, zoneWatch(), turns...); return nil })
	_ = g.Wait()
	var s Seen
	for _, r := range runs {
		s.Observations = append(s.Observations, r.heard...)
		if r.err != nil {
			s.Failed = append(s.Failed, Failed{r.name, r.err})
		}
	}
	return s, ctx.Err()
}

// Takes is the function whose rules take an event, "" for none. What its queue holds back for
// later, the roll call of a launch, is done by the look anyway.
func Takes(raw json.RawMessage) string {
	t, err := event.Parse(raw)
	if err != nil {
		return ""
	}
	switch t.Kind {
	case event.LaunchStarted, event.LaunchSucceeded, event.LaunchFailed, event.LaunchRefused,
		event.InstanceRunning, event.InstanceEnded, event.Interruption, event.Rebalance, event.Maintenance:
		return launchwatchspec.Name
	case event.NodegroupCalled, event.AddonHealth:
		return nodegroupwatchspec.Name
	}
	return ""
}

// launches has launch-watch look at the event, if it takes it, and at the calls for instances
// that were refused.
func (p parts) launches(ctx context.Context) (r run) {
	var events []json.RawMessage
	if Takes(p.account.Event) == launchwatchspec.Name {
		events = append(events, p.account.Event)
	}
	if p.account.Refused != nil {
		refused, err := p.refusals(p.account.Refused(ctx))
		if err != nil {
			return run{name: launchWatch().name, err: err}
		}
		events = append(events, refused...)
	}
	batch, err := batch(events)
	switch {
	case err != nil:
		return run{name: launchWatch().name, err: err}
	case batch == nil:
		return r
	}
	return p.run(ctx, launchWatch(), batch)
}

// turns are those of the clusters, as sweep sends them, with what it tells of their list.
func (p parts) turns(ctx context.Context) (turns []json.RawMessage, list run, err error) {
	to := &collector{}
	names, err := p.detector(sweepspec.Name, to).Watched(ctx, p.account.ID, p.memory)
	if err != nil {
		return nil, run{}, err
	}
	for _, name := range names {
		turn, err := inbox.SweepCluster(spoke.ID{}, name, p.account.ID, p.account.Region, p.account.Now())
		if err != nil {
			return nil, run{}, fmt.Errorf("write the turn of %s: %w", name, err)
		}
		turns = append(turns, turn)
	}
	return turns, run{name: sweepspec.Name, heard: to.heard}, nil
}

func (p parts) event(kind, source string, detail json.RawMessage) (json.RawMessage, error) {
	raw, err := json.Marshal(map[string]any{
		"version": "0", "id": "a1b2c3d4-0000-4000-8000-000000000000", "detail-type": kind, "source": source,
		"account": p.account.ID, "region": p.account.Region, "time": p.account.Now().UTC().Format(time.RFC3339), "resources": []string{}, "detail": detail,
	})
	if err != nil {
		return nil, fmt.Errorf("write the event: %w", err)
	}
	return raw, nil
}

// runs reports whether a function looks.
func (a Account) runs(function string) bool {
	return a.Functions == nil || slices.Contains(a.Functions, function)
}

// watches tells the clusters that are looked at.
func (a Account) watches(cluster string) bool {
	return a.Clusters == nil || slices.Contains(a.Clusters, cluster)
}

// parts are what the functions of one look are made of.
type parts struct {
	account Account
	config  config.Config
	memory  *memory
	reader  *gather.Reader
	// heard is closed when launch-watch has taken down what was refused.
	heard <-chan struct{}
}

// function makes a function, which tells what it finds to a collector of its own.
type function struct {
	name string
	make func(p parts, d detect.Detector, to *collector) lambda.Handler
}

func launchWatch() function {
	return function{launchwatchspec.Name, func(p parts, d detect.Detector, to *collector) lambda.Handler {
		return launchwatch.New(launchwatch.Parts{Detector: d, Config: p.config, Table: p.memory, Reader: p.reader, Remind: to})
	}}
}

func joinCheck() function {
	return function{joincheckspec.Name, func(p parts, d detect.Detector, to *collector) lambda.Handler {
		return joincheck.New(joincheck.Parts{Detector: d, Config: p.config, Table: waitingTable{p.memory, p.heard}, Reader: p.reader, Remind: to})
	}}
}

func nodegroupWatch() function {
	return function{nodegroupwatchspec.Name, func(p parts, d detect.Detector, to *collector) lambda.Handler {
		return nodegroupwatch.New(nodegroupwatch.Parts{Detector: d, Config: p.config, Table: p.memory, Reader: p.reader, Remind: to, Tell: to})
	}}
}

func spotReport() function {
	return function{spotreportspec.Name, func(p parts, d detect.Detector, to *collector) lambda.Handler {
		return spotreport.New(spotreport.Parts{Detector: d, Config: p.config, Table: p.memory, Reader: p.reader, Send: to})
	}}
}

func subnetWatch() function {
	return function{subnetwatchspec.Name, func(p parts, d detect.Detector, to *collector) lambda.Handler {
		return subnetwatch.New(subnetwatch.Parts{
			Detector: d, Config: p.config, Table: p.memory, Reader: func() subnetwatch.Reader { return p.reader.Counting() }, Gauge: unmeasured, NoCharts: true,
		})
	}}
}

func zoneWatch() function {
	return function{zonewatchspec.Name, func(p parts, d detect.Detector, _ *collector) lambda.Handler {
		return zonewatch.New(zonewatch.Parts{Detector: d, Table: p.memory, Reader: p.reader, Gauge: unmeasured})
	}}
}

func unmeasured(string, string, float64, ...lambda.Dimension) {}

// run is what became of a function.
type run struct {
	name  string
	heard []report.Observation
	err   error
}

// run gives a function events. That it failed, or panicked, is part of what is seen: what
// it would have looked at is not known. What one event leads to keeps it from no other.
func (p parts) run(ctx context.Context, f function, events ...json.RawMessage) (r run) {
	to := &collector{}
	if r.name = f.name; !p.account.runs(f.name) {
		return r
	}
	defer func() {
		r.heard = to.heard
		if x := recover(); x != nil {
			p.account.Log.ErrorContext(ctx, "panic", "function", f.name, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
			r.err = fmt.Errorf("it panicked: %v", x)
		}
	}()
	handle := f.make(p, p.detector(f.name, to), to)
	for _, event := range events {
		_, err := handle(ctx, event)
		r.err = errors.Join(r.err, err)
	}
	return r
}

// detector is what every function is made of.
func (p parts) detector(name string, to *collector) detect.Detector {
	return detect.Detector{
		By: name, Region: p.account.Region, Clusters: p.account.Clusters, Watches: p.account.watches, Reader: p.reader, Results: to,
		Now: p.account.Now, Log: p.account.Log.With("function", name), Count: func(string, int) {},
	}
}

// collector keeps what one function tells. It sends no reminder and no message.
type collector struct{ heard []report.Observation }

// SendResult keeps what was found.
func (e *collector) SendResult(_ context.Context, o report.Observation) error {
	e.heard = append(e.heard, o)
	return nil
}

// SendSummary drops a summary: it counts what was, and finds nothing.
func (e *collector) SendSummary(context.Context, report.Summary) error { return nil }

// LookAgain drops a reminder.
func (e *collector) LookAgain(context.Context, []string, time.Time, time.Duration) error { return nil }

// LookAtNodegroup drops a reminder.
func (e *collector) LookAtNodegroup(context.Context, string, string, time.Time, time.Duration) error {
	return nil
}

// TellNodegroups drops what has changed since an empty memory.
func (e *collector) TellNodegroups(context.Context, []nodegroup.Event) error { return nil }

// memory is the table of one look, as package store has it where Rollcall is
// deployed: it begins empty, so that nothing is known but what is seen now, and what
// one function took down in this look the next one finds.
type memory struct {
	mu       sync.Mutex
	launches map[string]store.LaunchRecord
	times    map[string]map[string]store.JoinTimes
	refused  map[string][]store.RefusedRecord
	groups   map[string]map[string]nodegroup.Record
	samples  map[string]map[time.Time]snapshot.Sample
}

func newMemory() *memory {
	return &memory{
		launches: map[string]store.LaunchRecord{}, times: map[string]map[string]store.JoinTimes{}, refused: map[string][]store.RefusedRecord{},
		groups: map[string]map[string]nodegroup.Record{}, samples: map[string]map[time.Time]snapshot.Sample{},
	}
}

// GetLaunches gives those of some instances that are known.
func (m *memory) GetLaunches(_ context.Context, instances []string) (map[string]store.LaunchRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]store.LaunchRecord{}
	for _, id := range instances {
		if l, ok := m.launches[id]; ok {
			found[id] = l
		}
	}
	return found, nil
}

// CreateLaunch takes a launch down unless it is known.
func (m *memory) CreateLaunch(_ context.Context, l store.LaunchRecord) (created bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.launches[l.ID()]; known {
		return false, nil
	}
	l.Version = 1
	m.launches[l.ID()] = l
	return true, nil
}

// SaveLaunch takes a launch down.
func (m *memory) SaveLaunch(_ context.Context, l store.LaunchRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.Version++
	m.launches[l.ID()] = l
	return nil
}

// OpenLaunches are those of a cluster whose outcome is not known, oldest first.
func (m *memory) OpenLaunches(_ context.Context, cluster string) ([]store.LaunchRecord, error) {
	return m.launchesOf(func(l store.LaunchRecord) bool { return l.Cluster == cluster && !l.Status.Final() }), nil
}

func (m *memory) launchesOf(wanted func(store.LaunchRecord) bool) []store.LaunchRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := slices.DeleteFunc(slices.Collect(maps.Values(m.launches)), func(l store.LaunchRecord) bool { return !wanted(l) })
	slices.SortFunc(list, func(a, b store.LaunchRecord) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID(), b.ID()))
	})
	return list
}

// RecentHistory is History of at most that many, the newest.
func (m *memory) RecentHistory(ctx context.Context, cluster string, since time.Time, most int) ([]snapshot.Past, error) {
	list, err := m.History(ctx, cluster, since)
	return list[max(0, len(list)-most):], err
}

// History are the launches of a cluster that began since a time, oldest first.
func (m *memory) History(_ context.Context, cluster string, since time.Time) ([]snapshot.Past, error) {
	var list []snapshot.Past
	for _, l := range m.launchesOf(func(l store.LaunchRecord) bool { return l.Cluster == cluster && !l.Started.Before(since) }) {
		list = append(list, l.Past())
	}
	return list, nil
}

// JoinTimes are those of all nodegroups of a cluster.
func (m *memory) JoinTimes(_ context.Context, cluster string) (map[string]store.JoinTimes, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.times[cluster]), nil
}

// SaveJoinTimes takes down those of one nodegroup.
func (m *memory) SaveJoinTimes(_ context.Context, cluster string, t store.JoinTimes) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.times[cluster] == nil {
		m.times[cluster] = map[string]store.JoinTimes{}
	}
	t.Version++
	m.times[cluster][t.Nodegroup] = t
	return nil
}

// Samples are what a subnet had since a time, oldest first.
func (m *memory) Samples(_ context.Context, subnet string, since time.Time) ([]snapshot.Sample, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := slices.DeleteFunc(slices.Collect(maps.Values(m.samples[subnet])), func(x snapshot.Sample) bool { return x.At.Before(since) })
	slices.SortFunc(list, func(a, b snapshot.Sample) int { return a.At.Compare(b.At) })
	return list, nil
}

// RecordSamples keeps what subnets had, one sample a minute of each, as the table
// does.
func (m *memory) RecordSamples(_ context.Context, samples []snapshot.Sample) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range samples {
		if m.samples[x.Subnet] == nil {
			m.samples[x.Subnet] = map[time.Time]snapshot.Sample{}
		}
		m.samples[x.Subnet][x.At.UTC().Truncate(time.Minute)] = x
	}
	return nil
}

// CatchUp has no hour to roll up.
func (m *memory) CatchUp(context.Context, string) (hours int, err error) { return 0, nil }

// Returned: without a cleanup.
func (m *memory) Returned(context.Context, string, time.Time) ([]snapshot.Returned, error) {
	return nil, nil
}

// RefusedLaunches are those of a cluster.
func (m *memory) RefusedLaunches(_ context.Context, cluster string) ([]store.RefusedRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.refused[cluster]), nil
}

// SaveRefusedLaunch takes one down, over the one of its launcher and class.
func (m *memory) SaveRefusedLaunch(_ context.Context, r store.RefusedRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.Version++
	list := m.refused[r.Cluster]
	if i := slices.IndexFunc(list, func(x store.RefusedRecord) bool { return x.Launcher == r.Launcher && x.Class == r.Class }); i >= 0 {
		list[i] = r
		return nil
	}
	m.refused[r.Cluster] = append(list, r)
	return nil
}

// waitingTable is the memory of who needs to know what launch-watch took down beside it.
type waitingTable struct {
	*memory
	heard <-chan struct{}
}

// RefusedLaunches waits for it.
func (p waitingTable) RefusedLaunches(ctx context.Context, cluster string) ([]store.RefusedRecord, error) {
	select {
	case <-p.heard:
		return p.memory.RefusedLaunches(ctx, cluster)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Nodegroups are those of a cluster.
func (m *memory) Nodegroups(_ context.Context, cluster string) (map[string]nodegroup.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.groups[cluster]), nil
}

// SaveNodegroup takes one down.
func (m *memory) SaveNodegroup(_ context.Context, r nodegroup.Record) (nodegroup.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.groups[r.Cluster] == nil {
		m.groups[r.Cluster] = map[string]nodegroup.Record{}
	}
	r.Version++
	m.groups[r.Cluster][r.Nodegroup] = r
	return r, nil
}

// Incidents: none is open before the first look.
func (m *memory) Incidents(context.Context, string) ([]incident.Incident, error) { return nil, nil }

// ClusterRecords: nothing is known of other clusters.
func (m *memory) ClusterRecords(context.Context) ([]outbox.ClusterRecord, error) { return nil, nil }

// Postings: no summary was sent.
func (m *memory) Postings(context.Context, string) ([]outbox.Posting, error) { return nil, nil }

// refusals are the refused calls for instances among CloudTrail's records, as events, oldest
// first.
func (p parts) refusals(records []Record) ([]json.RawMessage, error) {
	var list []json.RawMessage
	for _, record := range records {
		raw, err := p.event("AWS API Call via CloudTrail", "aws.ec2", record)
		if err != nil {
			return nil, err
		}
		// What brought instances, dry runs and what cannot be read are none.
		if t, err := event.Parse(raw); err == nil && t.Kind == event.LaunchRefused {
			list = append(list, raw)
		}
	}
	return list, nil
}

// batch is events as a queue brings them; nil where there are none.
func batch(events []json.RawMessage) (json.RawMessage, error) {
	type message struct {
		ID     string `json:"messageId"`
		Source string `json:"eventSource"`
		Body   string `json:"body"`
	}
	if len(events) == 0 {
		return nil, nil
	}
	list := make([]message, len(events))
	for i, raw := range events {
		list[i] = message{ID: fmt.Sprintf("m%d", i), Source: "aws:sqs", Body: string(raw)}
	}
	raw, err := json.Marshal(map[string]any{"Records": list})
	if err != nil {
		return nil, fmt.Errorf("write the batch: %w", err)
	}
	return raw, nil
}
