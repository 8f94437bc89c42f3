package remediate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
)

const due = "Rollcall Incident Changed"

// full is the route harness whose limit of one was used up a moment ago by another
// run, and what the function sent then.
func full(t *testing.T, policy string) (*harness, time.Time) {
	t.Helper()
	s := start(t, policy, stagetest.Options{Settings: settingsOf(policy, "ROLLCALL_REMEDY_LIMIT", "1")})
	used := remedy.Run{ID: "before", Plan: remedy.Plan{Remedy: optin.AddNATRoute, Cluster: stagetest.Cluster}, Began: s.Now()}
	if room, err := s.Store.CountRun(t.Context(), used, 1); err != nil || !room.IsZero() {
		t.Fatal(room, err)
	}
	room, err := s.Store.RoomForRuns(t.Context(), stagetest.Cluster, optin.AddNATRoute, 1, 1, s.Now())
	if err != nil {
		t.Fatal(err)
	}
	return s, room
}

// take has report take in what was sent.
func (s *harness) take() (proposals []report.Proposal, runs []remedy.Run) {
	s.t.Helper()
	for _, m := range s.Results() {
		var d incident.Decision
		switch {
		case m.Proposal != nil:
			proposals = append(proposals, *m.Proposal)
			d = response.Propose(s.inc, *m.Proposal, s.Now())
		case m.RemedyResult != nil:
			runs = append(runs, m.RemedyResult.Run)
			d = response.ApplyRemedyResult(s.inc, *m.RemedyResult, s.Now())
		}
		if d.Changed {
			s.save(d.Incident)
		}
	}
	return proposals, runs
}

func (s *harness) made() int { return s.Calls()["ec2:CreateRoute"] }

// deferred is the wait that stands in the incident.
func (s *harness) deferred() incident.Offer {
	s.t.Helper()
	if o := latest(s.inc, optin.AddNATRoute, incident.Deferred); o != nil {
		return *o
	}
	s.t.Fatalf("nothing waits: %+v\n%s", s.inc.Offers, s.Logs())
	return incident.Offer{}
}

// The limit is full: nothing is done, it is told when there is room, once; and at
// that time it is done, once, however often it is woken.
func TestLimitIsWaitedFor(t *testing.T) {
	s, room := full(t, byItself)
	for range 3 {
		s.tell(opened)
		s.take()
	}
	if w := s.deferred(); !w.After.Equal(room) || w.Reason != report.LimitReached || w.Policy != optin.Auto || len(s.inc.Offers) != 1 || s.made() != 0 {
		t.Fatalf("%+v, room at %s, %d routes made", s.inc.Offers, room, s.made())
	}
	s.Advance(30 * time.Minute)
	s.tell(due)
	if list, runs := s.take(); len(list)+len(runs) != 0 || s.made() != 0 {
		t.Errorf("before its time: %+v, %+v", list, runs)
	}
	s.Advance(room.Sub(s.Now()) + time.Second)
	s.tell(due)
	s.tell(due)
	_, runs := s.take()
	s.tell(due)
	if s.made() != 1 || len(runs) == 0 || runs[0].Result != action.Done || runs[0].Policy != optin.Auto {
		t.Errorf("%d routes made, runs %+v", s.made(), runs)
	}
}

// The limit is full again when the time has come: another time, and no run.
func TestLimitIsStillFull(t *testing.T) {
	s, room := full(t, byItself)
	s.tell(opened)
	s.take()
	s.Advance(room.Sub(s.Now()) + time.Second)
	other := remedy.Run{ID: "between", Plan: remedy.Plan{Remedy: optin.AddNATRoute, Cluster: stagetest.Cluster}, Began: s.Now()}
	if room, err := s.Store.CountRun(t.Context(), other, 1); err != nil || !room.IsZero() {
		t.Fatal(room, err)
	}
	s.tell(due)
	s.take()
	if w := s.deferred(); !w.After.After(s.Now().Add(time.Hour)) || s.made() != 0 || len(s.inc.Offers) != 1 {
		t.Errorf("%+v, %d routes made", s.inc.Offers, s.made())
	}
}

// What has changed by the time that it is tried again: nothing is done.
func TestWaitedForInVain(t *testing.T) {
	for name, change := range map[string]func(*harness){
		"somebody was faster": func(s *harness) {
			s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","GatewayId":"igw-0d40000000000000e"}`)
		},
		"the gateway is being deleted": func(s *harness) { s.Call("ec2:DeleteNatGateway", `{"NatGatewayId":"`+nat+`"}`) },
		"the incident is closed":       func(s *harness) { s.inc.State, s.inc.Resolved = incident.Closed, s.Now(); s.save(s.inc) },
		"the cause is gone":            func(s *harness) { s.inc.State, s.inc.Cleared = incident.Cleared, s.Now(); s.save(s.inc) },
		"the policy asks a person now": func(s *harness) { s.h.policy = func(string, optin.Remedy) optin.Policy { return optin.Approve } },
		"the policy is withdrawn": func(s *harness) {
			s.h.policy = func(_ string, r optin.Remedy) optin.Policy {
				if r == optin.AddNATRoute {
					return optin.Off
				}
				return optin.Approve
			}
		},
		"all policies are withdrawn": func(s *harness) { s.h.policy = func(string, optin.Remedy) optin.Policy { return optin.Off } },
		"the VPC is withdrawn":       func(s *harness) { s.h.vpcs = nil },
	} {
		s, room := full(t, byItself)
		s.tell(opened)
		s.take()
		s.deferred()
		s.Advance(room.Sub(s.Now()) + time.Second)
		change(s)
		before := s.made()
		s.tell(due)
		list, runs := s.take()
		if s.made() != before || len(runs) != 0 || slices.ContainsFunc(list, func(p report.Proposal) bool { return p.Policy == optin.Auto && p.Hash != "" }) {
			t.Errorf("%s: %d routes made, %+v, %+v", name, s.made()-before, list, runs)
		}
	}
}

// Another gateway is there by then: the plan is made anew from what there is.
func TestWaitedForIsPlannedAnew(t *testing.T) {
	s, room := full(t, byItself)
	s.tell(opened)
	s.take()
	stale := s.inc
	stale.Offers[0].Plan.Route = &addnatroute.Plan{VPC: vpc, Table: "rtb-0a700000000000001", Destination: "0.0.0.0/0", NAT: nat}
	stale.Offers[0].Hash = stale.Offers[0].Plan.Hash()
	s.save(stale)
	s.Advance(room.Sub(s.Now()) + time.Second)
	s.tell(due)
	if _, runs := s.take(); len(runs) != 1 || runs[0].Plan.Route.Table != stagetest.Table || runs[0].Changed[0] != stagetest.Table {
		t.Errorf("runs %+v", runs)
	}
}

// A person's approval that the limit refuses is used up: nothing is done later
// without them. When there is room the plan is offered again, and their new yes
// counts.
func TestRefusedApprovalIsOfferedAgain(t *testing.T) {
	s, room := full(t, byPerson)
	s.approve(s.offered())
	s.tell(approval)
	before := s.inc
	_, runs := s.take()
	if len(runs) != 1 || runs[0].Result != action.Refused || runs[0].Next == nil || !runs[0].Next.At.Equal(room) || !strings.Contains(runs[0].Says, "offered again at "+clock(room)) {
		t.Fatalf("runs %+v", runs)
	}
	if w := s.deferred(); w.Policy != optin.Approve || !w.After.Equal(room) {
		t.Fatalf("%+v", w)
	}
	s.tell(due)
	if list, _ := s.take(); len(list) != 0 {
		t.Errorf("offered before there is room: %+v", list)
	}
	s.Advance(room.Sub(s.Now()) + time.Second)
	// report lags behind, and the approval is delivered again: it is used up.
	now := s.inc
	before.Version = now.Version
	before.Offers[0].Expires = s.Now().Add(time.Hour)
	s.save(before)
	s.tell(approval)
	if s.made() != 0 {
		t.Fatal("it acted on an approval that was refused")
	}
	s.said()
	now.Version = s.inc.Version
	s.save(now)
	s.tell(due)
	list, _ := s.take()
	if len(list) != 1 || list[0].Policy != optin.Approve || list[0].Hash == "" || !strings.Contains(list[0].Says, "needs a new yes") || s.made() != 0 {
		t.Fatalf("proposals %+v\n%s", list, s.Logs())
	}
	inc := s.inc
	i := slices.IndexFunc(inc.Offers, func(o incident.Offer) bool { return o.State == incident.Offered })
	inc.Offers[i].State, inc.Offers[i].By, inc.Offers[i].Decided = incident.Approved, report.User{ID: "U0ONCALL01"}, s.Now()
	s.save(inc)
	s.tell(approval)
	if _, runs := s.take(); s.made() != 1 || len(runs) != 1 || runs[0].Result != action.Done {
		t.Errorf("%d routes made, runs %+v", s.made(), runs)
	}
}

// A look that fails is tried again after 5, 10, 20, 40 minutes, then each hour;
// other events in between make it neither sooner nor later.
func TestFailedLookBacksOff(t *testing.T) {
	s := start(t, byItself, stagetest.Options{Settings: settingsOf(byItself), Faults: []simaws.FaultRule{{Call: "ec2:DescribeNatGateways", Deny: true}}})
	for n, wait := range []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, time.Hour, time.Hour} {
		began := s.Now()
		s.tell(due)
		s.tell(due)
		s.take()
		w := s.deferred()
		if off := w.After.Sub(began) - wait; off < 0 || off > 10*time.Second || w.Tried != n+1 || w.Reason != string(action.CouldNotLook) {
			t.Fatalf("try %d: %+v, %s after it, want %s", n, w, w.After.Sub(began), wait)
		}
		s.Advance(w.After.Sub(s.Now()) / 2)
		s.tell(due)
		if list, _ := s.take(); len(list) != 0 {
			t.Errorf("try %d: in between %+v", n, list)
		}
		s.Advance(w.After.Sub(s.Now()) + time.Second)
	}
	s.untouched()
}

// A look that was throttled for a while is made up for.
func TestLookSucceedsLater(t *testing.T) {
	s := start(t, byItself, stagetest.Options{Settings: settingsOf(byItself)})
	wait := report.Proposal{Remedy: optin.AddNATRoute, Policy: optin.Auto, Reason: string(action.CouldNotLook), Says: "x", After: s.Now().Add(5 * time.Minute), Tried: 1}
	if err := s.h.wait(t.Context(), s.inc, wait); err != nil {
		t.Fatal(err)
	}
	s.take()
	s.Advance(5*time.Minute + time.Second)
	s.tell(due)
	if _, runs := s.take(); len(runs) != 1 || runs[0].Result != action.Done || s.made() != 1 {
		t.Errorf("runs %+v", runs)
	}
}

// An instance that waits for the limit, and by then has joined, is gone, or is of a
// time after the cause: it is not ended. One that is still stuck is, once.
func TestWaitedForInstance(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*harness)
		ended  int
	}{
		"still stuck": {func(*harness) {}, 1},
		"it joined":   {func(s *harness) { s.inc.Launches[0].Status = report.Joined; s.save(s.inc) }, 0},
		"it is gone":  {func(s *harness) { s.inc.Launches[0].Status = report.Gone; s.save(s.inc) }, 0},
		"launched later": {func(s *harness) {
			s.inc.Launches[0].Started = s.Now()
			s.save(s.inc)
		}, 0},
		"the cause is back": {func(s *harness) {
			s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
		}, 0},
		"the incident is over": {func(s *harness) { s.inc.State, s.inc.Resolved = incident.Closed, s.Now(); s.save(s.inc) }, 0},
	} {
		s := healed(t, "auto", stagetest.Options{})
		s.Advance(replaceinstance.Settle + time.Second)
		used := remedy.Run{ID: "before", Plan: remedy.Plan{Remedy: optin.ReplaceInstance, Cluster: stagetest.Cluster, Replace: &replaceinstance.Plan{Instances: make([]replaceinstance.Replaced, 3)}}, Began: s.Now()}
		if room, err := s.Store.CountRun(t.Context(), used, 3); err != nil || !room.IsZero() {
			t.Fatal(room, err)
		}
		s.tell(due)
		s.take()
		w := latest(s.inc, optin.ReplaceInstance, incident.Deferred)
		if w == nil {
			t.Fatalf("%s: nothing waits: %+v", name, s.inc.Offers)
		}
		s.Advance(w.After.Sub(s.Now()) + time.Second)
		test.change(s)
		for range 3 {
			s.tell(due)
			s.take()
		}
		if n := s.Calls()["autoscaling:TerminateInstanceInAutoScalingGroup"]; n != test.ended {
			t.Errorf("%s: %d instances were ended, want %d: %+v", name, n, test.ended, s.inc.Offers)
		}
		if latest(s.inc, optin.ReplaceInstance, incident.Deferred) != nil && s.inc.State == incident.Cleared {
			t.Errorf("%s: it waits still", name)
		}
	}
}
