package facts

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// InstanceIndex is what is known of the scope's instances, by instance id.
type InstanceIndex struct {
	S         *View
	Instances map[string]*snapshot.Instance
	Nodes     map[string]*snapshot.Node
	Launches  map[string]snapshot.ExpectedJoin
	// Wanted were ended by their group as somebody asked of the group.
	Wanted map[string]bool
	// Activity is the cause of the activity that ended it.
	Activity map[string]string
	// Warm wait in a warm pool, ended in one, or are held otherwise by their group: they
	// are not expected to join.
	Warm map[string]bool
	// claimed are those that a NodeClaim or an interface shows to have been nodes, gone
	// the pasts of those that have ended and may be the instances of nodes of which
	// only events are left.
	claimed map[string]bool
	gone    map[string]Past
}

func newInstanceIndex(s *View) InstanceIndex {
	l := InstanceIndex{
		S:         s,
		Instances: make(map[string]*snapshot.Instance, len(s.Instances)),
		Nodes:     make(map[string]*snapshot.Node, len(s.Nodes)),
		Launches:  make(map[string]snapshot.ExpectedJoin, len(s.Launches)),
		Wanted:    map[string]bool{},
		Activity:  map[string]string{},
		Warm:      map[string]bool{},
	}
	for i := range s.Instances {
		l.Instances[s.Instances[i].ID] = &s.Instances[i]
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if have := l.Nodes[n.Instance]; n.Instance != "" && (have == nil || better(n, have)) {
			l.Nodes[n.Instance] = n
		}
	}
	for _, launch := range s.Launches {
		l.Launches[launch.Instance] = launch
	}
	warmed := map[string]time.Time{}
	for _, a := range s.Activities {
		into, warm := activity.WarmPool(a.About)
		switch {
		case a.Instance == "":
		case warm && !a.Started.Before(warmed[a.Instance]):
			l.Warm[a.Instance], warmed[a.Instance] = into, a.Started
		case strings.HasPrefix(a.About, "Terminating"):
			l.Activity[a.Instance] = a.Cause
			if activity.Asked(a.Cause) {
				l.Wanted[a.Instance] = true
			}
		}
	}
	for _, g := range s.Groups {
		for _, id := range g.Warm {
			l.Warm[id] = true
		}
		for _, i := range g.Instances {
			if g.Parked(i.ID) {
				l.Warm[i.ID] = true
			}
		}
	}
	l.claimed = registrations(s)
	l.gone = l.gonePasts()
	return l
}

// better tells which of two nodes of one instance counts: one that registered
// anew under another name leaves its old node behind for a while.
func better(n, than *snapshot.Node) bool {
	if n.Joined() != than.Joined() {
		return n.Joined()
	}
	return n.Created.After(than.Created)
}

// Reaches tells that the activities that were read go back far enough to hold
// the end of an instance: without a group of its own there is none, and with
// one they go back to its launch. Only the newest are read, and those of a
// group that is gone are gone too.
func (l InstanceIndex) Reaches(i *snapshot.Instance) bool {
	group := i.Tags["aws:autoscaling:groupName"]
	if group == "" || l.Activity[i.ID] != "" {
		return true
	}
	return slices.ContainsFunc(l.S.Activities, func(a snapshot.Activity) bool {
		return a.Group == group && (a.Instance == i.ID || !a.Started.After(i.Launched))
	})
}

// Lost are the instances of the scope that EC2 does not list.
func (l InstanceIndex) Lost() []string {
	var ids []string
	for _, id := range l.S.Scope.Instances {
		if _, known := l.Instances[id]; !known {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Terminated tells that EC2 has terminated an instance: its node goes too.
func (l InstanceIndex) Terminated(id string) bool {
	i, known := l.Instances[id]
	return known && i.State == "terminated"
}

// Due tells that an instance's time to join is over. Without a memory of its
// launch nobody waits for it.
func (l InstanceIndex) Due(id string) bool {
	launch, ok := l.Launches[id]
	return ok && !l.S.Time.Before(launch.Due)
}

// scoped are the instances of the scope that EC2 described.
func scoped(s *View) []*snapshot.Instance {
	wanted := make(map[string]bool, len(s.Scope.Instances))
	for _, id := range s.Scope.Instances {
		wanted[id] = true
	}
	list := make([]*snapshot.Instance, 0, len(wanted))
	for i := range s.Instances {
		if wanted[s.Instances[i].ID] {
			list = append(list, &s.Instances[i])
		}
	}
	return list
}

// joinedNodes are the instances that are Ready nodes.
func joinedNodes(s *View) map[string]bool {
	joined := map[string]bool{}
	for _, n := range s.Nodes {
		if n.Instance != "" && n.Joined() {
			joined[n.Instance] = true
		}
	}
	return joined
}
