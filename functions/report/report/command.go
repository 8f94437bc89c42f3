package report

import (
	"context"
	"fmt"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/network/leak"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

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
	Answer(ctx context.Context, to string, m slackapi.Message) error
}

// Home draws the app's home page.
type Home interface {
	PublishHome(ctx context.Context, user, hash string, page slackapi.Message) error
}

var (
	_ Table   = (*store.Store)(nil)
	_ Replies = slackapi.Responder{}
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
		return fmt.Errorf("see whether slack-actions passed the command on: %w", err)
	}
	now := p.Now()
	about := []any{"verb", c.Ask.Verb, "user", c.User.ID, "command", c.ID}
	switch a := response.VetCommand(c, m.Digest, record, now); {
	case !a.Proven():
		p.Count("PressesRefused", 1)
		p.Count("PressesNotPassedOn", 1)
		p.Log.ErrorContext(ctx, "a command was refused that slack-actions did not pass on: whoever sent it to the results queue made it up,"+
			" or slack-actions had told the person that it failed",
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

// mayAsk tells whether a person may ask for that: people of the app's own workspace to
// know, and responders to silence. What could not be read is never a yes. Commands have no
// channel that would vouch for somebody: the setting responders=channel is for buttons.
func (p *invocation) mayAsk(ctx context.Context, c report.Command) response.Who {
	own, unread := p.workspace(ctx)
	switch {
	case c.User.ID == "":
		return response.Who{}
	case unread != "":
		return response.Who{May: response.Unplaced, Says: unread}
	case !own.HasCommand(c):
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
		err = p.replies.Answer(ctx, c.ResponseURL, m)
	}
	if err != nil {
		p.Count("SlackFailures", 1)
		p.Log.WarnContext(ctx, "a person was not told what came of their command", "verb", c.Ask.Verb, "user", c.User.ID, "command", c.ID, "error", err.Error())
		return nil
	}
	p.Count("SlackAnswers", 1)
	return nil
}
