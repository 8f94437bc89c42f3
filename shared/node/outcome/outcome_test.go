package outcome

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
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
		{"Ready but not initialized", Waiting, 6 * time.Minute, Seen{EC2Read: true, Instance: running, NodesRead: true, Node: tainted}, Missed, Uninitialized, false},
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

const (
	spotCode = "Server.SpotInstanceTermination"
	userCode = "Client.UserInitiatedShutdown"
	scaledIn = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0."
	rebal    = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 instance rebalance recommendation."
	unwell   = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped."
)

func after(d time.Duration) time.Time { return launched.Add(d) }

func TestConclude(t *testing.T) {
	ends := func(d time.Duration, code string) Facts {
		return Facts{Ended: after(d), Reason: EndReason{Code: code}}
	}
	missed := Facts{Missed: due}
	route := Facts{Missed: due, Root: Root{Check: "route/no-egress", Sure: true, At: due}}
	maybe := Facts{Missed: due, Root: Root{Check: "iam/role-policies", At: due}}
	tests := []struct {
		name  string
		facts []Facts
		end   snapshot.End
		cause checkid.ID
	}{
		{"nothing yet", nil, snapshot.Open, ""},
		{"missed, still looked at", []Facts{route}, snapshot.Open, ""},
		{"joined", []Facts{{Ready: after(time.Minute)}}, snapshot.Joined, ""},
		{"joined after it had missed", []Facts{route, {Ready: after(20 * time.Minute)}}, snapshot.Joined, ""},
		{"joined, then reclaimed", []Facts{{Ready: after(time.Minute), Noticed: after(2 * time.Minute)}, ends(3*time.Minute, spotCode)}, snapshot.Joined, ""},
		{"given up", []Facts{route, {GivenUp: after(2 * time.Hour)}}, snapshot.NotJoined, "route/no-egress"},
		{"given up without a cause", []Facts{missed, {GivenUp: after(2 * time.Hour)}}, snapshot.NotJoined, ""},
		{"given up, and never seen", []Facts{{GivenUp: after(2 * time.Hour), Blind: "nodes: denied"}}, snapshot.Unclear, ""},

		{"taken back in time", []Facts{ends(2*time.Minute, spotCode)}, snapshot.Reclaimed, ""},
		{"taken back by a call, after the warning", []Facts{{Noticed: after(time.Minute)}, ends(3*time.Minute, userCode)}, snapshot.Reclaimed, ""},
		{"warned long before", []Facts{{Noticed: after(time.Minute), Due: after(30 * time.Minute)}, ends(14*time.Minute, userCode)}, snapshot.Terminated, ""},
		{"warned and forgotten", []Facts{{Noticed: after(time.Minute), Forgotten: after(2 * time.Hour)}}, snapshot.Unclear, ""},
		{"seen to lack, warned and forgotten", []Facts{missed, {Noticed: after(6 * time.Minute), Forgotten: after(2 * time.Hour)}}, snapshot.Reclaimed, ""},
		{"taken back a minute past due, seen before and after", []Facts{ends(6*time.Minute, spotCode)}, snapshot.Reclaimed, ""},
		{"the same, and Kubernetes' events were not to be had", []Facts{{Unseen: "node events: denied"}, ends(6*time.Minute, spotCode)}, snapshot.Unclear, ""},
		{"taken back, nobody says when, found by a late look", []Facts{{Reason: EndReason{Code: spotCode}, Over: after(20 * time.Minute)}}, snapshot.Reclaimed, ""},
		{"taken back late, no cause found", []Facts{missed, ends(7*time.Minute, spotCode)}, snapshot.Reclaimed, ""},
		{"taken back late, a likely cause", []Facts{maybe, ends(7*time.Minute, spotCode)}, snapshot.Reclaimed, ""},
		{"taken back late, with a broken route", []Facts{route, ends(40*time.Minute, spotCode)}, snapshot.NotJoined, "route/no-egress"},
		{"taken back after 40 minutes, no cause found", []Facts{missed, ends(40*time.Minute, spotCode)}, snapshot.NotJoined, ""},
		{"taken back after 40 minutes, never a node", []Facts{ends(40*time.Minute, spotCode)}, snapshot.NotJoined, ""},
		{"recommendation alone", []Facts{{Rebalance: after(time.Minute)}}, snapshot.Open, ""},
		{"recommendation, then its group", []Facts{{Rebalance: after(time.Minute), By: rebal}, ends(2*time.Minute, userCode)}, snapshot.Reclaimed, ""},
		{"recommendation, then a scale-in", []Facts{{Rebalance: after(time.Minute), By: scaledIn}, ends(2*time.Minute, userCode)}, snapshot.Terminated, ""},
		{"recommendation, then a person", []Facts{{Rebalance: after(time.Minute), By: unwell}, ends(2*time.Minute, userCode)}, snapshot.Terminated, ""},

		{"ended by a call", []Facts{ends(2*time.Minute, userCode)}, snapshot.Terminated, ""},
		{"scale-in", []Facts{{By: scaledIn}, ends(2*time.Minute, userCode)}, snapshot.Terminated, ""},
		{"ended by a call after it had missed", []Facts{route, ends(9*time.Minute, userCode)}, snapshot.NotJoined, "route/no-egress"},
		{"ended by a call past due, never a node", []Facts{ends(9*time.Minute, userCode)}, snapshot.NotJoined, ""},
		{"ended by a call, nobody says when", []Facts{{Reason: EndReason{Code: userCode}, Over: after(20 * time.Minute)}}, snapshot.Unclear, ""},
		{"ended by a call, nobody says when, soon found", []Facts{{Reason: EndReason{Code: userCode}, Over: after(6 * time.Minute)}}, snapshot.Terminated, ""},
		{"scheduled stop", []Facts{ends(time.Minute, "Server.ScheduledStop")}, snapshot.Terminated, ""},
		{"its own system", []Facts{ends(2*time.Minute, "Client.InstanceInitiatedShutdown")}, snapshot.NotJoined, "instance/ended-early"},
		{"its own system, late, never a node", []Facts{ends(20*time.Minute, "Client.InstanceInitiatedShutdown")}, snapshot.NotJoined, "instance/ended-early"},
		{"its own system, late", []Facts{maybe, ends(20*time.Minute, "Client.InstanceInitiatedShutdown")}, snapshot.NotJoined, "iam/role-policies"},
		{"KMS key", []Facts{ends(10*time.Second, "Client.InvalidKMSKey.InvalidState")}, snapshot.Refused, "launch/kms-key"},
		{"volume limit", []Facts{ends(10*time.Second, "Client.VolumeLimitExceeded")}, snapshot.Refused, "launch/volume-limit"},
		{"a fault of EC2", []Facts{ends(10*time.Second, "Server.InternalError")}, snapshot.NotJoined, "instance/ended-early"},
		{"refused", []Facts{{Refused: "launch/insufficient-capacity"}}, snapshot.Refused, "launch/insufficient-capacity"},

		{"forgotten", []Facts{{Forgotten: after(2 * time.Hour)}}, snapshot.Unclear, ""},
		{"missed, then forgotten", []Facts{route, {Forgotten: after(2 * time.Hour)}}, snapshot.NotJoined, "route/no-egress"},
		{"ended, and nobody says why", []Facts{{Ended: after(time.Minute)}}, snapshot.Unclear, ""},
		{"ended, and the nodes were not to be had", []Facts{{Unseen: "nodes: denied"}, ends(2*time.Minute, spotCode)}, snapshot.Unclear, ""},
		{"could not have been a node", []Facts{{Unseen: "nodes: denied"}, ends(2*time.Minute, "Client.InvalidKMSKey.InvalidState")}, snapshot.Refused, "launch/kms-key"},
		{"maintenance", []Facts{{Ended: after(time.Minute), Maintenance: after(0)}}, snapshot.Terminated, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := Facts{Started: launched}
			for _, more := range test.facts {
				f = Merge(f, more)
			}
			if f.Due.IsZero() {
				f.Due = due
			}
			end, cause, why := Conclude(f)
			if end != test.end || cause != test.cause {
				t.Errorf("%s because of %q (%s), want %s because of %q", end, cause, why, test.end, test.cause)
			}
			if (why == "") != (end == snapshot.Open) {
				t.Errorf("%q has the reason %q", end, why)
			}
		})
	}
}

const (
	ownSystem  = "Client.InstanceInitiatedShutdown"
	takenBack  = "EC2 took the Spot capacity back (" + spotCode + ")"
	byCall     = "somebody, or its Auto Scaling group, ended it (" + userCode + ")"
	byItself   = "its own operating system shut it down (" + ownSystem + ")"
	warnedEnd  = "EC2 warned that it takes the Spot capacity back, and it ended"
	replaced   = "its group replaced it: " + rebal
	rebalanced = "its group replaced it after EC2's rebalance recommendation"
	pastIts    = "past its time to join; then "
	notKnown   = "EC2 does not know it any more"
)

// What is said of an end, and each bound between two of them.
func TestConcludeSaysWhy(t *testing.T) {
	at := func(minutes float64) time.Time { return after(time.Duration(minutes * float64(time.Minute))) }
	because := func(code string) EndReason { return EndReason{Code: code} }
	sure := Root{Check: "route/no-egress", Sure: true, At: due}
	for _, test := range []struct {
		name  string
		facts Facts
		end   snapshot.End
		cause checkid.ID
		why   string
	}{
		{"joined", Facts{Ready: at(1)}, snapshot.Joined, "", "Ready 1m0s after its launch"},
		{"tagged", Facts{Tagged: at(30)}, snapshot.Joined, "", "registered, as Karpenter's tag on it tells; nobody could see whether the node became Ready"},
		{"tagged, and taken back", Facts{Tagged: at(30), Ended: at(40), Reason: because(spotCode)}, snapshot.Joined, "",
			"registered, as Karpenter's tag on it tells; nobody could see whether the node became Ready"},
		{"seen Ready, and tagged", Facts{Ready: at(1), Tagged: at(30)}, snapshot.Joined, "", "Ready 1m0s after its launch"},
		{"refused", Facts{Refused: "launch/kms-key", Reason: EndReason{Message: "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"}},
			snapshot.Refused, "launch/kms-key", "the KMS key of an encrypted volume is disabled, pending deletion or deleted, or its policy denies the launching role"},
		{"given up", Facts{Missed: due, GivenUp: at(120)}, snapshot.NotJoined, "", "still there, and no Ready node, when it was given up"},
		{"given up, and nobody could look", Facts{GivenUp: at(120), Blind: "nodes: denied"}, snapshot.Unclear, "", "nodes: denied"},
		{"given up, and nobody looked", Facts{GivenUp: at(120)}, snapshot.Unclear, "", "nobody saw whether it was a node until it was given up"},
		{"forgotten", Facts{Forgotten: at(120)}, snapshot.Unclear, "", "EC2 does not know it any more, and nobody saw how it ended"},
		{"forgotten, and its end was seen", Facts{Forgotten: at(120), Ended: at(2)}, snapshot.Unclear, "", "it ended before it joined, and nobody told why"},
		{"seen to lack, and forgotten", Facts{Missed: due, Forgotten: at(120)}, snapshot.NotJoined, "", pastIts + notKnown},
		{"ended late, and nobody says why", Facts{Ended: at(9)}, snapshot.Unclear, "", "it ended before it joined, and nobody told why"},
		{"seen to lack, ended, and nobody says why", Facts{Missed: due, Ended: at(9)}, snapshot.NotJoined, "", pastIts + "EC2 gives no reason"},
		{"seen to lack, ended by itself, and nobody says when", Facts{Missed: due, Over: at(9), Reason: because(ownSystem)}, snapshot.NotJoined, "instance/ended-early", pastIts + byItself},

		// Whether it had been a node cannot be told.
		{"not to be told", Facts{Unseen: "nodes: denied", Ended: at(2), Reason: because(ownSystem)}, snapshot.Unclear, "", "nodes: denied"},
		{"not to be told, but it never ran", Facts{Unseen: "nodes: denied", Ended: at(2), Reason: because("Server.InternalError")},
			snapshot.NotJoined, "instance/ended-early", "a fault inside EC2 (Server.InternalError)"},
		{"not to be told, but it was seen to lack before it ended", Facts{Unseen: "nodes: denied", Missed: at(6), Ended: at(9), Over: at(9), Reason: because(userCode)},
			snapshot.NotJoined, "", pastIts + byCall},
		{"not to be told, and it was seen to lack when it had ended", Facts{Unseen: "nodes: denied", Missed: at(9), Ended: at(8), Reason: because(userCode)},
			snapshot.Unclear, "", "nodes: denied"},
		{"not to be told, and it was seen to lack as it ended", Facts{Unseen: "nodes: denied", Missed: at(8), Ended: at(8), Reason: because(userCode)},
			snapshot.Unclear, "", "nodes: denied"},
		{"not to be told, and it was seen to lack when somebody knew that it had ended", Facts{Unseen: "nodes: denied", Missed: at(9), Over: at(8), Reason: because(userCode)},
			snapshot.Unclear, "", "nodes: denied"},

		// What EC2 takes back.
		{"taken back", Facts{Ended: at(2), Reason: because(spotCode)}, snapshot.Reclaimed, "", takenBack},
		{"taken back late for a certain cause", Facts{Missed: due, Root: sure, Ended: at(7), Reason: because(spotCode)}, snapshot.NotJoined, sure.Check, pastIts + takenBack},
		{"taken back late, and the look that found the cause was not over", Facts{Missed: at(9), Root: sure, Ended: at(8), Reason: because(spotCode)}, snapshot.Reclaimed,
			"", takenBack},
		{"seen to lack, and warned before that", Facts{Missed: due, Root: sure, Noticed: due.Add(-3 * time.Minute), Reason: because(spotCode)}, snapshot.Reclaimed, "", takenBack},
		{"taken back when its longest time to join was over", Facts{Missed: due, Ended: at(15), Reason: because(spotCode)}, snapshot.Reclaimed, "", takenBack},
		{"taken back after its longest time to join", Facts{Missed: due, Ended: at(15.1), Reason: because(spotCode)}, snapshot.NotJoined, "", pastIts + takenBack},
		{"warned, and ended by a call", Facts{Noticed: at(1), Ended: at(3), Reason: because(userCode)}, snapshot.Reclaimed, "", warnedEnd},
		{"warned, and ended just as long after as belongs to it", Facts{Noticed: at(1), Ended: at(11), Due: at(30), Reason: because(userCode)}, snapshot.Reclaimed, "", warnedEnd},
		{"warned, and ended later", Facts{Noticed: at(1), Ended: at(11.1), Due: at(30), Reason: because(userCode)}, snapshot.Terminated, "", byCall},
		{"ended when it was warned", Facts{Noticed: at(2), Ended: at(2), Reason: because(userCode)}, snapshot.Reclaimed, "", warnedEnd},
		{"ended before it was warned", Facts{Noticed: at(3), Ended: at(2), Reason: because(userCode)}, snapshot.Terminated, "", byCall},
		{"known to have ended before it was warned", Facts{Noticed: at(3), Over: at(2), Ended: at(3), Reason: because(userCode)}, snapshot.Terminated, "", byCall},
		{"known to have ended when it was warned", Facts{Noticed: at(3), Over: at(3), Ended: at(4), Reason: because(userCode)}, snapshot.Reclaimed, "", warnedEnd},

		// Recommendations, and groups.
		{"recommendation, then its group", Facts{Rebalance: at(1), By: rebal, Ended: at(2), Reason: because(userCode)}, snapshot.Reclaimed, "", rebalanced},
		{"recommendation, then its group, and nobody says when", Facts{Rebalance: at(1), By: rebal, Over: at(2), Reason: because(userCode)}, snapshot.Reclaimed, "", rebalanced},
		{"recommendation, and its group says nothing", Facts{Rebalance: at(1), Ended: at(2), Reason: because(userCode)}, snapshot.Terminated, "", byCall},
		{"ended when it was recommended", Facts{Rebalance: at(2), By: rebal, Ended: at(2), Reason: because(userCode)}, snapshot.Reclaimed, "", rebalanced},
		{"ended before it was recommended", Facts{Rebalance: at(3), By: rebal, Ended: at(2), Reason: because(userCode)}, snapshot.Terminated, "", replaced},
		{"replaced without a recommendation", Facts{By: rebal, Ended: at(2), Reason: because(userCode)}, snapshot.Terminated, "", replaced},
		{"scale-in", Facts{By: scaledIn, Ended: at(2), Reason: because(userCode)}, snapshot.Terminated, "", "its group ended it, as it was asked: " + scaledIn},
		{"its group found it ended", Facts{By: unwell, Ended: at(2), Reason: because(userCode)}, snapshot.Terminated, "", byCall},

		// What a user or another program ended.
		{"hibernated", Facts{Ended: at(2), Reason: because("Client.UserInitiatedHibernate")}, snapshot.Terminated, "", "somebody hibernated it (Client.UserInitiatedHibernate)"},
		{"scheduled stop", Facts{Ended: at(2), Reason: because("Server.ScheduledStop")}, snapshot.Terminated, "",
			"EC2 stopped it for scheduled maintenance (Server.ScheduledStop)"},
		{"maintenance, and nobody says why", Facts{Ended: at(2), Maintenance: at(1)}, snapshot.Terminated, "", "EC2 had maintenance planned for it"},
		{"maintenance, and it ended by itself", Facts{Ended: at(2), Maintenance: at(1), Reason: because(ownSystem)}, snapshot.NotJoined, "instance/ended-early", byItself},
		{"by a call past its time", Facts{Ended: at(5), Reason: because(userCode)}, snapshot.NotJoined, "", pastIts + byCall},
		{"by a call, and nobody saw when", Facts{Over: at(20), Reason: because(userCode)}, snapshot.Unclear, "",
			"nobody saw whether its time to join was over when it ended: " + byCall},
		{"by a call, and nobody saw it at all", Facts{Reason: because(userCode)}, snapshot.Terminated, "", byCall},
		{"by itself", Facts{Ended: at(2), Reason: because(ownSystem)}, snapshot.NotJoined, "instance/ended-early", byItself},
		{"by itself past its time", Facts{Ended: at(9), Reason: because(ownSystem)}, snapshot.NotJoined, "instance/ended-early", byItself},
		{"a code that is new", Facts{Ended: at(2), Reason: because("Server.New")}, snapshot.NotJoined, "instance/ended-early", "EC2 says Server.New (Server.New)"},
		{"a message alone", Facts{Ended: at(2), Reason: EndReason{Message: "It is gone."}}, snapshot.NotJoined, "instance/ended-early", "EC2 gives no reason"},
	} {
		f := test.facts
		f.Started = launched
		if f.Due.IsZero() {
			f.Due = due
		}
		end, cause, why := Conclude(f)
		if end != test.end || cause != test.cause || why != test.why {
			t.Errorf("%s: %s because of %q: %q\nwant %s because of %q: %q", test.name, end, cause, why, test.end, test.cause, test.why)
		}
	}
}

// Of two reasons the one counts that says more, whichever comes first.
func TestMergeTakesTheClearerReason(t *testing.T) {
	none, text, longer := EndReason{}, EndReason{Message: "x"}, EndReason{Message: "x y"}
	call, other := EndReason{Code: userCode}, EndReason{Code: spotCode}
	for _, test := range []struct{ clear, vague EndReason }{
		{text, none}, {call, none}, {other, none}, {longer, text}, {call, text}, {call, longer}, {other, longer}, {other, call},
		{EndReason{Code: ownSystem}, other}, {EndReason{Code: userCode, Message: "b"}, call},
		{EndReason{Code: userCode, Message: "a"}, EndReason{Code: userCode, Message: "b"}},
	} {
		for _, pair := range [][2]EndReason{{test.clear, test.vague}, {test.vague, test.clear}} {
			if got := Merge(Facts{Reason: pair[0]}, Facts{Reason: pair[1]}).Reason; got != test.clear {
				t.Errorf("of %+v: %+v, want %+v", pair, got, test.clear)
			}
		}
	}
}

// What was lost must have ended, however that is known.
func TestLostHasEnded(t *testing.T) {
	joined := Facts{Started: launched, Ready: after(time.Minute)}
	for name, test := range map[string]struct {
		more Facts
		want bool
	}{
		"warned alone":                   {Facts{Noticed: after(9 * time.Minute)}, false},
		"warned, and the time of an end": {Facts{Noticed: after(9 * time.Minute), Ended: after(10 * time.Minute)}, true},
		"warned, and known to be over":   {Facts{Noticed: after(9 * time.Minute), Over: after(10 * time.Minute)}, true},
		"EC2's reason alone":             {Facts{Reason: EndReason{Code: spotCode}}, true},
	} {
		if got := Merge(joined, test.more).Lost(); got != test.want {
			t.Errorf("%s: lost %v", name, got)
		}
	}
}

// Of one instance the join counts that came first, and of two at the same time
// the quicker, in whichever order they come.
func TestJoinsTakeTheFirst(t *testing.T) {
	join := func(minute, seconds int) Join {
		return Join{Instance: "i-1", At: after(time.Duration(minute) * time.Minute), Seconds: seconds}
	}
	for _, test := range []struct{ want, other Join }{
		{join(1, 60), join(2, 60)}, {join(1, 60), join(2, 30)}, {join(1, 60), join(2, 90)}, {join(1, 60), join(1, 61)},
	} {
		for _, pair := range [][]Join{{test.want, test.other}, {test.other, test.want}} {
			if got := Joins(nil).With(pair, after(time.Hour)); len(got) != 1 || got[0] != test.want {
				t.Errorf("of %v: %v, want %v", pair, got, test.want)
			}
		}
	}
}

func TestJoinsThatCount(t *testing.T) {
	at := after(0)
	for name, test := range map[string]struct {
		join Join
		want int
	}{
		"a join":                     {Join{Instance: "i-1", At: at, Seconds: 1}, 1},
		"one of no time":             {Join{Instance: "i-1", At: at}, 0},
		"one of less than no time":   {Join{Instance: "i-1", At: at, Seconds: -1}, 0},
		"one of 30 days ago":         {Join{Instance: "i-1", At: at.Add(-30 * 24 * time.Hour), Seconds: 1}, 1},
		"one of a second longer ago": {Join{Instance: "i-1", At: at.Add(-30*24*time.Hour - time.Second), Seconds: 1}, 0},
	} {
		if got := Joins(nil).With([]Join{test.join}, at); len(got) != test.want {
			t.Errorf("%s: %d count, want %d", name, len(got), test.want)
		}
	}
	// The slow one may be anywhere among them.
	seconds := repeat(40, 60)
	seconds[37] = 3000 // where the 95th of 100 is when they are sorted
	if got := Joins(joins(seconds...)).Allow(5*time.Minute, after(time.Hour)); got.Usual != time.Minute {
		t.Errorf("usual %s, want that of 95 of 100", got.Usual)
	}
}

// What was started at no known time teaches nothing, and a certain cause only
// where the launch had missed roll call.
func TestTeachesAtTheBounds(t *testing.T) {
	certain := Root{Check: "route/no-egress", Sure: true}
	for name, test := range map[string]struct {
		facts Facts
		want  bool
	}{
		"no known start":                 {Facts{Ready: after(time.Minute)}, false},
		"Ready when it was started":      {Facts{Started: launched, Ready: launched}, false},
		"a certain cause, and in time":   {Facts{Started: launched, Ready: after(time.Minute), Root: certain}, true},
		"a certain cause, and not in it": {Facts{Started: launched, Ready: after(time.Hour), Root: certain, Missed: due}, false},
	} {
		if got := test.facts.Teaches(); got != test.want {
			t.Errorf("%s: teaches %v", name, got)
		}
	}
}

func TestDecideAtTheBounds(t *testing.T) {
	policy := Policy{Due: due, GiveUp: 2 * time.Hour}
	for _, test := range []struct {
		name   string
		before LaunchStatus
		after  time.Duration
		seen   Seen
		want   LaunchStatus
		reason Reason
	}{
		{"as long as was set", Missed, 2 * time.Hour, Seen{EC2Read: true, Instance: running, NodesRead: true}, Missed, NeverSeen},
		{"longer", Missed, 2*time.Hour + 1, Seen{EC2Read: true, Instance: running, NodesRead: true}, GivenUp, TooOld},
		{"longer, and the nodes could not be read", Missed, 3 * time.Hour, Seen{EC2Read: true, Instance: running, NodesRead: false}, GivenUp, NodesUnseen},
		{"given up stays", GivenUp, time.Minute, Seen{EC2Read: true, Instance: running, NodesRead: true, Node: isReady}, GivenUp, TooOld},
		{"as long as EC2 may take to describe it", Missed, 5 * time.Minute, Seen{EC2Read: true, NodesRead: true}, Missed, NeverSeen},
		{"longer than that", Missed, 5*time.Minute + 1, Seen{EC2Read: true, NodesRead: true}, Gone, InstanceLost},
		// A node of an earlier look says nothing of now.
		{"the nodes could not be read", Missed, 6 * time.Minute, Seen{EC2Read: true, Instance: running, NodesRead: false, Node: isReady}, Missed, NodesUnseen},
	} {
		got := Decide(Launch{Started: launched, Status: test.before}, test.seen, launched.Add(test.after), policy)
		if got.Status != test.want || got.Reason != test.reason {
			t.Errorf("%s: %q because %q, want %q because %q", test.name, got.Status, got.Reason, test.want, test.reason)
		}
	}
}

// EC2's message says more than its code, and stands where it has one.
func TestDecideSaysWhyItEnded(t *testing.T) {
	for want, reason := range map[string]snapshot.StateReason{
		"Client.X": {Code: "Client.X"}, "Client.X: it was": {Code: "Client.X", Message: "Client.X: it was"}, "": {},
	} {
		in := &snapshot.Instance{ID: "i-1", State: "stopped", StateReason: reason}
		if got := Decide(Launch{Started: launched}, Seen{EC2Read: true, Instance: in}, due, Policy{Due: due, GiveUp: time.Hour}); got.EndedWhy != want || got.Status != Gone {
			t.Errorf("%+v: %q because %q, want %q", reason, got.Status, got.EndedWhy, want)
		}
	}
}

// some are facts with every field drawn from a few values, so that they clash.
func some(r *rand.Rand) Facts {
	at := func() time.Time {
		if r.IntN(2) == 0 {
			return time.Time{}
		}
		return after(time.Duration(r.IntN(20)) * time.Minute)
	}
	word := func(words ...string) string { return append(words, "")[r.IntN(len(words)+1)] }
	root := Root{checkid.ID(word("route/no-egress", "iam/role-trust")), r.IntN(2) == 0, at()}
	if root.Check == "" {
		root = Root{}
	}
	return Facts{
		Started: at(), Due: at(), Registered: at(), Ready: at(), Tagged: at(), Ended: at(), Alive: at(), Over: at(),
		Reason: EndReason{word(spotCode, userCode, "Client.InternalError"), word("a", "b", "ab")},
		By:     word(scaledIn, rebal), Forgotten: at(), Noticed: at(), Rebalance: at(), Maintenance: at(), Missed: at(),
		Root:    root,
		Refused: checkid.ID(word("launch/unclassified", "launch/kms-key", "launch/template")), GivenUp: at(), Blind: word("x", "y"), Unseen: word("x", "y"),
	}
}

func TestMergeIsASemilattice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		a, b, c := some(r), some(r), some(r)
		if Merge(a, a) != a || Merge(a, b) != Merge(b, a) || Merge(Merge(a, b), c) != Merge(a, Merge(b, c)) {
			t.Fatalf("of\n%+v\n%+v\n%+v\nthe order matters", a, b, c)
		}
		if Merge(a, Facts{}) != a {
			t.Fatalf("nothing changes %+v", a)
		}
		if end, _, _ := Conclude(a); end == snapshot.Joined {
			if with, _, _ := Conclude(Merge(a, b)); with != snapshot.Joined {
				t.Fatalf("%+v had joined; with %+v it is %s", a, b, with)
			}
		}
	}
}

// story is what really became of a launch, the events that tell of it, and what
// a sweep sees in the end, when EC2 still describes it.
type story struct {
	end    snapshot.End
	cause  checkid.ID
	events []Facts
	sweep  []Facts
}

// tell makes a story.
func tell(r *rand.Rand) story {
	began := Facts{Started: launched, Due: due}
	minutes := func(from, to int) time.Duration {
		return time.Duration(from)*time.Minute + time.Duration(r.IntN((to-from)*60))*time.Second
	}
	route := Root{Check: "route/no-egress", Sure: true, At: due}
	miss := Facts{Missed: due.Add(time.Second), Root: route}
	switch r.IntN(9) {
	case 0:
		ready := Facts{Ready: after(minutes(1, 4))}
		return story{snapshot.Joined, "", []Facts{began}, []Facts{began, ready}}
	case 1: // seen Ready, and gone since
		ready, gone := Facts{Ready: after(minutes(1, 4))}, Facts{Ended: after(minutes(6, 60)), Reason: EndReason{Code: spotCode}}
		return story{snapshot.Joined, "", []Facts{began, {Noticed: gone.Ended.Add(-2 * time.Minute)}, {Ended: gone.Ended}}, []Facts{began, ready, gone}}
	case 2: // the warning may be lost: EC2's own reason tells
		gone := Facts{Ended: after(minutes(1, 4)), Reason: EndReason{Code: spotCode}}
		return story{snapshot.Reclaimed, "", []Facts{began, {Noticed: gone.Ended.Add(-30 * time.Second)}, {Ended: gone.Ended.Add(time.Second)}}, []Facts{began, gone}}
	case 3:
		return story{snapshot.NotJoined, route.Check, []Facts{began}, []Facts{began, miss, {GivenUp: after(2 * time.Hour)}}}
	case 4:
		gone := Facts{Ended: after(minutes(20, 60)), Reason: EndReason{Code: spotCode}}
		return story{snapshot.NotJoined, route.Check, []Facts{began, {Noticed: gone.Ended.Add(-time.Minute)}}, []Facts{began, miss, gone}}
	case 5:
		gone := Facts{Ended: after(minutes(1, 4)), Reason: EndReason{Code: userCode}, By: scaledIn}
		return story{snapshot.Terminated, "", []Facts{began, {Rebalance: after(time.Second)}, {Ended: gone.Ended.Add(time.Second)}}, []Facts{began, gone}}
	case 6:
		refused := Facts{Started: launched, Refused: "launch/insufficient-capacity", Reason: EndReason{Message: "We currently do not have sufficient m5.large capacity"}}
		return story{snapshot.Refused, refused.Refused, []Facts{refused}, []Facts{refused}}
	case 7:
		gone := Facts{Ended: after(10 * time.Second), Reason: EndReason{Code: "Client.InvalidKMSKey.InvalidState"}}
		return story{snapshot.Refused, "launch/kms-key", []Facts{began, {Ended: gone.Ended.Add(time.Second)}, {Refused: "launch/kms-key"}}, []Facts{began, gone}}
	}
	return story{snapshot.Unclear, "", []Facts{began}, []Facts{began, {Forgotten: after(2 * time.Hour)}}}
}

// Whatever is lost, doubled or late: once the sweep has looked the end is the
// true one.
func TestEndsAreRightWhateverTheEventsDo(t *testing.T) {
	seen := map[snapshot.End]int{}
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := tell(r)
		var told []Facts
		for _, e := range s.events {
			for range r.IntN(3) { // lost, once, or twice
				told = append(told, e)
			}
		}
		told = append(told, s.sweep...)
		r.Shuffle(len(told), func(i, j int) { told[i], told[j] = told[j], told[i] })
		var f Facts
		for _, e := range told {
			f = Merge(f, e)
		}
		end, cause, why := Conclude(f)
		if end != s.end || cause != s.cause {
			t.Fatalf("seed %d: %s because of %q (%s), truly %s because of %q\n%+v", seed, end, cause, why, s.end, s.cause, f)
		}
		seen[end]++
	}
	if len(seen) != 6 {
		t.Errorf("ends %v, want all six", seen)
	}
}

// Each field of a merge is the one that Facts promises: the earliest time, but
// for Alive the latest, and the surest root.
func TestMergeTakesTheEarliest(t *testing.T) {
	early, late := after(time.Minute), after(9*time.Minute)
	all := func(at, alive time.Time, sure bool) Facts {
		return Facts{
			Started: at, Due: at, Registered: at, Ready: at, Ended: at, Alive: alive, Over: at, Forgotten: at, Noticed: at,
			Rebalance: at, Maintenance: at, Missed: at, GivenUp: at, Root: Root{Check: "route/no-egress", Sure: sure, At: at},
		}
	}
	a, b, want := all(early, early, false), all(late, late, true), all(early, late, false)
	want.Root = Root{Check: "route/no-egress", Sure: true, At: late}
	if got := Merge(a, b); got != want {
		t.Errorf("Merge = %+v\nwant %+v", got, want)
	}
	if got := Merge(b, a); got != want {
		t.Errorf("Merge the other way = %+v\nwant %+v", got, want)
	}
}

func TestLate(t *testing.T) {
	due := after(5 * time.Minute)
	tests := []struct {
		name  string
		facts Facts
		want  bool
	}{
		{"ended before it was due", Facts{Due: due, Ended: due.Add(-time.Second)}, false},
		{"ended when it was due", Facts{Due: due, Ended: due}, true},
		{"ended later", Facts{Due: due, Ended: due.Add(time.Second)}, true},
		{"ended before it was due, whatever was noticed", Facts{Due: due, Ended: due.Add(-time.Second), Noticed: due, Missed: due}, false},
		{"noticed so that it had until it was due", Facts{Due: due, Noticed: due.Add(-notice)}, true},
		{"noticed so that it had not", Facts{Due: due, Noticed: due.Add(-notice - time.Second)}, false},
		{"gone longer after the notice than EC2 gives", Facts{Due: due, Noticed: due.Add(-notice - time.Second), Over: due.Add(time.Hour)}, false},
		{"gone just as EC2 gives: the look tells", Facts{Due: due, Noticed: due.Add(-notice - time.Second), Over: due.Add(-time.Second)}, false},
		{"gone within the notice, seen to lack", Facts{Due: due, Noticed: due.Add(-notice), Over: due, Missed: due}, true},
		{"gone within the notice, not seen to lack", Facts{Due: due, Noticed: due.Add(-notice), Over: due}, false},
		{"over within a sweep of its time", Facts{Due: due, Over: due.Add(between)}, false},
		{"over later", Facts{Due: due, Over: due.Add(between + time.Second)}, true},
		{"nothing is known", Facts{Due: due}, false},
	}
	for _, tt := range tests {
		if got := tt.facts.late(); got != tt.want {
			t.Errorf("%s: late = %t, want %t", tt.name, got, tt.want)
		}
	}
}

func joins(seconds ...int) []Join {
	var list []Join
	for i, s := range seconds {
		list = append(list, Join{Instance: fmt.Sprintf("i-%04d", i), At: after(time.Duration(i) * time.Minute), Seconds: s})
	}
	return list
}

func repeat(n, seconds int) []int { return slices.Repeat([]int{seconds}, n) }

func TestAllow(t *testing.T) {
	const setting = 5 * time.Minute
	tests := []struct {
		name    string
		seconds []int
		want    Allowance
	}{
		{"nothing", nil, Allowance{For: setting}},
		{"too few", repeat(19, 60), Allowance{For: setting}},
		{"fast", repeat(20, 20), Allowance{For: time.Minute, Usual: 20 * time.Second, Samples: 20}},
		{"half a minute more at least", repeat(20, 50), Allowance{For: 80 * time.Second, Usual: 50 * time.Second, Samples: 20}},
		{"half of it again", repeat(50, 80), Allowance{For: 2 * time.Minute, Usual: 80 * time.Second, Samples: 50}},
		{"slow", repeat(20, 480), Allowance{For: 12 * time.Minute, Usual: 8 * time.Minute, Samples: 20}},
		{"too slow", repeat(20, 1200), Allowance{For: 15 * time.Minute, Usual: 20 * time.Minute, Samples: 20}},
		{"few that are late do not count", append(repeat(190, 60), repeat(10, 3000)...), Allowance{For: 90 * time.Second, Usual: time.Minute, Samples: 200}},
		{"one more does", append(repeat(189, 60), repeat(11, 600)...), Allowance{For: 15 * time.Minute, Usual: 10 * time.Minute, Samples: 200}},
	}
	for _, test := range tests {
		j := Joins(nil).With(joins(test.seconds...), after(0))
		if got := j.Allow(setting, after(0)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	old := Joins(joins(repeat(40, 60)...))
	if got := old.Allow(setting, after(31*24*time.Hour)); got.Samples != 0 || got.For != setting {
		t.Errorf("a month later: %+v, want the setting", got)
	}
}

func TestJoinsWith(t *testing.T) {
	list := joins(repeat(230, 60)...)
	now := after(4 * time.Hour)
	all := Joins(nil).With(list, now)
	if len(all) != 200 || all[0].Instance != "i-0030" {
		t.Fatalf("%d joins from %s, want the last 200", len(all), all[0].Instance)
	}
	if again := all.With(all, now); !slices.Equal(again, all) {
		t.Error("the same joins again change something")
	}
	a, b := list[:100], list[50:150]
	if !slices.Equal(Joins(nil).With(a, now).With(b, now), Joins(nil).With(b, now).With(a, now)) {
		t.Error("the order matters")
	}
	if got := all.With(nil, after(31*24*time.Hour)); len(got) != 0 {
		t.Errorf("%d joins of a month ago are kept", len(got))
	}
}

func TestTeaches(t *testing.T) {
	ready := Facts{Started: launched, Ready: after(20 * time.Minute)}
	sure := Merge(ready, Facts{Missed: due, Root: Root{Check: "route/no-egress", Sure: true}})
	unsure := Merge(ready, Facts{Missed: due, Root: Root{Check: "iam/role-policies"}})
	if !ready.Teaches() || sure.Teaches() || !unsure.Teaches() || (Facts{Started: launched}).Teaches() {
		t.Error("what teaches is not what joined by itself")
	}
}

func TestLost(t *testing.T) {
	const (
		sick    = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 instance status checks failure."
		elb     = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to an ELB system health check failure."
		set     = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to a user health-check."
		balance = "At 2026-11-20T14:52:00Z instances were launched to balance instances in zones us-west-2a with other zones resulting in more than desired number of instances in the group."
	)
	ends := func(code string) Facts { return Facts{Ended: after(10 * time.Minute), Reason: EndReason{Code: code}} }
	tests := []struct {
		name  string
		facts []Facts
		want  bool
	}{
		{"it lives", nil, false},
		{"warned, and it lives", []Facts{{Noticed: after(9 * time.Minute)}}, false},
		{"taken back", []Facts{ends(spotCode)}, true},
		{"warned, then drained and ended by a call", []Facts{{Noticed: after(9 * time.Minute)}, ends(userCode)}, true},
		{"warned long before", []Facts{{Noticed: after(2 * time.Minute), Due: due}, {Ended: after(40 * time.Minute), Reason: EndReason{Code: userCode}}}, false},
		{"replaced after a recommendation", []Facts{{Rebalance: after(9 * time.Minute), By: rebal}, ends(userCode)}, true},
		{"recommendation, then a call", []Facts{{Rebalance: after(9 * time.Minute)}, ends(userCode)}, false},
		{"a call", []Facts{ends(userCode)}, false},
		{"a scale-in", []Facts{{By: scaledIn}, ends(userCode)}, false},
		{"a scale-in of what its own system shut down", []Facts{{By: scaledIn}, ends("Client.InstanceInitiatedShutdown")}, false},
		{"status checks failed", []Facts{{By: sick}, ends(userCode)}, true},
		{"load balancer's check failed", []Facts{{By: elb}, ends(userCode)}, true},
		{"somebody set its health", []Facts{{By: set}, ends(userCode)}, false},
		{"zones were balanced", []Facts{{By: balance}, ends(userCode)}, false},
		{"its own system", []Facts{{By: unwell}, ends("Client.InstanceInitiatedShutdown")}, true},
		{"hibernated", []Facts{ends("Client.UserInitiatedHibernate")}, false},
		{"nobody says why", []Facts{{Ended: after(10 * time.Minute)}}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var f Facts
			for _, more := range test.facts {
				f = Merge(f, more)
			}
			if f.Lost() {
				t.Error("lost, and it never joined")
			}
			f = Merge(f, Facts{Started: launched, Ready: after(time.Minute)})
			if got := f.Lost(); got != test.want {
				t.Errorf("lost: %v, want %v", got, test.want)
			}
		})
	}
}

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

// TestDecideByKarpentersTag: where the nodes cannot be read, the tag that comes with
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
