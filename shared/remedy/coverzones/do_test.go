package coverzones

import (
	"context"
	"testing"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// counted keeps which counts were set.
type counted struct {
	set    int
	answer call.Answer
}

func (c *counted) SetDesiredCapacity(context.Context, string, int) call.Answer {
	c.set++
	return c.answer
}

func (c *counted) SetDesiredSize(context.Context, string, string, int, string) call.Answer {
	c.set++
	return c.answer
}

// What would lower or exceed is not asked of AWS, whatever the plan says.
func TestDoRefuses(t *testing.T) {
	for name, p := range map[string]Plan{
		"a lower count":      {From: 3, To: 2, Max: 5},
		"the same count":     {From: 3, To: 3, Max: 5},
		"over the maximum":   {From: 3, To: 6, Max: 5},
		"no count":           {},
		"less than no count": {From: 0, To: -1, Max: 5},
	} {
		for _, of := range []func(*Plan){func(p *Plan) { p.Group = "g" }, func(p *Plan) { p.Nodegroup = "n" }} {
			of(&p)
			c := &counted{answer: call.Answer{Outcome: call.Done}}
			if got := do(t.Context(), c, p, action.Place{Cluster: "prod"}, "token"); got.Status != action.Failed || got.Reason != "NotARaise" || len(got.Changed) != 0 || c.set != 0 {
				t.Errorf("%s: %+v after %d calls, want NotARaise after none", name, got, c.set)
			}
		}
	}
	c := &counted{answer: call.Answer{Outcome: call.Done}}
	if got := do(t.Context(), c, Plan{Group: "g", From: 2, To: 3, Max: 3}, action.Place{}, "token"); got.Status != action.Done || c.set != 1 {
		t.Errorf("a raise: %+v after %d calls", got, c.set)
	}
}
