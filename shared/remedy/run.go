package remedy

import (
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"time"
)

// Next is when a remedy is tried again, with a plan made anew: what a person
// approved was refused by the limit, or one plan did not do all of it.
type Next struct {
	At time.Time `json:"at"`
	// Reason is a typed word for what it waits, Says a sentence for people.
	Reason string `json:"reason"`
	Says   string `json:"says,omitempty"`
}

// Run is what was done for a plan: the audit record, and what the thread says.
type Run struct {
	Format int          `json:"format"`
	ID     string       `json:"id"` // hash and approval
	Plan   Plan         `json:"plan"`
	Hash   string       `json:"hash"`
	Policy optin.Policy `json:"policy"`
	// ApprovedBy is a Slack user's id; empty where the policy is auto.
	ApprovedBy string    `json:"approvedBy,omitempty"`
	Approved   time.Time `json:"approved,omitzero"`
	// Began is when it was written ahead, Ended when the answer was there.
	Began  time.Time     `json:"began"`
	Ended  time.Time     `json:"ended,omitzero"`
	Result action.Status `json:"result,omitempty"`
	// Reason is a typed word for a refusal or failure: "nat-not-available",
	// "limit-reached", "AccessDenied". Says is a sentence for people.
	Reason string `json:"reason,omitempty"`
	Says   string `json:"says,omitempty"`
	// Next is when the remedy is tried again; nil where it is not.
	Next *Next `json:"next,omitempty"`
	// Changed are the ids of what was changed, Requests AWS's request ids.
	Changed  []string `json:"changed,omitempty"`
	Requests []string `json:"requests,omitempty"`
	// Version is of the record as it was read; 0 stands for none.
	Version int `json:"version"`
}
