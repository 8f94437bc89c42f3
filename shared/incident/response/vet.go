package response

import (
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"time"
)

// PressLasts is how old a press may be when report decides on it: an hour's
// outage, the half hour in which the queue tries a message, and time for somebody
// to move it back from the dead-letter queue. What a person saw longer ago than
// that, they look at again.
const PressLasts = 3 * time.Hour

// pressAhead is how far the clocks of two functions may differ.
const pressAhead = time.Minute

// VetPress tells whether a press is one that slack-actions passed on, whole and of a
// time near now: the zero Answer is yes. Digest is that of the message in which
// it came; a nil record is one that is not there.
func VetPress(p report.Press, digest string, record *report.PressRecord, now time.Time) incident.Answer {
	return vet(p.At, p.Channel != "" && p.TS != "" && p.User.ID != "", digest, record, now)
}

// VetCommand is the same of a command.
func VetCommand(c report.Command, digest string, record *report.PressRecord, now time.Time) incident.Answer {
	return vet(c.At, c.User.ID != "", digest, record, now)
}

func vet(at time.Time, complete bool, digest string, record *report.PressRecord, now time.Time) incident.Answer {
	switch age := now.Sub(at); {
	case record == nil || record.Digest == "" || record.Digest != digest:
		return incident.Answer{Reason: incident.NotPassedOn}
	case !complete:
		return incident.Answer{Reason: incident.Incomplete}
	case age > PressLasts:
		return incident.Answer{Reason: incident.TooLate, When: at}
	case age < -pressAhead:
		return incident.Answer{Reason: incident.FromFuture, When: at}
	}
	return incident.Answer{}
}
