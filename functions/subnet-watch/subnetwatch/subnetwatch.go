// Package subnetwatch watches the addresses of the subnets in which nodes are
// launched.
package subnetwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/subnet-watch/spec"
	"rollcall/shared/chart"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/network/address"
	"rollcall/shared/overview"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// History is what subnets had, and what was said.
type History interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	Samples(ctx context.Context, subnet string, since time.Time) ([]snapshot.Sample, error)
	RecordSamples(ctx context.Context, samples []snapshot.Sample) error
	// CatchUp makes one record of each hour that is over.
	CatchUp(ctx context.Context, subnet string) (hours int, err error)
	Returned(ctx context.Context, cluster string, since time.Time) ([]snapshot.Returned, error)
}

// Reader reads AWS and Kubernetes.
type Reader interface {
	detect.Reader
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
	More(ctx context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source)
}

var (
	_ History       = (*store.Store)(nil)
	_ Reader        = (*gather.Reader)(nil)
	_ detect.Sender = queue.Queues{}
)

// Parts are what the handler is made of. Build makes them of AWS; who looks at a
// cluster with nothing deployed has a memory of its own (command/diagnose/look).
type Parts struct {
	detect.Detector
	Config config.Config
	Table  History
	// Reader gives a reader for one invocation: it counts each VPC once.
	Reader func() Reader
	Gauge  func(name, unit string, value float64, of ...lambda.Dimension)
	// Soonest receives which subnet of a cluster runs out of addresses first; it may be nil.
	Soonest func(overview.Subnet)
	// NoCharts leaves out the charts of subnets, which only Slack shows.
	NoCharts bool
}

type handler Parts

// New makes the handler of its parts.
func New(p Parts) lambda.Handler { return handler(p).handle }

// Build makes the handler of subnet-watch from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep)
	return New(Parts{
		Detector: detect.New(spec.Name, e, reader, queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Spoke: e.Config.Spoke}).Keeping(keep),
		Config:   e.Config,
		Table:    detect.Table(e),
		Reader:   func() Reader { return reader.Counting() },
		Gauge:    e.Metrics.Gauge,
	}), nil
}

// handle takes a cluster's turn to be swept, or the wish that it be looked at now.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	reader := h.Reader()
	h.Detector.Reader = reader // of this invocation
	watch := func(ctx context.Context, cluster string) error { return h.watch(ctx, reader, cluster, t.Account) }
	switch t.Kind {
	case event.ClusterSweep, event.CheckWanted:
		return nil, h.One(ctx, t.Cluster, watch)
	}
	return nil, fmt.Errorf("subnet-watch is woken by sweeps and by wishes, not by %s", t.Type)
}

// watch looks at the subnets of one cluster, tells report what it finds, and
// keeps what they have now. What is sent does not wait for what is kept, nor
// the other way round.
func (h handler) watch(ctx context.Context, reader Reader, cluster, account string) error {
	s, err := h.read(ctx, reader, cluster, account)
	if err != nil {
		return h.IgnoreNoCluster(ctx, cluster, err)
	}
	subnets := watched(s)
	unread := h.addHistory(ctx, s, subnets)
	incidents, err := h.Table.Incidents(ctx, cluster)
	if err != nil {
		unread = errors.Join(unread, fmt.Errorf("read the incidents: %w", err))
	}
	list := checks.OfAddresses()
	o := detect.Judge(spec.Name, s, detect.Look{Checks: list, Untold: explained(list, incidents)})
	if !h.NoCharts {
		o.Charts = h.charts(ctx, s, o.Diagnosis)
	}
	told := h.Tell(ctx, o)
	h.measure(s, subnets)
	return errors.Join(told, unread, h.keep(ctx, s, subnets))
}

// explained tells a cause that an open incident explains already: others see the
// launches (a burst, a refusal), and have said why the subnet is empty.
func explained(list []check.Check, incidents []incident.Incident) func(diagnosis.Cause) bool {
	return func(c diagnosis.Cause) bool {
		k := slices.IndexFunc(list, func(x check.Check) bool { return x.ID == c.Check })
		return k >= 0 && slices.ContainsFunc(incidents, func(i incident.Incident) bool {
			explains := slices.Contains(list[k].After, i.Key.Check) || slices.Contains(list[k].Adds, i.Key.Check)
			// What this look itself judges has been ranked with it.
			own := slices.ContainsFunc(list, func(x check.Check) bool { return x.ID == i.Key.Check })
			return i.State != incident.Closed && explains && !own && (i.Key.Resource == c.Resource || slices.Contains(i.Covers, c.Resource))
		})
	}
}

// drawn is how much time a chart shows, if there are samples of it; before is
// what it shows ahead of the first of them.
const (
	drawn  = 24 * time.Hour
	before = 10 * time.Minute
)

// mostCharts is how many pictures one look sends: each has up to 25 KB, and all
// go in one message.
const mostCharts = 6

// charts are the pictures of the subnets of which something is said, and of
// those that got addresses back: their incidents end with one. A picture that
// cannot be drawn keeps no word back.
func (h handler) charts(ctx context.Context, s *snapshot.Snapshot, d diagnosis.Diagnosis) []report.Chart {
	var ids []string
	add := func(id string) {
		known := slices.ContainsFunc(s.Samples, func(x snapshot.Sample) bool { return x.Subnet == id })
		if known && !slices.Contains(ids, id) && len(ids) < mostCharts {
			ids = append(ids, id)
		}
	}
	for _, c := range d.Causes {
		if c.Confidence != finding.Advice {
			add(c.Resource)
		}
	}
	for _, r := range s.Returned {
		add(r.Subnet)
	}
	var list []report.Chart
	for _, id := range ids {
		samples := samplesOf(s, id)
		returned := 0
		shown := chart.FreeOf{Subnet: id, From: from(samples, s.Time), To: s.Time, Runway: address.Forecast(samples, 0, s.Time)}
		for _, r := range s.Returned {
			// A cleanup may end between the look and this reading of it: the next
			// picture shows it, so this one must not say that it does.
			if r.Subnet == id && !r.Last.After(s.Time) {
				shown.Cleaned = append(shown.Cleaned, chart.Freed{At: r.Last, Addresses: r.Addresses})
				returned += r.Addresses
			}
		}
		png, err := chart.Free(samples, shown, chart.FreeForSlack())
		if err != nil {
			h.Log.WarnContext(ctx, "no picture", "cluster", s.Cluster.Name, "subnet", id, "error", err.Error())
			h.Count("ChartFailures", 1)
			continue
		}
		list = append(list, report.Chart{Of: id, PNG: png, Alt: chart.FreeAlt(samples, shown), Returned: returned})
	}
	return list
}

// samplesOf are a subnet's samples, what it has now among them.
func samplesOf(s *snapshot.Snapshot, subnet string) []snapshot.Sample {
	return slices.DeleteFunc(slices.Clone(s.Samples), func(x snapshot.Sample) bool { return x.Subnet != subnet })
}

// from is where a picture begins: a day back, or with the first sample.
func from(samples []snapshot.Sample, now time.Time) time.Time {
	begin := now.Add(-drawn)
	first := slices.MinFunc(samples, func(a, b snapshot.Sample) int { return a.At.Compare(b.At) }).At.Add(-before)
	if first.After(begin) {
		return first
	}
	return begin
}

// past is how long back samples are read: two weeks have each weekday's waves
// twice.
const past = 15 * 24 * time.Hour

// lately is how long what eni-cleanup gave back is reported.
const lately = time.Hour

// addHistory adds what subnets had before, and what eni-cleanup gave back. Where
// that cannot be read the checks that go by it cannot look, and the others can.
func (h handler) addHistory(ctx context.Context, s *snapshot.Snapshot, subnets []string) error {
	var samples []snapshot.Sample
	for _, id := range subnets {
		list, err := h.Table.Samples(ctx, id, s.Time.Add(-past))
		var newer *store.NewerFormat
		if errors.As(err, &newer) {
			h.Log.WarnContext(ctx, "some samples were recorded by a newer version of Rollcall, they are left out", "subnet", id, "error", err.Error())
			h.Count("NewerRecords", 1)
			err = nil
		}
		if err != nil {
			return fmt.Errorf("read what %s had: %w", id, err)
		}
		samples = append(samples, list...)
	}
	// What they have now is part of it, though it is written only after this look.
	for _, x := range detect.Samples(s, subnets) {
		x.At = s.Time
		samples = append(samples, x)
	}
	slices.SortStableFunc(samples, func(a, b snapshot.Sample) int {
		return cmp.Or(strings.Compare(a.Subnet, b.Subnet), a.At.Compare(b.At))
	})
	s.Samples, s.Read[snapshot.LaunchHistory] = samples, true
	returned, err := h.Table.Returned(ctx, s.Cluster.Name, s.Time.Add(-lately))
	if err != nil {
		return fmt.Errorf("read what eni-cleanup gave back: %w", err)
	}
	s.Returned = returned
	return nil
}

// keep notes what the subnets have now.
func (h handler) keep(ctx context.Context, s *snapshot.Snapshot, subnets []string) error {
	samples := detect.Samples(s, subnets)
	if len(samples) == 0 {
		return nil
	}
	if err := h.Table.RecordSamples(ctx, samples); err != nil {
		return fmt.Errorf("note what the subnets have: %w", err)
	}
	for _, id := range subnets {
		if _, err := h.Table.CatchUp(ctx, id); err != nil {
			return fmt.Errorf("roll up what %s had: %w", id, err)
		}
	}
	return nil
}

// measure writes the metrics of a cluster's subnets: for the cluster the worst of
// them, and for each subnet only where the operator asks for it, because each
// metric of each subnet is paid for. What could not be read is left out, so that
// a hole in the curve is no zero; addresses that were left behind are published where
// there are some.
func (h handler) measure(s *snapshot.Snapshot, subnets []string) {
	if !s.Has(snapshot.Subnets) {
		return
	}
	cluster := lambda.Dimension{Name: "cluster", Value: s.Cluster.Name}
	leaked, known := check.Leaked(s)
	least, total, shortest, found := math.Inf(1), 0, math.Inf(1), false
	var first overview.Subnet
	for _, n := range s.Subnets {
		if !slices.Contains(subnets, n.ID) {
			continue
		}
		left, falls := address.Forecast(samplesOf(s, n.ID), 0, s.Time).Left(s.Time)
		this := overview.Subnet{ID: n.ID, Zone: n.Zone, Free: n.Free, Total: address.Usable(n.CIDR), At: s.Time}
		if falls {
			shortest = min(shortest, left.Hours())
			this.Empty = s.Time.Add(left).UTC().Truncate(time.Minute)
		}
		if !found || this.Sooner(first) {
			first = this
		}
		found = true
		least = min(least, float64(n.Free))
		total += leaked[n.ID]
		if !h.Config.SubnetMetrics {
			continue
		}
		dims := []lambda.Dimension{cluster, {Name: "subnet", Value: n.ID}}
		// EC2's own count is what it launches by.
		h.Gauge("FreeAddresses", "Count", float64(n.Free), dims...)
		if i := slices.IndexFunc(s.Uses, func(u snapshot.Use) bool { return u.Subnet == n.ID }); i >= 0 && s.Has(snapshot.Usage) {
			h.Gauge("FreeBlocks", "Count", float64(s.Uses[i].Blocks), dims...)
		}
		if known {
			h.Gauge("LeakedAddresses", "Count", float64(leaked[n.ID]), dims...)
		}
		if falls {
			h.Gauge("RunwayHours", "None", left.Hours(), dims...)
		}
	}
	if !found {
		return
	}
	if h.Soonest != nil {
		h.Soonest(first)
	}
	h.logWorst(s, subnets)
	h.Gauge("FreeAddresses", "Count", least, cluster)
	if known && total > 0 {
		h.Gauge("LeakedAddresses", "Count", float64(total), cluster)
	}
	if !math.IsInf(shortest, 1) {
		h.Gauge("RunwayHours", "None", shortest, cluster)
	}
}

// worst is how many subnets of a cluster are logged at each look, those with the fewest
// free addresses: a line costs next to nothing where a metric costs $0.30 a month.
const worst = 3

// logWorst logs them, for the dashboard (infra, dashboard).
func (h handler) logWorst(s *snapshot.Snapshot, subnets []string) {
	mine := slices.DeleteFunc(slices.Clone(s.Subnets), func(n snapshot.Subnet) bool { return !slices.Contains(subnets, n.ID) })
	slices.SortFunc(mine, func(a, b snapshot.Subnet) int { return cmp.Or(cmp.Compare(a.Free, b.Free), cmp.Compare(a.ID, b.ID)) })
	for _, n := range mine[:min(len(mine), worst)] {
		h.Log.Info("addresses left", "cluster", s.Cluster.Name, "subnet", n.ID, "free", n.Free, "zone", n.Zone, "range", n.CIDR)
	}
}

// roleCNI is the tag of subnets that the VPC CNI may take addresses for pods of.
const roleCNI = "kubernetes.io/role/cni"

// read reads what a cluster's subnets have, who takes it, and how.
func (h handler) read(ctx context.Context, reader Reader, cluster, account string) (*snapshot.Snapshot, error) {
	groups, failed := reader.GroupsOf(ctx, cluster)
	q := h.Query(cluster, account)
	q.Groups, q.AllNodegroups, q.Failed = groups, true, detect.Failures(failed)
	// What may launch, and into which subnets, before what these have.
	q.Sources = []snapshot.Source{snapshot.Nodegroups, snapshot.LaunchTemplates, snapshot.Subnets,
		snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf}
	q.Scope.Launchable = detect.Launchable(groups)
	s, err := h.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	s.Scope.Launchable = detect.Distinct(s.Scope.Launchable, check.AllPoolSubnets(s))
	// No instance was asked for: that is no proof that they could be read.
	delete(s.Read, snapshot.Instances)
	q.Account, q.Types, q.WrittenTypes = s.Account, types(s), check.AllPoolTypes(s)
	sources := slices.DeleteFunc(gather.AddressSources(checks.OfAddresses()), func(x snapshot.Source) bool { return x == snapshot.Instances })
	reader.More(ctx, s, q, sources...)
	s.Taken = h.Now()
	s.Cleanup, s.Horizon = h.cleanup(cluster, s.Cluster.VPC), h.Config.RunwayHorizon
	return s, nil
}

// types are those that the groups may launch: where a group's own policy names
// none, its nodegroup or its launch template does.
func types(s *snapshot.Snapshot) []string {
	var names []string
	for _, g := range s.Groups {
		names = append(names, g.Types...)
	}
	for _, n := range s.Nodegroups {
		names = append(names, n.Types...)
	}
	for _, t := range s.LaunchTemplates {
		names = append(names, t.Type)
	}
	return detect.Distinct(names)
}

// watched are the subnets that nodes and their pods take addresses of.
func watched(s *snapshot.Snapshot) []string {
	ids := slices.Clone(s.Scope.Launchable)
	elsewhere := address.SettingsOf(s.CNI).Elsewhere
	for _, n := range s.Subnets {
		ofConfig := slices.ContainsFunc(s.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Subnet == n.ID })
		if elsewhere && ofConfig || n.VPC == s.Cluster.VPC && n.Tags[roleCNI] == "1" {
			ids = append(ids, n.ID)
		}
	}
	return slices.DeleteFunc(detect.Distinct(ids), func(id string) bool {
		return !slices.ContainsFunc(s.Subnets, func(n snapshot.Subnet) bool { return n.ID == id && n.CIDR.IsValid() })
	})
}

// cleanup is what eni-cleanup may do in a cluster, in its VPC.
func (h handler) cleanup(cluster, vpc string) snapshot.Cleanup {
	return snapshot.Cleanup{
		Mode: string(h.Config.CleanupOf(cluster)), Grace: h.Config.CleanupGrace, Untagged: slices.Contains(h.Config.CleanupUntagged, vpc),
	}
}
