package replaceinstance

import (
	"context"
	"fmt"
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
	a := call.Answer{Outcome: call.Done}
	if len(e.ids) >= e.from {
		a = e.answer
	}
	a.Request = fmt.Sprintf("r-%d", len(e.ids))
	return a
}

// The first instance that AWS does not end stops the rest; what was ended before is
// said.
func TestDo(t *testing.T) {
	three := Plan{Instances: []Replaced{{Instance: "i-1"}, {Instance: "i-2"}, {Instance: "i-3"}}}
	const nothing, unknown = "Nothing was changed: AWS says Broken: because", "No answer came that says whether it was done."
	for _, test := range []struct {
		outcome call.Outcome
		from    int
		want    action.Result
	}{
		{call.Done, 9, action.Result{Status: action.Done, Changed: []string{"i-1", "i-2", "i-3"}, Requests: []string{"r-1", "r-2", "r-3"}}},
		{call.Refused, 1, action.Result{Status: action.Failed, Reason: "Broken", Says: nothing, Requests: []string{"r-1"}}},
		{call.Refused, 2, action.Result{
			Status: action.Partly, Reason: "Broken", Says: "1 of 3 instances were ended; then AWS said Broken.", Changed: []string{"i-1"}, Requests: []string{"r-1", "r-2"},
		}},
		{call.Denied, 3, action.Result{
			Status: action.Partly, Reason: "Broken", Says: "2 of 3 instances were ended; then AWS said Broken.", Changed: []string{"i-1", "i-2"}, Requests: []string{"r-1", "r-2", "r-3"},
		}},
		{call.Uncertain, 1, action.Result{Status: action.Uncertain, Reason: "Broken", Says: unknown, Requests: []string{"r-1"}}},
		{call.Uncertain, 2, action.Result{Status: action.Uncertain, Reason: "Broken", Says: unknown, Changed: []string{"i-1"}, Requests: []string{"r-1", "r-2"}}},
	} {
		e := &ended{from: test.from, answer: call.Answer{Outcome: test.outcome, Code: "Broken", Message: "because"}}
		got := do(t.Context(), e, three, action.Place{}, "token")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s at %d (-want +got):\n%s", test.outcome, test.from, diff)
		}
		if diff := cmp.Diff([]string{"i-1", "i-2", "i-3"}[:min(test.from, 3)], e.ids); diff != "" {
			t.Errorf("%s at %d: asked (-want +got):\n%s", test.outcome, test.from, diff)
		}
	}
}
