package openendpointsecuritygroup

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
)

// admitted keeps what was admitted where.
type admitted []string

func (a *admitted) AdmitTCP(_ context.Context, group string, port int, from []string) call.Answer {
	*a = append(*a, fmt.Sprintf("%s: tcp %d from %s", group, port, from))
	return call.Answer{Outcome: call.Done, Request: "r-1"}
}

func TestDo(t *testing.T) {
	var made admitted
	got := do(t.Context(), &made, Plan{VPC: "vpc-0a", SecurityGroup: "sg-0a", Port: 443, From: []string{"sg-0n", "sg-0m"}}, action.Place{}, "token")
	if diff := cmp.Diff(admitted{"sg-0a: tcp 443 from [sg-0n sg-0m]"}, made); diff != "" {
		t.Errorf("admitted (-want +got):\n%s", diff)
	}
	want := action.Result{Status: action.Done, Changed: []string{"sg-0a"}, Requests: []string{"r-1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}
