package spotreport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/functions/spot-report/spec"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/digest"
	"rollcall/shared/event"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/store"
)

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

// ran tells whether a look was noted before the week ended: else Rollcall was not there yet,
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
