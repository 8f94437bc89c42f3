package coverzones

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// counted keeps which counts were set.
type counted []string

func (c *counted) SetDesiredCapacity(_ context.Context, group string, desired int) call.Answer {
	*c = append(*c, fmt.Sprintf("group %s: %d", group, desired))
	return call.Answer{Outcome: call.Done, Request: "r-1"}
}

func (c *counted) SetDesiredSize(_ context.Context, cluster, nodegroup string, desired int, token string) call.Answer {
	*c = append(*c, fmt.Sprintf("nodegroup %s of %s: %d, %s", nodegroup, cluster, desired, token))
	return call.Answer{Outcome: call.Done, Request: "r-1"}
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
			var c counted
			if got := do(t.Context(), &c, p, action.Place{Cluster: "prod"}, "token"); got.Status != action.Failed || got.Reason != "NotARaise" || len(got.Changed) != 0 || len(c) != 0 {
				t.Errorf("%s: %+v after %q, want NotARaise after no call", name, got, c)
			}
		}
	}
}

// A nodegroup is raised by EKS, another group by Auto Scaling: to the count, up to
// the maximum.
func TestDo(t *testing.T) {
	for _, test := range []struct {
		plan Plan
		id   string
		want counted
	}{
		{Plan{Group: "g", From: 2, To: 3, Max: 3}, "g", counted{"group g: 3"}},
		{Plan{Nodegroup: "n", From: 2, To: 4, Max: 9}, "n", counted{"nodegroup n of prod: 4, token"}},
	} {
		var c counted
		got := do(t.Context(), &c, test.plan, action.Place{Region: "us-west-2", Cluster: "prod"}, "token")
		if diff := cmp.Diff(test.want, c); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", test.id, diff)
		}
		want := action.Result{Status: action.Done, Changed: []string{test.id}, Requests: []string{"r-1"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: result (-want +got):\n%s", test.id, diff)
		}
	}
}
