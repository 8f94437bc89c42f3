package subnetwatch

import (
	"context"
	"slices"
	"time"

	"rollcall/shared/chart"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/network/address"

	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

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
func (h handler) charts(ctx context.Context, s *snapshot.Snapshot, d diagnose.Diagnosis) []report.Chart {
	var ids []string
	add := func(id string) {
		known := slices.ContainsFunc(s.Samples, func(x snapshot.Sample) bool { return x.Subnet == id })
		if known && !slices.Contains(ids, id) && len(ids) < mostCharts {
			ids = append(ids, id)
		}
	}
	for _, c := range d.Causes {
		if c.Confidence != checks.Advice {
			add(c.Resource)
		}
	}
	for _, r := range s.Returned {
		add(r.Subnet)
	}
	var list []report.Chart
	for _, id := range ids {
		samples := of(s, id)
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

// of are a subnet's samples, what it has now among them.
func of(s *snapshot.Snapshot, subnet string) []snapshot.Sample {
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
