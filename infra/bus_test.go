package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
)

// TestBusIsGuarded: only the functions that are granted it put events on Rollcall's bus; a
// test message is the one exception.
func TestBusIsGuarded(t *testing.T) {
	tpl := made(t, standard)
	policies := tpl.all("AWS::Events::EventBusPolicy")
	if len(policies) != 1 {
		t.Fatalf("%d policies of buses", len(policies))
	}
	st := policies[0].Properties["Statement"]
	var want []string
	for _, s := range specs.All() {
		for _, st := range statementsOf(t, tpl, s) {
			if slices.Contains(st.Actions, "events:PutEvents") {
				want = append(want, camel(s.Name)+"Role")
			}
		}
	}
	got := flats(get(st, "Condition", "ArnNotEquals", "aws:PrincipalArn"))
	for i, arn := range got {
		got[i] = strings.TrimPrefix(arn[:strings.Index(arn, "Role")+len("Role")], "${")
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" || len(want) < 3 {
		t.Errorf("who may put events (-granted +not denied):\n%s", diff)
	}
	if get(st, "Effect") != "Deny" || get(st, "Principal") != "*" || get(st, "Action") != "events:PutEvents" ||
		get(st, "Condition", "ForAnyValue:StringNotEquals", "events:detail-type") != "Rollcall Test Message" {
		t.Errorf("the policy is %v", st)
	}
}
