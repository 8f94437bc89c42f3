package response

import (
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"time"
)

// acted is the record of a press on an incident.
func acted(p report.Press, inc incident.Incident, a incident.Answer, now time.Time) incident.ActRecord {
	return incident.ActRecord{
		Format: incident.RecordFormat, ID: p.ID, At: p.At, Decided: now,
		Key: p.Key, Number: inc.Number, Opened: inc.Opened,
		Action: p.Action, For: p.For, Plan: p.Plan, Remedy: a.Remedy,
		User: p.User, Team: p.Team, Home: p.Home, Channel: p.Channel, TS: p.TS, Thread: p.Thread,
		Answer: a,
	}
}

// NotFound is what comes of a press whose incident there is not.
func NotFound(p report.Press, now time.Time) incident.ActRecord {
	return Refused(p, incident.Answer{Reason: incident.IncidentNotFound}, now)
}

// Refused is the audit record of a press that was not let in.
func Refused(p report.Press, a incident.Answer, now time.Time) incident.ActRecord {
	return acted(p, incident.Incident{}, a, now)
}
