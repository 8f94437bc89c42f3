package remediate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// AWS refuses, throttles or does not answer: the world is as it was, and what
// is said is so.
func TestFailureChangesNothing(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault simaws.FaultRule
		want  action.Status
	}{
		{"denied", simaws.FaultRule{Call: "ec2:CreateRoute", Deny: true}, action.Failed},
		{"throttled", simaws.FaultRule{Call: "ec2:CreateRoute", Throttle: 1}, action.Failed},
		{"a server's fault", simaws.FaultRule{Call: "ec2:CreateRoute", Fail: 1}, action.Uncertain},
		{"reset", simaws.FaultRule{Call: "ec2:CreateRoute", Reset: true}, action.Uncertain},
	} {
		s := start(t, byItself, stagetest.Options{Settings: settingsOf(byItself), Faults: []simaws.FaultRule{test.fault}})
		if n := s.tell(opened); n != 0 {
			t.Errorf("%s: %d messages came back", test.name, n)
		}
		_, runs := s.said()
		if len(runs) != 1 || runs[0].Result != test.want || runs[0].Says == "" {
			t.Errorf("%s: runs %+v, want %s", test.name, runs, test.want)
		}
		if len(s.routes()) != 1 {
			t.Errorf("%s: routes %v", test.name, s.routes())
		}
		for range 2 {
			s.tell(opened)
		}
		if n := s.Calls()["ec2:CreateRoute"]; n != 1 {
			t.Errorf("%s: %d calls of CreateRoute", test.name, n)
		}
	}
}

// executor does what a test wants around the real run.
type executor struct {
	Executor
	mu     sync.Mutex
	calls  int
	before func() // ends the run before it acts
	after  func(action.Result) action.Result
}

func (d *executor) Do(ctx context.Context, p remedy.Plan, token string) action.Result {
	d.mu.Lock()
	d.calls++
	d.mu.Unlock()
	if d.before != nil {
		d.before()
	}
	result := d.Executor.Do(ctx, p, token)
	if d.after != nil {
		return d.after(result)
	}
	return result
}

// killed plays a run that ends in the middle: nothing after that point is done.
func killed(s *harness, what string) {
	defer func() {
		if recover() == nil {
			s.t.Error("the run was not ended")
		}
	}()
	s.tell(what)
}

func TestKilledBetweenClaimAndRun(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	d := &executor{Executor: s.h.do, before: func() { panic("killed") }}
	s.h.do = d
	killed(s, opened)
	s.said()
	if n := s.tell(opened); n != 1 {
		t.Error("while the other run may be at it, the message must come back")
	}
	s.Advance(lease + time.Second)
	d.before = nil
	if n := s.tell(opened); n != 0 {
		t.Errorf("%d messages came back: %s", n, s.Logs())
	}
	_, runs := s.said()
	if len(runs) != 1 || runs[0].Result != action.Uncertain || runs[0].Reason != "interrupted" {
		t.Errorf("runs %+v", runs)
	}
	if d.calls != 1 || len(s.routes()) != 1 {
		t.Errorf("%d runs, routes %v: it is never done again", d.calls, s.routes())
	}
}

func TestKilledAfterRun(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	d := &executor{Executor: s.h.do, after: func(action.Result) action.Result { panic("killed") }}
	s.h.do = d
	killed(s, opened)
	s.said()
	s.Advance(lease + time.Second)
	for range 2 {
		if n := s.tell(opened); n != 0 {
			t.Errorf("%d messages came back: %s", n, s.Logs())
		}
	}
	_, runs := s.said()
	// It is told until report's record has it; report takes it in once, by its id.
	for _, x := range runs {
		if x.Result != action.Done || x.ID != runs[0].ID {
			t.Errorf("run %+v", x)
		}
	}
	if len(runs) == 0 || d.calls != 1 || s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("%d told, %d done, routes %v", len(runs), d.calls, s.routes())
	}
}

// The incident that a run was ended in is over, and opens again before anybody
// comes back to what the run left: that is still found out, recorded and told,
// and the policy counts it as done. Somebody has taken it back meanwhile.
func TestKilledInAnEarlierOpening(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	d := &executor{Executor: s.h.do, after: func(action.Result) action.Result { panic("killed") }}
	s.h.do = d
	killed(s, opened)
	s.said()
	d.after = nil
	s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
	s.Advance(30 * time.Minute)
	inc := s.inc
	inc.Opened, inc.Number = s.Now(), 2
	s.save(inc)
	if n := s.tell("Rollcall Incident Reopened"); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	list, runs := s.said()
	if len(runs) != 1 || runs[0].Result != action.Uncertain || runs[0].Reason != "interrupted" {
		t.Errorf("runs %+v", runs)
	}
	kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
	if err != nil || len(kept) != 1 || kept[0].Ended.IsZero() {
		t.Errorf("audit %+v, %v", kept, err)
	}
	if d.calls != 1 || len(s.routes()) != 1 || len(list) != 1 || list[0].Policy != optin.Approve || list[0].Says == "" {
		t.Errorf("%d runs, routes %v, proposals %+v: the policy does not fight whoever took it back", d.calls, s.routes(), list)
	}
}

// The answer is lost, and what is so now is looked up.
func TestLostAnswer(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	s.h.do = &executor{Executor: s.h.do, after: func(action.Result) action.Result { return action.Result{Status: action.Uncertain} }}
	s.tell(opened)
	if _, runs := s.said(); len(runs) != 1 || runs[0].Result != action.Done || !strings.Contains(runs[0].Says, "No answer came") {
		t.Errorf("runs %+v", runs)
	}
}

// deaf cannot tell report.
type deaf struct {
	Sender
	deaf bool
}

func (d *deaf) SendRemedyResult(ctx context.Context, x report.RemedyResult) error {
	if d.deaf {
		return errors.New("the queue does not answer")
	}
	return d.Sender.SendRemedyResult(ctx, x)
}

func TestToldLater(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	ear := &deaf{Sender: s.h.send, deaf: true}
	s.h.send = ear
	if n := s.tell(opened); n != 1 {
		t.Fatal("what is not told must come back")
	}
	ear.deaf = false
	s.tell(opened)
	if _, runs := s.said(); len(runs) != 1 || runs[0].Result != action.Done {
		t.Errorf("runs %+v", runs)
	}
	if n := s.Calls()["ec2:CreateRoute"]; n != 1 {
		t.Errorf("%d calls of CreateRoute", n)
	}
}

func TestTwoAtOnce(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	s.approve(s.offered())
	d := &executor{Executor: s.h.do}
	s.h.do = d
	body := s.told(approval)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { _, _ = s.TrySend(body) })
	}
	all.Wait()
	if d.calls != 1 || s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("%d runs, routes %v", d.calls, s.routes())
	}
}

// Somebody else, or the incident of another cluster with the same table, is
// faster by the blink between the last look and the call: AWS refuses a second
// route, theirs stays, and nothing is claimed.
func TestAnotherIsFaster(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	s.h.do = &executor{Executor: s.h.do, before: func() {
		s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","GatewayId":"igw-0d40000000000000e"}`)
	}}
	s.tell(opened)
	if _, runs := s.said(); len(runs) != 1 || runs[0].Result != action.Failed || runs[0].Reason != "RouteAlreadyExists" || len(runs[0].Changed) != 0 {
		t.Errorf("runs %+v", runs)
	}
	if s.routes()["0.0.0.0/0"] != "igw-0d40000000000000e" {
		t.Errorf("routes %v: theirs is gone", s.routes())
	}
}

// A clock that jumps never makes a remedy act twice, nor late.
func TestClockJumps(t *testing.T) {
	for name, jump := range map[string]time.Duration{"back": -3 * time.Hour, "ahead": 3 * time.Hour} {
		s := start(t, byPerson, stagetest.Options{})
		s.approve(s.offered())
		now := s.h.now
		s.tell(approval)
		s.said()
		s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
		s.h.now = func() time.Time { return now().Add(jump) }
		s.tell(approval)
		if n := s.Calls()["ec2:CreateRoute"]; n != 1 || len(s.routes()) != 1 {
			t.Errorf("%s: %d calls, routes %v", name, n, s.routes())
		}
		late := start(t, byPerson, stagetest.Options{})
		late.approve(late.offered())
		now = late.h.now
		late.h.now = func() time.Time { return now().Add(3 * time.Hour) }
		late.tell(approval)
		if n := late.Calls()["ec2:CreateRoute"]; n != 0 {
			t.Errorf("%s: an approval that is over acts", name)
		}
	}
}
