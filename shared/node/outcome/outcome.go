// Package outcome decides how a launch stands: has the instance answered the
// roll, may it still, or is it gone. It is pure; every "not yet" and "could
// not look" has its own reason.
package outcome

import (
	"time"

	"rollcall/shared/snapshot"
)

// LaunchStatus is how a launch stands.
type LaunchStatus string

// The standings. Waiting and Missed may still change, the others do not.
const (
	Waiting LaunchStatus = "waiting"  // not due yet
	Missed  LaunchStatus = "missed"   // due, and not a Ready node
	Joined  LaunchStatus = "joined"   // was a Ready node
	Gone    LaunchStatus = "gone"     // ended before it joined
	GivenUp LaunchStatus = "given up" // still there, not a node, no longer looked at
)

// Final tells that a standing does not change any more.
func (s LaunchStatus) Final() bool { return s == Joined || s == Gone || s == GivenUp }

// Reason is why a launch stands as it does.
type Reason string

// The reasons.
const (
	NotDue        Reason = "not due yet"
	NodeReady     Reason = "the node is Ready"
	WasReady      Reason = "the node was Ready when it was last seen"
	NeverSeen     Reason = "no node has this instance's id"
	NotReady      Reason = "the node is not Ready"
	Uninitialized Reason = "the cloud provider has not initialised the node"
	InstanceEnded Reason = "the instance has ended"
	InstanceLost  Reason = "EC2 does not know the instance any more"
	TooOld        Reason = "looked at for as long as was set"
	NodesUnseen   Reason = "the nodes could not be read"
	EC2Unseen     Reason = "the instance could not be read"
	// Tagged and Untagged are of Karpenter's instances, where nobody sees the nodes.
	Tagged   Reason = "Karpenter named the NodeClaim on the instance, which it does once the node has registered"
	Untagged Reason = "Karpenter never named the NodeClaim on the instance, which it does once the node has registered"
)

// Seen is what was seen of it now.
type Seen struct {
	// EC2Read tells that EC2 answered; Instance is nil when it does not know
	// the id.
	EC2Read  bool
	Instance *snapshot.Instance
	// NodesRead tells that Kubernetes answered; Node is nil when there is none.
	NodesRead bool
	Node      *snapshot.Node
	// NodesClosed tells that the nodes are not to be read by us: no later look
	// would see more.
	NodesClosed bool
	// Tagging tells that Karpenter sets its tags on this cluster's instances.
	Tagging bool
	// Lacked tells that an earlier look saw the nodes, and no Ready one of this
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
