package outbox

import (
	"slices"
	"time"

	"rollcall/shared/node/spot"
	"rollcall/shared/report"
)

// Posting is a summary on its way into Slack, from the first sight of it to
// some weeks after it was said: what is to be said stands here before it is
// said, and where it was said stands here after.
type Posting struct {
	Summary report.Summary `json:"summary"`
	// Version counts the writes of this record.
	Version int `json:"version"`
	// Done is set when all was said, and what it says is no longer kept. It is
	// always set for cleanups and weeks: a report function that knows none leaves
	// them alone.
	Done bool `json:"done,omitempty"`
	// Dirty is set for a cleanup whose message is to be posted or edited, and for a
	// week of which something is still to be said. Digest
	// is of the message as it was last sent.
	Dirty  bool   `json:"behind,omitempty"`
	Digest string `json:"digest,omitempty"`

	Channel string `json:"channel,omitempty"`
	// TS is the message's timestamp, its id in Slack; Sending is when it was
	// about to be sent (see Said).
	TS      string    `json:"ts,omitempty"`
	Sending time.Time `json:"sending,omitzero"`
	// Picture is the chart as it is in Slack.
	Picture Picture `json:"picture,omitzero"`
	// DetailsTS and DetailsSending are the same of the reply in its thread.
	DetailsTS      string    `json:"detailsTs,omitempty"`
	DetailsSending time.Time `json:"detailsSending,omitzero"`
	// More are the replies after that one.
	More []Reply `json:"more,omitempty"`
	// Untold is set while the event of a week is still to be put on the bus.
	Untold bool `json:"untold,omitempty"`
	// Event is the digest of the event of a week, from before it is put on the bus: targets
	// are told of no other.
	Event string `json:"event,omitempty"`
}

// Reply is a reply in the thread, as TS and Sending are the message.
type Reply struct {
	TS      string    `json:"ts,omitempty"`
	Sending time.Time `json:"sending,omitzero"`
}

// Reply is that of a number, the first of which is 0.
func (p Posting) Reply(i int) Reply {
	switch {
	case i == 0:
		return Reply{p.DetailsTS, p.DetailsSending}
	case i <= len(p.More):
		return p.More[i-1]
	}
	return Reply{}
}

// WithReply is the posting with that reply.
func (p Posting) WithReply(i int, r Reply) Posting {
	if i == 0 {
		p.DetailsTS, p.DetailsSending = r.TS, r.Sending
		return p
	}
	p.More = append(slices.Clone(p.More), make([]Reply, max(i-len(p.More), 0))...)
	p.More[i-1] = r
	return p
}

// New is the posting of a summary that was not said yet. A weekly one is marked as done, and
// as behind: a report function that knows none leaves it alone.
func New(s report.Summary) Posting {
	weekly := s.Kind == report.WeeklySummary
	return Posting{Summary: s, Done: weekly, Dirty: weekly, Untold: weekly}
}

// Picture is a chart in Slack.
type Picture struct {
	// File is Slack's id of the uploaded file.
	File string `json:"file,omitempty"`
	// Refusals counts how often Slack did not take a message with it.
	Refusals int `json:"refusals,omitempty"`
	// Missing says why the message goes without it, for people.
	Missing string `json:"missing,omitempty"`
}

// Due tells that something is still to be said. Where nothing failed there are
// no details.
func (p Posting) Due() bool {
	if p.Summary.Kind == report.CleanupSummary {
		return p.Dirty
	}
	if p.Summary.Kind == report.WeeklySummary {
		return p.Dirty // how many replies there are the words tell (Delivered)
	}
	return !p.Done && (p.TS == "" || p.DetailsTS == "" && !p.Summary.Quiet())
}

// Delivered is the posting of which all was said: what it said is in Slack, and
// need not be kept here.
func (p Posting) Delivered() Posting {
	p.Summary.Chart, p.Summary.Slowest = nil, nil
	p.Summary.Spot = spot.Report{Cluster: p.Summary.Spot.Cluster, From: p.Summary.Spot.From, To: p.Summary.Spot.To}
	if week := p.Summary.Period; week != nil && !p.Untold { // which week it was is asked for
		p.Summary.Period = &report.Period{From: week.From, To: week.To, At: week.At}
	}
	p.Done, p.Dirty, p.Sending, p.DetailsSending = true, false, time.Time{}, time.Time{}
	for i, r := range p.More {
		p = p.WithReply(i+1, Reply{TS: r.TS})
	}
	return p
}

// Told is the posting of which the bus has the event.
func (p Posting) Told() Posting {
	p.Untold = false
	if p.Done && !p.Dirty {
		return p.Delivered()
	}
	return p
}

// Renew gives the postings of a cluster's cleanups that a newer summary changes
// or makes. What is older than what is known changes nothing.
func Renew(known []Posting, s report.Summary) []Posting {
	var list []Posting
	parts := s.Parts()
	if s.Cleanup.Stopped == nil {
		// A run went on: if one of this day had stopped, that is over.
		for _, p := range known {
			if p.Summary.ID == s.ID+"/stopped" && p.Summary.Cleanup.Stopped.Over.IsZero() && s.At.After(p.Summary.At) {
				over, stop := *p.Summary.Cleanup, *p.Summary.Cleanup.Stopped
				stop.Over = s.At
				over.Stopped = &stop
				p.Summary.Cleanup, p.Summary.At, p.Dirty = &over, s.At, true
				list = append(list, p)
			}
		}
	}
	for _, part := range parts {
		have := Posting{Done: true}
		for _, p := range known {
			if p.Summary.ID == part.ID {
				have = p
			}
		}
		if !part.At.After(have.Summary.At) {
			continue
		}
		have.Summary, have.Dirty = part, true
		list = append(list, have)
	}
	return list
}
