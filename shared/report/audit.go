package report

import (
	"time"

	"rollcall/shared/plan"
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

	Key Key `json:"key"`
	// Number and Opened tell which opening of the incident it was; zero where
	// there is no such incident.
	Number int       `json:"number,omitempty"`
	Opened time.Time `json:"opened,omitzero"`

	Action Action        `json:"action"`
	For    time.Duration `json:"for,omitempty"`
	Plan   string        `json:"plan,omitempty"` // the hash that was pressed
	Remedy plan.Remedy   `json:"remedy,omitempty"`
	// User is empty where the policy auto approved a plan.
	User    User   `json:"user,omitzero"`
	Team    string `json:"team,omitempty"`
	Home    string `json:"home,omitempty"` // the person's workspace, as Slack says
	Channel string `json:"channel,omitempty"`
	TS      string `json:"ts,omitempty"`
	Thread  string `json:"thread,omitempty"`

	Answer Answer `json:"answer"`
	// Audited tells that the audit record is written.
	Audited bool `json:"audited,omitempty"`
}

// acted is the record of a press on an incident.
func acted(p Press, inc Incident, a Answer, now time.Time) ActRecord {
	return ActRecord{
		Format: RecordFormat, ID: p.ID, At: p.At, Decided: now,
		Key: p.Key, Number: inc.Number, Opened: inc.Opened,
		Action: p.Action, For: p.For, Plan: p.Plan, Remedy: a.Remedy,
		User: p.User, Team: p.Team, Home: p.Home, Channel: p.Channel, TS: p.TS, Thread: p.Thread,
		Answer: a,
	}
}

// NotFound is what comes of a press whose incident there is not.
func NotFound(p Press, now time.Time) ActRecord {
	return Refused(p, Answer{Reason: IncidentNotFound}, now)
}
