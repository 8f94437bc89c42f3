// Package spotreport judges the pools that Spot launches take, and sums up a day
// of them.
package spotreport

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/spot-report/spec"
	"rollcall/shared/chart"
	"rollcall/shared/checks"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/digest"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/node/spot"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// answer tells a person who asked what came of it.
type answer struct {
	// Sent are the ids of the summaries that report was sent.
	Sent []string `json:"sent,omitempty"`
	// WithoutSpot are the clusters that launched no Spot instance in that time.
	WithoutSpot []string `json:"withoutSpot,omitempty"`
}

// handle takes the hourly schedule, or a request.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	switch t.Kind {
	case event.Sweep:
		return nil, h.each(ctx, t, h.hourly)
	case event.Asked:
		if t.Cluster != "" && !h.Watches(t.Cluster) {
			return nil, fmt.Errorf("cluster %s is not watched (setting clusters)", t.Cluster)
		}
		a := &answer{}
		return a, h.each(ctx, t, func(ctx context.Context, cluster string, t event.Trigger) error {
			return h.asked(ctx, cluster, t, a)
		})
	}
	return nil, fmt.Errorf("spot-report is woken by its schedule, or asked for a report, not by %s", t.Type)
}

// each does something for every watched cluster, or for the one that was named.
func (h handler) each(ctx context.Context, t event.Trigger, do func(context.Context, string, event.Trigger) error) error {
	names := h.Clusters
	if t.Cluster != "" {
		names = []string{t.Cluster}
	}
	return h.Each(ctx, names, func(ctx context.Context, name string) error { return do(ctx, name, t) })
}

// hourly judges a cluster's pools. From the hour of the report on it also makes
// the day's summary, unless report has it already: so a run that failed or came
// late is made up for by the next, and a second one changes nothing.
func (h handler) hourly(ctx context.Context, cluster string, t event.Trigger) error {
	now := h.Now().UTC()
	l, err := h.read(ctx, cluster, t, now.Add(-week))
	if err != nil {
		return h.IgnoreNoCluster(ctx, cluster, err)
	}
	judged := h.judge(ctx, l)
	until := time.Date(now.Year(), now.Month(), now.Day(), h.Config.ReportHour, 0, 0, 0, time.UTC)
	if now.Before(until) {
		return judged
	}
	id := "spot/" + cluster + "/" + until.Format(time.DateOnly)
	known, err := h.Table.Postings(ctx, cluster)
	if _, err = h.withoutNewer(ctx, cluster, err); err != nil {
		return errors.Join(judged, fmt.Errorf("look whether the day's summary was said: %w", err))
	}
	if slices.ContainsFunc(known, func(p outbox.Posting) bool { return p.Summary.ID == id }) {
		return judged
	}
	_, err = h.summarise(ctx, l, id, until.Add(-day), until)
	return errors.Join(judged, err)
}

// asked makes a summary of the last hours.
func (h handler) asked(ctx context.Context, cluster string, t event.Trigger, a *answer) error {
	now := h.Now().UTC()
	since := now.Add(-time.Duration(t.Hours) * time.Hour)
	l, err := h.read(ctx, cluster, t, now.Add(-max(week, now.Sub(since))))
	if err != nil {
		return err
	}
	// The same wish, delivered twice, is one; a wish without an id is a new one.
	id := "spot/" + cluster + "/asked/" + cmp.Or(t.ID, now.Format(time.RFC3339Nano))
	sent, err := h.summarise(ctx, l, id, since, now)
	switch {
	case err != nil:
	case sent:
		a.Sent = append(a.Sent, id)
	default:
		a.WithoutSpot = append(a.WithoutSpot, cluster)
	}
	return err
}

// judge sends report what the checks say of the pools, so that incidents open
// and close, and notes what the subnets have.
func (h handler) judge(ctx context.Context, l pools) error {
	_, err := h.Run(ctx, l.Snapshot, detect.Look{Checks: checks.OfPools()})
	// Of all subnets into which the cluster's groups may launch: a group that
	// has launched no Spot instance yet may begin with a burst.
	samples := detect.Samples(l.Snapshot, detect.Distinct(l.subnets, l.Scope.Launchable))
	if len(samples) > 0 {
		err = errors.Join(err, h.Table.RecordSamples(ctx, samples))
	}
	return err
}

// History is what Rollcall remembers of launches and subnets.
type History interface {
	History(ctx context.Context, cluster string, since time.Time) ([]snapshot.Past, error)
	Samples(ctx context.Context, subnet string, since time.Time) ([]snapshot.Sample, error)
	RecordSamples(ctx context.Context, samples []snapshot.Sample) error
	// Postings are the summaries that report has.
	Postings(ctx context.Context, cluster string) ([]outbox.Posting, error)
}

// Reader reads AWS and Kubernetes.
type Reader interface {
	detect.Reader
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
}

// Sender is whom it tells.
type Sender interface {
	detect.Sender
	SendSummary(ctx context.Context, s report.Summary) error
}

var (
	_ History = (*store.Store)(nil)
	_ Reader  = (*gather.Reader)(nil)
	_ Sender  = queue.Queues{}
)

// Parts are what the handler is made of. Build makes them of AWS; who looks at a
// cluster with nothing deployed has a memory of its own (command/diagnose/look).
type Parts struct {
	detect.Detector
	Config config.Config
	Table  History
	Reader Reader
	Send   Sender
}

type handler Parts

// New makes the handler of its parts.
func New(p Parts) lambda.Handler { return handler(p).handle }

// Build makes the handler of spot-report from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep)
	queues := queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Spoke: e.Config.Spoke}
	table := store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).WithClock(e.Now)
	detector := detect.New(spec.Name, e, reader, queues).Keeping(keep)
	if e.Config.Spoke.Hub() && e.Config.Weekly != nil && e.ForAll != nil {
		e.ForAll(weekly{
			Weekly: *e.Config.Weekly, Detector: detector, said: table, send: queues,
			watched: digest.All(e.Config, func(id spoke.ID) digest.Records { return table.ForSpoke(id) }),
		}.handle)
	}
	return New(Parts{
		Detector: detector,
		Config:   e.Config,
		Table:    table.ForSpoke(e.Config.Spoke),
		Reader:   reader,
		Send:     queues,
	}), nil
}

// week is how long launches of a pool are compared with the others'.
const week = 7 * 24 * time.Hour

// pools is what was seen of one cluster.
type pools struct {
	*snapshot.Snapshot
	// subnets are those of its Spot launches, and of the groups that make them.
	subnets []string
	// partial reports whether some records could not be read.
	partial bool
	// from is from when on the history is whole: launches before were too many
	// to be read; zero where none was left out.
	from time.Time
}

// read reads a cluster's history since a time, and what tells how its launches
// take addresses. What AWS does not let be read is in the snapshot; without
// the history, which is our own, there is nothing to say.
func (h handler) read(ctx context.Context, cluster string, t event.Trigger, since time.Time) (pools, error) {
	past, err := h.Table.History(ctx, cluster, since)
	from, err := h.leftOut(ctx, cluster, err)
	partial, err := h.withoutNewer(ctx, cluster, err)
	if err != nil {
		return pools{}, fmt.Errorf("read the history: %w", err)
	}
	groups, failed := h.Reader.GroupsOf(ctx, cluster)
	q := h.Query(cluster, t.Account)
	// A pool is what a nodegroup may launch, whether or not it has an instance.
	q.Groups, q.AllNodegroups, q.Failed = groups, true, detect.Failures(failed)
	q.Scope.Launchable = detect.Launchable(groups)
	for _, p := range past {
		if p.Type != "" {
			q.Types = append(q.Types, p.Type)
		}
	}
	q.Sources = gather.PoolSources(checks.OfPools())
	s, err := h.Read(ctx, q)
	if err != nil {
		return pools{}, err
	}
	// No instance was asked for: that is no proof that they could be read.
	delete(s.Read, snapshot.Instances)
	l := pools{Snapshot: s, subnets: spotSubnets(past, groups), partial: partial, from: from}
	for _, id := range l.subnets {
		samples, err := h.Table.Samples(ctx, id, since)
		if err != nil {
			return pools{}, fmt.Errorf("read what %s had: %w", id, err)
		}
		s.Samples = append(s.Samples, samples...)
	}
	s.History, s.Read[snapshot.LaunchHistory] = past, true
	if partial {
		// The summary counts what there is; no verdict on a pool rests on a part.
		s.Failures[snapshot.LaunchHistory] = snapshot.Failure{Source: snapshot.LaunchHistory, Reason: snapshot.NotRead, Message: "some launches were recorded by a newer version of Rollcall"}
	}
	return l, nil
}

// leftOut takes from an error that older launches were too many to be read, and
// gives from when on they were.
func (h handler) leftOut(ctx context.Context, cluster string, err error) (from time.Time, _ error) {
	var older *store.OlderLeftOut
	if !errors.As(err, &older) {
		return time.Time{}, err
	}
	h.Log.InfoContext(ctx, "there are more launches than are read, older ones are left out", "cluster", cluster, "since", older.Since, "most", older.Most)
	h.Count("HistoryCut", 1)
	return older.Since, without(err, func(e error) bool { _, ok := e.(*store.OlderLeftOut); return ok })
}

// withoutNewer takes from an error that some records are of a newer version.
func (h handler) withoutNewer(ctx context.Context, cluster string, err error) (partial bool, _ error) {
	var newer *store.NewerFormat
	if errors.As(err, &newer) {
		h.Log.WarnContext(ctx, "some launches were recorded by a newer version of Rollcall, they are left out", "cluster", cluster, "error", err.Error())
		h.Count("NewerRecords", 1)
		return true, without(err, func(e error) bool { _, ok := e.(*store.NewerFormat); return ok })
	}
	return false, err
}

// without is what an error says beside those that are listed: nil for nothing.
func without(err error, told func(error) bool) error {
	switch e := err.(type) {
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		var rest []error
		for _, one := range e.Unwrap() {
			rest = append(rest, without(one, told))
		}
		return errors.Join(rest...)
	case interface{ Unwrap() error }:
		if told(err) {
			return nil
		}
		return without(e.Unwrap(), told)
	}
	if told(err) {
		return nil
	}
	return err
}

// spotSubnets are the subnets of Spot launches, and those into which the same
// groups may launch next.
func spotSubnets(past []snapshot.Past, groups []snapshot.Group) []string {
	var ids []string
	spots := map[string]bool{}
	for _, p := range past {
		if p.Spot {
			ids = append(ids, p.Subnet)
			spots[p.Group] = true
		}
	}
	for _, g := range groups {
		if spots[g.Name] {
			ids = append(ids, g.Subnets...)
		}
	}
	return detect.Distinct(ids)
}

// fewestJoins is how many nodes of a pool must have joined before its time is
// reported: of fewer the middle is chance.
const fewestJoins = 5

// slowest is the Spot pool whose nodes took longest to join; nil where no pool
// has enough of them.
func slowest(past []snapshot.Past, from, to time.Time) *report.Slowest {
	type pool struct{ kind, zone string }
	times := map[pool][]time.Duration{}
	for _, p := range past {
		if d, ok := p.Joining(); ok && p.Spot && p.Type != "" && !p.Started.Before(from) && p.Started.Before(to) {
			times[pool{p.Type, p.Zone}] = append(times[pool{p.Type, p.Zone}], d)
		}
	}
	var all []report.Slowest
	for p, list := range times {
		if len(list) >= fewestJoins {
			slices.Sort(list)
			all = append(all, report.Slowest{Type: p.kind, Zone: p.zone, Median: list[len(list)/2], Joined: len(list)})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b report.Slowest) int {
		return cmp.Or(cmp.Compare(b.Median, a.Median), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Zone, b.Zone))
	})
	return &all[0]
}

const day = 24 * time.Hour

// summarise sends report the summary of a time; nothing where no Spot instance
// was launched in it. Without its chart it is sent all the same.
func (h handler) summarise(ctx context.Context, l pools, id string, from, to time.Time) (sent bool, err error) {
	r := weigh(l, from, to)
	if r.Spot.Requested == 0 {
		return false, nil
	}
	s := report.Summary{
		Format: report.SummaryFormat, Kind: report.SpotSummary, ID: id, By: spec.Name, At: l.Time,
		Account: l.Account, Region: l.Region, Partition: l.Partition, Cluster: l.Cluster.Name,
		Spot: r, Slowest: slowest(l.History, from, to),
	}
	var undrawn error
	if !s.Quiet() {
		if s.Chart, undrawn = chart.Spot(r, l.Samples, chart.ForSlack()); undrawn != nil {
			h.Count("ChartFailures", 1)
		}
	}
	if err := h.Send.SendSummary(ctx, s); err != nil {
		return false, errors.Join(err, undrawn)
	}
	h.Count("Summaries", 1)
	h.Log.InfoContext(ctx, "summary", "cluster", s.Cluster, "summary", id, "launches", r.Spot.Requested, "failed", s.Failed())
	return true, undrawn
}

// weigh reads the history of a time. Whether a pool fails by more than chance
// is judged over the week, as the hourly check does: a day has too few launches.
// Of launches that are still open nothing is known there; the summary counts
// those that have missed their time as not joined so far.
func weigh(l pools, from, to time.Time) spotreport.Report {
	in := spot.Input{
		Cluster: l.Cluster.Name, From: later(from, l.from), To: to, Subnets: l.Subnets, Types: l.InstanceTypes, Groups: l.Groups, CNI: l.CNI,
		// What a subnet had before the first launch is of the time before.
		Samples: slices.DeleteFunc(slices.Clone(l.Samples), func(s snapshot.Sample) bool { return s.At.Before(from.Add(-2*time.Hour)) || s.At.After(to) }),
	}
	// Of a week of a large cluster no second copy is made: it is by start.
	began := func(p snapshot.Past, t time.Time) int { return p.Started.Compare(t) }
	first, _ := slices.BinarySearchFunc(l.History, in.From, began)
	end, _ := slices.BinarySearchFunc(l.History, to, began)
	var overdue int
	in.History, overdue = soFar(l.History[first:max(first, end)])
	r := spot.Read(in)
	since := l.Time.Add(-week)
	if from.Before(since) {
		since = from
	}
	in.From, in.To, in.History, in.Samples = later(since, l.from), l.Time, l.History, l.Samples
	overWeek(&r, spot.Read(in))
	if overdue > 0 {
		r.Assumed = append(r.Assumed, fmt.Sprintf("Counted as not joined so far, and still looked at: %d of the launches.", overdue))
	}
	if from.Before(l.from) {
		r.Assumed = append(r.Assumed, "There are more launches than are read: it counts from "+l.from.UTC().Format("15:04 UTC on 2 Jan")+" on, older launches are left out.")
	}
	if l.partial {
		r.Assumed = append(r.Assumed, "Some launches were recorded by a newer version of Rollcall and are left out.")
	}
	return r
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// soFar are launches as they stand: one that is open and has missed its time
// has not joined so far, for the reason that was found. It gives the number of
// those, and the list itself where there is none.
func soFar(list []snapshot.Past) ([]snapshot.Past, int) {
	overdue := func(p snapshot.Past) bool { return p.End == snapshot.Open && !p.Missed.IsZero() }
	if !slices.ContainsFunc(list, overdue) {
		return list, 0
	}
	list = slices.Clone(list)
	n := 0
	for i := range list {
		if overdue(list[i]) {
			list[i].End, list[i].Why = snapshot.NotJoined, "past its time to join, and still looked at"
			n++
		}
	}
	return list, n
}

// overWeek gives a day's pools the verdicts of the week, or of as much of it as
// was read.
func overWeek(r *spotreport.Report, whole spotreport.Report) {
	for i, p := range r.Pools {
		for _, w := range whole.Pools {
			if w.Type == p.Type && w.Zone == p.Zone && w.Spot == p.Spot {
				r.Pools[i].P, r.Pools[i].Failing = w.P, w.Failing
			}
		}
	}
	since := "over the last 7 days"
	if !whole.From.Equal(whole.To.Add(-week)) {
		since = "since " + whole.From.UTC().Format("15:04 UTC on 2 Jan")
	}
	r.Assumed = append(r.Assumed, "Whether a pool fails by more than chance is judged "+since+".")
}

// Said tells which summaries report has.
type Said interface {
	Postings(ctx context.Context, cluster string) ([]outbox.Posting, error)
}

var _ Said = (*store.Store)(nil)

// weekly is the message over all clusters, once a week. The hourly runs make it: one that
// failed, was cut off or came late is made up for by the next, and a second one changes
// nothing, as report has the message by then or knows it by its id.
type weekly struct {
	config.Weekly
	detect.Detector
	said    Said
	send    summarySender
	watched []digest.Watched
}

type summarySender interface {
	SendSummary(ctx context.Context, s report.Summary) error
}

// handle sends the message if it is due.
func (w weekly) handle(ctx context.Context, raw json.RawMessage) error {
	t, err := event.Parse(raw)
	if err != nil || t.Kind != event.Sweep {
		return nil // what it is instead the handler says
	}
	now := w.Now().UTC()
	from, to := w.Week(w.Last(now))
	known, err := w.said.Postings(ctx, report.AllClusters)
	if newer := new(store.NewerFormat); err != nil && !errors.As(err, &newer) {
		return fmt.Errorf("look whether the weekly message was sent: %w", err)
	} else if err != nil {
		w.Log.WarnContext(ctx, "some weekly messages were recorded by a newer version of Rollcall", "error", err.Error())
		w.Count("NewerRecords", 1)
	}
	// A day that was chosen meanwhile has nothing told that was told already.
	if slices.ContainsFunc(known, func(p outbox.Posting) bool { return p.Summary.Period != nil && !p.Summary.Period.To.Before(to) }) {
		return nil
	}
	if len(known) == 0 && !w.ran(ctx, to) {
		return nil // it was not there in that week
	}
	p := digest.Read(ctx, w.watched, digest.Weekly(from, to, now, w.Log))
	if p.LeftOut > 0 && ctx.Err() != nil {
		return fmt.Errorf("there was no time to read %d of the clusters for the weekly message, the next hour tries again: %w", p.LeftOut, ctx.Err())
	}
	s := report.Weekly(spec.Name, p)
	if err := w.send.SendSummary(ctx, s); err != nil {
		return err
	}
	w.Count("WeeklySummaries", 1)
	w.Log.InfoContext(ctx, "weekly summary", "summary", s.ID, "clusters", p.Clusters, "launches", p.Launches.All, "failed", p.Launches.Failed,
		"incidents", p.Seen, "open", p.Open, "unseen", len(p.Unseen)+p.MoreUnseen, "looks", p.Looks.Made)
	return nil
}

// ran reports whether a look was noted before the week ended: else Rollcall was not there yet,
// or an earlier release was, which noted none. That it cannot be read is no no.
func (w weekly) ran(ctx context.Context, to time.Time) bool {
	for _, x := range w.watched {
		list, err := x.Table.Sweeps(ctx)
		if err != nil || slices.ContainsFunc(list, func(s overview.Sweep) bool { return !s.Turns.Since.IsZero() && s.Turns.Since.Before(to) }) {
			return true
		}
	}
	return false
}
