package outcome

import (
	"fmt"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

const (
	// warned is how long after an interruption warning an end belongs to it. EC2
	// gives two minutes; hibernating takes longer, and its record comes late.
	warned = 10 * time.Minute
	// notice is how long EC2 gives after its warning.
	notice = 2 * time.Minute
	// between is the time between two sweeps, and a little.
	between = 6 * time.Minute
)

// Conclude tells how a launch ended, from what is known of it: exactly one end,
// or Open. Cause is a check's id, why the end in a few words.
//
//   - A Ready node has joined, whatever came later.
//   - So has one that Karpenter tagged, which it does when a node registers, where
//     nobody could see the nodes.
//   - What EC2 took back is reclaimed, if its time to join was not over, or if
//     it had not missed roll call for a certain cause; nobody can say whether
//     it would have joined. One that sat there with a broken route and is then
//     taken back did not join. Nor did one that outlived the longest time to
//     join (15 minutes), whether or not a cause was found.
//   - It takes no look between its time to join and its end for that: who looks
//     at an instance that has ended asks the nodes, and Kubernetes' events of the
//     last hour, whether it had been one. Only where they cannot tell (Unseen),
//     or EC2 had forgotten it when somebody looked, it is not known.
//   - A rebalance recommendation alone takes nothing back. It counts where the
//     instance's group then ended it, and not for a scale-in.
//   - What was ended by a call before it was due is terminated; past due it did
//     not join. Where EC2 gives no time and nobody looked, it is not known which.
//   - What ended by itself did not join, or was refused, where EC2's reason is
//     one with which no instance comes up.
//   - What was not seen is not known, and says what was missing.
func Conclude(f Facts) (end snapshot.End, cause checkid.ID, why string) {
	switch {
	case !f.Ready.IsZero():
		return snapshot.Joined, "", "Ready " + lasted(f.Started, f.Ready) + " after its launch"
	case !f.Tagged.IsZero():
		return snapshot.Joined, "", "registered, as Karpenter's tag on it tells; nobody could see whether the node became Ready"
	case f.Refused != "":
		return snapshot.Refused, f.Refused, f.said(activity.Classify(f.Reason.Message))
	case !f.Ended.IsZero(), f.Reason != EndReason{}, !f.Forgotten.IsZero():
		return f.over()
	case !f.GivenUp.IsZero() && !f.Missed.IsZero():
		return snapshot.NotJoined, f.Root.Check, "still there, and no Ready node, when it was given up"
	case !f.GivenUp.IsZero():
		return snapshot.Unclear, "", orElse(f.Blind, "nobody saw whether it was a node until it was given up")
	}
	return snapshot.Open, "", ""
}

// over is the end of an instance that is there no more.
func (f Facts) over() (end snapshot.End, cause checkid.ID, why string) {
	v := activity.ClassifyReason(f.Reason.Code, f.Reason.Message)
	known := f.Reason != EndReason{}
	if v.Class.Family() == checkid.Launch {
		return snapshot.Refused, v.Class, f.said(v)
	}
	missed := f.missed()
	switch {
	case missed:
	case f.Unseen != "" && !v.NeverRan:
		return snapshot.Unclear, "", f.Unseen
	case f.Ended.IsZero() && !known:
		return snapshot.Unclear, "", "EC2 does not know it any more, and nobody saw how it ended"
	}
	late := f.late()
	if how, taken := f.taken(v); taken {
		if missed && late && f.Root.Sure || f.outlived() {
			return snapshot.NotJoined, f.Root.Check, "past its time to join; then " + how
		}
		return snapshot.Reclaimed, "", how
	}
	how, called := f.called(v)
	switch {
	case missed, called && late && !f.Ended.IsZero():
		return snapshot.NotJoined, f.blame(called), "past its time to join; then " + how
	case called && !late:
		return snapshot.Terminated, "", how
	case called:
		return snapshot.Unclear, "", "nobody saw whether its time to join was over when it ended: " + how
	case known:
		return snapshot.NotJoined, f.blame(called), how
	}
	return snapshot.Unclear, "", "it ended before it joined, and nobody told why"
}

// missed tells that it was seen to lack while it was there. A look that was not
// over when the instance ended proves nothing: its node may have gone with it
// before the nodes were read.
func (f Facts) missed() bool {
	return !f.Missed.IsZero() && (f.Ended.IsZero() || f.Missed.Before(f.Ended)) && (f.Over.IsZero() || f.Missed.Before(f.Over))
}

// late tells whether its time to join was over when it ended, as far as that is
// known. Where only a look tells that it is over, the look is up to a sweep's
// interval later than the end.
func (f Facts) late() bool {
	switch {
	case !f.Ended.IsZero():
		return !f.Ended.Before(f.Due)
	case !f.Noticed.IsZero() && (f.Over.IsZero() || f.Over.Sub(f.Noticed) > notice):
		return !f.Noticed.Add(notice).Before(f.Due)
	}
	return !f.Missed.IsZero() || f.Over.Sub(f.Due) > between
}

// outlived tells that it was there for longer than any launch has to join.
func (f Facts) outlived() bool {
	return later(later(f.Ended, f.Alive), f.Noticed).Sub(f.Started) > Longest
}

// taken tells that EC2 took the instance back.
func (f Facts) taken(v activity.Verdict) (why string, ok bool) {
	within := func(since time.Time, span time.Duration) bool {
		return !since.IsZero() && (f.Over.IsZero() || !f.Over.Before(since)) &&
			(f.Ended.IsZero() || !f.Ended.Before(since) && f.Ended.Sub(since) <= span)
	}
	switch {
	case v.Class == checkid.SpotReclaimedBeforeJoin:
		return f.said(v), true
	case within(f.Noticed, warned):
		return "EC2 warned that it takes the Spot capacity back, and it ended", true
	case f.By != "" && !f.Rebalance.IsZero() && f.since(f.Rebalance) && activity.Rebalancing(f.By):
		return "its group replaced it after EC2's rebalance recommendation", true
	}
	return "", false
}

// since tells that it ended after some time.
func (f Facts) since(t time.Time) bool {
	end := f.Ended
	if end.IsZero() {
		end = f.Over
	}
	return !end.Before(t)
}

// called tells that somebody ended the instance, and who, as far as that is
// known.
func (f Facts) called(v activity.Verdict) (why string, ok bool) {
	switch {
	case activity.Asked(f.By):
		return "its group ended it, as it was asked: " + activity.Clean(f.By), true
	case f.By != "" && !activity.FoundEnded(f.By):
		return "its group replaced it: " + activity.Clean(f.By), true
	case f.Reason.Code == activity.UserInitiated, f.Reason.Code == "Client.UserInitiatedHibernate":
		return f.said(v), true
	case f.Reason.Code == "Server.ScheduledStop":
		return f.said(v), true
	case f.Reason == EndReason{} && !f.Maintenance.IsZero():
		return "EC2 had maintenance planned for it", true
	case f.Reason == EndReason{} && f.Ended.IsZero():
		return "EC2 does not know it any more", false
	}
	return f.said(v), false
}

// blame is the check that stands for an instance that did not join.
func (f Facts) blame(called bool) checkid.ID {
	if f.Root.Check == "" && !called && f.Reason != (EndReason{}) {
		return checkid.InstanceEndedEarly
	}
	return f.Root.Check
}

// said is what a reason means, with EC2's code.
func (f Facts) said(v activity.Verdict) string {
	if f.Reason.Code == "" {
		return v.Meaning
	}
	return fmt.Sprintf("%s (%s)", v.Meaning, f.Reason.Code)
}

func lasted(from, to time.Time) string { return to.Sub(from).Round(time.Second).String() }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
