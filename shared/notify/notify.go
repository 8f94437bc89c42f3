// Package notify delivers what is decided: incidents and summaries into Slack,
// finding events to the bus, and what came of a press to who pressed.
//
// Each delivery is begun, sent, recorded. That it begins is written into the record
// before anything is sent (beginSend), what was sent after (deliver). A crash before
// the first leaves nothing behind; one between them leaves a mark without a timestamp,
// and whoever finds it asks Slack before sending again (search); the bus is told again,
// with the same ids. What nobody took stays in the record for the cluster's next message.
// Who refuses for a reason that does not pass by itself is left alone for longer and
// longer (package outbox), and asked again by a clock (Notifier.Tick).
package notify

import (
	"context"
	"log/slog"
	"time"

	"rollcall/shared/bus"
	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
)

// Records is where incidents are kept. To save one that somebody else wrote in
// between is a store.Conflict.
type Records interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error)
}

// Summaries is what summaries are remembered by.
type Summaries interface {
	Postings(ctx context.Context, cluster string) ([]outbox.Posting, error)
	SavePosting(ctx context.Context, p outbox.Posting) (outbox.Posting, error)
}

// Clusters is what is remembered of clusters beside their incidents.
type Clusters interface {
	ClusterRecord(ctx context.Context, cluster string) (outbox.ClusterRecord, error)
	ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error)
	SaveClusterRecord(ctx context.Context, r outbox.ClusterRecord) error
}

// Silences is where it stands what is not told for a while.
type Silences interface {
	Silences(ctx context.Context, cluster string) ([]silence.Silence, error)
	SaveSilence(ctx context.Context, s silence.Silence) (silence.Silence, error)
}

// Audit is where presses are recorded for good.
type Audit interface {
	RecordAct(ctx context.Context, a incident.ActRecord) (created bool, err error)
}

// Slack is whom people listen to.
type Slack interface {
	Post(ctx context.Context, channel string, m slackapi.Message) (ts string, err error)
	Update(ctx context.Context, channel, ts string, m slackapi.Message) error
	Reply(ctx context.Context, channel, thread string, m slackapi.Message) (ts string, err error)
	Broadcast(ctx context.Context, channel, thread string, m slackapi.Message) (ts string, err error)
	Find(ctx context.Context, s slackapi.Search) (slackapi.Found, error)
}

// Files is who takes pictures and texts.
type Files interface {
	Upload(ctx context.Context, f slackapi.File) (id string, err error)
	Share(ctx context.Context, channel, thread string, f slackapi.File) (id string, err error)
}

// Answers is who tells one person something.
type Answers interface {
	Ephemeral(ctx context.Context, channel, user, thread string, m slackapi.Message) error
}

// Workspace is where the app is: links to messages begin with its address.
type Workspace interface {
	Workspace(ctx context.Context) (response.Workspace, error)
}

// Bus is whom other people's rules listen to.
type Bus interface {
	Tell(ctx context.Context, events []incident.Event) error
	TellWeek(ctx context.Context, w incident.Week) error
}

// Again is how the function asks itself to go on.
type Again interface {
	SendResult(ctx context.Context, o report.Observation) error
}

var (
	_ Records   = (*store.Store)(nil)
	_ Summaries = (*store.Store)(nil)
	_ Clusters  = (*store.Store)(nil)
	_ Silences  = (*store.Store)(nil)
	_ Audit     = (*store.Store)(nil)
	_ Slack     = (*slackapi.Session)(nil)
	_ Files     = (*slackapi.Session)(nil)
	_ Answers   = (*slackapi.Session)(nil)
	_ Workspace = (*slackapi.Session)(nil)
	_ Bus       = (*bus.Bus)(nil)
	_ Again     = bus.Queues{}
)

// Notifier is what deliveries need, the same for all invocations.
type Notifier struct {
	Incidents Records
	Postings  Summaries
	Clusters  Clusters
	Silences  Silences
	Acts      Audit
	Slack     Slack
	Files     Files
	Answers   Answers
	// Workspace may be nil: then nothing is linked to other messages.
	Workspace Workspace
	Bus       Bus
	// Again may be nil: then what is left waits for the cluster's next message.
	Again Again
	// By is the function's name.
	By string
	// Policy has the routes, and the channel of what no route sends elsewhere.
	Policy incident.Policy
	// Whose is the name by which people know the account and region; empty for none.
	Whose string
	// Unwatched tells that a cluster was taken out of the settings; nil for none.
	Unwatched func(cluster string) bool
	// Actions tells that Slack's buttons are answered, so that messages have them.
	Actions bool
	// Docs is where the documentation's site is; empty for nowhere.
	Docs  string
	Now   func() time.Time
	Log   *slog.Logger
	Count func(name string, n int)
}

// Left tells that a cluster is not watched any more.
func (n Notifier) Left(cluster string) bool { return n.Unwatched != nil && n.Unwatched(cluster) }

// shows is what messages depend on beside their incidents.
func (n Notifier) shows() slack.Options {
	return slack.Options{Actions: n.Actions, Now: n.Now(), Docs: n.Docs}
}

// Invocation is what one invocation of the function learns of those whom it delivers to.
type Invocation struct {
	Notifier
	// slackDown is set when Slack does not answer: the rest of the invocation does not
	// wait for it again.
	slackDown bool
	// filesDown is set when Slack does not take pictures: the rest of the invocation does
	// without.
	filesDown bool
	// busDown is set when EventBridge does not take events: the rest of the invocation
	// does not ask it again.
	busDown bool
	// unfinished are the clusters whose time ended before all was said.
	unfinished []string
	// filesOwed are the clusters in whose threads files are still to be shared.
	filesOwed []string
	// clusters are those that it began.
	clusters map[string]*Cluster
}

// Begin begins an invocation.
func (n Notifier) Begin() *Invocation {
	return &Invocation{Notifier: n, clusters: map[string]*Cluster{}}
}

// SlackDown tells that Slack did not answer in this invocation.
func (v *Invocation) SlackDown() bool { return v.slackDown }

// End does what comes when all clusters have had their time: files are shared, and
// what a minute was too short for goes on at once.
func (v *Invocation) End(ctx context.Context) {
	v.shareFiles(ctx)
	v.resume(ctx)
}
