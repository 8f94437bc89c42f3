package createaccessentry

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// entries keeps which entries were made: cluster, role, type and token.
type entries []string

func (e *entries) CreateAccessEntry(_ context.Context, cluster, principal, kind, token string) call.Answer {
	*e = append(*e, strings.Join([]string{cluster, principal, kind, token}, " "))
	return call.Answer{Outcome: call.Done, Request: "r-1"}
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
		got := do(t.Context(), &made, Plan{Principal: role, Type: kind}, action.Place{Cluster: "prod"}, "token")
		if diff := cmp.Diff(entries{"prod " + role + " " + kind + " token"}, made); diff != "" {
			t.Errorf("%s: made (-want +got):\n%s", kind, diff)
		}
		want := action.Result{Status: action.Done, Changed: []string{role}, Requests: []string{"r-1"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: result (-want +got):\n%s", kind, diff)
		}
	}
}
