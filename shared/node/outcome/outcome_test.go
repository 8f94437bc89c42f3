package outcome

import (
	"testing"
	"time"

	"rollcall/shared/snapshot"
)

var (
	launched = time.Date(2026, 11, 20, 14, 59, 0, 0, time.UTC)
	due      = launched.Add(5 * time.Minute)
	running  = &snapshot.Instance{ID: "i-1", State: "running"}
	ended    = &snapshot.Instance{ID: "i-1", State: "terminated", StateReason: snapshot.StateReason{Code: "Server.SpotInstanceTermination", When: launched.Add(2 * time.Minute)}}
	isReady  = &snapshot.Node{Instance: "i-1", Created: launched.Add(40 * time.Second), Ready: snapshot.Condition{Status: "True", Since: launched.Add(58 * time.Second)}}
	notReady = &snapshot.Node{Instance: "i-1", Ready: snapshot.Condition{Status: "False", Reason: "KubeletNotReady"}}
	tainted  = &snapshot.Node{Instance: "i-1", Ready: snapshot.Condition{Status: "True"}, Uninitialized: true}
)

func TestDecide(t *testing.T) {
	tests := []struct {
		name   string
		before LaunchStatus
		after  time.Duration // since the launch
		seen   Seen
		want   LaunchStatus
		reason Reason
		blind  bool
	}{
		{"not due", Waiting, time.Minute, Seen{EC2Read: true, Instance: running, NodesRead: true}, Waiting, NotDue, false},
		{"joined early", Waiting, time.Minute, Seen{EC2Read: true, Instance: running, NodesRead: true, Node: isReady}, Joined, NodeReady, false},
		{"joined late", Missed, time.Hour, Seen{EC2Read: true, Instance: running, NodesRead: true, Node: isReady}, Joined, NodeReady, false},
		{"joined, EC2 unseen", Waiting, 6 * time.Minute, Seen{EC2Read: false, NodesRead: true, Node: isReady}, Joined, NodeReady, false},
		{"never registered", Waiting, 5 * time.Minute, Seen{EC2Read: true, Instance: running, NodesRead: true}, Missed, NeverSeen, false},
		{"not Ready", Waiting, 6 * time.Minute, Seen{EC2Read: true, Instance: running, NodesRead: true, Node: notReady}, Missed, NotReady, false},
		{"Ready but not initialised", Waiting, 6 * time.Minute, Seen{EC2Read: true, Instance: running, NodesRead: true, Node: tainted}, Missed, Uninitialized, false},
		{"ended before it was due", Waiting, 3 * time.Minute, Seen{EC2Read: true, Instance: ended, NodesRead: true}, Gone, InstanceEnded, false},
		{"ended, nodes unseen", Waiting, 3 * time.Minute, Seen{EC2Read: true, Instance: ended, NodesRead: false}, Gone, InstanceEnded, false},
		{"was Ready, then ended", Waiting, 3 * time.Minute, Seen{EC2Read: true, Instance: ended, NodesRead: true, Node: isReady}, Joined, NodeReady, false},
		{"new and not described yet", Waiting, 10 * time.Second, Seen{EC2Read: true, NodesRead: true}, Waiting, NotDue, false},
		{"old and not described any more", Missed, 90 * time.Minute, Seen{EC2Read: true, NodesRead: true}, Gone, InstanceLost, false},
		{"given up", Missed, 3 * time.Hour, Seen{EC2Read: true, Instance: running, NodesRead: true}, GivenUp, TooOld, false},
		{"nodes unseen, due", Waiting, 6 * time.Minute, Seen{EC2Read: true, Instance: running, NodesRead: false}, Missed, NodesUnseen, true},
		{"nodes unseen, not due", Waiting, time.Minute, Seen{EC2Read: true, Instance: running, NodesRead: false}, Waiting, NodesUnseen, true},
		{"EC2 unseen is not gone", Waiting, 6 * time.Minute, Seen{EC2Read: false, NodesRead: true}, Missed, EC2Unseen, true},
		{"final stays", Joined, time.Hour, Seen{EC2Read: true, Instance: ended, NodesRead: true}, Joined, WasReady, false},
		{"gone stays", Gone, time.Hour, Seen{EC2Read: true, Instance: running, NodesRead: true, Node: isReady}, Gone, InstanceEnded, false},
	}
	for _, test := range tests {
		got := Decide(Launch{Started: launched, Status: test.before}, test.seen, launched.Add(test.after), Policy{Due: due, GiveUp: 2 * time.Hour})
		if got.Status != test.want || got.Reason != test.reason || got.Blind != test.blind {
			t.Errorf("%s: got %q because %q, blind %v; want %q because %q, blind %v", test.name, got.Status, got.Reason, got.Blind, test.want, test.reason, test.blind)
		}
	}
}

func TestDecideTakesTheNodesTimes(t *testing.T) {
	got := Decide(Launch{Started: launched}, Seen{EC2Read: true, Instance: running, NodesRead: true, Node: isReady}, due, Policy{Due: due, GiveUp: time.Hour})
	if !got.Ready.Equal(isReady.Ready.Since) || !got.Registered.Equal(isReady.Created) {
		t.Errorf("ready %v registered %v; want the node's own %v and %v", got.Ready, got.Registered, isReady.Ready.Since, isReady.Created)
	}
}
