package nodegroup

import (
	"fmt"
	"time"
)

// EventFormat is the version of Event. Fields may be added without a new one.
const EventFormat = 1

// DetailType is the detail-type of the event.
const DetailType = "EKS Nodegroup Status Change"

// Event is the detail of the event that EKS does not send, on the Rollcall
// bus, for anyone's rule. events/schema/ documents it.
type Event struct {
	// ID is the same each time this event is sent.
	ID     string `json:"id"`
	Format int    `json:"format"`
	// Sequence orders the events of one nodegroup.
	Sequence  int       `json:"sequence"`
	At        time.Time `json:"at"`
	Reason    Reason    `json:"reason"`
	Partition string    `json:"partition"`
	Account   string    `json:"account"`
	Region    string    `json:"region"`
	Cluster   string    `json:"cluster"`
	Nodegroup string    `json:"nodegroup"`
	ARN       string    `json:"arn,omitempty"`

	// Previous is the status before; empty at first sight.
	Previous string       `json:"previous,omitempty"`
	Status   string       `json:"status"`
	Since    time.Time    `json:"since"`
	Issues   []EventIssue `json:"issues,omitempty"`
	Update   *EventUpdate `json:"update,omitempty"`
	WokenBy  string       `json:"wokenBy"`
}

// EventIssue is a health issue, or an update's error, with what it means.
type EventIssue struct {
	Code      string     `json:"code"`
	Class     Class      `json:"class"`
	Meaning   string     `json:"meaning"`
	Next      string     `json:"next"`
	Message   string     `json:"message,omitempty"`
	Resources []string   `json:"resources,omitempty"`
	Since     *time.Time `json:"since,omitempty"`
}

// EventUpdate is the update that began or ended.
type EventUpdate struct {
	ID      string       `json:"id"`
	Type    string       `json:"type,omitempty"`
	Status  string       `json:"status"`
	Created time.Time    `json:"created"`
	Errors  []EventIssue `json:"errors,omitempty"`
}

// maxUntold bounds the outbox while the bus is down (an item of the table holds
// 400 KB, an event of many issues takes ten). Thirty changes of one
// nodegroup are hours of trouble; then the oldest go, and the gap in the
// sequence shows it.
const maxUntold = 30

// tell puts the event of a change into the outbox.
func (r *Record) tell(c Change, l Look) {
	r.Events++
	e := Event{
		ID:     fmt.Sprintf("%s/%s/%s/%d", r.Cluster, r.Nodegroup, r.First.UTC().Format("20060102T150405.000Z"), r.Events),
		Format: EventFormat, Sequence: r.Events, At: l.At, Reason: c.Reason,
		Partition: l.Partition, Account: l.Account, Region: l.Region,
		Cluster: r.Cluster, Nodegroup: r.Nodegroup, ARN: r.ARN,
		Previous: c.From, Status: r.Status, Since: r.Since, WokenBy: l.WokenBy,
	}
	for _, i := range r.Issues {
		known := inEvent(i, OfIssue(i.Code))
		known.Since = &i.Since
		e.Issues = append(e.Issues, known)
	}
	if u := c.Update; u != nil {
		e.Update = &EventUpdate{ID: u.ID, Type: u.Type, Status: u.Status, Created: u.Created}
		for _, i := range u.Errors {
			e.Update.Errors = append(e.Update.Errors, inEvent(i, OfUpdate(i.Code)))
		}
	}
	r.Untold = append(r.Untold, e)
	r.Untold = r.Untold[max(0, len(r.Untold)-maxUntold):]
}

// maxResources is how many of an issue's resources an event names.
const maxResources = 50

func inEvent(i Issue, c Code) EventIssue {
	return EventIssue{
		Code: i.Code, Class: c.Class, Meaning: c.Meaning, Next: c.Next,
		Message: i.Message, Resources: i.Resources[:min(len(i.Resources), maxResources)],
	}
}
