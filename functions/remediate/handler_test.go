package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/local/cloud"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/plan"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
)

const (
	byPerson = stagetest.Cluster + "/add-nat-route=approve"
	byItself = stagetest.Cluster + "/add-nat-route=auto"
	nat      = "nat-0aa40000000000001"
)

// What is not this function's to do changes nothing.
func TestChangesNothing(t *testing.T) {
	for _, test := range []struct {
		name     string
		remedies string
		wrong    func(*stand)
		event    string
	}{
		{"the remedy is off", "off", nil, opened},
		{"another remedy is on", stagetest.Cluster + "/replace-instance=auto", nil, opened},
		{"another cluster's is on", "dev/add-nat-route=auto", nil, opened},
		{"the incident is resolved", byItself, nil, "Rollcall Incident Resolved"},
		{"the incident is closed", byItself, func(s *stand) { s.inc.State, s.inc.Resolved = report.Closed, s.Now() }, opened},
		{"the incident is not said yet", byItself, func(s *stand) { s.inc.State = report.Pending }, opened},
		{"the cause has no remedy", byItself, func(s *stand) { s.inc.Cause.Fix.Remedy = "" }, opened},
		{"a remedy that is not known", byItself, func(s *stand) { s.inc.Cause.Fix.Remedy = "reboot-everything" }, opened},
		{"an approval that nobody gave", byPerson, func(s *stand) {
			s.inc.Offers = []report.Offer{{Plan: plan.Plan{Remedy: plan.AddNATRoute}, Hash: "x", State: report.RefusedByUs, Made: s.Now()}}
		}, approval},
		{"the approval of a time before", byPerson, func(s *stand) {
			s.inc.Offers = []report.Offer{{Plan: plan.Plan{Remedy: plan.AddNATRoute}, Hash: "x", Policy: plan.Approve, State: report.Approved, Made: s.inc.Opened.Add(-time.Hour)}}
		}, approval},
	} {
		s := start(t, test.remedies, stagetest.Options{})
		if test.wrong != nil {
			test.wrong(s)
			s.save(s.inc)
		}
		if n := s.tell(test.event); n != 0 {
			t.Errorf("%s: %d messages came back: %s", test.name, n, s.Logs())
		}
		_, deeds := s.said()
		if len(deeds) != 0 {
			t.Errorf("%s: deeds %+v", test.name, deeds)
		}
		s.untouched()
	}
}

// Anybody who may put events could say anything: an incident that the table
// does not have is none, and what cannot be read goes to the dead letters.
func TestTrustsNoEvent(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	for _, k := range []report.Key{
		{Cluster: stagetest.Cluster, Check: "route/no-egress", Resource: "rtb-0a700000000000001"},
		{Cluster: "dev", Check: "route/no-egress", Resource: stagetest.Table},
		{Cluster: stagetest.Cluster, Check: "sg/node-egress", Resource: stagetest.Table},
	} {
		if back := s.Send(s.of(approval, k)); len(back) != 0 {
			t.Errorf("%+v came back", k)
		}
	}
	for _, body := range []string{"", "{", `{"source":"rollcall","detail-type":"Rollcall Remedy Approved","time":"2026-11-20T15:00:00Z","detail":{}}`} {
		if back := s.Send(body); len(back) != 1 {
			t.Errorf("%q did not come back", body)
		}
	}
	if _, err := s.Handle(s.Sweep()); err == nil {
		t.Error("a schedule wakes it")
	}
	if p, d := s.said(); len(p)+len(d) != 0 {
		t.Errorf("said %+v, %+v", p, d)
	}
	s.untouched()
}

func TestOffersOnce(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	p := s.offered()
	if p.Policy != plan.Approve || p.Plan.Route == nil || p.Plan.Route.NAT != nat || p.Plan.Route.Table != stagetest.Table || p.Lasts != time.Hour || p.Hash != p.Plan.Hash() {
		t.Errorf("proposal %+v of %+v", p, p.Plan.Route)
	}
	s.untouched()
	for _, state := range []report.OfferState{report.Offered, report.RefusedByUs, report.Unhelpful} {
		inc := s.inc
		inc.Offers = []report.Offer{{Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: state, Made: p.At, Expires: p.At.Add(time.Hour)}}
		s.save(inc)
		s.tell("Rollcall Incident Changed")
		if list, _ := s.said(); len(list) != 0 {
			t.Errorf("%s: the same plan is offered again: %+v", state, list)
		}
	}
	// Without the gateway there is no plan, and the offer falls.
	inc := s.inc
	inc.Offers[0].State = report.Offered
	s.save(inc)
	s.Call("ec2:DeleteNatGateway", `{"NatGatewayId":"`+nat+`"}`)
	s.Advance(5 * time.Minute)
	s.tell("Rollcall Incident Changed")
	list, _ := s.said()
	if len(list) != 1 || list[0].Hash != "" || list[0].Reason != string(plan.NoNAT) || list[0].Says == "" {
		t.Errorf("proposals %+v, want that it is taken back", list)
	}
}

// The approval of a VPC is the operator's: without it there is no offer.
func TestVPCNotOptedIn(t *testing.T) {
	s := start(t, byItself, stagetest.Options{Settings: map[string]string{"ROLLCALL_REMEDIES": byItself}})
	s.tell(opened)
	list, deeds := s.said()
	if len(list) != 1 || list[0].Hash != "" || list[0].Reason != string(notOptedIn) || len(deeds) != 0 {
		t.Errorf("proposals %+v, deeds %+v", list, deeds)
	}
	s.untouched()
}

func TestApprovedIsDoneOnce(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	s.approve(s.offered())
	if n := s.tell(approval); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	list, deeds := s.said()
	if len(list) != 0 || len(deeds) != 1 {
		t.Fatalf("proposals %+v, deeds %+v", list, deeds)
	}
	d := deeds[0]
	if d.Result != plan.Done || d.ApprovedBy != "U0ONCALL01" || d.Policy != plan.Approve || len(d.Requests) != 1 || d.Changed[0] != stagetest.Table || d.Ended.IsZero() || d.Hash != d.Plan.Hash() {
		t.Errorf("deed %+v", d)
	}
	if rows := s.routes(); rows["0.0.0.0/0"] != nat {
		t.Errorf("routes %v", rows)
	}
	if n := s.wanted(); n != 1 {
		t.Errorf("%d checks wanted, want one", n)
	}
	kept, err := s.Store.Deeds(t.Context(), stagetest.Cluster)
	if err != nil || len(kept) != 1 || kept[0].Result != plan.Done {
		t.Errorf("audit %+v, %v", kept, err)
	}
	// Delivered again before report has taken in what came of it: nothing is said.
	s.tell(approval)
	if list, again := s.said(); len(list) != 0 || len(again) > 1 || len(again) == 1 && (again[0].Result != plan.Done || again[0].ID != d.ID) {
		t.Errorf("proposals %+v, deeds %+v", list, again)
	}
	// Taken out by hand, and the approval delivered again: it is used up.
	s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
	for range 3 {
		s.tell(approval)
	}
	if rows := s.routes(); len(rows) != 1 {
		t.Errorf("routes %v: the same approval acted twice", rows)
	}
	if n := s.Calls()["ec2:CreateRoute"]; n != 1 {
		t.Errorf("%d calls of CreateRoute", n)
	}
}

// Whatever has changed between the approval and the deed: nothing is done, and
// that is said.
func TestApprovedAndNotDone(t *testing.T) {
	route := func(s *stand) {
		s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","GatewayId":"igw-0d40000000000000e"}`)
	}
	for _, test := range []struct {
		name  string
		wrong func(*stand)
		want  plan.Reason
	}{
		{"it expired", func(s *stand) { s.Advance(61 * time.Minute) }, approvalExpired},
		{"somebody was faster", route, plan.HasDefault},
		{"the gateway is being deleted", func(s *stand) { s.Call("ec2:DeleteNatGateway", `{"NatGatewayId":"`+nat+`"}`) }, plan.NoNAT},
		{"the cause is gone", func(s *stand) {
			s.inc.State, s.inc.Cleared = report.Cleared, s.Now()
			s.save(s.inc)
		}, plan.NotSo},
		{"the incident is closed", func(s *stand) {
			s.inc.State, s.inc.Resolved = report.Closed, s.Now()
			s.save(s.inc)
		}, plan.NotSo},
		{"another plan was approved", func(s *stand) {
			s.inc.Offers[0].Hash = strings.Repeat("0", 32)
			s.save(s.inc)
		}, planChanged},
	} {
		s := start(t, byPerson, stagetest.Options{})
		s.approve(s.offered())
		test.wrong(s)
		before := len(s.routes())
		if n := s.tell(approval); n != 0 {
			t.Errorf("%s: %d messages came back", test.name, n)
		}
		_, deeds := s.said()
		if len(deeds) != 1 || deeds[0].Result != plan.Refused || deeds[0].Reason != string(test.want) || deeds[0].Says == "" {
			t.Errorf("%s: deeds %+v, want refused as %s", test.name, deeds, test.want)
		}
		if len(s.routes()) != before || s.Calls()["ec2:CreateRoute"] != 0 {
			t.Errorf("%s: routes %v", test.name, s.routes())
		}
	}
}

func TestByPolicy(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	if n := s.tell(opened); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	list, deeds := s.said()
	if len(list) != 1 || list[0].Policy != plan.Auto || len(deeds) != 1 || deeds[0].Result != plan.Done || deeds[0].Policy != plan.Auto || deeds[0].ApprovedBy != "" {
		t.Fatalf("proposals %+v, deeds %+v", list, deeds)
	}
	if s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("routes %v", s.routes())
	}
	// What it did itself is no news.
	s.tell("Rollcall Incident Changed")
	if list, _ := s.said(); len(list) != 0 {
		t.Errorf("proposals %+v", list)
	}
	s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
	s.tell("Rollcall Incident Changed")
	if rows := s.routes(); len(rows) != 1 {
		t.Errorf("routes %v: it acts against a hand that took the route out", rows)
	}
	// It came back as a new time of the incident, and somebody takes the route out
	// each time: a person is asked, once, and may say yes.
	inc := s.inc
	inc.Opened, inc.Number = s.Now(), 2
	s.save(inc)
	s.tell("Rollcall Incident Reopened")
	list, deeds = s.said()
	if len(s.routes()) != 1 || len(deeds) != 0 || len(list) != 1 || list[0].Policy != plan.Approve || !strings.Contains(list[0].Says, "was taken back since") {
		t.Fatalf("routes %v, proposals %+v, deeds %+v: it fights whoever takes the route out", s.routes(), list, deeds)
	}
	s.approve(list[0])
	s.tell(approval)
	if _, deeds := s.said(); len(deeds) != 1 || deeds[0].Policy != plan.Approve || s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("routes %v, deeds %+v", s.routes(), deeds)
	}
	// A day later the policy does it again.
	s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
	s.Advance(oneDay + time.Minute)
	inc = s.inc
	inc.Opened, inc.Number = s.Now(), 3
	s.save(inc)
	s.tell("Rollcall Incident Reopened")
	if s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("routes %v: reopened a day later", s.routes())
	}
}

// Muted keeps people from being called, not a remedy from being done.
func TestMutedIsRemedied(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	s.inc.Mute = &report.Mute{At: s.Now(), Until: s.Now().Add(time.Hour)}
	s.save(s.inc)
	s.tell(opened)
	if s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("routes %v", s.routes())
	}
}

func TestLimit(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{Settings: settingsOf(byPerson, "ROLLCALL_REMEDY_LIMIT", "1")})
	s.approve(s.offered())
	s.tell(approval)
	s.said()
	for n := 2; n < 4; n++ {
		s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
		s.Advance(time.Duration(n-1) * 10 * time.Minute)
		inc := s.inc
		inc.Opened, inc.Number = s.Now(), n
		s.save(inc)
		s.approve(s.offered())
		s.tell(approval)
		if _, deeds := s.said(); len(deeds) != 1 || deeds[0].Result != plan.Refused || deeds[0].Reason != string(limitReached) {
			t.Fatalf("deeds %+v, want that the limit is reached", deeds)
		}
		if len(s.routes()) != 1 {
			t.Fatal("it acted over its limit")
		}
		s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"`+nat+`"}`)
	}
}

// AWS refuses, throttles or does not answer: the world is as it was, and what
// is said is so.
func TestFailureChangesNothing(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault cloud.FaultRule
		want  plan.Result
	}{
		{"denied", cloud.FaultRule{Call: "ec2:CreateRoute", Deny: true}, plan.Failed},
		{"throttled", cloud.FaultRule{Call: "ec2:CreateRoute", Throttle: 1}, plan.Failed},
		{"a server's fault", cloud.FaultRule{Call: "ec2:CreateRoute", Fail: 1}, plan.Uncertain},
		{"reset", cloud.FaultRule{Call: "ec2:CreateRoute", Reset: true}, plan.Uncertain},
	} {
		s := start(t, byItself, stagetest.Options{Settings: settingsOf(byItself), Faults: []cloud.FaultRule{test.fault}})
		if n := s.tell(opened); n != 0 {
			t.Errorf("%s: %d messages came back", test.name, n)
		}
		_, deeds := s.said()
		if len(deeds) != 1 || deeds[0].Result != test.want || deeds[0].Says == "" {
			t.Errorf("%s: deeds %+v, want %s", test.name, deeds, test.want)
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

// What cannot be read is not planned.
func TestBlindPlansNothing(t *testing.T) {
	s := start(t, byItself, stagetest.Options{Settings: settingsOf(byItself), Faults: []cloud.FaultRule{{Call: "ec2:DescribeNatGateways", Deny: true}}})
	s.tell(opened)
	list, deeds := s.said()
	if len(list) != 1 || list[0].Reason != string(plan.CouldNotLook) || !strings.Contains(list[0].Says, "ec2:DescribeNatGateways") || len(deeds) != 0 {
		t.Errorf("proposals %+v, deeds %+v", list, deeds)
	}
	s.untouched()
}

// A look that fails is nothing against a plan that was made from one that did
// not: the offer stands, and is looked at again once it is approved.
func TestBlindTakesNothingBack(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{Settings: settingsOf(byPerson), Faults: []cloud.FaultRule{{Call: "ec2:DescribeNatGateways", Deny: true}}})
	p := plan.Plan{Format: plan.Format, Remedy: plan.AddNATRoute, Cluster: s.inc.Key.Cluster, Check: s.inc.Key.Check, Resource: s.inc.Key.Resource, Route: &plan.Route{Table: stagetest.Table, NAT: nat}}
	inc := s.inc
	inc.Offers = []report.Offer{{Plan: p, Hash: p.Hash(), Policy: plan.Approve, State: report.Offered, Made: inc.Opened.Add(time.Second), Expires: inc.Opened.Add(time.Hour)}}
	s.save(inc)
	s.tell("Rollcall Incident Changed")
	if list, deeds := s.said(); len(list) != 0 || len(deeds) != 0 {
		t.Errorf("proposals %+v, deeds %+v", list, deeds)
	}
	s.untouched()
}

// doer does what a test wants around the real deed.
type doer struct {
	Doer
	mu     sync.Mutex
	calls  int
	before func() // ends the run before it acts
	after  func(remedy.Did) remedy.Did
}

func (d *doer) Do(ctx context.Context, p plan.Plan, token string) remedy.Did {
	d.mu.Lock()
	d.calls++
	d.mu.Unlock()
	if d.before != nil {
		d.before()
	}
	did := d.Doer.Do(ctx, p, token)
	if d.after != nil {
		return d.after(did)
	}
	return did
}

// killed plays a run that ends in the middle: nothing after that point is done.
func killed(s *stand, what string) {
	defer func() {
		if recover() == nil {
			s.t.Error("the run was not ended")
		}
	}()
	s.tell(what)
}

func TestKilledBetweenClaimAndDeed(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	d := &doer{Doer: s.h.do, before: func() { panic("killed") }}
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
	_, deeds := s.said()
	if len(deeds) != 1 || deeds[0].Result != plan.Uncertain || deeds[0].Reason != "interrupted" {
		t.Errorf("deeds %+v", deeds)
	}
	if d.calls != 1 || len(s.routes()) != 1 {
		t.Errorf("%d deeds, routes %v: it is never done again", d.calls, s.routes())
	}
}

func TestKilledAfterDeed(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	d := &doer{Doer: s.h.do, after: func(remedy.Did) remedy.Did { panic("killed") }}
	s.h.do = d
	killed(s, opened)
	s.said()
	s.Advance(lease + time.Second)
	for range 2 {
		if n := s.tell(opened); n != 0 {
			t.Errorf("%d messages came back: %s", n, s.Logs())
		}
	}
	_, deeds := s.said()
	// It is told until report's record has it; report takes it in once, by its id.
	for _, x := range deeds {
		if x.Result != plan.Done || x.ID != deeds[0].ID {
			t.Errorf("deed %+v", x)
		}
	}
	if len(deeds) == 0 || d.calls != 1 || s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("%d told, %d done, routes %v", len(deeds), d.calls, s.routes())
	}
}

// The answer is lost, and what is so now is looked up.
func TestLostAnswer(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	s.h.do = &doer{Doer: s.h.do, after: func(remedy.Did) remedy.Did { return remedy.Did{Result: plan.Uncertain} }}
	s.tell(opened)
	if _, deeds := s.said(); len(deeds) != 1 || deeds[0].Result != plan.Done || !strings.Contains(deeds[0].Says, "No answer came") {
		t.Errorf("deeds %+v", deeds)
	}
}

// deaf cannot tell report.
type deaf struct {
	Sender
	deaf bool
}

func (d *deaf) SendDeed(ctx context.Context, x report.DeedTold) error {
	if d.deaf {
		return errors.New("the queue does not answer")
	}
	return d.Sender.SendDeed(ctx, x)
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
	if _, deeds := s.said(); len(deeds) != 1 || deeds[0].Result != plan.Done {
		t.Errorf("deeds %+v", deeds)
	}
	if n := s.Calls()["ec2:CreateRoute"]; n != 1 {
		t.Errorf("%d calls of CreateRoute", n)
	}
}

func TestTwoAtOnce(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	s.approve(s.offered())
	d := &doer{Doer: s.h.do}
	s.h.do = d
	body := s.told(approval)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { _, _ = s.TrySend(body) })
	}
	all.Wait()
	if d.calls != 1 || s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("%d deeds, routes %v", d.calls, s.routes())
	}
}

// Somebody else, or the incident of another cluster with the same table, is
// faster by the blink between the last look and the call: AWS refuses a second
// route, theirs stays, and nothing is claimed.
func TestAnotherIsFaster(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	s.h.do = &doer{Doer: s.h.do, before: func() {
		s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","GatewayId":"igw-0d40000000000000e"}`)
	}}
	s.tell(opened)
	if _, deeds := s.said(); len(deeds) != 1 || deeds[0].Result != plan.Failed || deeds[0].Reason != "RouteAlreadyExists" || len(deeds[0].Changed) != 0 {
		t.Errorf("deeds %+v", deeds)
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
