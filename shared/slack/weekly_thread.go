package slack

import (
	"fmt"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// renderWeeklyDetails are the replies in its thread: the lists that the message has no room
// for at length, each reply as large as Slack takes it.
func renderWeeklyDetails(s report.Summary) []slackapi.Message {
	w := *s.Period
	_, left := weeklyMessage(s)
	var list []slackapi.Message
	for of, part := range [parts]struct {
		top  string
		draw func(*page)
	}{
		ofIncidents: {"The week's incidents:", func(p *page) {
			p.causesOf(w)
			p.weeklyIncidents(w, p.listed(weeklyThread), p.listed(weeklyThread))
		}},
		ofClusters: {"The week's clusters, addresses and silences:", func(p *page) {
			p.wrongClusters(w, p.listed(weeklyThread))
			p.soonest(w, p.listed(weeklyThread))
			p.quieted(w, p.listed(weeklyThread))
		}},
		ofBlindSpots: {"What Rollcall could not look at, read or say:", func(p *page) { p.blindSpots(w, weeklyThread, weeklyThread, weeklyThread) }},
	} {
		if !left[of] {
			continue
		}
		list = append(list, slackapi.Message{
			Text: slacktext.Notification(part.top),
			Blocks: slacktext.FitTo(weeklyRooms(), func(room int) []slackgo.Block {
				p := newPage(place{}, s.At, room)
				p.add(p.line().strong(part.top).section())
				if part.draw(p); p.left {
					p.add(p.line().plain("What is not listed: ").code("rollcall incidents").plain(", or of one cluster ").code("/rollcall report 7d cluster=NAME").plain(".").section())
				}
				return p.blocks
			}),
			Tag: SummaryTag(s.ID, detailsNote(len(list))),
		})
	}
	return list
}

// detailsNote is the note of a reply with details, the first of which is 0.
func detailsNote(i int) string {
	if i == 0 {
		return DetailsNote
	}
	return fmt.Sprintf("%s-%d", DetailsNote, i+1)
}
