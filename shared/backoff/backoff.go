// Package backoff decides when a cluster whose Kubernetes API does not answer is asked
// again. What AWS has of the cluster is read all the same.
package backoff

import (
	"time"

	"rollcall/shared/snapshot"
)

// Format is the records' form.
const Format = 1

// longest is the most that is waited: who mends the way to a cluster sees it within
// the hour without doing anything.
const longest = time.Hour

// Record is how long a cluster's Kubernetes API has been silent.
type Record struct {
	Format  int    `json:"format"`
	Version int    `json:"version"`
	Cluster string `json:"cluster"`
	// Attempts are those in a row without an answer.
	Attempts int       `json:"attempts"`
	Since    time.Time `json:"since,omitzero"`
	// Next is the tick from which on it is asked again.
	Next    time.Time `json:"next,omitzero"`
	Silence Silence   `json:"silence,omitzero"`
}

// Known is what a tick's look begins with: how the API did not answer, while it is not to
// be asked; else nil.
func (r Record) Known(tick time.Time) *Silence {
	if r.Attempts == 0 || !tick.Before(r.Next) {
		return nil
	}
	return &r.Silence
}

// Silence is how a Kubernetes API did not answer.
type Silence struct {
	Endpoint string          `json:"endpoint"`
	Reason   snapshot.Reason `json:"reason"`
	Code     string          `json:"code,omitzero"`
	Message  string          `json:"message"`
}

// Outcome is what a look found of a Kubernetes API.
type Outcome string

// The outcomes.
const (
	// NotAsked: no reader needed it, or it was known not to answer.
	NotAsked Outcome = ""
	Answered Outcome = "answered"
	Silent   Outcome = "silent"
)

// Reason is why a record is as it is after a look.
type Reason string

// The reasons.
const (
	// Unchanged: it answered as before, or was not asked.
	Unchanged Reason = "unchanged"
	Begun     Reason = "it does not answer"
	Continued Reason = "it still does not answer"
	Recovered Reason = "it answers again"
)

// After is the record after a look in a tick, of ticks that are every so far apart. An
// attempt without an answer may have met a moment: after the first the next tick asks
// again, then 2, 4, … ticks pass, at most an hour. An API at another endpoint is another.
func After(r Record, o Outcome, s Silence, tick time.Time, every time.Duration) (Record, Reason) {
	switch {
	case o == Answered && r.Attempts > 0:
		return Record{Format: Format, Version: r.Version, Cluster: r.Cluster}, Recovered
	case o != Silent:
		return r, Unchanged
	}
	reason := Continued
	if r.Attempts == 0 || r.Silence.Endpoint != s.Endpoint {
		r.Attempts, r.Since, reason = 0, tick, Begun
	}
	r.Format, r.Attempts, r.Silence = Format, r.Attempts+1, s
	wait := longest
	if n := r.Attempts - 1; n < 6 { // 2^6 ticks are more than an hour, whatever a tick is
		wait = min(longest, every<<n)
	}
	// Ticks come a little early and late.
	r.Next = tick.Add(wait - every/2)
	return r, reason
}
