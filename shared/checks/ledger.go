package checks

import (
	"slices"
	"strings"

	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// ledger is what is known of the scope's instances, by instance id.
type ledger struct {
	s         *View
	instances map[string]*snapshot.Instance
	nodes     map[string]*snapshot.Node
	launches  map[string]snapshot.Launch
	// wanted were ended by their group as somebody asked of the group.
	wanted map[string]bool
	// activity is the cause of the activity that ended it.
	activity map[string]string
	// warm wait in a warm pool: they are not expected to join.
	warm map[string]bool
}

func newLedger(s *View) ledger {
	l := ledger{
		s:         s,
		instances: make(map[string]*snapshot.Instance, len(s.Instances)),
		nodes:     make(map[string]*snapshot.Node, len(s.Nodes)),
		launches:  make(map[string]snapshot.Launch, len(s.Launches)),
		wanted:    map[string]bool{},
		activity:  map[string]string{},
		warm:      map[string]bool{},
	}
	for i := range s.Instances {
		l.instances[s.Instances[i].ID] = &s.Instances[i]
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if have := l.nodes[n.Instance]; n.Instance != "" && (have == nil || better(n, have)) {
			l.nodes[n.Instance] = n
		}
	}
	for _, launch := range s.Launches {
		l.launches[launch.Instance] = launch
	}
	for _, a := range s.Activities {
		if a.Instance == "" || !strings.HasPrefix(a.About, "Terminating") {
			continue
		}
		l.activity[a.Instance] = a.Cause
		if activity.Asked(a.Cause) {
			l.wanted[a.Instance] = true
		}
	}
	for _, g := range s.Groups {
		for _, id := range g.Warm {
			l.warm[id] = true
		}
		for _, i := range g.Instances {
			if strings.HasPrefix(i.Lifecycle, "Warmed:") {
				l.warm[i.ID] = true
			}
		}
	}
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

// reaches tells that the activities that were read go back far enough to hold
// the end of an instance: without a group of its own there is none, and with
// one they go back to its launch. Only the newest are read, and those of a
// group that is gone are gone too.
func (l ledger) reaches(i *snapshot.Instance) bool {
	group := i.Tags["aws:autoscaling:groupName"]
	if group == "" || l.activity[i.ID] != "" {
		return true
	}
	return slices.ContainsFunc(l.s.Activities, func(a snapshot.Activity) bool {
		return a.Group == group && (a.Instance == i.ID || !a.Started.After(i.Launched))
	})
}

// lost are the instances of the scope that EC2 does not list.
func (l ledger) lost() []string {
	var ids []string
	for _, id := range l.s.Scope.Instances {
		if _, known := l.instances[id]; !known {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// terminated tells that EC2 has terminated an instance: its node goes too.
func (l ledger) terminated(id string) bool {
	i, known := l.instances[id]
	return known && i.State == "terminated"
}

// due tells that an instance's time to join is over. Without a memory of its
// launch nobody waits for it.
func (l ledger) due(id string) bool {
	launch, ok := l.launches[id]
	return ok && !l.s.Time.Before(launch.Due)
}
