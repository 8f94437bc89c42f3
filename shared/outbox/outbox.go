// Package outbox is what is remembered of deliveries beside the incidents: who
// refuses what it is sent, and the summaries on their way into Slack. The table keeps it and
// Slack shows some of it, so it is a package below both; package notify delivers.
package outbox

import (
	"cmp"
	"slices"
	"time"

	"rollcall/shared/node/spotreport"
	"rollcall/shared/report"
)

// ClusterRecord is what report remembers of a cluster beside its incidents: who
// refuses what is said of it, and when it is to be looked after although no
// message about it came.
type ClusterRecord struct {
	Cluster string `json:"cluster"`
	// Version counts the writes of this record, Format is the version of this type.
	Version int `json:"version"`
	Format  int `json:"format"`
	// Refusals are sorted by target.
	Refusals []Refusal `json:"refusals,omitempty"`
	// Open reports whether incidents of it are not closed.
	Open bool `json:"open,omitempty"`
	// Owed reports whether something is still to be said of what no message comes about by itself.
	Owed bool `json:"owed,omitempty"`
	// Wake is when it is looked after should nothing be heard of it until then.
	Wake time.Time `json:"wake,omitzero"`
}

// ClusterFormat is the version of ClusterRecord that this code writes and reads.
const ClusterFormat = 1

// Target is whom something is delivered to. What refuses all that one target is
// sent says nothing of the others: an archived channel does not silence another.
type Target string

// The targets. A content that is refused holds back its own incident or summary
// alone.
const (
	ToSlack Target = "slack"
	ToBus   Target = "bus"
)

// ToChannel is a channel of Slack.
func ToChannel(id string) Target { return Target("slack/" + id) }

// OfIncident is what Slack shows of one incident.
func OfIncident(key report.Key) Target {
	return Target("incident/" + string(key.Check) + "#" + key.Resource)
}

// EventsOf is the bus events of one incident.
func EventsOf(key report.Key) Target { return Target("bus/" + string(key.Check) + "#" + key.Resource) }

// EventOf is the bus event of one summary.
func EventOf(id string) Target { return Target("bus/summary/" + id) }

// OfSummary is what Slack shows of one summary.
func OfSummary(id string) Target { return Target("summary/" + id) }

// Refusal is a target that refuses, for a reason that does not pass by itself: a
// revoked token, an archived channel, a permission that is missing.
type Refusal struct {
	Target Target `json:"target"`
	// Code is the service's own, "token_revoked".
	Code  string    `json:"code"`
	Since time.Time `json:"since"`
	Times int       `json:"times"`
	// Next is when it is tried again.
	Next time.Time `json:"next"`
}

// The times until a target is tried again: they double from the first to the
// last, so that what a person mended is heard of within a quarter of an hour.
const (
	firstRetry = 2 * time.Minute
	lastRetry  = 15 * time.Minute
)

// mostRefusals bounds the record: one has about 150 bytes.
const mostRefusals = 200

// wakeAfter is how long nothing may be heard of a cluster with open incidents
// until it is looked after: its sweeps come every five minutes.
const wakeAfter = 24 * time.Hour

// Held reports whether a target is not to be tried now.
func (r ClusterRecord) Held(t Target, now time.Time) bool {
	i, known := r.find(t)
	return known && now.Before(r.Refusals[i].Next)
}

// Refused takes in that a target refused, and reports whether that is new.
func (r *ClusterRecord) Refused(t Target, code string, now time.Time) (first bool) {
	i, known := r.find(t)
	if !known {
		if len(r.Refusals) == mostRefusals {
			return true // it is tried with each message, as before
		}
		r.Refusals = slices.Insert(slices.Clone(r.Refusals), i, Refusal{Target: t, Since: now})
	} else {
		r.Refusals = slices.Clone(r.Refusals)
	}
	x := &r.Refusals[i]
	x.Code = code
	x.Next = now.Add(min(firstRetry<<min(x.Times, 8), lastRetry))
	x.Times++
	return !known
}

// Keep forgets the targets of which keep says no, and reports whether there were any.
func (r *ClusterRecord) Keep(keep func(Target) bool) (changed bool) {
	kept := slices.DeleteFunc(slices.Clone(r.Refusals), func(x Refusal) bool { return !keep(x.Target) })
	changed = len(kept) != len(r.Refusals)
	r.Refusals = kept
	return changed
}

// owedAfter is when what is owed is tried again.
const owedAfter = 2 * time.Minute

// Follow takes in whether incidents are open, and whether something is owed, and puts off
// the waking. It is written again once an hour at most while nothing else changes.
func (r *ClusterRecord) Follow(open, owed bool, now time.Time) (changed bool) {
	changed = open != r.Open || owed != r.Owed
	r.Open, r.Owed = open, owed
	switch {
	case owed:
		r.Wake, changed = now.Add(owedAfter), true
	case !open:
		r.Wake = time.Time{}
	case changed || r.Wake.Before(now.Add(wakeAfter-time.Hour)):
		r.Wake, changed = now.Add(wakeAfter), true
	}
	return changed
}

// Due reports whether the cluster is to be looked after now: something is to be tried
// again, or nothing was heard of it for a day.
func (r ClusterRecord) Due(now time.Time) bool {
	return (r.Open || r.Owed) && !now.Before(r.Wake) || slices.ContainsFunc(r.Refusals, func(x Refusal) bool { return !now.Before(x.Next) })
}

func (r ClusterRecord) find(t Target) (int, bool) {
	return slices.BinarySearchFunc(r.Refusals, t, func(x Refusal, t Target) int { return cmp.Compare(x.Target, t) })
}

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
	// Thread is the timestamp of the incident's message in whose thread a cleanup is
	// reported; empty for a message of its own.
	Thread string `json:"thread,omitempty"`
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
	// receive no other.
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

// Due reports whether something is still to be said. Where nothing failed there are
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
	p.Summary.Spot = spotreport.Report{Cluster: p.Summary.Spot.Cluster, From: p.Summary.Spot.From, To: p.Summary.Spot.To}
	if week := p.Summary.Period; week != nil && !p.Untold { // which week it was is asked for
		p.Summary.Period = &report.Period{From: week.From, To: week.To, At: week.At}
	}
	p.Done, p.Dirty, p.Sending, p.DetailsSending = true, false, time.Time{}, time.Time{}
	for i, r := range p.More {
		p = p.WithReply(i+1, Reply{TS: r.TS})
	}
	return p
}

// Published is the posting of which the bus has the event.
func (p Posting) Published() Posting {
	p.Untold = false
	if p.Done && !p.Dirty {
		return p.Delivered()
	}
	return p
}

// Thread is a message in Slack to which there can be replies.
type Thread struct{ Channel, TS string }

// Renew gives the postings of a cluster's cleanups that a newer summary changes
// or makes. What is older than what is known changes nothing. What came back to a subnet that
// has a thread goes there: its incident's message says the count, and the channel need not
// have it twice. Where a day of a subnet is once, it stays.
func Renew(known []Posting, s report.Summary, threads map[string]Thread) []Posting {
	var list []Posting
	find := func(id string) (Posting, bool) {
		i := slices.IndexFunc(known, func(p Posting) bool { return p.Summary.ID == id })
		if i < 0 {
			return Posting{Done: true}, false
		}
		return known[i], true
	}
	if s.Cleanup.Stopped == nil {
		// A run went on: if one of this day had stopped, that is over.
		if p, ok := find(s.ID + "/stopped"); ok && p.Summary.Cleanup.Stopped.Over.IsZero() && s.At.After(p.Summary.At) {
			over, stop := *p.Summary.Cleanup, *p.Summary.Cleanup.Stopped
			stop.Over = s.At
			over.Stopped = &stop
			p.Summary.Cleanup, p.Summary.At, p.Dirty = &over, s.At, true
			list = append(list, p)
		}
	}
	apart := func(subnet string) bool {
		if _, ok := find(s.ID + "/" + subnet); ok {
			return true
		}
		day, ok := find(s.ID)
		inDay := ok && day.Summary.Cleanup != nil && slices.ContainsFunc(day.Summary.Cleanup.Subnets, func(x report.CleanupSubnet) bool { return x.Subnet == subnet })
		_, has := threads[subnet]
		return has && !inDay
	}
	for _, part := range Parts(s, apart) {
		have, ok := find(part.ID)
		if !ok && part.ID != s.ID && part.Cleanup.Stopped == nil {
			in := threads[part.Cleanup.Subnets[0].Subnet]
			have.Channel, have.Thread = in.Channel, in.TS
		}
		if !part.At.After(have.Summary.At) {
			continue
		}
		have.Summary, have.Dirty = part, true
		list = append(list, have)
	}
	return list
}

// Parts are the messages of a cleanup: that a run stopped, as a person must look at that; what
// came back to each subnet that is reported apart; and what came back to the others. What waits
// and what is kept is of the whole cluster, and in the last of them.
func Parts(s report.Summary, apart func(subnet string) bool) []report.Summary {
	if s.Cleanup == nil {
		return nil
	}
	var parts []report.Summary
	day := *s.Cleanup
	part := func(id string, c report.Cleanup) {
		c.Mode, c.Day, c.VPC = day.Mode, day.Day, day.VPC
		p := s
		p.ID, p.Cleanup = id, &c
		parts = append(parts, p)
	}
	if day.Stopped != nil {
		part(s.ID+"/stopped", report.Cleanup{Stopped: day.Stopped})
	}
	rest := report.Cleanup{Nodes: day.Nodes}
	for _, x := range day.Subnets {
		if !apart(x.Subnet) {
			rest.Subnets = append(rest.Subnets, x)
			continue
		}
		part(s.ID+"/"+x.Subnet, report.Cleanup{Subnets: []report.CleanupSubnet{x}})
		rest.Nodes = 0 // of the others together it was not counted
	}
	if len(rest.Subnets) > 0 {
		part(s.ID, rest)
	}
	if len(day.Subnets) > 0 {
		last := parts[len(parts)-1].Cleanup
		last.Left, last.Kept = day.Left, day.Kept
	}
	return parts
}
