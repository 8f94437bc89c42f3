package slack

import (
	slackgo "github.com/slack-go/slack"

	"rollcall/shared/overview"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// RenderHome is the app's home page for somebody. Says is what came of what they pressed
// on it; empty for nothing. A home page has 100 blocks at most and a view 250 KB
// (docs.slack.dev/reference/methods/views.publish); this has those of a message.
func RenderHome(o overview.Overview, says string) slackapi.Message {
	return slackapi.Message{Text: slacktext.Notification(openWords(o)), Blocks: slacktext.Fit(func(room int) []slackgo.Block {
		p := newPage(place{}, o.Now, room)
		if says != "" {
			p.add(p.line().strong(says).section())
		}
		p.add(p.line().strong(openWords(o)).section())
		p.incidents(o, mostIncidents)
		p.watched(o)
		p.unread(o.Unread)
		p.add(p.heading("Silences"))
		if len(o.Silences) == 0 {
			p.add(p.line().plain("Nothing is silenced. To silence a cluster: ").code(`/rollcall silence cluster=NAME for 2h reason "…"`).section())
		}
		p.silences(o, true)
		if muted := p.muted(o); len(muted) > 0 {
			p.add(p.heading("Muted incidents"), bullets(muted...))
		}
		p.add(p.heading("Clusters"))
		p.clusters(o, mostClusters)
		p.add(p.line().plain("As of ").dated(o.Now).plain(". ").code("/rollcall help").plain(" lists what you can ask.").section())
		return p.blocks
	})}
}
