// Package report is the function that owns the incidents: it takes what was observed,
// pressed, planned and done from its queue, a batch at a time, decides what becomes of
// the incidents, and has it recorded and delivered.
package report

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/notify"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// People knows who is in a user group and in which workspace the app is.
type People interface {
	Workspace(ctx context.Context) (response.Workspace, error)
	GroupMembers(ctx context.Context, group string) ([]string, error)
	Guest(ctx context.Context, user string) (bool, error)
}

// handler is what all invocations share.
type handler struct {
	notify.Notifier
	passed Passed
	audit  Audited
	people People
	aside  Aside
	// spoke is whose messages it takes, whose the name by which people know that, as of this
	// invocation.
	spoke  spoke.ID
	naming *naming
	whose  string
	// approvers are Slack's ids of users and user groups.
	approvers []string
	commands
	// responders are who may acknowledge, mute and ask for a check.
	responders config.Responders
	unwatched  unwatched
}

// errNoBatch: report is woken by its queue and its clock alone.
var errNoBatch = errors.New("the event is not a batch of SQS messages: report is woken by its queue")

// handle takes a batch of what was observed, pressed, planned and done. What
// cannot be decoded is set aside; what cannot be recorded goes back to the queue,
// and in the end to the dead-letter queue.
//
// What is recorded has succeeded. What could not be said or told of it stands in
// the record, and is tried again with the cluster's next message. Where that does
// not help, because a token was revoked or a channel archived, who refuses is left
// alone for longer and longer and asked again by a clock of its own (tick): never
// is it an error of the function, which would bring the whole batch back, and with
// it hold up all that is observed of the cluster.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	messages, ok := event.Batch(raw)
	if !ok {
		return nil, h.tick(ctx, raw)
	}
	h = h.named(ctx)
	clusters, asked, failed := h.byCluster(ctx, messages)
	if len(asked) > 0 {
		h = h.allNamed(ctx)
	}
	p := invocation{handler: h, delivery: h.Begin()}
	for i, c := range clusters {
		if err := p.cluster(ctx, c, len(clusters)-i); err != nil {
			h.Log.ErrorContext(ctx, "results could not be recorded, they go back to the queue", "cluster", c.name, "results", len(c.results), "summaries", len(c.summaries), "error", err.Error())
			h.Count("RecordFailures", 1)
			failed = append(failed, c.messages...)
		}
	}
	for _, c := range asked {
		if err := p.command(ctx, c.message); err != nil {
			h.Log.ErrorContext(ctx, "a command could not be answered, it goes back to the queue", "verb", c.message.Command.Ask.Verb, "command", c.message.Command.ID, "error", err.Error())
			h.Count("RecordFailures", 1)
			failed = append(failed, c.id)
		}
	}
	p.delivery.End(ctx)
	return event.Failures(failed), nil
}

// tick wakes the clusters that are to be looked after.
func (h handler) tick(ctx context.Context, raw json.RawMessage) error {
	t, err := event.Parse(raw)
	if err != nil || t.Kind != event.Sweep {
		return errNoBatch
	}
	return h.Tick(ctx)
}

// invocation is one invocation, and what Slack said in it of who may press.
type invocation struct {
	handler
	delivery *notify.Invocation
	// groups are the user groups that were read, groupsUnavailable is set when Slack did
	// not answer who is in one: no other is asked for.
	groups            map[string]members
	groupsUnavailable bool
	// workspaceUnknown is why Slack did not tell which workspace the app is in.
	workspaceUnknown string
}

// cluster takes in what a batch has of one cluster, one of those that are left.
func (p *invocation) cluster(ctx context.Context, c clusterBatch, left int) error {
	out, err := p.delivery.Cluster(ctx, c.name, left)
	if err != nil {
		return err
	}
	err = errors.Join(p.incidents(ctx, c.results, out), out.DeliverSilences(ctx), out.DeliverSummaries(ctx, c.summaries))
	out.End(ctx, err == nil)
	return err
}

// incidents refuses what nobody pressed, and has what the other messages make of the
// incidents recorded and delivered.
func (p *invocation) incidents(ctx context.Context, messages []report.Message, out *notify.Cluster) error {
	messages, refused, err := p.vet(ctx, messages, p.Now())
	if err != nil {
		return err
	}
	return out.DeliverIncidents(ctx, func(incidents []incident.Incident, now time.Time) ([]incident.Incident, map[report.Key]bool, []incident.ActRecord) {
		return p.decide(ctx, incidents, messages, out.Standing(), now)
	}, refused)
}
