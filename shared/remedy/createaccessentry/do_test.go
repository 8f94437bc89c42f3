package createaccessentry

import (
	"context"
	"testing"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// entries keeps which types of entries were made.
type entries []string

func (e *entries) CreateAccessEntry(_ context.Context, _, _, kind, _ string) call.Answer {
	*e = append(*e, kind)
	return call.Answer{Outcome: call.Done}
}

// An entry that is not for nodes is not asked of AWS, whatever the plan says.
func TestDoRefuses(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/workers"
	for _, kind := range []string{"STANDARD", "", "EC2", "ec2_linux", "FARGATE_LINUX", "HYBRID_LINUX"} {
		var made entries
		if got := do(t.Context(), &made, Plan{Principal: role, Type: kind}, action.Place{Cluster: "prod"}, "token"); got.Status != action.Failed || got.Reason != "NotANodeType" || len(made) != 0 {
			t.Errorf("%q: %+v, made %q; want NotANodeType", kind, got, made)
		}
	}
	for _, kind := range []string{"EC2_LINUX", "EC2_WINDOWS"} {
		var made entries
		if got := do(t.Context(), &made, Plan{Principal: role, Type: kind}, action.Place{Cluster: "prod"}, "token"); got.Status != action.Done || len(made) != 1 || made[0] != kind {
			t.Errorf("%q: %+v, made %q", kind, got, made)
		}
	}
}
