package incident

import (
	"time"

	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// RecordFormat is the version of ActRecord that this code writes and reads.
const RecordFormat = 1

// ActRecord is a press and what came of it: the audit record, and until it is
// written and the person is answered, part of the incident's outbox.
type ActRecord struct {
	Format int `json:"format"`
	// ID is the press's, or, for a plan that the policy approved, the proposal's.
	ID string `json:"id"`
	// At is when it was pressed, Decided when report decided on it.
	At      time.Time `json:"at"`
	Decided time.Time `json:"decided"`

	Key report.Key `json:"key"`
	// Number and Opened tell which opening of the incident it was; zero where
	// there is no such incident.
	Number int       `json:"number,omitempty"`
	Opened time.Time `json:"opened,omitzero"`

	Action report.Action `json:"action"`
	For    time.Duration `json:"for,omitempty"`
	Plan   string        `json:"plan,omitempty"` // the hash that was pressed
	Remedy optin.Remedy  `json:"remedy,omitempty"`
	// User is empty where the policy auto approved a plan.
	User    report.User `json:"user,omitzero"`
	Team    string      `json:"team,omitempty"`
	Home    string      `json:"home,omitempty"` // the person's workspace, as Slack says
	Channel string      `json:"channel,omitempty"`
	TS      string      `json:"ts,omitempty"`
	Thread  string      `json:"thread,omitempty"`

	Answer Answer `json:"answer"`
	// Audited tells that the audit record is written.
	Audited bool `json:"audited,omitempty"`
}
