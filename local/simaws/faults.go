package simaws

import (
	"context"
	"strings"
	"sync"
	"time"

	"rollcall/local/platform/wire"
)

// FaultRule is something that goes wrong with calls.
type FaultRule struct {
	// Call is the action as IAM writes it, "ec2:DescribeRouteTables", or with
	// a star at its end, "ec2:*". Kubernetes calls are "kubernetes:list nodes".
	Call string
	// Caller narrows the rule to one function or role. Empty is everybody.
	Caller string
	Deny   bool
	// Throttle and Fail are the shares, 0 to 1, of calls that are throttled or
	// answered with a server error. They are spread evenly: 0.2 is each fifth.
	Throttle, Fail float64
	// Latency is added, in wall time.
	Latency time.Duration
	Reset   bool
	// Times limits the rule to so many calls with a fault. 0 is no limit.
	Times int
	// From and Until bound the rule in stage time. A zero Until has no end.
	From, Until time.Time
}

// FaultRules are faults by rule. They are safe for concurrent use.
type FaultRules struct {
	now   func() time.Time
	rules []FaultRule

	mu    sync.Mutex
	state []ruleState
}

// ruleState counts what a rule has seen.
type ruleState struct{ calls, faults int }

var _ wire.Faults = (*FaultRules)(nil)

// NewFaultRules makes faults of rules. now is stage time.
func NewFaultRules(rules []FaultRule, now func() time.Time) *FaultRules {
	return &FaultRules{now: now, rules: rules, state: make([]ruleState, len(rules))}
}

// Before waits for the latencies of the rules that match, and returns the
// first fault.
func (f *FaultRules) Before(ctx context.Context, call *wire.Call) error {
	latency, err := f.decide(call)
	if latency > 0 {
		t := time.NewTimer(latency)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func (f *FaultRules) decide(call *wire.Call) (time.Duration, error) {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	var latency time.Duration
	for i, r := range f.rules {
		st := &f.state[i]
		if !r.matches(call, now) || r.Times > 0 && st.faults >= r.Times {
			continue
		}
		st.calls++
		err := r.fault(st.calls)
		if err != nil || r.Latency > 0 {
			st.faults++
		}
		latency += r.Latency
		if err != nil {
			return latency, err
		}
	}
	return latency, nil
}

func (r FaultRule) matches(call *wire.Call, now time.Time) bool {
	if r.Caller != "" && r.Caller != call.Caller || now.Before(r.From) || !r.Until.IsZero() && !now.Before(r.Until) {
		return false
	}
	if prefix, ok := strings.CutSuffix(r.Call, "*"); ok {
		return strings.HasPrefix(call.Action(), prefix)
	}
	return r.Call == call.Action()
}

// fault is what happens to the n-th call that a rule sees.
func (r FaultRule) fault(n int) error {
	switch {
	case r.Deny:
		return wire.Denied
	case r.Reset:
		return wire.Reset
	case due(r.Throttle, n):
		return wire.Throttled
	case due(r.Fail, n):
		return wire.Broken
	}
	return nil
}

// due spreads a share evenly over calls: the n-th is due when the number of
// faults owed grows with it. The small term is for shares such as 0.1, whose
// sums fall just short of whole numbers.
func due(share float64, n int) bool {
	const rounding = 1e-9
	return int(float64(n)*share+rounding) > int(float64(n-1)*share+rounding)
}
