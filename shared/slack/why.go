package slack

import (
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/snapshot"
)

// RenderWhy is what /rollcall why answers.
func RenderWhy(w overview.Why) slackapi.Message {
	o := overview.Overview{Now: w.Now, Site: w.Site}
	top := w.Instance + ": "
	switch {
	case len(w.Found) > 0:
		top += endWords(w.Found[0])
	case len(w.Unread) > 0:
		top += "not found, and not everything could be read."
	default:
		top += "nothing is known of it."
	}
	return answering(o, top, func(p *page) {
		p.add(p.line().strong(top).section())
		for _, f := range w.Found {
			p.found(f, o)
		}
		if len(w.Found) == 0 {
			p.add(p.line().plain("Rollcall remembers launches of watched clusters for 90 days. For any other, look now:").section(),
				pre(shell.Command("rollcall", "diagnose", "--cluster", shell.Placeholder("cluster"), "--region", shell.Placeholder("region"))))
		}
		p.unread(w.Unread)
	})
}

// endWords is how a launch stands or ended.
func endWords(f overview.Found) string {
	switch f.End {
	case snapshot.Joined:
		return green + " joined."
	case snapshot.NotJoined:
		return red + " did not join."
	case snapshot.Refused:
		return red + " was not started."
	case snapshot.Reclaimed:
		return orange + " was reclaimed before it joined."
	case snapshot.Terminated:
		return white + " was terminated before it was due."
	case snapshot.Open:
		return blue + " has not joined yet."
	}
	return white + " how it ended is not known."
}

// found is what is stored of one launch.
func (p *page) found(f overview.Found, o overview.Overview) {
	l := p.label("What").plain(clusterName(f.Cluster))
	var of []string
	for _, s := range []string{f.Nodegroup, f.Type, f.Zone, f.Subnet} {
		if s = slacktext.Clip(slacktext.OneLine(s), 80); s != "" {
			of = append(of, s)
		}
	}
	if len(of) > 0 {
		l.prose(", " + strings.Join(of, ", "))
	}
	when := p.label("When").plain("launched ").at(f.Started)
	step := func(at time.Time, words string) {
		if !at.IsZero() {
			when.plain(", " + words + " ").at(at)
		}
	}
	step(f.Registered, "registered")
	step(f.Ready, "Ready")
	if f.End == snapshot.Open {
		step(f.Due, "due")
	}
	step(f.Ended, "ended")
	parts := []slackgo.RichTextElement{l.section(), when.plain(".").section()}
	if says := slacktext.Clip(slacktext.OneLine(f.Says), 400); says != "" || f.Cause != "" {
		why := p.label("Why")
		if f.Cause != "" {
			why.code(string(f.Cause)).plain(pick(says == "", "", ": "))
		}
		parts = append(parts, why.prose(says).section())
	}
	p.add(parts...)
	var lines []*line
	for _, i := range f.Incidents[:min(len(f.Incidents), 3)] {
		if i.State == incident.Closed {
			lines = append(lines, p.incident(i, o).plain(" (closed)"))
			continue
		}
		lines = append(lines, p.incident(i, o))
	}
	if len(lines) > 0 {
		p.add(p.heading("Incidents"), bullets(lines...))
	}
	if !f.Joined() && f.Ended.IsZero() {
		command := []any{"rollcall", "diagnose", "--cluster", f.Cluster.Name}
		if f.Region != "" {
			command = append(command, "--region", f.Region)
		}
		p.add(p.line().plain("To look now:").section(), pre(shell.Command(command...)))
	}
}

// RenderReport is what /rollcall report answers.
func RenderReport(r report.Period) slackapi.Message {
	t := r.Launches
	top := slacktext.Count(t.All, "launch") + " in " + slacktext.Count(r.Clusters, "cluster") + " in the last " + slacktext.Span(r.To.Sub(r.From)) + "."
	return answering(overview.Overview{Now: r.To}, top, func(p *page) {
		p.add(p.line().strong(top).section())
		var lines []*line
		add := func(n int, what string) {
			if n > 0 {
				lines = append(lines, p.line().plain(slacktext.Number(n)+" "+what))
			}
		}
		add(t.Joined, "joined"+joiningTimes(r.Joining))
		add(t.Failed, "did not join"+causes(r))
		add(t.Reclaimed, "reclaimed before joining")
		add(t.Waiting, "not yet known")
		add(t.Other, "ended by somebody, or unclear")
		if len(lines) > 0 {
			p.add(bullets(lines...))
		}
		p.add(p.label("Incidents").plain(slacktext.Number(r.Opened) + " opened, " + slacktext.Number(r.Resolved) + " closed, " + slacktext.Number(r.Open) + " open now.").section())
		p.unseen(r, p.most(report.ShownUnseen, 2))
		if r.LeftOut > 0 {
			p.add(p.line().plain(slacktext.Count(r.LeftOut, "cluster") + " left out: ask for one with ").code("/rollcall report cluster=NAME").plain(".").section())
		}
		p.unread(r.Unread)
	})
}

// joiningTimes says how long joining took.
func joiningTimes(j *report.Joining) string {
	if j == nil {
		return ""
	}
	return ": half within " + slacktext.Span(j.Median) + ", 95 of 100 within " + slacktext.Span(j.Most95)
}

// shownCauses is how many causes a line names.
const shownCauses = 4

// causes names the causes of those that did not join.
func causes(r report.Period) string {
	var names []string
	for _, c := range r.Causes {
		if c.Check != "" {
			names = append(names, string(c.Check)+" "+slacktext.Number(c.N))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + slacktext.Few(names, shownCauses, 60)
}
