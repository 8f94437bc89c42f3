package report

import (
	"time"

	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
)

// The other kinds of message on the results queue. Their formats count from
// above those of Observation and Summary, so that an older report function
// refuses them.
const (
	PressFormat        = 201
	ProposalFormat     = 201
	RemedyResultFormat = 201
	ChangesFormat      = 201
)

// The words by which DecodeMessage tells them.
const (
	PressKind        = "press"
	ProposalKind     = "proposal"
	RemedyResultKind = "deed"
	ChangesKind      = "changes"
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
	OfferAgain  Action = "offer" // a fresh plan, after an offer ran out
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

// FormatOf is the format of a proposal, a result or changes of an incident.
func FormatOf(k Key, hubs int) int { return formatOf(k.Spoke, hubs) }

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
	Remedy  optin.Remedy  `json:"remedy"`
	Policy  optin.Policy  `json:"policy"`
	Plan    remedy.Plan   `json:"plan,omitzero"`
	Hash    string        `json:"hash,omitempty"`
	Lasts   time.Duration `json:"lasts,omitempty"` // how long it may be approved
	Reason  string        `json:"reason,omitempty"`
	Says    string        `json:"says,omitempty"`
	// After is when it is to be tried again, for Reason: nothing is offered or done
	// until then. Tried is how often in a row it could not be looked.
	After time.Time `json:"after,omitzero"`
	Tried int       `json:"tried,omitempty"`
}

// RemedyResult is what remediate did.
type RemedyResult struct {
	Format  int        `json:"format"`
	Kind    string     `json:"kind"`
	ID      string     `json:"id"`
	At      time.Time  `json:"at"`
	Cluster string     `json:"cluster"`
	Key     Key        `json:"key"`
	Run     remedy.Run `json:"deed"`
}

// The words of Proposal.Reason for which a remedy is tried again.
const (
	// LimitReached: the remedy acted as often as it may within an hour.
	LimitReached = "limit-reached"
	// MoreLeft: one plan does not do all of it.
	MoreLeft = "more-left"
)
