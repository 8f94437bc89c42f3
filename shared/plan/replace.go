package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// The reasons why an instance is not ended.
const (
	NotRunning  Reason = "not-running"
	IsNode      Reason = "is-node"
	Protected   Reason = "protected"
	NotInGroup  Reason = "not-in-service"
	Suspended   Reason = "suspended"
	LaterLaunch Reason = "launched-after"
)

// MostReplaced is how many instances one plan ends: a group must not lose much
// of itself at once.
const MostReplaced = 5

// Settle is how long after its cause is gone an instance may still join by
// itself: kubelet tries again by itself, and so does what starts it.
const Settle = 3 * time.Minute

// replace plans the end of instances that missed the roll call while the cause
// was there, and have not joined since it is gone.
func (l look) replace() (*Replace, *Refusal) {
	list, no := l.stuck()
	if no != nil {
		return nil, no
	}
	return &Replace{Instances: list[:min(len(list), l.most())]}, nil
}

func (l look) most() int {
	if l.of.Most > 0 {
		return min(l.of.Most, MostReplaced)
	}
	return MostReplaced
}

// Left is how many instances more a plan of replacement would end, if one plan
// could end any number.
func Left(s *snapshot.Snapshot, of Subject) int {
	l := look{s: s, of: of, list: checks.All()}
	list, no := l.stuck()
	if no != nil {
		return 0
	}
	return max(0, len(list)-l.most())
}

// stuck are all instances that may be replaced, oldest first, or why there are
// none.
func (l look) stuck() ([]Replaced, *Refusal) {
	if l.of.Cleared.IsZero() {
		return nil, refuse(CauseIsThere, "The cause is still there: a new instance would fail in the same way.")
	}
	if no := l.gone(); no != nil {
		return nil, no
	}
	if wait := l.of.Cleared.Add(Settle); l.s.Time.Before(wait) {
		no := refuse(TooSoon, "The cause is gone since %s: instances may still join by themselves.", l.of.Cleared.UTC().Format("15:04:05"))
		no.Again = wait
		return nil, no
	}
	launches := slices.Clone(l.of.Launches)
	slices.SortFunc(launches, func(a, b Launch) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Instance, b.Instance))
	})
	first := refuse(NothingToDo, "No instance that missed the roll call is left.")
	var list []Replaced
	for _, launch := range launches {
		if launch.Standing != outcome.Missed && launch.Standing != outcome.GivenUp {
			continue
		}
		r, no := l.replaced(launch)
		switch {
		case no != nil && no.Reason == CouldNotLook:
			return nil, no
		case no != nil && first.Reason == NothingToDo:
			first = no
		case no == nil && !slices.Contains(list, r):
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return nil, first
	}
	return list, nil
}

// replaced asks the rules of one instance.
func (l look) replaced(launch Launch) (Replaced, *Refusal) {
	id := launch.Instance
	i := slices.IndexFunc(l.s.Instances, func(x snapshot.Instance) bool { return x.ID == id })
	if i < 0 {
		return Replaced{}, refuse(Gone, "EC2 does not describe %s.", id)
	}
	in := l.s.Instances[i]
	_, tagged := in.Tags[ours(l.of.Cluster)]
	group := in.Tags["aws:autoscaling:groupName"]
	switch {
	case in.State != "running":
		return Replaced{}, refuse(NotRunning, "%s is %s.", id, in.State)
	case !tagged:
		return Replaced{}, refuse(OtherCluster, "%s is not tagged as %s's.", id, l.of.Cluster)
	case in.Launched.IsZero() || !in.Launched.Before(l.of.Cleared) || !launch.Started.Before(l.of.Cleared):
		return Replaced{}, refuse(LaterLaunch, "%s was launched after the cause was gone: it fails for another reason.", id)
	case group == "":
		return Replaced{}, refuse(NotTheGroups, "%s is in no Auto Scaling group, so nothing would launch another.", id)
	}
	if node, is := l.nodeOf(in); is {
		return Replaced{}, refuse(IsNode, "%s has registered as node %s.", id, node.Name)
	}
	g := slices.IndexFunc(l.s.Groups, func(x snapshot.Group) bool { return x.Name == group })
	if g < 0 {
		return Replaced{}, unread(snapshot.Failure{Source: snapshot.Groups, Reason: snapshot.Broken, Message: group + " is not among them"})
	}
	if no := l.mayLose(l.s.Groups[g], id); no != nil {
		return Replaced{}, no
	}
	return Replaced{Instance: id, Group: group, Nodegroup: in.Owner(), Zone: in.Zone}, nil
}

// nodeOf is the node that an instance is. One that names no instance is known
// by its address or name: who is unsure must not end it.
func (l look) nodeOf(in snapshot.Instance) (snapshot.Node, bool) {
	for _, n := range l.s.Nodes {
		switch {
		case n.Instance == in.ID, n.Name == in.ID:
			return n, true
		case n.Instance == "" && n.InternalIP.IsValid() && n.InternalIP == in.PrivateIP:
			return n, true
		case n.Instance == "" && n.Name != "" && in.PrivateDNS != "" && strings.EqualFold(n.Name, in.PrivateDNS):
			return n, true
		}
	}
	return snapshot.Node{}, false
}

// mayLose asks whether a group may lose an instance now.
func (l look) mayLose(g snapshot.Group, id string) *Refusal {
	m := slices.IndexFunc(g.Instances, func(x snapshot.GroupInstance) bool { return x.ID == id })
	switch {
	case g.Tags[ours(l.of.Cluster)] != "owned":
		return refuse(OtherCluster, "%s is not tagged as owned by %s.", g.Name, l.of.Cluster)
	case m < 0 || slices.Contains(g.Warm, id):
		return refuse(NotTheGroups, "%s does not count %s among its instances.", g.Name, id)
	case g.Instances[m].Lifecycle != "InService":
		// Standby is somebody's hand, Pending:Wait and Terminating a hook's.
		return refuse(NotInGroup, "%s is %s in %s.", id, g.Instances[m].Lifecycle, g.Name)
	case g.Instances[m].Protected:
		return refuse(Protected, "%s is protected from scale-in in %s.", id, g.Name)
	case g.Desired == 0 || g.Desired < len(g.Instances):
		return refuse(GroupScales, "%s has %d instances and wants %d: it ends some by itself.", g.Name, len(g.Instances), g.Desired)
	}
	for _, p := range g.Suspended {
		if slices.Contains([]string{"Launch", "Terminate", "ReplaceUnhealthy", "HealthCheck"}, p.Process) {
			return refuse(Suspended, "The process %s of %s is suspended: somebody is at work there.", p.Process, g.Name)
		}
	}
	for _, n := range l.s.Nodegroups {
		if slices.Contains(n.Groups, g.Name) && n.Status != "ACTIVE" && n.Status != "DEGRADED" {
			return refuse(AnotherChange, "Nodegroup %s is %s: EKS replaces its instances itself.", n.Name, n.Status)
		}
	}
	return nil
}
