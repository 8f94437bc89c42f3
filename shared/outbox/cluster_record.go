// Package outbox is what is remembered of deliveries beside the incidents: who
// refuses what it is sent, and the summaries on their way into Slack. The table keeps it and
// Slack shows some of it, so it is a package below both; package notify delivers.
package outbox

import (
	"cmp"
	"slices"
	"time"

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
	// Open tells that incidents of it are not closed.
	Open bool `json:"open,omitempty"`
	// Owed tells that something is still to be said of what no message comes about by itself.
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

// OfIncident is what Slack is told of one incident.
func OfIncident(key report.Key) Target {
	return Target("incident/" + string(key.Check) + "#" + key.Resource)
}

// EventsOf is what the bus is told of one incident.
func EventsOf(key report.Key) Target { return Target("bus/" + string(key.Check) + "#" + key.Resource) }

// EventOf is what the bus is told of one summary.
func EventOf(id string) Target { return Target("bus/summary/" + id) }

// OfSummary is what Slack is told in one summary.
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

// Held tells that a target is not to be tried now.
func (r ClusterRecord) Held(t Target, now time.Time) bool {
	i, known := r.find(t)
	return known && now.Before(r.Refusals[i].Next)
}

// Refused takes in that a target refused, and tells whether that is new.
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

// Keep forgets the targets of which keep says no, and tells whether there were any.
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

// Due tells that the cluster is to be looked after now: something is to be tried
// again, or nothing was heard of it for a day.
func (r ClusterRecord) Due(now time.Time) bool {
	return (r.Open || r.Owed) && !now.Before(r.Wake) || slices.ContainsFunc(r.Refusals, func(x Refusal) bool { return !now.Before(x.Next) })
}

func (r ClusterRecord) find(t Target) (int, bool) {
	return slices.BinarySearchFunc(r.Refusals, t, func(x Refusal, t Target) int { return cmp.Compare(x.Target, t) })
}
