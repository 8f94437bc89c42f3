package outcome

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// karpenters is an instance of Karpenter, with more tags.
func karpenters(state string, ended time.Duration, tags ...string) *snapshot.Instance {
	in := &snapshot.Instance{ID: "i-1", State: state, Tags: map[string]string{"karpenter.sh/nodepool": "gpu"}}
	for i := 0; i < len(tags); i += 2 {
		in.Tags[tags[i]] = tags[i+1]
	}
	if ended > 0 {
		in.StateReason = snapshot.StateReason{Code: "Client.UserInitiatedShutdown", When: launched.Add(ended)}
	}
	return in
}

// TestDecideByKarpentersTag: where nobody sees the nodes, the tag that comes with
// registration tells who joined.
func TestDecideByKarpentersTag(t *testing.T) {
	const claim = "karpenter.sh/nodeclaim"
	var (
		bare     = karpenters("running", 0)
		named    = karpenters("running", 0, claim, "gpu-x7k2p")
		autoMode = &snapshot.Instance{ID: "i-1", State: "running", Tags: map[string]string{"eks:kubernetes-node-pool-name": "gpu"}}
		noTime   = karpenters("terminated", 0)
	)
	// closed is what is seen of an instance where the nodes are not to be read.
	closed := func(in *snapshot.Instance) Seen {
		return Seen{EC2Read: true, Instance: in, NodesClosed: true, Tagging: true}
	}
	for _, test := range []struct {
		name   string
		after  time.Duration
		seen   Seen
		want   LaunchStatus
		reason Reason
		blind  bool
	}{
		{"tagged, and not due", due.Sub(launched) - 1, closed(named), Waiting, NodesUnseen, true},
		{"tagged", due.Sub(launched), closed(named), Joined, Tagged, false},
		{"tagged, and the nodes may be read later", time.Hour, Seen{EC2Read: true, Instance: named}, Missed, NodesUnseen, true},
		{"tagged, and there is no later look", 2*time.Hour + 1, Seen{EC2Read: true, Instance: named}, Joined, Tagged, false},
		{"tagged, and the last look but one", 2 * time.Hour, Seen{EC2Read: true, Instance: named}, Missed, NodesUnseen, true},
		{"tagged, and its node was seen not to be Ready", time.Hour, Seen{EC2Read: true, Instance: named, NodesRead: true, Node: notReady}, Missed, NotReady, false},
		{"tagged, and its node is there no more", time.Hour, Seen{EC2Read: true, Instance: named, NodesRead: true}, Missed, NeverSeen, false},
		{"tagged, the nodes are read, and there is no later look", 3 * time.Hour, Seen{EC2Read: true, Instance: named, NodesRead: true}, GivenUp, TooOld, false},
		{"EC2 not read", time.Hour, Seen{Instance: named, NodesClosed: true}, Missed, EC2Unseen, true},
		{"EC2 not read, and no later look", 3 * time.Hour, Seen{Instance: named}, GivenUp, EC2Unseen, true},

		{"no tag, while it may register", registration - 1, closed(bare), Missed, NodesUnseen, true},
		{"no tag when the time to register is over", registration, closed(bare), Missed, Untagged, false},
		{"no tag, and given up", 3 * time.Hour, closed(bare), GivenUp, TooOld, false},
		{"no tag, nor has any other instance one", registration, Seen{EC2Read: true, Instance: bare, NodesClosed: true}, Missed, NodesUnseen, true},
		{"no tag, and the nodes could not be read this once", registration, Seen{EC2Read: true, Instance: bare, Tagging: true}, Missed, Untagged, false},
		{"no tag, and its node is seen", registration, Seen{EC2Read: true, Instance: bare, Tagging: true, NodesRead: true, Node: isReady}, Joined, NodeReady, false},
		{"no tag, and no node", registration, Seen{EC2Read: true, Instance: bare, Tagging: true, NodesRead: true}, Missed, NeverSeen, false},
		{"not of Karpenter", registration, closed(running), Missed, NodesUnseen, true},
		{"of EKS Auto Mode, which sets no such tag", registration, closed(autoMode), Missed, NodesUnseen, true},
		{"not described yet", time.Minute, closed(nil), Waiting, NodesUnseen, true},

		{"tagged, and ended", time.Hour, closed(karpenters("terminated", 50*time.Minute, claim, "gpu-x7k2p")), Joined, Tagged, false},
		{"tagged, ended, and the nodes could not be read this once", time.Hour,
			Seen{EC2Read: true, Instance: karpenters("terminated", 50*time.Minute, claim, "x")}, Joined, Tagged, false},
		{"tagged, ended, and its node was seen to lack", time.Hour,
			Seen{EC2Read: true, Instance: karpenters("terminated", 50*time.Minute, claim, "x"), Lacked: true, Tagging: true}, Gone, InstanceEnded, false},
		{"tagged, ended, and the nodes are seen", time.Hour,
			Seen{EC2Read: true, Instance: karpenters("terminated", 50*time.Minute, claim, "x"), NodesRead: true}, Gone, InstanceEnded, false},
		{"no tag, and ended as Karpenter ends what does not register", time.Hour, closed(karpenters("terminated", 14*time.Minute)), Gone, Untagged, false},
		{"no tag, and ended before that", time.Hour, closed(karpenters("terminated", 14*time.Minute-1)), Gone, InstanceEnded, false},
		{"no tag, and nobody says when it ended", time.Hour, closed(noTime), Gone, InstanceEnded, false},
		{"no tag, ended, and the nodes are seen", time.Hour,
			Seen{EC2Read: true, Instance: karpenters("terminated", 14*time.Minute), Tagging: true, NodesRead: true}, Gone, InstanceEnded, false},
		{"forgotten", time.Hour, closed(nil), Gone, InstanceLost, false},
	} {
		got := Decide(Launch{Started: launched}, test.seen, launched.Add(test.after), Policy{Due: due, GiveUp: 2 * time.Hour})
		if got.Status != test.want || got.Reason != test.reason || got.Blind != test.blind {
			t.Errorf("%s: %q because %q, blind %v; want %q because %q, blind %v", test.name, got.Status, got.Reason, got.Blind, test.want, test.reason, test.blind)
		}
	}
}

// TestTaggedHasNoTimes: the tag does not tell when the node registered, or that it
// was Ready, and what EC2 says of the end stays.
func TestTaggedHasNoTimes(t *testing.T) {
	policy := Policy{Due: due, GiveUp: time.Hour}
	in := karpenters("running", 0, "karpenter.sh/nodeclaim", "gpu-x7k2p")
	if diff := cmp.Diff(Verdict{Status: Joined, Reason: Tagged}, Decide(Launch{Started: launched}, Seen{EC2Read: true, Instance: in, NodesClosed: true}, due, policy)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in = karpenters("terminated", 20*time.Minute, "karpenter.sh/nodeclaim", "gpu-x7k2p")
	want := Verdict{Status: Joined, Reason: Tagged, Ended: launched.Add(20 * time.Minute), EndedWhy: "Client.UserInitiatedShutdown"}
	if diff := cmp.Diff(want, Decide(Launch{Started: launched}, Seen{EC2Read: true, Instance: in}, after(time.Hour), policy)); diff != "" {
		t.Errorf("ended (-want +got):\n%s", diff)
	}
	if (Facts{Started: launched, Tagged: due}).Teaches() {
		t.Error("a time to join is learned of a node that nobody saw to be Ready")
	}
}
