package remediate

import (
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/incident"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/replaceinstance"
)

// healed is a harness whose route is there by hand, with the incident cleared.
func healed(t *testing.T, policy string, o stagetest.Options) *harness {
	t.Helper()
	s := start(t, stagetest.Cluster+"/replace-instance="+policy, o)
	s.Advance(31 * time.Minute) // the launch hook is over: the instance is in service
	s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"`+nat+`"}`)
	inc := s.inc
	inc.State, inc.Cleared = incident.Cleared, s.Now()
	s.save(inc)
	return s
}

// later are the messages that it sent itself, with the delay of the last.
func (s *harness) later() (n int) {
	s.t.Helper()
	for _, q := range s.Template.Queues {
		if q.Name != "rollcall-remedies" {
			continue
		}
		d, err := s.Queues.Depth(q.ARN)
		if err != nil {
			s.t.Fatal(err)
		}
		n = d.Visible + d.Delayed
	}
	return n
}

// An instance whose cause is gone may still join by itself; then it is replaced,
// with its group's capacity kept, once.
func TestReplaceAfterTheCauseIsGone(t *testing.T) {
	s := healed(t, "auto", stagetest.Options{})
	if n := s.tell("Rollcall Incident Changed"); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	if p, d := s.said(); len(p)+len(d) != 0 || s.later() != 1 {
		t.Fatalf("said %+v, %+v, %d for later; want that it waits", p, d, s.later())
	}
	s.Advance(replaceinstance.Settle + time.Second)
	if n := s.tell("Rollcall Incident Changed"); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	_, runs := s.said()
	if len(runs) != 1 || runs[0].Result != action.Done || len(runs[0].Changed) != 1 || runs[0].Changed[0] != s.id {
		t.Fatalf("runs %+v\n%s", runs, s.Logs())
	}
	s.tell("Rollcall Incident Changed")
	if n := s.Calls()["autoscaling:TerminateInstanceInAutoScalingGroup"]; n != 1 {
		t.Errorf("%d instances were ended", n)
	}
	s.Advance(2 * time.Minute)
	for _, e := range s.News(0) {
		if id := s.Instance(e); id != "" && id != s.id {
			return // another was launched in its place
		}
	}
	t.Error("the group launched no other")
}

// It joined by itself, or nobody can tell whether it did: it is not ended.
func TestReplaceNoNode(t *testing.T) {
	s := healed(t, "auto", stagetest.Options{})
	s.Advance(replaceinstance.Settle + time.Second)
	inc := s.inc
	inc.Launches[0].Started = s.Now() // not what it was: launched after
	s.save(inc)
	s.tell("Rollcall Incident Changed")
	if _, runs := s.said(); len(runs) != 0 {
		t.Errorf("runs %+v", runs)
	}
	if n := s.Calls()["autoscaling:TerminateInstanceInAutoScalingGroup"]; n != 0 {
		t.Errorf("%d instances were ended", n)
	}
}
