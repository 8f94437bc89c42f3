package replaceinstance

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// ended keeps which instances were ended; from a number of them on, an answer is
// another one.
type ended struct {
	ids    []string
	from   int
	answer call.Answer
}

func (e *ended) EndInGroup(_ context.Context, id string) call.Answer {
	e.ids = append(e.ids, id)
	if len(e.ids) >= e.from {
		return e.answer
	}
	return call.Answer{Outcome: call.Done}
}

// The first instance that AWS does not end stops the rest.
func TestDoStops(t *testing.T) {
	three := Plan{Instances: []Replaced{{Instance: "i-1"}, {Instance: "i-2"}, {Instance: "i-3"}}}
	for _, test := range []struct {
		outcome call.Outcome
		from    int
		want    action.Status
		changed []string
	}{
		{call.Refused, 1, action.Failed, nil},
		{call.Refused, 2, action.Partly, []string{"i-1"}},
		{call.Denied, 3, action.Partly, []string{"i-1", "i-2"}},
		{call.Uncertain, 1, action.Uncertain, nil},
		{call.Uncertain, 2, action.Uncertain, []string{"i-1"}},
	} {
		e := &ended{from: test.from, answer: call.Answer{Outcome: test.outcome, Code: "Broken"}}
		got := do(t.Context(), e, three, action.Place{}, "token")
		if got.Status != test.want || got.Reason != "Broken" || len(e.ids) != test.from {
			t.Errorf("%s at %d: %+v after %q, want %s", test.outcome, test.from, got, e.ids, test.want)
		}
		if diff := cmp.Diff(test.changed, got.Changed); diff != "" {
			t.Errorf("%s at %d (-want +got):\n%s", test.outcome, test.from, diff)
		}
	}
}
