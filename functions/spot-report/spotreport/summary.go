package spotreport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/functions/spot-report/spec"
	"rollcall/shared/chart"
	"rollcall/shared/node/spot"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

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
	if err := h.send.SendSummary(ctx, s); err != nil {
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
func weigh(l pools, from, to time.Time) spot.Report {
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
func overWeek(r *spot.Report, whole spot.Report) {
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
