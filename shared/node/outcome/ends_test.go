package outcome

import (
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

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
			snapshot.Refused, "launch/kms-key", "the KMS key of an encrypted volume is disabled, pending deletion, gone, or may not be used"},
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

		// What somebody or something else ended.
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
// the quicker, in whichever order they are told.
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
