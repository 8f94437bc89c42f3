package report

import (
	"time"

	"rollcall/shared/plan"
)

// The other kinds of message on the results queue. Their formats count from
// above those of Observation and Summary, so that an older report function
// refuses them.
const (
	PressFormat    = 201
	ProposalFormat = 201
	DeedFormat     = 201
	ChangesFormat  = 201
)

// The words by which DecodeMessage tells them.
const (
	PressKind    = "press"
	ProposalKind = "proposal"
	DeedKind     = "deed"
	ChangesKind  = "changes"
)

// Action is what somebody did in Slack. It is also the action_id of the
// button or menu.
type Action string

// The actions. A mute's length is the menu option's value: 1h, 4h, 24h.
const (
	Acknowledge Action = "acknowledge"
	TakeOver    Action = "take-over" // what somebody else has acknowledged
	MuteFor     Action = "mute"
	Unmute      Action = "unmute"
	CheckAgain  Action = "check"
	ApprovePlan Action = "approve"
	RefusePlan  Action = "refuse"
)

// Press is a button pressed in Slack, as slack-actions passes it on: signed by
// Slack, fresh, and for the first time. Whether it is allowed, report decides.
type Press struct {
	Format int    `json:"format"`
	Kind   string `json:"kind"`
	// ID is the hash of the signed request.
	ID string    `json:"id"`
	At time.Time `json:"at"`

	Key    Key    `json:"key"`
	Action Action `json:"action"`
	// Number is which opening of the incident the button was of; 0 where it
	// does not say.
	Number int `json:"number,omitempty"`
	// For is how long a mute lasts.
	For time.Duration `json:"for,omitempty"`
	// Plan is the hash of the plan that is approved or refused.
	Plan string `json:"plan,omitempty"`
	User User   `json:"user"`
	Team string `json:"team,omitempty"`
	// Home is the workspace that Slack says the person is of, Enterprise the
	// organization of that workspace. Whether they are the app's, report finds out.
	Home       string `json:"home,omitempty"`
	Enterprise string `json:"enterprise,omitempty"`
	// Channel and TS are the message's, Thread that of the message above it.
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	Thread  string `json:"thread,omitempty"`
}

// User is a person in Slack.
type User struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// Proposal is a plan that remediate made for an incident: to be approved by a
// person, or, with the policy auto, to be done now. An empty Hash takes the
// remedy's earlier proposal back, and Says tells why there is none.
type Proposal struct {
	Format  int           `json:"format"`
	Kind    string        `json:"kind"`
	ID      string        `json:"id"`
	At      time.Time     `json:"at"`
	Cluster string        `json:"cluster"`
	Key     Key           `json:"key"`
	Remedy  plan.Remedy   `json:"remedy"`
	Policy  plan.Policy   `json:"policy"`
	Plan    plan.Plan     `json:"plan,omitzero"`
	Hash    string        `json:"hash,omitempty"`
	Lasts   time.Duration `json:"lasts,omitempty"` // how long it may be approved
	Reason  string        `json:"reason,omitempty"`
	Says    string        `json:"says,omitempty"`
	// After is when it is to be tried again, for Reason: nothing is offered or done
	// until then. Tried is how often in a row it could not be looked.
	After time.Time `json:"after,omitzero"`
	Tried int       `json:"tried,omitempty"`
}

// DeedTold is what remediate did.
type DeedTold struct {
	Format  int       `json:"format"`
	Kind    string    `json:"kind"`
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Cluster string    `json:"cluster"`
	Key     Key       `json:"key"`
	Deed    plan.Deed `json:"deed"`
}

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
	Opened time.Time `json:"opened"`
	Trail  Trail     `json:"trail"`
}

// Trail is what CloudTrail knows of the resources of a cause.
type Trail struct {
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
