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

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/outbox"
)

// answer tells a person who asked what came of it.
type answer struct {
	// Sent are the ids of the summaries that report was sent.
	Sent []string `json:"sent,omitempty"`
	// WithoutSpot are the clusters that launched no Spot instance in that time.
	WithoutSpot []string `json:"withoutSpot,omitempty"`
}

// handle takes the hourly schedule, or somebody's wish.
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
	until := time.Date(now.Year(), now.Month(), now.Day(), h.reportHour, 0, 0, 0, time.UTC)
	if now.Before(until) {
		return judged
	}
	id := "spot/" + cluster + "/" + until.Format(time.DateOnly)
	known, err := h.history.Postings(ctx, cluster)
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
		err = errors.Join(err, h.history.RecordSamples(ctx, samples))
	}
	return err
}
