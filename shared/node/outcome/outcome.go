// Package outcome decides how a launch stands: has the instance answered the
// roll, may it still, or is it gone. It is pure; every "not yet" and "could
// not look" has its own reason.
package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// Launch is one launch of an instance, and how it stands.
type Launch = snapshot.Launch

// LaunchStatus is how a launch stands.
type LaunchStatus = snapshot.LaunchStatus

// The standings.
const (
	Waiting = snapshot.LaunchWaiting
	Missed  = snapshot.LaunchMissed
	Joined  = snapshot.LaunchJoined
	Gone    = snapshot.LaunchGone
	GivenUp = snapshot.LaunchGivenUp
)

// Reason is why a launch stands as it does.
type Reason string

// The reasons.
const (
	NotDue        Reason = "not due yet"
	NodeReady     Reason = "the node is Ready"
	WasReady      Reason = "the node was Ready when it was last seen"
	NeverSeen     Reason = "no node has this instance's id"
	NotReady      Reason = "the node is not Ready"
	Uninitialized Reason = "the cloud provider has not initialized the node"
	InstanceEnded Reason = "the instance has ended"
	InstanceLost  Reason = "EC2 does not know the instance any more"
	TooOld        Reason = "looked at for as long as was set"
	NodesUnseen   Reason = "the nodes could not be read"
	EC2Unseen     Reason = "the instance could not be read"
	// Tagged and Untagged are of Karpenter's instances, where the nodes cannot be read.
	Tagged   Reason = "Karpenter named the NodeClaim on the instance, which it does once the node has registered"
	Untagged Reason = "Karpenter never named the NodeClaim on the instance, which it does once the node has registered"
)

// Seen is what was seen of it now.
type Seen struct {
	// EC2Read reports whether EC2 answered; Instance is nil when it does not know
	// the id.
	EC2Read  bool
	Instance *snapshot.Instance
	// NodesRead reports whether Kubernetes answered; Node is nil when there is none.
	NodesRead bool
	Node      *snapshot.Node
	// NodesClosed reports whether the nodes are not to be read by us: no later look
	// would see more.
	NodesClosed bool
	// Tagging reports whether Karpenter sets its tags on this cluster's instances.
	Tagging bool
	// Lacked reports whether an earlier look saw the nodes, and no Ready one of this
	// instance.
	Lacked bool
}

// Policy is how long to wait.
type Policy struct {
	// Due is when the launch should be a Ready node; after GiveUp it is not looked
	// at any more.
	Due    time.Time
	GiveUp time.Duration
}

// Verdict is how the launch stands now.
type Verdict struct {
	Status LaunchStatus
	Reason Reason
	// Blind is set when the verdict would need something that could not be
	// read: it may then never become Joined or Gone, and counts for nothing.
	Blind bool
	// Registered and Ready are the node's own times.
	Registered time.Time
	Ready      time.Time
	Ended      time.Time
	EndedWhy   string
}

// Decide tells how a launch stands at the given time.
//
// An instance that EC2 no longer describes is gone: EC2 describes terminated
// instances for about an hour, and new ones after a few seconds, so an id that
// is unknown well after its launch has ended. Younger than that it is waited for.
//
// Where the nodes cannot be read, Karpenter's tag tells who registered. It tells
// nothing of Ready: who may read the nodes at another time waits for that.
func Decide(l Launch, s Seen, now time.Time, p Policy) Verdict {
	if l.Status.Final() {
		return Verdict{Status: l.Status, Reason: final(l.Status)}
	}
	if s.NodesRead && s.Node != nil && ready(s.Node) {
		return Verdict{Status: Joined, Reason: NodeReady, Registered: s.Node.Created, Ready: s.Node.Ready.Since}
	}
	if s.EC2Read {
		if v, ended := gone(l, s.Instance, now); ended {
			switch {
			case s.NodesRead:
			case !s.Lacked && tagged(s.Instance):
				v.Status, v.Reason = Joined, Tagged
			case s.untagged(l.Started, now):
				v.Reason = Untagged
			}
			return v
		}
	}
	v := notJoined(s)
	switch {
	case !s.EC2Read:
		v.Reason, v.Blind = EC2Unseen, true
	case !s.NodesRead && s.untagged(l.Started, now):
		v.Reason = Untagged
	case !s.NodesRead:
		v.Reason, v.Blind = NodesUnseen, true
	}
	last := now.Sub(l.Started) > p.GiveUp
	switch {
	case now.Before(p.Due):
		v.Status = Waiting
		if !v.Blind {
			v.Reason = NotDue
		}
	case s.EC2Read && !s.NodesRead && (s.NodesClosed || last) && tagged(s.Instance):
		return Verdict{Status: Joined, Reason: Tagged}
	case last:
		v.Status = GivenUp
		if !v.Blind {
			v.Reason = TooOld
		}
	default:
		v.Status = Missed
	}
	return v
}

// visible is how long EC2 may take to describe a new instance (its API is
// eventually consistent; AWS advises to retry for a few minutes).
const visible = 5 * time.Minute

func gone(l Launch, in *snapshot.Instance, now time.Time) (Verdict, bool) {
	switch {
	case in == nil && now.Sub(l.Started) > visible:
		return Verdict{Status: Gone, Reason: InstanceLost}, true
	case in == nil:
		return Verdict{}, false
	case in.State == "terminated", in.State == "shutting-down", in.State == "stopped", in.State == "stopping":
		why := in.StateReason.Code
		if in.StateReason.Message != "" {
			why = in.StateReason.Message
		}
		return Verdict{Status: Gone, Reason: InstanceEnded, Ended: in.StateReason.When, EndedWhy: why}, true
	}
	return Verdict{}, false
}

func notJoined(s Seen) Verdict {
	switch {
	case s.Node == nil:
		return Verdict{Reason: NeverSeen}
	case s.Node.Ready.Status == "True":
		return Verdict{Reason: Uninitialized, Registered: s.Node.Created}
	default:
		return Verdict{Reason: NotReady, Registered: s.Node.Created}
	}
}

func ready(n *snapshot.Node) bool {
	return n.Ready.Status == "True" && !n.Uninitialized
}

func final(s LaunchStatus) Reason {
	switch s {
	case Joined:
		return WasReady
	case Gone:
		return InstanceEnded
	}
	return TooOld
}

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
//     the nodes could not be read.
//   - What EC2 took back is reclaimed, if its time to join was not over, or if
//     it had not missed roll call for a certain cause; whether
//     it would have joined is not known. One that sat there with a broken route and is then
//     taken back did not join. Nor did one that outlived the longest time to
//     join (15 minutes), whether or not a cause was found.
//   - It takes no look between its time to join and its end for that: who looks
//     at an instance that has ended asks the nodes, and Kubernetes' events of the
//     last hour, whether it had been one. Only where they cannot tell (Unseen),
//     or EC2 had forgotten it when it was read, it is not known.
//   - A rebalance recommendation alone takes nothing back. It counts where the
//     instance's group then ended it, and not for a scale-in.
//   - What was ended by a call before it was due is terminated; past due it did
//     not join. Where EC2 gives no time and it was not read, it is not known which.
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

// missed reports whether it was seen to lack while it was there. A look that was not
// over when the instance ended proves nothing: its node may have gone with it
// before the nodes were read.
func (f Facts) missed() bool {
	return !f.Missed.IsZero() && (f.Ended.IsZero() || f.Missed.Before(f.Ended)) && (f.Over.IsZero() || f.Missed.Before(f.Over))
}

// late reports whether its time to join was over when it ended, as far as that is
// known. Where only a look shows that it is over, the look is up to a sweep's
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

// outlived reports whether it was there for longer than any launch has to join.
func (f Facts) outlived() bool {
	return later(later(f.Ended, f.Alive), f.Noticed).Sub(f.Started) > Longest
}

// taken reports whether EC2 took the instance back.
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

// since reports whether it ended after some time.
func (f Facts) since(t time.Time) bool {
	end := f.Ended
	if end.IsZero() {
		end = f.Over
	}
	return !end.Before(t)
}

// called reports whether the instance was ended by a call, and who made it, as far
// as that is known.
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

// Facts is all that is known of one launch. Events are lost, come late, twice
// and in any order; so a fact is never taken back, and two sets of facts make
// one in whichever order they meet (Merge).
type Facts struct {
	Started time.Time
	Due     time.Time
	// Registered and Ready are the node's own times.
	Registered time.Time
	Ready      time.Time
	// Tagged is when Karpenter's tag was first seen, where Rollcall could not read the
	// nodes.
	Tagged time.Time

	// Ended is when the instance ended, with EC2's state reason.
	Ended  time.Time
	Reason EndReason
	// Alive is when it was last seen to be there and to lack, Over when it was
	// first known to have ended: by an event, its group's activity or a look. EC2
	// does not always say when an instance ended.
	Alive time.Time
	Over  time.Time
	// By is the cause of the scaling activity that ended it, in Auto Scaling's
	// words.
	By string
	// Forgotten is when EC2 was first found not to know it any more.
	Forgotten time.Time

	// Noticed is EC2's warning that it takes the instance back, Rebalance its
	// word that this is likely, Maintenance that of AWS Health.
	Noticed     time.Time
	Rebalance   time.Time
	Maintenance time.Time

	// Missed is when a look ended that first found it due and no Ready node.
	Missed time.Time
	Root   Root
	// Refused is the class of a launch that came to nothing.
	Refused checkid.ID
	// GivenUp is when it was looked at for the last time.
	GivenUp time.Time
	// Blind is why the nodes, or EC2, could not be read at some look.
	Blind string
	// Unseen is why it cannot be told whether an instance that has ended had
	// been a node.
	Unseen string
}

// EndReason is EC2's state reason.
type EndReason struct {
	Code    string
	Message string
}

// Root is the root cause that was found of a launch that missed roll call.
type Root struct {
	Check checkid.ID
	// Sure reports whether the finding was certain.
	Sure bool
	At   time.Time
}

// Merge is all that two sets of facts tell. It is commutative, associative and
// idempotent: each field takes the smaller of two values in an order in which
// what is not known comes last, so the earliest times win (but for Alive, the
// latest) and a known reason beats none.
func Merge(a, b Facts) Facts {
	return Facts{
		Started: earlier(a.Started, b.Started), Due: earlier(a.Due, b.Due),
		Registered: earlier(a.Registered, b.Registered), Ready: earlier(a.Ready, b.Ready), Tagged: earlier(a.Tagged, b.Tagged),
		Ended: earlier(a.Ended, b.Ended), Reason: clearer(a.Reason, b.Reason),
		Alive: later(a.Alive, b.Alive), Over: earlier(a.Over, b.Over),
		By: first(a.By, b.By), Forgotten: earlier(a.Forgotten, b.Forgotten),
		Noticed: earlier(a.Noticed, b.Noticed), Rebalance: earlier(a.Rebalance, b.Rebalance), Maintenance: earlier(a.Maintenance, b.Maintenance),
		Missed: earlier(a.Missed, b.Missed), Root: surer(a.Root, b.Root),
		Refused: classified(a.Refused, b.Refused), GivenUp: earlier(a.GivenUp, b.GivenUp),
		Blind: first(a.Blind, b.Blind), Unseen: first(a.Unseen, b.Unseen),
	}
}

// earlier is the earlier of two times, where a zero time is not known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later is the later of two times; a zero time is before all others.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// first is the first of two texts in the alphabet, where an empty one is not
// known.
func first[T ~string](a, b T) T {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// clearer is the reason that says more: one with a code, and of two codes one
// that is not a mere call (an instance that is stopped for one reason and
// terminated later is terminated by a call).
func clearer(a, b EndReason) EndReason {
	weight := func(r EndReason) int {
		switch {
		case r == EndReason{}:
			return 3
		case r.Code == "":
			return 2
		case r.Code == activity.UserInitiated:
			return 1
		}
		return 0
	}
	if cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(a.Code, b.Code), cmp.Compare(len(b.Message), len(a.Message)), cmp.Compare(a.Message, b.Message)) <= 0 {
		return a
	}
	return b
}

// surer is the root cause that counts: a certain one, else the one that was
// found first.
func surer(a, b Root) Root {
	weight := func(r Root) int {
		switch {
		case r.Check == "":
			return 2
		case r.Sure:
			return 0
		}
		return 1
	}
	if cmp.Or(cmp.Compare(weight(a), weight(b)), a.At.Compare(b.At), cmp.Compare(a.Check, b.Check)) <= 0 {
		return a
	}
	return b
}

// classified is the class that says more.
func classified(a, b checkid.ID) checkid.ID {
	switch vague := checkid.LaunchUnclassified; {
	case a == vague && b != "":
		return b
	case b == vague && a != "":
		return a
	}
	return first(a, b)
}

// Bounds of what is learned. A node is rarely Ready within a minute of its
// launch. Longest is EKS's own patience with new nodes (a nodegroup's create
// fails after about 15 minutes), and SQS's longest delay.
const (
	Shortest = time.Minute
	Longest  = 15 * time.Minute
)

const (
	// maxJoins is how many joins are remembered per nodegroup: enough for a
	// 95th percentile that does not move with each, and few enough for an item.
	maxJoins = 200
	// keepJoins is how long they count: images and user data change.
	keepJoins = 30 * 24 * time.Hour
	// minJoins is how few tell nothing of a 95th percentile: of 20 one is above it.
	minJoins = 20
	// leastMargin is what is added at least: the roll is called in steps.
	leastMargin = 30 * time.Second
)

// Join is one launch that joined.
type Join struct {
	Instance string    `json:"i"`
	At       time.Time `json:"t"` // when it was Ready
	Seconds  int       `json:"s"` // from its launch
}

// Joins are the joins of one nodegroup, oldest first.
type Joins []Join

// With are the joins and some more, each instance once: the last 200 of the
// last 30 days. It does not change j.
func (j Joins) With(more []Join, now time.Time) Joins {
	byInstance := map[string]Join{}
	for _, join := range slices.Concat(j, more) {
		have, known := byInstance[join.Instance]
		if known && (have.At.Before(join.At) || have.At.Equal(join.At) && have.Seconds <= join.Seconds) {
			continue
		}
		byInstance[join.Instance] = join
	}
	var all Joins
	for _, join := range byInstance {
		if join.counts(now) {
			all = append(all, join)
		}
	}
	slices.SortFunc(all, func(a, b Join) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Instance, b.Instance)) })
	return all[max(0, len(all)-maxJoins):]
}

func (j Join) counts(now time.Time) bool { return j.Seconds > 0 && now.Sub(j.At) <= keepJoins }

// Allowance is how long a launch has to become a Ready node.
type Allowance struct {
	For time.Duration
	// Usual is within what 95 of 100 of its nodegroup were Ready, Samples from
	// how many that is known; both are zero where For is the setting.
	Usual   time.Duration
	Samples int
}

// Allow is what the joins of a nodegroup teach: the time within which 95 of 100
// were Ready, and half of it again, at least 30 seconds. Fewer than 20 teach
// nothing.
func (j Joins) Allow(setting time.Duration, now time.Time) Allowance {
	var seconds []int
	for _, join := range j {
		if join.counts(now) {
			seconds = append(seconds, join.Seconds)
		}
	}
	if len(seconds) < minJoins {
		return Allowance{For: setting}
	}
	slices.Sort(seconds)
	// The nearest rank: the smallest value with 95 of 100 at or below it.
	usual := time.Duration(seconds[(len(seconds)*95+99)/100-1]) * time.Second
	return Allowance{
		For:   min(max(usual+max(usual/2, leastMargin), Shortest), Longest),
		Usual: usual, Samples: len(seconds),
	}
}

// Teaches reports whether a launch is a sample of how long joining takes. One that
// joined after it had missed roll call for a certain cause is none: it shows
// how long the repair took.
func (f Facts) Teaches() bool {
	return f.Ready.After(f.Started) && !f.Started.IsZero() && (f.Missed.IsZero() || !f.Root.Sure)
}

// Lost reports whether a node that had joined ended without a request:
// EC2 took it back, it ended by itself, or a health check failed. What a call
// or a scale-in ended is not lost, nor is what ended for a reason that is not
// known. EC2's code for a call is the same whoever calls: only its warning, or
// the activity of the group, tells more.
func (f Facts) Lost() bool {
	if f.Ready.IsZero() {
		return false
	}
	if _, taken := f.taken(activity.ClassifyReason(f.Reason.Code, f.Reason.Message)); taken {
		return !f.Ended.IsZero() || !f.Over.IsZero() || f.Reason != EndReason{}
	}
	switch f.Reason.Code {
	case "", activity.UserInitiated, "Client.UserInitiatedHibernate":
		return activity.Failing(f.By)
	}
	return !activity.Asked(f.By)
}

// registration is how long Karpenter waits for a node: then it ends the instance
// (kubernetes-sigs/karpenter pkg/controllers/nodeclaim/lifecycle/liveness.go,
// registrationTimeout).
const registration = 15 * time.Minute

// asking is by how much the instance may be younger than its NodeClaim, from whose
// making on Karpenter counts: a call or two to EC2.
const asking = time.Minute

// tagged reports whether Karpenter has named the NodeClaim on an instance, which it
// does only once the node has registered (snapshot.Instance.NodeClaim).
func tagged(in *snapshot.Instance) bool { return in != nil && in.NodeClaim() != "" }

// untagged reports whether an instance of Karpenter is past the time to register, or
// lived past it, and no tag came. Where no instance of the cluster has one,
// Karpenter perhaps may not set it: then that it lacks says nothing.
func (s Seen) untagged(started, now time.Time) bool {
	in, allowed := s.Instance, registration
	if in == nil || !s.Tagging || !in.ByKarpenter() || in.NodeClaim() != "" {
		return false
	}
	if in.Ended() {
		now, allowed = in.StateReason.When, registration-asking
	}
	return now.Sub(started) >= allowed
}
