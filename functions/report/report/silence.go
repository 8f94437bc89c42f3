package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slashcommand"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// silenceID is the id of the silence that a command asks for: that of the signed request,
// so that a command which the queue delivers twice is one silence.
func silenceID(c report.Command) string { return c.ID[:min(len(c.ID), 8)] }

// beginSilence writes a silence, once, and has its cluster looked after.
func (p *invocation) beginSilence(ctx context.Context, c report.Command, now time.Time) (_ slackapi.Message, says string, _ error) {
	no := func(says string) (slackapi.Message, string, error) { return slack.RenderSays(says, now), says, nil }
	of := own(c.Ask.Cluster, p.hub)
	i := slices.IndexFunc(p.watched, func(w watched) bool { return w.ID == of.ID })
	if i < 0 {
		return no("Nothing was done: Rollcall does not watch " + of.ID.String() + ".")
	}
	o := p.overview(ctx, now)
	if says := notWatched(o, of); says != "" {
		return no(says)
	}
	s := silence.Silence{
		ID: silenceID(c), Spoke: of.ID, Cluster: of.Name, Nodegroup: c.Ask.Nodegroup, Tag: c.Ask.Tag, Check: c.Ask.Check, Weekly: c.Ask.Weekly,
		From: c.Ask.From, By: silence.Person(c.User), At: c.At, Reason: c.Ask.Reason,
	}
	if s.From.IsZero() {
		s.From = c.At
	}
	s.Until = s.From.Add(c.Ask.For)
	if err := s.Sound(); err != nil {
		return no("Nothing was done: " + slashcommand.SaysOf(err))
	}
	_, err := p.watched[i].table.SaveSilence(ctx, s)
	var taken *store.Conflict
	if repeated := errors.As(err, &taken); err != nil && !repeated {
		return slackapi.Message{}, "", fmt.Errorf("write the silence of %s: %w", of, err)
	}
	p.Count("Silences", 1)
	p.Log.InfoContext(ctx, "silenced", "audit", true, "silence", s.ID, "user", s.By.ID, "spoke", of.ID.String(), "cluster", of.Name,
		"nodegroup", s.Nodegroup, "tag", s.Tag, "check", s.Check,
		"from", s.From, "until", s.Until, "weekly", s.Weekly != nil, "reason", s.Reason, "command", c.ID)
	if err := p.wake(ctx, of); err != nil {
		return slackapi.Message{}, "", err
	}
	var hides []incident.Incident
	for _, inc := range o.Incidents {
		if s.Judge(inc.Subject(), now) == silence.Hides {
			hides = append(hides, inc)
		}
	}
	return slack.RenderSilenced(s, p.watched[i].whose, hides, now), "", nil
}

// notWatched is what is said of a cluster that nobody looks at: a slip of the finger would
// be a silence of nothing, and whoever asked for it would be woken.
func notWatched(o overview.Overview, of spoke.Cluster) string {
	_, known := o.Named(of)
	if known || len(o.Clusters) == 0 || len(o.Unread) > 0 {
		return "" // what cannot be known is no reason to refuse
	}
	says := "Nothing was done: " + of.String() + " is not among the clusters that were looked at in the last two days."
	var others []string
	for _, c := range o.Alike(of.Name) {
		others = append(others, "`cluster="+c.String()+"`")
	}
	if len(others) > 0 {
		return says + " Did you mean " + strings.Join(others[:min(len(others), 5)], " or ") + "?"
	}
	return says + " `/rollcall clusters` lists them."
}

// endSilence ends a silence before its time.
func (p *invocation) endSilence(ctx context.Context, c report.Command, now time.Time) (says string, _ error) {
	unread := ""
	for _, w := range p.watched {
		list, err := w.table.AllSilences(ctx)
		if err != nil {
			p.Log.WarnContext(ctx, "silences could not be read", "spoke", w.String(), "error", err.Error())
			unread = because(err)
		}
		i := slices.IndexFunc(list, func(s silence.Silence) bool { return s.ID == c.Ask.Silence })
		if i < 0 {
			continue
		}
		return p.endOne(ctx, c, w, list[i], now)
	}
	if unread != "" {
		return "Nothing was done: not all silences could be read, and the others have no id " + c.Ask.Silence + ": " + unread + ".", nil
	}
	return "There is no silence " + c.Ask.Silence + ". `/rollcall silences` lists them.", nil
}

func (p *invocation) endOne(ctx context.Context, c report.Command, w watched, s silence.Silence, now time.Time) (says string, _ error) {
	if !s.Standing(now) {
		return "That silence is over already.", nil
	}
	s.Ended, s.EndedBy = now, silence.Person(c.User)
	if _, err := w.table.SaveSilence(ctx, s); err != nil {
		return "", fmt.Errorf("end the silence %s: %w", s.ID, err) // somebody wrote in between: it is tried again
	}
	p.Count("SilencesEnded", 1)
	p.Log.InfoContext(ctx, "unsilenced", "audit", true, "silence", s.ID, "user", c.User.ID, "spoke", w.String(), "cluster", s.Cluster, "command", c.ID)
	if err := p.wake(ctx, s.Of()); err != nil {
		return "", err
	}
	return "Ended: the silence of " + s.Of().String() + ". What is still broken is told in the channel now.", nil
}

// wakeUp is an observation of a cluster that saw nothing.
func wakeUp(of spoke.Cluster, by string, now time.Time) report.Observation {
	return report.Observation{Format: report.Format, ID: "resume/" + of.Name + "/" + now.UTC().Format(time.RFC3339Nano), By: by, At: now, Cluster: of.Name}
}
