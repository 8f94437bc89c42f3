package addnatroute

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// routes keeps which routes were made: table, destination and gateway.
type routes []string

func (r *routes) CreateRoute(_ context.Context, table, destination, nat string) call.Answer {
	*r = append(*r, strings.Join([]string{table, destination, nat}, " "))
	return call.Answer{Outcome: call.Done, Request: "r-1"}
}

func TestDo(t *testing.T) {
	var made routes
	got := do(t.Context(), &made, Plan{VPC: "vpc-0a", Table: "rtb-0a", Destination: "0.0.0.0/0", NAT: "nat-0a"}, action.Place{}, "token")
	if diff := cmp.Diff(routes{"rtb-0a 0.0.0.0/0 nat-0a"}, made); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	want := action.Result{Status: action.Done, Changed: []string{"rtb-0a"}, Requests: []string{"r-1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}
