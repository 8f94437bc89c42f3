package simaws

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
)

func TestFaultRules(t *testing.T) {
	routes := &wire.Call{Service: "ec2", Operation: "DescribeRouteTables", Caller: "join-check"}
	subnets := &wire.Call{Service: "ec2", Operation: "DescribeSubnets", Caller: "launch-watch"}
	events := &wire.Call{Service: "eventbridge", Operation: "PutEvents"}
	nodes := &wire.Call{Service: "kubernetes", Operation: "list nodes"}
	var none error
	tests := []struct {
		name  string
		rules []FaultRule
		calls []*wire.Call
		want  []error
	}{
		{"no rules", nil, []*wire.Call{routes}, []error{none}},
		{"one operation", []FaultRule{{Call: "ec2:DescribeRouteTables", Deny: true}}, []*wire.Call{routes, subnets}, []error{wire.Denied, none}},
		{"a service", []FaultRule{{Call: "ec2:*", Reset: true}}, []*wire.Call{routes, subnets, events}, []error{wire.Reset, wire.Reset, none}},
		{"IAM's prefix", []FaultRule{{Call: "events:PutEvents", Deny: true}}, []*wire.Call{events}, []error{wire.Denied}},
		{"Kubernetes", []FaultRule{{Call: "kubernetes:list nodes", Deny: true}}, []*wire.Call{nodes, routes}, []error{wire.Denied, none}},
		{"one caller", []FaultRule{{Call: "*", Caller: "join-check", Deny: true}}, []*wire.Call{routes, subnets}, []error{wire.Denied, none}},
		{"a third", []FaultRule{{Call: "ec2:*", Throttle: 1.0 / 3}}, []*wire.Call{routes, routes, routes, routes, routes, routes},
			[]error{none, none, wire.Throttled, none, none, wire.Throttled}},
		{"all", []FaultRule{{Call: "ec2:*", Fail: 1}}, []*wire.Call{routes, routes}, []error{wire.Broken, wire.Broken}},
		{"twice", []FaultRule{{Call: "ec2:*", Deny: true, Times: 2}}, []*wire.Call{routes, routes, routes}, []error{wire.Denied, wire.Denied, none}},
		{"not yet", []FaultRule{{Call: "*", Deny: true, From: stageNow.Add(time.Second)}}, []*wire.Call{routes}, []error{none}},
		{"no longer", []FaultRule{{Call: "*", Deny: true, From: stageNow.Add(-time.Hour), Until: stageNow}}, []*wire.Call{routes}, []error{none}},
		{"the next rule", []FaultRule{{Call: "*", Throttle: 0.5}, {Call: "ec2:*", Deny: true}}, []*wire.Call{routes, routes}, []error{wire.Denied, wire.Throttled}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := NewFaultRules(tt.rules, func() time.Time { return stageNow })
			for i, call := range tt.calls {
				if got := f.Before(t.Context(), call); !errors.Is(got, tt.want[i]) {
					t.Errorf("call %d: fault = %v, want %v", i+1, got, tt.want[i])
				}
			}
		})
	}
}

func TestShareOfFaults(t *testing.T) {
	for share, want := range map[float64]int{0: 0, 0.05: 50, 0.1: 100, 0.2: 200, 0.7: 700, 1: 1000} {
		got := 0
		for n := range 1000 {
			if due(share, n+1) {
				got++
			}
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("share %v of 1000 (-got +want):\n%s", share, diff)
		}
	}
}

func TestLatencyEndsWithTheCaller(t *testing.T) {
	f := NewFaultRules([]FaultRule{{Call: "*", Latency: time.Hour}}, func() time.Time { return stageNow })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Before(ctx, &wire.Call{Service: "ec2"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
}
