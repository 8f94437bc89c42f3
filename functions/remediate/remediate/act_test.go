package remediate

import (
	"context"
	"strings"
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
)

func TestApprovedIsDoneOnce(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	s.approve(s.offered())
	if n := s.tell(approval); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	list, runs := s.said()
	if len(list) != 0 || len(runs) != 1 {
		t.Fatalf("proposals %+v, runs %+v", list, runs)
	}
	d := runs[0]
	if d.Result != action.Done || d.ApprovedBy != "U0ONCALL01" || d.Policy != optin.Approve || len(d.Requests) != 1 || d.Changed[0] != stagetest.Table || d.Ended.IsZero() || d.Hash != d.Plan.Hash() {
		t.Errorf("run %+v", d)
	}
	if rows := s.routes(); rows["0.0.0.0/0"] != nat {
		t.Errorf("routes %v", rows)
	}
	if n := s.wanted(); n != 1 {
		t.Errorf("%d checks wanted, want one", n)
	}
	kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
	if err != nil || len(kept) != 1 || kept[0].Result != action.Done {
		t.Errorf("audit %+v, %v", kept, err)
	}
	// Delivered again before report has taken in what came of it: nothing is said.
	s.tell(approval)
	if list, again := s.said(); len(list) != 0 || len(again) > 1 || len(again) == 1 && (again[0].Result != action.Done || again[0].ID != d.ID) {
		t.Errorf("proposals %+v, runs %+v", list, again)
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

// Whatever has changed between the approval and the run: nothing is done, and
// that is said.
func TestApprovedAndNotDone(t *testing.T) {
	route := func(s *harness) {
		s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","GatewayId":"igw-0d40000000000000e"}`)
	}
	for _, test := range []struct {
		name  string
		wrong func(*harness)
		want  action.Reason
	}{
		{"it expired", func(s *harness) { s.Advance(61 * time.Minute) }, approvalExpired},
		{"somebody was faster", route, addnatroute.HasDefault},
		{"the gateway is being deleted", func(s *harness) { s.Call("ec2:DeleteNatGateway", `{"NatGatewayId":"`+nat+`"}`) }, addnatroute.NoNAT},
		{"the cause is gone", func(s *harness) {
			s.inc.State, s.inc.Cleared = incident.Cleared, s.Now()
			s.save(s.inc)
		}, action.NotSo},
		{"the incident is closed", func(s *harness) {
			s.inc.State, s.inc.Resolved = incident.Closed, s.Now()
			s.save(s.inc)
		}, action.NotSo},
		{"another plan was approved", func(s *harness) {
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
		_, runs := s.said()
		if len(runs) != 1 || runs[0].Result != action.Refused || runs[0].Reason != string(test.want) || runs[0].Says == "" {
			t.Errorf("%s: runs %+v, want refused as %s", test.name, runs, test.want)
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
	list, runs := s.said()
	if len(list) != 1 || list[0].Policy != optin.Auto || len(runs) != 1 || runs[0].Result != action.Done || runs[0].Policy != optin.Auto || runs[0].ApprovedBy != "" {
		t.Fatalf("proposals %+v, runs %+v", list, runs)
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
	list, runs = s.said()
	if len(s.routes()) != 1 || len(runs) != 0 || len(list) != 1 || list[0].Policy != optin.Approve || !strings.Contains(list[0].Says, "was taken back since") {
		t.Fatalf("routes %v, proposals %+v, runs %+v: it fights whoever takes the route out", s.routes(), list, runs)
	}
	s.approve(list[0])
	s.tell(approval)
	if _, runs := s.said(); len(runs) != 1 || runs[0].Policy != optin.Approve || s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("routes %v, runs %+v", s.routes(), runs)
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
	s.inc.Mute = &incident.Mute{At: s.Now(), Until: s.Now().Add(time.Hour)}
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
		if _, runs := s.said(); len(runs) != 1 || runs[0].Result != action.Refused || runs[0].Reason != string(limitReached) {
			t.Fatalf("runs %+v, want that the limit is reached", runs)
		}
		if len(s.routes()) != 1 {
			t.Fatal("it acted over its limit")
		}
		s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"`+nat+`"}`)
	}
}

// slowly takes its time to look.
type slowly struct {
	Reader
	during func()
}

func (r slowly) Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	r.during()
	return r.Reader.Read(ctx, q)
}

// An approval counts when it is acted upon, not when the look before it began.
func TestApprovalEndsWhileItIsLooked(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	s.approve(s.offered())
	now, late := s.h.now, time.Duration(0)
	s.h.now = func() time.Time { return now().Add(late) }
	s.h.reader = slowly{s.h.reader, func() { late = 61 * time.Minute }}
	s.tell(approval)
	_, runs := s.said()
	if len(runs) != 1 || runs[0].Result != action.Refused || runs[0].Reason != string(approvalExpired) {
		t.Errorf("runs %+v, want one refused as %s", runs, approvalExpired)
	}
	if n := s.Calls()["ec2:CreateRoute"]; n != 0 {
		t.Errorf("%d routes were made", n)
	}
}
