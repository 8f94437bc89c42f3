// Package report is the function that owns the incidents: it takes what was observed,
// pressed, planned and done from its queue, a batch at a time, decides what becomes of
// the incidents, and has it recorded and delivered.
package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/report/spec"
	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
	"rollcall/shared/notify"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/ownership"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/routing"
	"rollcall/shared/silence"
	"rollcall/shared/slack"
	"rollcall/shared/slack/hook"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// People knows who is in a user group and in which workspace the app is.
type People interface {
	Workspace(ctx context.Context) (report.Workspace, error)
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
var errNoBatch = errors.New("the event is not a batch of SQS messages: report is invoked by its queue only")

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
	messages, ok := inbox.Batch(raw)
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
			h.Log.ErrorContext(ctx, "could not record results; returned them to the queue", "cluster", c.name, "results", len(c.results), "summaries", len(c.summaries), "error", err.Error())
			h.Count("RecordFailures", 1)
			failed = append(failed, c.messages...)
		}
	}
	for _, c := range asked {
		if err := p.command(ctx, c.message); err != nil {
			h.Log.ErrorContext(ctx, "could not respond to a command; returned it to the queue", "verb", c.message.Command.Ask.Verb, "command", c.message.Command.ID, "error", err.Error())
			h.Count("RecordFailures", 1)
			failed = append(failed, c.id)
		}
	}
	p.delivery.End(ctx)
	return inbox.Failures(failed), nil
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

// incidents refuses forged presses, and has what the other messages make of the
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

// members is what Slack said of a user group in this invocation.
type members struct {
	users []string
	// unread says why the group could not be read.
	unread string
}

// mayPress reports whether a person may do what they pressed: approve and refuse if they
// are among the approvers, the rest if they are among the responders. It is asked
// anew in every invocation: who left a group may no more. What could not be read
// is never a yes.
func (p *invocation) mayPress(ctx context.Context, press report.Press) response.Who {
	rules := press.Action == report.ApprovePlan || press.Action == report.RefusePlan
	switch {
	case press.User.ID == "":
		return response.Who{}
	case rules && len(p.approvers) == 0:
		return response.Who{May: response.NoApprovers}
	case !rules && p.responders.Channel:
		return response.Who{May: response.MayYes}
	}
	// The ids of approvers and responders are those of our own workspace: in
	// another one the same id may be another person's.
	own, unread := p.workspace(ctx)
	switch {
	case unread != "":
		return response.Who{May: response.Unplaced, Says: unread}
	case !inWorkspace(own, press.Home, press.Enterprise):
		return response.Who{May: response.Foreign}
	case rules:
		return p.isListed(ctx, p.approvers, press.User.ID)
	case press.Action.IsFeedback():
		return response.Who{May: response.MayYes} // it stops nothing, and hides nothing: guests too
	case len(p.responders.IDs) == 0 && press.Action == report.MuteFor:
		return p.isMember(ctx, press.User.ID) // it keeps what follows from everyone
	case len(p.responders.IDs) == 0:
		return response.Who{May: response.MayYes}
	}
	return p.isListed(ctx, slices.Concat(p.responders.IDs, p.approvers), press.User.ID)
}

// isListed reports whether a user is among users and user groups.
func (p *invocation) isListed(ctx context.Context, ids []string, user string) response.Who {
	if slices.Contains(ids, user) {
		return response.Who{May: response.MayYes}
	}
	var unread []string
	for _, group := range ids {
		if !strings.HasPrefix(group, "S") {
			continue
		}
		switch m := p.group(ctx, group); {
		case m.unread != "":
			unread = append(unread, group+": "+m.unread)
		case slices.Contains(m.users, user):
			return response.Who{May: response.MayYes}
		}
	}
	if len(unread) > 0 {
		return response.Who{May: response.Unknown, Says: strings.Join(unread, "; ")}
	}
	return response.Who{}
}

// workspace is where the app is installed, or why that cannot be told. The session
// asks Slack once for each token, and an invocation once where Slack does not tell: a
// press is refused then, for to wait would hold up what was observed.
func (p *invocation) workspace(ctx context.Context) (own report.Workspace, unread string) {
	if p.workspaceUnknown != "" {
		return report.Workspace{}, p.workspaceUnknown
	}
	ctx, cancel := context.WithTimeout(ctx, notify.CallTimeout)
	defer cancel()
	own, err := p.people.Workspace(ctx)
	if err == nil {
		return own, ""
	}
	p.Count("SlackFailures", 1)
	p.Log.ErrorContext(ctx, "could not determine Rollcall's Slack workspace, so no user is allowed to press", "error", err.Error())
	var e *slackapi.Error
	p.workspaceUnknown = "Slack did not answer"
	if errors.As(err, &e) && e.Code != "" {
		p.workspaceUnknown = e.Code
	}
	return report.Workspace{}, p.workspaceUnknown
}

// isMember reports whether a person of the workspace is no guest of it, who is there for a
// channel or two.
func (p *invocation) isMember(ctx context.Context, user string) response.Who {
	switch guest, unread := p.guest(ctx, user); {
	case unread != "":
		return response.Who{May: response.Unlisted, Says: unread}
	case guest:
		return response.Who{May: response.Guest}
	}
	return response.Who{May: response.MayYes}
}

// guest reports whether a person is a guest of the workspace, or why that is unknown.
func (p *invocation) guest(ctx context.Context, user string) (guest bool, unread string) {
	ctx, cancel := context.WithTimeout(ctx, notify.CallTimeout)
	defer cancel()
	guest, err := p.people.Guest(ctx, user)
	if err == nil {
		return guest, ""
	}
	p.Count("SlackFailures", 1)
	p.Log.ErrorContext(ctx, "could not determine whether a person is a guest, so their command is refused", "user", user, "error", err.Error())
	var e *slackapi.Error
	switch {
	case errors.As(err, &e) && e.Scope != "":
		return false, "the Slack app lacks the scope " + e.Scope
	case e != nil && e.Code != "":
		return false, e.Code
	}
	return false, "Slack did not answer"
}

// group reads a user group, once in an invocation.
func (p *invocation) group(ctx context.Context, id string) members {
	if known, ok := p.groups[id]; ok {
		return known
	}
	var m members
	users, err := p.members(ctx, id)
	var e *slackapi.Error
	switch {
	case err == nil:
		m.users = users
	case errors.Is(err, errNotAsked):
		m.unread = "Slack did not answer"
		return m
	case errors.As(err, &e) && e.Scope != "":
		m.unread = "the Slack app lacks the scope " + e.Scope
	case e != nil && e.Code != "":
		m.unread = e.Code
	default:
		m.unread = "Slack did not answer"
		p.groupsUnavailable = true
	}
	if err != nil {
		p.Count("SlackFailures", 1)
		p.Log.ErrorContext(ctx, "could not read a user group of approvers, so none of its members can approve", "group", id, "error", err.Error())
	}
	if p.groups == nil {
		p.groups = map[string]members{}
	}
	p.groups[id] = m
	return m
}

var errNotAsked = errors.New("no answer from Slack to the previous request")

// members asks Slack. Presses are decided before anything is recorded: a Slack
// that hangs must not take the time for that.
func (p *invocation) members(ctx context.Context, group string) ([]string, error) {
	if p.delivery.SlackDown() || p.groupsUnavailable {
		return nil, errNotAsked
	}
	ctx, cancel := context.WithTimeout(ctx, notify.CallTimeout)
	defer cancel()
	return p.people.GroupMembers(ctx, group)
}

// Aside is where messages go that cannot be read.
type Aside interface {
	SetAside(ctx context.Context, m inbox.Message, reason string) error
}

// clusterBatch is what a batch has of one cluster, in order.
type clusterBatch struct {
	name      string
	results   []report.Message // all but summaries
	summaries []report.Summary
	messages  []string
}

// asked is a command of a batch.
type asked struct {
	id      string
	message report.Message
}

// byCluster decodes a batch and sorts it by cluster, in the order of the first message
// of each. What cannot be decoded never can be: it is set aside at once, as a FIFO
// queue gives nothing else of its group, which is its cluster, while it is tried
// again. Decide does not depend on the order.
func (h handler) byCluster(ctx context.Context, messages []inbox.Message) (clusters []clusterBatch, commands []asked, failed []string) {
	for _, m := range messages {
		result, err := report.DecodeMessage([]byte(m.Body))
		if err != nil {
			h.Count("MalformedObservations", 1)
			h.Log.ErrorContext(ctx, "could not decode a message; moved it to the dead-letter queue", "message", m.ID, "group", m.Group, "received", m.Received, "error", err.Error())
			if err := h.aside.SetAside(ctx, m, err.Error()); err != nil {
				h.Log.ErrorContext(ctx, "could not move it to the dead-letter queue; returned it to the queue", "message", m.ID, "error", err.Error())
				failed = append(failed, m.ID)
			}
			continue
		}
		if result.Command != nil {
			commands = append(commands, asked{m.ID, result})
			continue
		}
		result = result.ForSpoke(h.spoke, h.whose)
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
	return clusters, commands, failed
}

var (
	_ Passed  = (*store.Store)(nil)
	_ Audited = (*store.Store)(nil)
	_ People  = (*slackapi.Session)(nil)
	_ Aside   = queue.Queues{}
	_ Spokes  = (*store.Store)(nil)
)

// Build makes the handler of report from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	owners, err := ownership.Parse(e.Config.Owners)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	h := newHandler(e, owners)
	if e.Config.Spoke.Hub() {
		for _, s := range e.Config.Others() {
			h.unwatched.watched = append(h.unwatched.watched, s.ID)
		}
		h.unwatched.of = func(id spoke.ID) handler {
			former := newHandler(e.ForSpoke(id), owners)
			former.Unwatched = func(string) bool { return true }
			return former
		}
		e.ForAll(h.leave)
	}
	return h.handle, nil
}

func newHandler(e lambda.Env, owners ownership.Settings) handler {
	wall := store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName)
	here := wall.WithClock(e.Now)
	table := here.ForSpoke(e.Config.Spoke)
	client := slackapi.NewSession(secretsmanager.NewFromConfig(e.AWS), e.Config.SlackSecretARN, e.Config.SlackAPI, &http.Client{Transport: e.HTTP})
	queues := queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Aside: e.Config.ResultDeadURL, Spoke: e.Config.Spoke}
	h := handler{
		Notifier: notify.Notifier{
			Incidents: table, Postings: table, Clusters: table, Silences: table, Acts: table,
			Slack: client, Files: client, Answers: client, Workspace: client, Prepare: client.Prepare,
			Bus: bus.New(eventbridge.NewFromConfig(e.AWS), e.Config.BusName), Again: queues, By: spec.Name,
			Policy: incident.Policy{
				ProofTime: e.Config.ProofTime, ReopenTime: e.Config.ReopenTime, RemindAfter: e.Config.RemindAfter,
				Routes: e.Config.Routes, TagKeys: routing.TagKeys(e.Config.Routes), Owners: owners,
				// Lambda's default, which infra keeps (Lambda developer guide, "Configuring CloudWatch log groups").
				Logs:    report.Logs{Group: "/aws/lambda/" + e.Function, Region: cmp.Or(e.Config.Hub.Region, e.Config.Region)},
				Channel: e.Config.Channel,
			},
			Actions: e.Config.SlackActions, Docs: e.Config.DocsURL,
			Unwatched: notAmong(e.Config.Clusters),
			Now:       e.Now, Log: e.Log, Count: e.Metrics.Count,
		},
		passed: wall, // signatures are dated by the wall clock, and the records of presses are kept by it
		audit:  table,
		people: client,
		spoke:  e.Config.Spoke,
		naming: newNaming(e.Config, table),
		aside:  queues, approvers: e.Config.Approvers, responders: e.Config.Responders,
	}
	if e.Config.Channel == "" {
		h.Slack, h.Files, h.Answers, h.Workspace, h.Prepare = noSlack{e.Now}, noSlack{e.Now}, noSlack{e.Now}, nil, nil
	}
	h.unwatched.spokes = here
	h.commands = commands{
		replies: hook.NewResponder(e.Config.SlackAPI, e.HTTP), home: client, hub: e.Config.Hub,
		watched: allOf(e.Config, func(id spoke.ID) Table { return here.ForSpoke(id) }),
		wake: func(ctx context.Context, of spoke.Cluster) error {
			to := queues
			to.Spoke = of.ID
			return to.SendResult(ctx, wakeUp(of, spec.Name, e.Now()))
		},
	}
	return h
}

// Table is what commands ask of the records of one account and region.
type Table interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	Aliases
	ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error)
	Sweeps(ctx context.Context) ([]overview.Sweep, error)
	AllSilences(ctx context.Context) ([]silence.Silence, error)
	SaveSilence(ctx context.Context, s silence.Silence) (silence.Silence, error)
	Launch(ctx context.Context, instance string) (*store.LaunchRecord, error)
	RecentHistory(ctx context.Context, cluster string, since time.Time, most int) ([]snapshot.Past, error)
	Audits(ctx context.Context, cluster string, from time.Time) ([]leak.Audit, error)
}

// Replies answers whoever typed a command.
type Replies interface {
	Answer(ctx context.Context, to, text string, blocks any) error
}

// Home draws the app's home page.
type Home interface {
	PublishHome(ctx context.Context, user, hash string, page slackapi.Message) error
}

var (
	_ Table   = (*store.Store)(nil)
	_ Replies = hook.Responder{}
	_ Home    = (*slackapi.Session)(nil)
)

// watched is an account and a region, and its records.
type watched struct {
	spoke.ID
	naming *naming
	whose  string // as of this invocation
	table  Table
}

// commands is what answering commands needs. The hub's own handler answers for all
// accounts and regions.
type commands struct {
	replies Replies
	home    Home
	watched []watched
	// wake has a cluster's incidents looked after, behind all that was observed before.
	wake func(ctx context.Context, of spoke.Cluster) error
	hub  spoke.ID
}

// command answers one command. An error is worth another try: the table or the queue did
// not answer. That Slack did not take the answer is none, or a silence would be asked for
// again and again.
func (p *invocation) command(ctx context.Context, m report.Message) error {
	c := *m.Command
	record, err := p.passed.PassedPress(ctx, c.ID)
	if err != nil {
		return fmt.Errorf("look up whether slack-actions queued the command: %w", err)
	}
	now := p.Now()
	about := []any{"verb", c.Ask.Verb, "user", c.User.ID, "command", c.ID}
	switch a := response.VetCommand(c, m.Digest, record, now); {
	case !a.Proven():
		p.Count("PressesRefused", 1)
		p.Count("PressesNotPassedOn", 1)
		p.Log.ErrorContext(ctx, "refused a command that slack-actions did not queue: it was forged by another sender to the results queue,"+
			" or slack-actions had reported it to the person as failed",
			append(about, "reason", incident.PressRefused, "answer", a.Reason)...)
		return nil
	case a.Reason != "":
		return p.reply(ctx, c, slack.RenderAnswer(a, now))
	}
	if a := p.mayAsk(ctx, c).Refusal(); a.Reason != "" {
		p.Count("PressesRefused", 1)
		p.Log.WarnContext(ctx, "a command was refused", append(about, "audit", true, "reason", incident.PressRefused, "answer", a.Reason)...)
		if a.Reason != incident.NotResponder && a.Reason != incident.GroupNotRead {
			return p.reply(ctx, c, slack.RenderRefusal(a, now)) // who is none of us sees nothing
		}
		return p.reply(ctx, c, slack.RenderRefusal(a, now), slack.RefusalSays(a))
	}
	p.Count("Commands", 1)
	answer, says, err := p.answer(ctx, c, now)
	if err != nil {
		return err
	}
	return p.reply(ctx, c, answer, says)
}

// mayAsk reports whether a person may ask for that: people of the app's own workspace to
// know, and responders to silence. What could not be read is never a yes. Commands have no
// channel that would vouch for a person: the setting responders=channel is for buttons.
func (p *invocation) mayAsk(ctx context.Context, c report.Command) response.Who {
	own, unread := p.workspace(ctx)
	switch {
	case c.User.ID == "":
		return response.Who{}
	case unread != "":
		return response.Who{May: response.Unplaced, Says: unread}
	case !inWorkspace(own, c.Home, c.Enterprise):
		return response.Who{May: response.Foreign}
	}
	if who := p.isMember(ctx, c.User.ID); who.May != response.MayYes {
		return who // what is asked is about all accounts
	}
	changes := c.Ask.Verb == report.AskSilence || c.Ask.Verb == report.AskUnsilence
	if !changes || len(p.responders.IDs) == 0 {
		return response.Who{May: response.MayYes}
	}
	return p.isListed(ctx, append(append([]string(nil), p.responders.IDs...), p.approvers...), c.User.ID)
}

// answer does what is asked, and says what came of it: as a message, and in a sentence for
// the home page.
func (p *invocation) answer(ctx context.Context, c report.Command, now time.Time) (_ slackapi.Message, says string, _ error) {
	switch c.Ask.Verb {
	case report.AskStatus:
		return slack.RenderStatus(p.overview(ctx, now)), "", nil
	case report.AskClusters:
		return slack.RenderClusters(p.overview(ctx, now)), "", nil
	case report.AskSilences:
		return slack.RenderSilences(p.overview(ctx, now), p.Actions), "", nil
	case report.AskSilence:
		return p.beginSilence(ctx, c, now)
	case report.AskUnsilence:
		says, err := p.endSilence(ctx, c, now)
		return slack.RenderSays(says, now), says, err
	case report.AskWhy:
		return slack.RenderWhy(p.why(ctx, c.Ask.Instance, now)), "", nil
	case report.AskReport:
		return slack.RenderReport(p.report(ctx, c.Ask, now)), "", nil
	case report.OpenHome:
		return slackapi.Message{}, c.Says, nil
	}
	return slack.RenderSays("This version of Rollcall does not know that command.", now), "", nil
}

// reply tells the person; or draws their home page, with what came of it where that is
// said, and with nothing but the answer where it is not. It waits no longer than a
// cluster's time can spare.
func (p *invocation) reply(ctx context.Context, c report.Command, m slackapi.Message, says ...string) error {
	var err error
	switch {
	case c.OnHome:
		if len(says) > 0 {
			m = slack.RenderHome(p.overview(ctx, p.Now()), says[0])
		}
		ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
		defer cancel()
		err = p.home.PublishHome(ctx, c.User.ID, c.View, m)
	case c.ResponseURL != "":
		err = p.replies.Answer(ctx, c.ResponseURL, m.Text, m.Blocks)
	}
	if err != nil {
		p.Count("SlackFailures", 1)
		p.Log.WarnContext(ctx, "could not send a command's result to the person", "verb", c.Ask.Verb, "user", c.User.ID, "command", c.ID, "error", err.Error())
		return nil
	}
	p.Count("SlackAnswers", 1)
	return nil
}

// decide takes in all messages, in order, and the time that has passed.
func (p *invocation) decide(ctx context.Context, incidents []incident.Incident, messages []report.Message, silences []silence.Silence, now time.Time) (
	after []incident.Incident, changed map[report.Key]bool, strays []incident.ActRecord,
) {
	changed = map[report.Key]bool{}
	take := func(list ...incident.Decision) {
		for _, d := range list {
			if d.Changed {
				incidents = replace(incidents, d.Incident)
				changed[d.Incident.Key] = true
			}
		}
	}
	policy := p.Policy
	policy.TagKeys = slices.Concat(policy.TagKeys, silence.TagKeys(silences))
	for _, m := range messages {
		strays = append(strays, stray(m, incidents, now)...)
		take(p.apply(ctx, incidents, m, policy, now)...)
	}
	for _, inc := range incidents {
		take(p.silence(ctx, inc, silences, now))
	}
	for _, inc := range incidents {
		take(response.Tick(inc, now, p.Policy))
	}
	return incidents, changed, strays
}

// silence tells what the silences of the cluster make of an incident.
func (p *invocation) silence(ctx context.Context, inc incident.Incident, list []silence.Silence, now time.Time) incident.Decision {
	d := response.Silence(inc, list, now)
	if d.Changed {
		p.logDecision(ctx, d)
	}
	return d
}

func replace(incidents []incident.Incident, inc incident.Incident) []incident.Incident {
	i := slices.IndexFunc(incidents, func(other incident.Incident) bool { return other.Key == inc.Key })
	if i < 0 {
		return append(incidents, inc)
	}
	incidents[i] = inc
	return incidents
}

// apply takes one message in, and gives what it makes of the incidents.
func (p *invocation) apply(ctx context.Context, incidents []incident.Incident, m report.Message, policy incident.Policy, now time.Time) []incident.Decision {
	if m.Observation != nil {
		decide := reconcile.Decide
		if p.Left(m.Observation.Cluster) {
			decide = reconcile.CloseUnwatched
		}
		list := decide(incidents, *m.Observation, now, policy)
		for _, d := range list {
			p.logDecision(ctx, d, "observation", m.Observation.ID, "by", m.Observation.By)
		}
		return list
	}
	key, id := m.Head.Key, m.Head.ID
	i := slices.IndexFunc(incidents, func(inc incident.Incident) bool { return inc.Key == key })
	if i < 0 {
		if m.Press == nil {
			p.Log.WarnContext(ctx, "a message names an unknown incident", "cluster", key.Cluster, "check", key.Check, "resource", key.Resource, "message", id)
			p.Count("StrayMessages", 1)
		}
		return nil
	}
	var d incident.Decision
	switch inc := incidents[i]; {
	case m.Press != nil:
		var a incident.Answer
		d, a = response.Act(inc, *m.Press, p.mayPress(ctx, *m.Press), now)
		p.logDecision(ctx, d, "press", id, "action", m.Press.Action, "user", m.Press.User.ID, "answer", a.Reason)
	case m.Proposal != nil:
		d = response.Propose(inc, *m.Proposal, now)
		p.logDecision(ctx, d, "proposal", id, "remedy", m.Proposal.Remedy, "policy", m.Proposal.Policy, "plan", m.Proposal.Hash)
	case m.RemedyResult != nil:
		d = response.ApplyRemedyResult(inc, *m.RemedyResult, now)
		p.logDecision(ctx, d, "run", m.RemedyResult.Run.ID, "remedy", m.RemedyResult.Run.Plan.Remedy, "result", m.RemedyResult.Run.Result)
	case m.Changes != nil:
		d = response.ApplyChanges(inc, *m.Changes, now)
		p.logDecision(ctx, d, "changes", id, "found", len(m.Changes.Found.Changes))
	case m.Alert != nil:
		d = response.ApplyAlert(inc, *m.Alert, now)
		p.logDecision(ctx, d, "alert", id, "in", m.Alert.In, "alertState", m.Alert.State)
	}
	return []incident.Decision{d}
}

// stray is a press whose incident is not there: closed long ago, or of a
// cluster that nothing is known of any more.
func stray(m report.Message, incidents []incident.Incident, now time.Time) []incident.ActRecord {
	if m.Press == nil || slices.ContainsFunc(incidents, func(inc incident.Incident) bool { return inc.Key == m.Press.Key }) {
		return nil
	}
	return []incident.ActRecord{response.NotFound(*m.Press, now)}
}

// logDecision logs and counts a decision.
func (p *invocation) logDecision(ctx context.Context, d incident.Decision, about ...any) {
	level := slog.LevelInfo
	if d.Reason == incident.NothingNew {
		level = slog.LevelDebug
	}
	key := d.Incident.Key
	p.Log.Log(ctx, level, "decided", append([]any{"cluster", key.Cluster, "check", key.Check, "resource", key.Resource,
		"reason", d.Reason, "state", d.Incident.State, "affected", d.Incident.Affected}, about...)...)
	switch d.Reason {
	case incident.Opened:
		p.Count("IncidentsOpened", 1)
	case incident.Reopened:
		p.Count("IncidentsReopened", 1)
	case incident.IsProved, incident.IsUnproved, incident.IsSuperseded, incident.IsWithdrawn, incident.IsGivenUpOn:
		p.Count("IncidentsClosed", 1)
	case incident.AlreadyApplied:
		p.Count("RepeatedObservations", 1)
	case incident.OutOfDate:
		p.Count("LateObservations", 1)
	case incident.PressRefused:
		p.Count("PressesRefused", 1)
	case incident.IsApproved:
		p.Count("RemediesApproved", 1)
	case incident.RemedyDone:
		p.Count("RemediesDone", 1)
	case incident.RemedyFailed:
		p.Count("RemediesFailed", 1)
	case incident.IsMalformed:
		p.Count("MalformedObservations", 1)
		p.Log.ErrorContext(ctx, "a plan or run does not match its record; ignored", about...)
	}
}

// Aliases tells what sweep has read of one account's alias.
type Aliases interface {
	Alias(ctx context.Context) (store.Alias, bool, error)
}

var _ Aliases = (*store.Store)(nil)

const (
	// knownFor is how long a name is taken for what it is: sweep reads it once a day.
	knownFor = time.Hour
	// unknownFor is the same as long as sweep has not read it, which it does with a tick.
	unknownFor = 5 * time.Minute
	// namePatience is how long what is to be said waits for a name.
	namePatience = 2 * time.Second
)

// naming is what people call one account and region. It is said, and never looked up by:
// what is of whom the account's number alone decides.
type naming struct {
	config  config.Config
	aliases Aliases
	whose   string
	until   time.Time
}

// newNaming is that of a configuration's spoke.
func newNaming(c config.Config, aliases Aliases) *naming {
	return &naming{config: c, aliases: aliases, whose: c.SpokeName()}
}

// name is the name as far as it is known. Where the table does not answer it is the one of
// before: a message is worth more than its account's name.
func (h handler) name(ctx context.Context, n *naming) string {
	now := h.Now()
	if !n.config.WantsAlias() || now.Before(n.until) {
		return n.whose
	}
	ctx, cancel := context.WithTimeout(ctx, namePatience)
	defer cancel()
	n.until = now.Add(unknownFor)
	a, known, err := n.aliases.Alias(ctx)
	if err != nil {
		h.Log.WarnContext(ctx, "could not read the account's alias: using "+n.whose, "error", err.Error())
		return n.whose
	}
	if known {
		n.until = now.Add(knownFor)
	}
	n.whose = n.config.SpokeNameBy(a.Alias)
	return n.whose
}

// named is the handler with the name of its own account and region.
func (h handler) named(ctx context.Context) handler {
	h.whose = h.name(ctx, h.naming)
	h.Whose = h.whose
	return h
}

// allNamed is the handler with the names of all that commands ask about.
func (h handler) allNamed(ctx context.Context) handler {
	h.watched = slices.Clone(h.watched)
	for i, w := range h.watched {
		h.watched[i].whose = h.name(ctx, w.naming)
	}
	return h
}

// inWorkspace reports whether a user is of the workspace, or of its organization. Who Slack says
// nothing of is not.
func inWorkspace(w report.Workspace, home, enterprise string) bool {
	switch {
	case w.ID == "" || home == "":
		return false
	case home == w.ID:
		return true
	}
	return w.Enterprise != "" && (enterprise == w.Enterprise || home == w.Enterprise)
}
