package report

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/lambda"
	"rollcall/shared/routing"
	"rollcall/shared/store"

	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/report"

	"rollcall/shared/slack"
)

// Records is what report remembers by.
type Records interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error)
}

// Slack is whom people listen to.
type Slack interface {
	Post(ctx context.Context, channel string, m slack.Message) (ts string, err error)
	Update(ctx context.Context, channel, ts string, m slack.Message) error
	Reply(ctx context.Context, channel, thread string, m slack.Message) (ts string, err error)
	Broadcast(ctx context.Context, channel, thread string, m slack.Message) (ts string, err error)
	Find(ctx context.Context, s slack.Search) (slack.Found, error)
}

// Files is who takes pictures and texts.
type Files interface {
	Upload(ctx context.Context, f slack.File) (id string, err error)
	Share(ctx context.Context, channel, thread string, f slack.File) (id string, err error)
}

// People is who tells one person something, and knows who is in a user group and
// in which workspace the app is.
type People interface {
	Workspace(ctx context.Context) (response.Workspace, error)
	Ephemeral(ctx context.Context, channel, user, thread string, m slack.Message) error
	GroupMembers(ctx context.Context, group string) ([]string, error)
}

// Audit is where presses are recorded for good.
type Audit interface {
	RecordAct(ctx context.Context, a incident.ActRecord) (created bool, err error)
	ActRecorded(ctx context.Context, p report.Press) (bool, error)
}

// Bus is whom other people's rules listen to.
type Bus interface {
	Tell(ctx context.Context, events []incident.Event) error
}

var (
	_ Records   = (*store.Store)(nil)
	_ Summaries = (*store.Store)(nil)
	_ Audit     = (*store.Store)(nil)
	_ Passed    = (*store.Store)(nil)
	_ Slack     = (*slack.Client)(nil)
	_ Files     = (*slack.Client)(nil)
	_ People    = (*slack.Client)(nil)
	_ Bus       = (*bus.Bus)(nil)
)

type handler struct {
	incidents Records
	postings  Summaries
	acts      Audit
	passed    Passed
	slack     Slack
	files     Files
	people    People
	bus       Bus
	clusters  Clusters
	channel   string
	approvers []string // Slack's ids of users and user groups
	// responders are who may acknowledge, mute and ask for a check.
	responders config.Responders
	policy     incident.Policy
	now        func() time.Time
	log        *slog.Logger
	count      func(name string, n int)
	// actions tells that Slack's buttons are answered, so that messages have them.
	actions bool
	again   Again
	aside   Aside
}

// shows is what messages depend on beside their incidents.
func (h handler) shows() slack.Options { return slack.Options{Actions: h.actions, Now: h.now()} }

// Aside is where messages go that nobody can read.
type Aside interface {
	SetAside(ctx context.Context, m event.Message, reason string) error
}

var _ Aside = bus.Queues{}

// Build makes the handler of report from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	return newHandler(e).handle, nil
}

func newHandler(e lambda.Env) handler {
	wall := store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName)
	store := wall.At(e.Now)
	client := &session{
		secret: secretsmanager.NewFromConfig(e.AWS),
		arn:    e.Config.SlackSecretARN,
		api:    e.Config.SlackAPI,
		http:   &http.Client{Transport: e.HTTP},
	}
	h := handler{
		incidents: store, postings: store, acts: store,
		passed: wall, // signatures are dated by the wall clock, and the records of presses are kept by it
		slack:  client, files: client, people: client,
		bus:       bus.New(eventbridge.NewFromConfig(e.AWS), e.Config.BusName),
		clusters:  store,
		channel:   e.Config.Channel,
		approvers: e.Config.Approvers, responders: e.Config.Responders,
		actions: e.Config.SlackActions,
		policy: incident.Policy{
			ProofTime: e.Config.ProofTime, ReopenTime: e.Config.ReopenTime, RemindAfter: e.Config.RemindAfter,
			Routes: e.Config.Routes, TagKeys: routing.TagKeys(e.Config.Routes), Channel: e.Config.Channel,
		},
		now:   e.Now,
		log:   e.Log,
		count: e.Metrics.Count,
	}
	queues := bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Aside: e.Config.ResultDeadURL}
	h.again, h.aside = queues, queues
	return h
}

// errNoBatch: report is woken by its queue alone.
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
	clusters, failed := h.byCluster(ctx, messages)
	p := invocation{handler: h}
	for i, c := range clusters {
		p.beginBudget(ctx, c.name, len(clusters)-i)
		err := p.readDeliveries(ctx, c.name)
		if err == nil {
			err = errors.Join(p.cluster(ctx, c), p.summarise(ctx, c))
			p.saveDeliveries(ctx, err == nil)
		}
		if err != nil {
			h.log.ErrorContext(ctx, "results could not be recorded, they go back to the queue", "cluster", c.name, "results", len(c.results), "summaries", len(c.summaries), "error", err.Error())
			h.count("RecordFailures", 1)
			failed = append(failed, c.messages...)
		}
	}
	p.shareFiles(ctx)
	p.resume(ctx)
	return event.Failures(failed), nil
}

// clusterBatch is what a batch has of one cluster, in order.
type clusterBatch struct {
	name      string
	results   []report.Message // all but summaries
	summaries []report.Summary
	messages  []string
}

// byCluster decodes a batch and sorts it by cluster, in the order of the first message
// of each. What cannot be decoded never can be: it is set aside at once, as a FIFO
// queue gives nothing else of its group, which is its cluster, while it is tried
// again. Decide does not depend on the order.
func (h handler) byCluster(ctx context.Context, messages []event.Message) (clusters []clusterBatch, failed []string) {
	for _, m := range messages {
		result, err := report.DecodeMessage([]byte(m.Body))
		if err != nil {
			h.count("MalformedObservations", 1)
			h.log.ErrorContext(ctx, "message cannot be read, it is set aside in the dead-letter queue", "message", m.ID, "group", m.Group, "received", m.Received, "error", err.Error())
			if err := h.aside.SetAside(ctx, m, err.Error()); err != nil {
				h.log.ErrorContext(ctx, "it could not be set aside, it goes back to the queue", "message", m.ID, "error", err.Error())
				failed = append(failed, m.ID)
			}
			continue
		}
		i := slices.IndexFunc(clusters, func(c clusterBatch) bool { return c.name == result.Cluster() })
		if i < 0 {
			clusters = append(clusters, clusterBatch{name: result.Cluster()})
			i = len(clusters) - 1
		}
		if result.Summary != nil {
			clusters[i].summaries = append(clusters[i].summaries, *result.Summary)
		} else {
			clusters[i].results = append(clusters[i].results, result)
		}
		clusters[i].messages = append(clusters[i].messages, m.ID)
	}
	return clusters, failed
}

// invocation is one invocation.
type invocation struct {
	handler
	// slackDown is set when Slack does not answer: the rest of the invocation does not
	// wait for it again.
	slackDown bool
	// budgetOf is the cluster whose time it is to be said, until when it ends (zero is
	// never), unfinished those whose time ended before all was said.
	budgetOf       string
	timeBudgetEnds time.Time
	unfinished     []string
	// filesDown is set when Slack does not take pictures: the rest of the invocation does
	// without.
	filesDown bool
	// groupsUnavailable is set when Slack did not answer who is in a user group: no other group
	// is asked for.
	groupsUnavailable bool
	// workspaceUnknown is why Slack did not tell which workspace the app is in.
	workspaceUnknown string
	// filesOwed are the clusters in whose threads files are still to be shared.
	filesOwed []string
	// groups are the user groups that were read.
	groups map[string]members
	// delivery is of the cluster whose time it is, deliveries those of all clusters
	// of the invocation.
	delivery   *delivery
	deliveries map[string]*delivery
	// busDown is set when EventBridge does not take events: the rest of the invocation
	// does not ask it again.
	busDown bool
}

// attempts bounds how often a cluster is decided anew because another
// invocation wrote in between. Two at once are rare (the queue gives one group
// to one invocation), three never seen.
const attempts = 4

// cluster refuses what nobody pressed, records what the messages change, then says and tells it. What
// another invocation wrote in between is decided on anew.
func (p *invocation) cluster(ctx context.Context, c clusterBatch) error {
	results, refused, err := p.vet(ctx, c.results, p.now())
	if err != nil {
		return err
	}
	c.results = results
	for attempt := 1; ; attempt++ {
		out, strays, err := p.record(ctx, c)
		var conflict *store.Conflict
		if errors.As(err, &conflict) && attempt < attempts {
			p.count("LostRaces", 1)
			continue
		}
		if err != nil {
			return err
		}
		for _, o := range oldestFirst(out) {
			if err := p.deliver(ctx, o); err != nil {
				return err
			}
		}
		return p.answerStrays(ctx, append(strays, refused...))
	}
}

// record decides, and writes what is to be said before it is said. It gives
// what is due now, also from earlier passes.
func (p *invocation) record(ctx context.Context, c clusterBatch) (due []outgoing, strays []incident.ActRecord, _ error) {
	incidents, err := p.incidents.Incidents(ctx, c.name)
	if err != nil {
		return nil, nil, err
	}
	now := p.now()
	changed := map[report.Key]bool{}
	take := func(list ...incident.Decision) {
		for _, d := range list {
			if d.Changed {
				incidents = replace(incidents, d.Incident)
				changed[d.Incident.Key] = true
			}
		}
	}
	for _, m := range c.results {
		strays = append(strays, stray(m, incidents, now)...)
		take(p.apply(ctx, incidents, m, now)...)
	}
	for _, inc := range incidents {
		take(response.Tick(inc, now, p.routed()))
	}
	for _, inc := range incidents {
		p.delivery.open = p.delivery.open || inc.State != incident.Closed
		p.noteOwedFiles(inc)
		o := p.dueOf(inc, now)
		if changed[inc.Key] {
			if o.inc, err = p.incidents.SaveIncident(ctx, o.inc); err != nil {
				return nil, nil, err
			}
		}
		if o.due() {
			due = append(due, o)
		}
	}
	return due, strays, nil
}

func replace(incidents []incident.Incident, inc incident.Incident) []incident.Incident {
	i := slices.IndexFunc(incidents, func(other incident.Incident) bool { return other.Key == inc.Key })
	if i < 0 {
		return append(incidents, inc)
	}
	incidents[i] = inc
	return incidents
}
