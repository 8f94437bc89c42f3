package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/smithy-go"

	"rollcall/functions/report/spec"
	"rollcall/shared/bus"
	"rollcall/shared/event"
	"rollcall/shared/notify/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/store"
)

// Clusters is what report remembers of clusters beside their incidents.
type Clusters interface {
	ClusterRecord(ctx context.Context, cluster string) (outbox.ClusterRecord, error)
	ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error)
	SaveClusterRecord(ctx context.Context, r outbox.ClusterRecord) error
}

var _ Clusters = (*store.Store)(nil)

// delivery is what one invocation learns of a cluster's deliveries.
type delivery struct {
	record outbox.ClusterRecord
	// newer is set where a newer version of Rollcall wrote the record: nothing is
	// held back for it, and it is left alone.
	newer bool
	// changed tells that the record is to be written.
	changed bool
	// wanted are the targets for which something was due.
	wanted map[outbox.Target]bool
	// open tells that incidents are not closed.
	open bool
}

// tick asks report itself to look after the clusters of which something is to be
// tried again, or nothing was heard of for long: what is refused is retried by this
// clock alone, so that no observation waits for it. The wish goes through the
// queue, which gives a cluster to one invocation at a time. As long as anything is
// refused each tick counts it, so that the alarm rings once and until it is mended.
func (h handler) tick(ctx context.Context, raw json.RawMessage) error {
	t, err := event.Parse(raw)
	if err != nil || t.Kind != event.Sweep {
		return errNoBatch
	}
	records, err := h.clusters.ClusterRecords(ctx)
	if newer := new(store.NewerFormat); err != nil && !errors.As(err, &newer) {
		return fmt.Errorf("read which clusters are to be looked after: %w", err)
	}
	var wrong []error
	for _, r := range records {
		if len(r.Refusals) > 0 {
			h.count("Undelivered", len(r.Refusals))
		}
		if now := h.now(); r.Due(now) {
			if err := h.again.SendResult(ctx, wake(r.Cluster, now)); err != nil {
				wrong = append(wrong, err)
				continue
			}
			h.count("Resumed", 1)
		}
	}
	return errors.Join(wrong...)
}

// wake is an observation that saw nothing: with it what is due of a cluster is
// said, behind all that was observed before.
func wake(cluster string, now time.Time) report.Observation {
	return report.Observation{Format: report.Format, ID: "resume/" + cluster + "/" + now.UTC().Format(time.RFC3339Nano), By: spec.Name, At: now, Cluster: cluster}
}

// readDeliveries reads what is known of a cluster's deliveries.
func (p *invocation) readDeliveries(ctx context.Context, cluster string) error {
	record, err := p.clusters.ClusterRecord(ctx, cluster)
	p.delivery = &delivery{record: record, wanted: map[outbox.Target]bool{}}
	if newer := new(store.NewerFormat); errors.As(err, &newer) {
		p.delivery.newer, err = true, nil
	}
	if p.deliveries == nil {
		p.deliveries = map[string]*delivery{}
	}
	p.deliveries[cluster] = p.delivery
	return err
}

// onHold notes that something is due for targets, and tells whether one of them is
// not to be tried now.
func (p *invocation) onHold(targets ...outbox.Target) (held bool) {
	for _, t := range targets {
		p.delivery.wanted[t] = true
		held = held || p.delivery.record.Held(t, p.now())
	}
	return held
}

// accepted notes that targets took what they were sent.
func (p *invocation) accepted(targets ...outbox.Target) {
	for _, t := range targets {
		p.delivery.changed = p.delivery.record.Keep(func(known outbox.Target) bool { return known != t }) || p.delivery.changed
	}
}

// recordRefusal notes that a target does not take what it is sent, for a reason that
// does not pass by itself. The first time is an error in the log.
func (p *invocation) recordRefusal(ctx context.Context, t outbox.Target, what string, err error, about ...any) {
	p.delivery.wanted[t] = true
	first := p.delivery.record.Refused(t, codeOf(err), p.now())
	p.delivery.changed = true
	about = append(about, "target", t, "error", err.Error())
	if first {
		p.log.ErrorContext(ctx, what, about...)
		return
	}
	p.log.WarnContext(ctx, what+", still", about...)
}

// saveDeliveries drops the refusals of what nothing is due for any more, and writes what
// was learned. That it could not be written costs a try too many, nothing else.
func (p *invocation) saveDeliveries(ctx context.Context, whole bool) {
	d := p.delivery
	if d.newer {
		return
	}
	if whole {
		d.changed = d.record.Keep(func(t outbox.Target) bool { return d.wanted[t] }) || d.changed
		d.changed = d.record.Follow(d.open, p.now()) || d.changed
	}
	if len(d.record.Refusals) > 0 {
		p.count("Undelivered", len(d.record.Refusals))
	}
	if !d.changed || d.record.Version == 0 && !d.record.Open && len(d.record.Refusals) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	if err := p.clusters.SaveClusterRecord(ctx, d.record); err != nil {
		p.log.WarnContext(ctx, "what is refused could not be remembered, it is tried again with the next message", "cluster", d.record.Cluster, "error", err.Error())
	}
}

// refuser is who refuses, as far as an error of Slack tells: all of Slack, a
// channel, or Slack this content alone.
func refuser(err error, channel string, content outbox.Target) outbox.Target {
	var e *slack.Error
	switch {
	case !errors.As(err, &e), e.Kind == slack.Auth:
		return outbox.ToSlack // also a token that cannot be read
	case e.Kind == slack.Channel:
		return outbox.ToChannel(channel)
	}
	return content
}

// codeOf is the service's own name of an error.
func codeOf(err error) string {
	var (
		e       *slack.Error
		refused *bus.Refused
		api     smithy.APIError
	)
	switch {
	case errors.As(err, &e) && e.Code != "":
		return e.Code
	case e != nil:
		return string(e.Kind)
	case errors.Is(err, slack.ErrNoToken):
		return "no token"
	case errors.As(err, &refused):
		return refused.Code
	case errors.As(err, &api):
		return api.ErrorCode()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer"
	}
	return "failed"
}
