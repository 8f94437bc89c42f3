package report

import (
	"fmt"
	"strings"
	"time"
)

// outageRow is a line of the page.
type outageRow struct {
	clusters                         int
	how                              away
	messages, notes, edits, searches int
	limited, twice, lost, writes     int
	drained                          time.Duration
}

func (o outage) row(clusters int) outageRow {
	_, _, twice := o.read()
	r := outageRow{
		clusters: clusters, how: o.how, messages: len(o.channel), edits: o.counts["SlackUpdates"], twice: twice, lost: o.lost, writes: o.writes, drained: o.drained,
		searches: o.calls["/api/conversations.history"] + o.calls["/api/conversations.replies"],
	}
	for _, m := range o.channel {
		r.notes += len(m.Replies)
	}
	r.limited = o.calls["/api/chat.postMessage"] + o.calls["/api/chat.update"] - r.messages - r.notes - r.edits
	return r
}

// pageOf is docs/slack.md.
func pageOf(rows []outageRow, faults int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Slack away for an hour

Written by %[1]smake outage%[1]s.

The same two hours are played into the function's own handler, through the real Slack client: %[2]d incidents open in the first 50 minutes, three of four end, one of four comes back, each cluster is swept every five minutes. Slack is away for the first hour: its connections are refused; or it answers 503, does not answer within the timeout, or takes a message and loses the answer, in turn; or it answers 429 with Retry-After: 300. Before and after it keeps its limits: one message a second in a channel (bursts of 3), 50 edits a minute. Invocations end after a minute, five run at once, a cluster's messages are handed out in their order, and what fails comes again after six minutes. Time is the test's: a call of Slack takes 150 ms, a write 5 ms.

Afterwards the channel is compared with that of a Slack that was never away: each cluster's messages in the same order, each once, with the same words; each thread with the same replies in the same order. Times aside, they are the same.

| clusters | Slack | messages | replies | edits | said twice | lost | searches | refused or answered 429 | writes of the table | said in full after |
|---|---|---|---|---|---|---|---|---|---|---|
`, "`", faults)
	for _, r := range rows {
		drained := r.drained.Round(time.Second).String()
		if r.how == well {
			drained = "at once"
		}
		fmt.Fprintf(&b, "| %d | %s | %d | %d | %d | %d | %d | %d | %d | %d | %s |\n", r.clusters, r.how, r.messages, r.notes, r.edits, r.twice, r.lost, r.searches, r.limited, r.writes, drained)
	}
	fmt.Fprintf(&b, `
%d messages and %d replies take Slack %s at one a second, whoever sends them: nothing can be sooner. There are fewer edits than without the outage, as a message that is posted late says how things stand.

How it is done:

- What is to be said stands in the incident's record before it is said. While Slack is away, nothing is marked as sent that was not tried, so that afterwards only what may have been taken is looked for in the channel.
- A cluster's incidents are said in the order in which they opened, each message with its thread.
- Clusters whose results come together share a minute evenly: the backlog of one does not keep the others from being heard. No call is begun that the end of the minute would cut off.
- Where a minute is too short, report wakes itself; while Slack does not answer it does not, and each cluster's next sweep tries again, with one call. Between clusters the order is that of their turns.
- Retry-After is waited for as long as the minute lasts.
- What was pressed takes effect, and is audited, whether or not Slack is there. Who pressed is answered within 15 minutes, or reads it in the message. An answer, and the question who is in a user group, waits five seconds at most: messages have the rest of the turn.
- A call of people that Slack did not take is not followed by another, and is dropped when nobody needs to come any more: an hour of outage is one call.
`, rows[0].messages, rows[0].notes, (time.Duration(rows[0].messages+rows[0].notes) * time.Second).String())
	return b.String()
}
