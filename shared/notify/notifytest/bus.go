package notifytest

import (
	"context"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// Bus is a bus that remembers what it was told.
type Bus struct {
	Told  []incident.Event
	Weeks []incident.Week
	Fail  error
}

func (e *Bus) TellWeek(_ context.Context, w incident.Week) error {
	if e.Fail == nil {
		e.Weeks = append(e.Weeks, w)
	}
	return e.Fail
}

func (e *Bus) Tell(_ context.Context, events []incident.Event) error {
	if e.Fail != nil {
		return e.Fail
	}
	e.Told = append(e.Told, events...)
	return nil
}

func (e *Bus) Kinds() string {
	var kinds []string
	for _, event := range e.Told {
		kinds = append(kinds, string(event.Kind))
	}
	return strings.Join(kinds, " ")
}

// RefusingBus refuses until a time, and forgets what it takes.
type RefusingBus struct{ Refuses time.Time }

func (b RefusingBus) Tell(context.Context, []incident.Event) error {
	if time.Now().Before(b.Refuses) {
		return &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized to perform: events:PutEvents"}
	}
	return nil
}

func (b RefusingBus) TellWeek(ctx context.Context, _ incident.Week) error { return b.Tell(ctx, nil) }

type AgainFunc func(o report.Observation) error

func (f AgainFunc) SendResult(_ context.Context, o report.Observation) error { return f(o) }
