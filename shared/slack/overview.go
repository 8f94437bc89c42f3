package slack

import (
	"strings"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// The most that an answer lists: a phone shows twenty lines, and 50 clusters fit into a
// message with room to spare.
const (
	mostIncidents = 15
	mostClusters  = 50
	mostSilences  = 20
	mostUnread    = 5
)

// RenderStatus is what /rollcall status answers.
func RenderStatus(o overview.Overview) slackapi.Message {
	top := openWords(o)
	return answering(o, top, func(p *page) {
		p.add(p.line().strong(top).section())
		p.incidents(o, mostIncidents)
		p.watched(o)
		if n := len(o.Silences); n > 0 {
			p.add(p.line().plain(slacktext.Count(n, "silence") + ": ").code("/rollcall silences").section())
		}
		p.unread(o.Unread)
	})
}

// answering is an answer of which the first line is also the notification.
func answering(o overview.Overview, top string, draw func(*page)) slackapi.Message {
	return slackapi.Message{
		Text: slacktext.Notification(top),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{}, o.Now, room)
			draw(p)
			return p.blocks
		}),
	}
}

// openWords is how many incidents are open, in a sentence.
func openWords(o overview.Overview) string {
	n := o.Counts()
	if len(o.Incidents) == 0 {
		switch {
		case len(o.Unread) > 0:
			return "Nothing is known to be open, and not everything could be read."
		case len(o.Clusters) == 0:
			return "Nothing is known to be open."
		}
		return green + " Nothing is open."
	}
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, slacktext.Number(n)+" "+what)
		}
	}
	add(n.Critical, "critical")
	add(n.Warning, pick(n.Warning == 1, "warning", "warnings"))
	add(n.Info, "for information")
	text := slacktext.Count(len(o.Incidents), "incident") + " open: " + strings.Join(parts, ", ") + "."
	parts = nil
	add(n.Muted, "muted")
	add(n.Silenced, "silenced")
	if len(parts) > 0 {
		text += " Of these " + strings.Join(parts, " and ") + "."
	}
	return pick(n.Critical > 0, red, pick(n.Warning > 0, orange, blue)) + " " + text
}

// watched says how many clusters are watched, and which are not looked at as they should.
func (p *page) watched(o overview.Overview) {
	n := o.States()
	if len(o.Clusters) == 0 {
		p.add(p.line().plain("No look at a cluster is on record yet: sweeps come every five minutes. After a quarter of an hour, ask ").code("rollcall doctor").plain(".").section())
		return
	}
	l := p.line().plain(slacktext.Count(len(o.Clusters), "cluster") + " watched")
	if n[overview.InTime] == len(o.Clusters) {
		p.add(l.plain(", " + pick(len(o.Clusters) == 1, "", "each ") + "looked at within the last " + slacktext.Span(overview.Late) + ".").section())
		return
	}
	p.add(l.plain("; " + slacktext.Number(n[overview.InTime]) + " looked at within the last " + slacktext.Span(overview.Late) + ".").section())
	var lines []*line
	left := 0
	for _, c := range o.Clusters {
		state := c.StateOf(o.Now)
		if state == overview.InTime {
			continue
		}
		if len(lines) == mostUnread {
			left++
			continue
		}
		lines = append(lines, p.look(p.line().strong(clusterName(c)).plain(": "), c, state))
	}
	if left > 0 {
		lines = append(lines, p.line().plain("and "+slacktext.Number(left)+" more: ").code("/rollcall clusters"))
	}
	p.add(bullets(lines...))
}

// look says when a cluster was last looked at.
func (p *page) look(l *line, c overview.Cluster, state overview.State) *line {
	switch state {
	case overview.Unknown:
		return l.plain("when it was last looked at is not known")
	case overview.TooLate:
		return l.plain("last looked at ").clock(c.Swept).plain(", which is late")
	case overview.Partly:
		return l.plain("looked at ").clock(c.Swept).plain(", but failed: " + slacktext.Few(c.Failed, 4, 40))
	}
	return l.plain("looked at ").clock(c.Swept)
}

// clusterName is a cluster as people name it, and as a command takes it where it is of
// another account.
func clusterName(c overview.Cluster) string {
	name := slacktext.Clip(slacktext.OneLine(c.Name), 100)
	if c.ID.Hub() {
		return slacktext.Place(name, c.Whose)
	}
	if whose := slacktext.Clip(slacktext.OneLine(c.Whose), 40); whose != "" && !strings.HasPrefix(whose, c.Account) {
		return c.String() + " (" + whose + ")"
	}
	return c.String()
}

// most is how many lines of a list there are: with less room fewer, and some at least.
func (p *page) most(most, least int) int { return min(most, max(least, p.room/150)) }

// incidents lists what is open, the most urgent first.
func (p *page) incidents(o overview.Overview, most int) {
	var lines []*line
	for _, i := range o.Incidents[:min(len(o.Incidents), p.most(most, 4))] {
		lines = append(lines, p.incident(i, o))
	}
	if left := len(o.Incidents) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("and "+slacktext.Number(left)+" more, in the channel"))
	}
	if len(lines) > 0 {
		p.add(bullets(lines...))
	}
}

// incident is one incident in a line.
func (p *page) incident(i incident.Incident, o overview.Overview) *line {
	l := p.line().prose(slacktext.Clip(headline(i), 200)).plain(", since ").clock(i.Began)
	if i.Ack != nil {
		l.plain("; ").person(i.Ack.By).plain(" has it")
	}
	if i.Muted(o.Now) {
		l.plain("; muted by ").person(i.Mute.By).plain(" until ").until(o.Now, i.Mute.Until)
	}
	if i.Silence != nil {
		l.plain("; silenced by ").person(i.Silence.By).plain(" until ").until(o.Now, i.Silence.Until)
	}
	if address := permalink(o.Site, i.Delivery.Channel, i.Delivery.TS); address != "" {
		l.plain(" · ").link(address, "message", nil)
	}
	return l
}

// permalink is the address of a message, as chat.getPermalink gives it
// (docs.slack.dev/reference/methods/chat.getPermalink): the workspace's own address, the
// channel, and the timestamp without its point.
func permalink(site, channel, ts string) string {
	if !strings.HasPrefix(site, "http") || channel == "" || ts == "" {
		return ""
	}
	return strings.TrimSuffix(site, "/") + "/archives/" + channel + "/p" + strings.ReplaceAll(ts, ".", "")
}

// unread says what could not be read: it is not taken for nothing.
func (p *page) unread(list []string) {
	if len(list) == 0 {
		return
	}
	var lines []*line
	for _, what := range list[:min(len(list), mostUnread)] {
		lines = append(lines, p.line().prose(slacktext.Clip(slacktext.OneLine(what), 200)))
	}
	if left := len(list) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("and "+slacktext.Number(left)+" more, in report's log"))
	}
	p.add(p.heading("Could not be read"), bullets(lines...))
}

// RenderClusters is what /rollcall clusters answers.
func RenderClusters(o overview.Overview) slackapi.Message {
	top := slacktext.Count(len(o.Clusters), "cluster") + " watched."
	if len(o.Clusters) == 0 {
		top = "No look at a cluster is on record yet."
	}
	return answering(o, top, func(p *page) {
		p.add(p.line().strong(top).section())
		p.clusters(o, mostClusters)
		p.unread(o.Unread)
	})
}

// clusters lists the clusters: those with something open, or not looked at, first.
func (p *page) clusters(o overview.Overview, most int) {
	var first, rest []overview.Cluster
	for _, c := range o.Clusters {
		if c.Open > 0 || c.StateOf(o.Now) != overview.InTime {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	// A line takes about 200 characters on the wire: with less room there are fewer.
	most = min(most, max(8, p.room/40))
	var lines []*line
	all := append(first, rest...)
	for _, c := range all[:min(len(all), most)] {
		l := p.line().strong(clusterName(c)).plain(pick(c.Open == 0, ": ", ": "+slacktext.Number(c.Open)+" open, "))
		lines = append(lines, p.look(l, c, c.StateOf(o.Now)))
	}
	if left := len(all) - len(lines); left > 0 {
		lines = append(lines, p.line().plain("and "+slacktext.Number(left)+" more, "+pick(len(lines) >= len(first), "with nothing open and looked at in time", "some with incidents")))
	}
	if len(lines) > 0 {
		p.add(bullets(lines...))
	}
}
