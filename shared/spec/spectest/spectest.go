// Package spectest holds the actions that a function is granted against the calls that it can make.
// It is for tests: it finds methods by reflection, for which the linker would keep every method
// of every AWS client.
package spectest

import (
	"fmt"
	"reflect"
	"sort"
)

// Actions lists the IAM actions of the calls in the client interface I, so
// that the interface is the policy: a call that is not in the interface
// cannot be made, and one that is in it is granted.
//
// The method names of the SDK are the action names for every service that
// Rollcall reads, but for those in unlike. I must be an interface.
func Actions[I any](service string) []string {
	t := reflect.TypeFor[I]()
	if t.Kind() != reflect.Interface {
		panic(fmt.Sprintf("spectest.Actions needs an interface, got %s", t))
	}
	seen := map[string]bool{}
	for i := range t.NumMethod() {
		action := service + ":" + t.Method(i).Name
		if other, ok := unlike(action); ok {
			action = other
		}
		if action != "" {
			seen[action] = true
		}
	}
	actions := make([]string, 0, len(seen))
	for action := range seen {
		actions = append(actions, action)
	}
	sort.Strings(actions)
	return actions
}

// unlike gives the action of a call whose permission has another name (AWS
// service authorization reference). An empty action needs no permission.
func unlike(call string) (action string, ok bool) {
	switch call {
	case "sts:GetCallerIdentity":
		return "", true // always allowed, even against an explicit deny
	case "sqs:SendMessageBatch":
		return "sqs:SendMessage", true
	case "dynamodb:TransactWriteItems", "dynamodb:TransactGetItems":
		panic("the state is written with conditional writes on single items: " + call)
	}
	return "", false
}
