package source

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// Query is what a look at a cluster is about.
type Query struct {
	Account string
	Region  string
	Time    time.Time
	Cluster string
	// VPC is used when the cluster cannot be read.
	VPC   string
	Scope snapshot.Scope
	// Instances and Groups are what was read already, with what failed.
	Instances []snapshot.Instance
	Groups    []snapshot.Group
	Failed    []snapshot.Failure
	// Nodegroups are those whose state a person would look up. With
	// AllNodegroups a nil list means all of the cluster's.
	Nodegroups    []string
	AllNodegroups bool
	// Types are instance types to describe beside those of the instances and
	// groups: those of launches that are history.
	Types []string
	// WrittenTypes are such as somebody wrote, into a NodePool for instance: some may
	// be none.
	WrittenTypes []string
	// Settings reads the account's settings that refuse launches although none was refused:
	// of what is planned.
	Settings bool
	// ImageTerms select images beside those of the instances and launch templates, as
	// the terms of an EC2NodeClass do.
	ImageTerms []snapshot.SelectorTerm
	// SecurityGroups are ids to read beside those that are in use: of what is planned.
	SecurityGroups []string
	// Updated are the nodegroups whose updates are read, where they are asked
	// for; nil means all that are read.
	Updated  []string
	Launches []snapshot.ExpectedJoin
	// Sources are what to read beside the instances and groups.
	Sources []snapshot.Source
}

// View is what reading a source has to go by.
type View struct {
	Query
	// Source is the one that is read: what fails in it is named by it.
	Source Source
	// VPCs are those to look into, the cluster's first; none where it is not
	// known.
	VPCs []string
	// Snapshot is what was read before.
	Snapshot *snapshot.Snapshot
	// Kube is the client of the cluster's API; Connect says why there is none.
	Kube    *kube.Client
	Connect error
}

// Unread is the error of a source whose things are named by one that was not
// read: refused, or only not captured, for a capture may leave it out.
func (v *View) Unread(source snapshot.Source) error {
	e, why := unreadError{source: source}, v.Snapshot.Why(source)
	if why.Code == snapshot.NotCaptured {
		e.code = snapshot.NotCaptured
	}
	if why.Call != "" {
		e.why = fmt.Sprintf(" (%s: %s)", why.Call, why.Reason)
	}
	return e
}

// InScope are the instances of the scope that EC2 described.
func (v *View) InScope() []snapshot.Instance {
	wanted := make(map[string]bool, len(v.Snapshot.Scope.Instances))
	for _, id := range v.Snapshot.Scope.Instances {
		wanted[id] = true
	}
	return slices.DeleteFunc(slices.Clone(v.Snapshot.Instances), func(in snapshot.Instance) bool { return !wanted[in.ID] })
}

// NotJoined are the instances of the scope that are no Ready nodes, live ones
// first: more can be asked of them. Where the nodes are not known it is all.
func (v *View) NotJoined() []snapshot.Instance {
	joined := map[string]bool{}
	if v.Snapshot.Has(snapshot.Nodes) {
		for _, n := range v.Snapshot.Nodes {
			if n.Joined() {
				joined[n.Instance] = true
			}
		}
	}
	list := slices.DeleteFunc(v.InScope(), func(in snapshot.Instance) bool { return joined[in.ID] })
	slices.SortStableFunc(list, func(a, b snapshot.Instance) int {
		return cmp.Or(cmp.Compare(toInt(a.Ended()), toInt(b.Ended())), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
