package report

import "time"

// Changes is what change-check found in CloudTrail about the resources of a
// cause.
type Changes struct {
	Format  int       `json:"format"`
	Kind    string    `json:"kind"`
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Cluster string    `json:"cluster"`
	Key     Key       `json:"key"`
	// Opened is the incident's: what is found for an earlier time is not for
	// the one that came back.
	Opened time.Time     `json:"opened"`
	Found  RecentChanges `json:"trail"`
}

// RecentChanges is what CloudTrail knows of the resources of a cause.
type RecentChanges struct {
	// From and To are the time that was looked at: the last good and the first
	// bad join. A zero From: no good one is known, it is the longest looked at.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// LastGood is the launch that joined last before, if one is known.
	LastGood string   `json:"lastGood,omitempty"`
	Changes  []Change `json:"changes,omitempty"` // newest first
	// More is how many are not listed.
	More int `json:"more,omitempty"`
	// Blind says what could not be looked at, and why: "cloudtrail:LookupEvents
	// AccessDenied".
	Blind string `json:"blind,omitempty"`
	// Open tells that CloudTrail may not have everything yet: it is asked again.
	Open bool `json:"open,omitempty"`
	// Shown is how many of the changes the thread was given.
	Shown int `json:"shown,omitempty"`
}

// Change is one write call.
type Change struct {
	ID       string    `json:"id"` // CloudTrail's event id
	At       time.Time `json:"at"`
	Call     string    `json:"call"` // CreateRouteTable
	Resource string    `json:"resource"`
	// Actor is who called: a user's name, or a role's and its session's;
	// Rollcall itself is "Rollcall". Principal is the ARN.
	Actor     string `json:"actor"`
	Principal string `json:"principal,omitempty"`
	// By is the service that called in the actor's name: cloudformation.amazonaws.com.
	By string `json:"by,omitempty"`
	// Error is CloudTrail's code of a call that was refused.
	Error string `json:"error,omitempty"`
	// Times is how often the actor did the same; At is the last time. 0 is once.
	Times int `json:"times,omitempty"`
}
