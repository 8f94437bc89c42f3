package slack

import (
	"strings"

	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
)

// soonest lists the subnets that run out first: where none does, the one that has least.
func (p *page) soonest(w report.Period, most int) {
	var lines []*line
	for _, s := range w.Soonest[:min(len(w.Soonest), most)] {
		if s.Empty.IsZero() && len(lines) > 0 {
			break
		}
		l := p.line().plain(p.clusterOf(s.Cluster, s.Whose) + ", ").code(s.ID)
		if s.Zone != "" {
			l.plain(" in " + slacktext.Clip(slacktext.OneLine(s.Zone), 40))
		}
		l.plain(": " + slacktext.Number(s.Free) + pick(s.Total > 0, " of "+slacktext.Number(s.Total), "") + " addresses free")
		switch {
		case s.Empty.IsZero():
			l.plain(", and none of its kind is running out")
		case s.Empty.After(w.At):
			l.plain(", runs out ").dated(s.Empty)
		default:
			l.plain(", has run out")
		}
		lines = append(lines, l)
	}
	if n := len(lines); n < len(w.Soonest) && !w.Soonest[n].Empty.IsZero() {
		p.left = true
	}
	if len(lines) == 1 && w.Soonest[0].Empty.IsZero() {
		s := w.Soonest[0]
		p.add(p.label("Addresses").plain("No subnet is running out; the fewest are free in ").code(s.ID).
			plain(" of " + p.clusterOf(s.Cluster, s.Whose) + ": " + slacktext.Number(s.Free) + pick(s.Total > 0, " of "+slacktext.Number(s.Total), "") + ".").section())
		return
	}
	if len(lines) > 0 {
		p.add(p.heading("Addresses"), bullets(lines...))
	}
}

// quieted lists what is silenced.
func (p *page) quieted(w report.Period, most int) {
	var lines []*line
	for _, s := range w.Silences[:min(len(w.Silences), most)] {
		s.Reason = p.short(s.Reason, 200)
		lines = append(lines, p.silence(p.line(), s.Silence, p.short(s.Whose, 40)))
	}
	if w.Silenced > 0 {
		p.add(p.heading("Silenced"), bullets(p.cut(lines, w.Silenced, "silences")...))
	}
}

// looks is the proof that the week was looked at.
func (p *page) looks(w report.Period) {
	if w.Looks.Made == 0 && w.Looks.Unnoted == 0 {
		return
	}
	l := p.label("Looked").plain(slacktext.Number(w.Looks.Made) + " times at " + slacktext.Count(w.Clusters, "cluster"))
	if !w.Gaps() {
		l.plain(", never more than " + slacktext.Span(overview.Late) + " apart")
	}
	if w.Looks.New > 0 && w.Looks.Since.IsZero() {
		l.plain("; at " + slacktext.Number(w.Looks.New) + " of them since this week only")
	}
	if w.Looks.Unnoted > 0 {
		l.plain("; of " + slacktext.Count(w.Looks.Unnoted, "cluster") + " no looks are on record")
	}
	if w.LeftOut > 0 {
		l.plain("; " + slacktext.Count(w.LeftOut, "cluster") + " left out for want of time: ").code("/rollcall report 7d cluster=NAME")
	}
	p.add(l.plain(".").section())
}

// unseen lists what could not be looked at.
func (p *page) unseen(w report.Period, most int) {
	var lines []*line
	for _, u := range w.Unseen[:min(len(w.Unseen), most)] {
		lines = append(lines, p.notSeen(u, w))
	}
	if len(lines) > 0 {
		p.add(p.heading("Could not look"), bullets(p.cut(lines, len(w.Unseen)+w.MoreUnseen, "")...))
	}
}

// notSeen is one thing that was not looked at, and why.
func (p *page) notSeen(u report.Unseen, w report.Period) *line {
	l := p.line()
	span := func() *line {
		if u.Still {
			return l.plain(" since ").dated(u.From)
		}
		return l.plain(" for " + slacktext.Span(u.To.Sub(u.From)) + " from ").dated(u.From)
	}
	share := slacktext.Number(u.N) + " of " + slacktext.Count(u.Of, "look")
	switch u.Reason {
	case report.NothingLooked:
		l.strong("No cluster was looked at")
		return span().plain(": sweeps did not run. What happened then was seen only as far as events told it.")
	case report.SpokeUnseen:
		l.strong(p.clusterOf(slacktext.Count(u.Clusters, "cluster"), u.Whose)).plain(": not looked at")
		return span().plain(": the account may not have let Rollcall in")
	case report.SpokeUnknown:
		return l.strong(p.short(u.Whose, 60)).plain(": no cluster there was ever looked at: there is none, or Rollcall is not let in")
	case report.ClusterUnseen:
		l.strong(p.clusterOf(u.Cluster, u.Whose)).plain(": not looked at")
		return span()
	case report.ClusterStopped:
		l.strong(p.clusterOf(u.Cluster, u.Whose)).plain(": not looked at")
		return span().plain(", while others were: deleted, or no longer in the settings?")
	case report.APISilent:
		return l.strong(p.clusterOf(u.Cluster, u.Whose)).plain(": its Kubernetes API did not answer in " + share)
	case report.PartFailed:
		return l.strong(p.clusterOf(u.Cluster, u.Whose)).plain(": a part failed in " + share + "; the errors are in sweep's log")
	}
	l.strong(p.clusterOf(u.Cluster, u.Whose)).plain(": ").prose(strings.TrimSuffix(p.short(u.Says, 160), "."))
	return l.plain(pick(u.Still, "", " (over)")).toMessage(w.Site, u.Channel, u.TS)
}

// faults lists who refuses what Rollcall says.
func (p *page) faults(w report.Period, most int) {
	var lines []*line
	for _, f := range w.Faults[:min(len(w.Faults), most)] {
		lines = append(lines, p.line().strong(p.clusterOf(f.Cluster, f.Whose)).plain(": ").code(p.short(f.Target, 80)).
			plain(" refuses what is said ("+p.short(f.Code, 60)+") since ").dated(f.Since))
	}
	if len(lines) > 0 {
		p.add(p.heading("Rollcall's own faults"), bullets(p.cut(lines, len(w.Faults)+w.MoreFaults, "faults")...))
	}
}
