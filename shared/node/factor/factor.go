// Package factor finds what launches that failed have in common and launches that
// joined do not: an AMI, a launch template's version, an instance type.
//
// It models a launch as a draw from the launches of a week: if a value has nothing
// to do with failing, any of them is as likely to be among those that failed. The
// chance that as many with the value fail is Fisher's exact test, one-sided.
//
//   - Launches that begin together share a fate. Of each value one launch of each
//     quarter of an hour counts, drawn by its id: twenty at once are one witness.
//   - The chance is multiplied by the number of values that were tried, and by the
//     number of launches that 90 days have at this rate: somebody looks again at
//     each (Bonferroni holds however looks and values hang together).
//   - A cause of its hour (an API that does not answer) is no value's fault: launches
//     without the value in the same hours must have joined, by Fisher's test over
//     strata of an hour. Where hardly any other was launched then, as after a
//     rollout to all, the failures must stand in more hours than such a cause lasts.
//   - Of values that go together the one is named with which launches fail also
//     within the other's (Fisher's test over two strata); those of the very same
//     launches are named together, and what too few launches tell apart is named too.
//   - What has begun to join again is not accused of what was.
//
// Where there is too little, it says nothing. How soon it names what, and that no
// healthy value is accused in 10,000 histories of 90 days, is in docs/factor.md.
package factor

import (
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// Kind is a kind of what launches can share.
type Kind string

// The kinds, in the order in which people would change them.
const (
	AMI          Kind = "AMI"
	Template     Kind = "launch template version"
	Plugin       Kind = "VPC CNI"
	Group        Kind = "nodegroup" // or NodePool
	Type         Kind = "instance type"
	Family       Kind = "instance family"
	Architecture Kind = "architecture"
	Capacity     Kind = "capacity type"
	Subnet       Kind = "subnet"
	Zone         Kind = "zone"
)

// Kinds are all kinds.
func Kinds() []Kind {
	return []Kind{AMI, Template, Plugin, Group, Type, Family, Architecture, Capacity, Subnet, Zone}
}

const kinds = 10

// Value is what a launch has of a kind.
type Value struct {
	Kind Kind
	Name string
}

// Launch is a launch as it is compared. Of is its value of each kind, in the order
// of Kinds; empty for one that is not known.
type Launch struct {
	ID      string
	Started time.Time
	Failed  bool
	Of      [kinds]string
}

// LaunchOf is a launch of the history, and whether its end says something about
// what it was launched with: it joined, or it failed and no check found why.
func LaunchOf(p snapshot.Past) (Launch, bool) {
	failed := p.End == snapshot.NotJoined || p.End == snapshot.Open && !p.Missed.IsZero()
	if p.End != snapshot.Joined && !(failed && Unexplained(p.Cause)) {
		return Launch{}, false
	}
	l := Launch{ID: p.ID, Started: p.Started, Failed: failed}
	set := func(k Kind, name string) { l.Of[index(k)] = name }
	set(AMI, p.AMI)
	if p.Template.ID != "" && p.Template.Version != "" {
		set(Template, p.Template.ID+" version "+p.Template.Version)
	}
	set(Plugin, p.Plugin)
	set(Group, p.Nodegroup)
	if p.Nodegroup == "" {
		set(Group, p.Group)
	}
	set(Type, p.Type)
	set(Family, familyOf(p.Type))
	set(Architecture, p.Architecture)
	set(Capacity, "on-demand")
	if p.Spot {
		set(Capacity, "Spot")
	}
	set(Subnet, p.Subnet)
	set(Zone, p.Zone)
	return l, true
}

// Unexplained tells that a launch that failed for this cause may have failed for
// what it was launched with: no cause was found, or one that says how it failed and
// not why.
func Unexplained(cause checkid.ID) bool {
	switch cause {
	case "", checkid.NodeNotRegistered, checkid.NodeNotReady, checkid.NodeCNINotReady, checkid.NodeUninitialized,
		checkid.InstanceEndedEarly, checkid.InstanceStatusCheck, checkid.InstanceConsoleError, checkid.InstanceCommonFactor:
		return true
	}
	return false
}

// familyOf is the family of an instance type: "m6g" of "m6g.large".
func familyOf(name string) string {
	for i := range name {
		if name[i] == '.' {
			return name[:i]
		}
	}
	return ""
}

func index(k Kind) int {
	for i, other := range Kinds() {
		if other == k {
			return i
		}
	}
	panic("no such kind: " + string(k))
}
