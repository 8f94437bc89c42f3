// Package replaceinstance ends instances that missed the roll call while a cause was
// there, through their Auto Scaling groups, which launch others in their place.
package replaceinstance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Remedy is the remedy.
func Remedy() action.Remedy[remedy.ReplaceInstance, Calls] {
	return action.Remedy[remedy.ReplaceInstance, Calls]{
		Name:    optin.ReplaceInstance,
		Sources: []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Nodes, snapshot.Nodegroups},
		Plan:    func(l action.Look) (*remedy.ReplaceInstance, *action.Refusal) { return look{l}.plan() },
		Most:    Most,
		Left:    func(l action.Look) int { return look{l}.left() },
		Applied: applied,
		Do:      do,
		Grants:  grants,
	}
}

// Calls are what the remedy asks of AWS.
type Calls interface {
	// EndInGroup ends an instance whose Auto Scaling group launches another: the
	// capacity stays.
	EndInGroup(ctx context.Context, instance string) action.Answer
}

// do ends instances one after the other, and stops at the first that AWS does
// not end.
func do(ctx context.Context, calls Calls, p remedy.ReplaceInstance, _ remedy.Place, _ string) action.Result {
	all := action.Result{Status: remedy.Done}
	for _, i := range p.Instances {
		r := action.One(i.Instance, calls.EndInGroup(ctx, i.Instance))
		all.Requests = append(all.Requests, r.Requests...)
		all.Changed = append(all.Changed, r.Changed...)
		if r.Status == remedy.Done {
			continue
		}
		all.Status, all.Reason, all.Says = r.Status, r.Reason, r.Says
		if r.Status == remedy.Failed && len(all.Changed) > 0 {
			all.Status = remedy.Partly
			all.Says = fmt.Sprintf("%d of %d instances were terminated; then AWS returned %s.", len(all.Changed), len(p.Instances), r.Reason)
		}
		break
	}
	return all
}

func grants(o action.OptIn) []spec.Grant {
	return o.ToGroups("autoscaling:TerminateInstanceInAutoScalingGroup",
		"replace-instance terminates instances that did not join through their Auto Scaling group, which launches replacements.")
}

// The reasons why an instance is not ended.
const (
	NotRunning  remedy.Reason = "not-running"
	IsNode      remedy.Reason = "is-node"
	Protected   remedy.Reason = "protected"
	NotInGroup  remedy.Reason = "not-in-service"
	LaterLaunch remedy.Reason = "launched-after"
)

// Most is how many instances one plan ends: a group must not lose much
// of itself at once.
const Most = 5

// Settle is how long after its cause is gone an instance may still join by
// itself: kubelet tries again by itself, and so does what starts it.
const Settle = 3 * time.Minute

// look is one look at the world, for this remedy.
type look struct{ action.Look }

// plan plans the end of instances that missed the roll call while the cause
// was there, and have not joined since it is gone.
func (l look) plan() (*remedy.ReplaceInstance, *action.Refusal) {
	list, no := l.stuck()
	if no != nil {
		return nil, no
	}
	return &remedy.ReplaceInstance{Instances: list[:min(len(list), l.most())]}, nil
}

func (l look) most() int {
	if l.Subject.Most > 0 {
		return min(l.Subject.Most, Most)
	}
	return Most
}

// left is how many instances more a plan would end, if one plan could end any
// number.
func (l look) left() int {
	list, _ := l.stuck()
	return max(0, len(list)-l.most())
}

// stuck are all instances that may be replaced, oldest first, or why there are
// none.
func (l look) stuck() ([]remedy.Replaced, *action.Refusal) {
	if l.Subject.Cleared.IsZero() {
		return nil, action.Refuse(remedy.CauseIsThere, "The cause is still there: a new instance would fail the same way.")
	}
	if no := l.CauseGone(); no != nil {
		return nil, no
	}
	if wait := l.Subject.Cleared.Add(Settle); l.Snapshot.Time.Before(wait) {
		no := action.Refuse(remedy.TooSoon, "The cause is gone since %s: instances can still join by themselves.", l.Subject.Cleared.UTC().Format("15:04:05"))
		no.Again = wait
		return nil, no
	}
	launches := slices.Clone(l.Subject.Launches)
	slices.SortFunc(launches, func(a, b outcome.Launch) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Instance, b.Instance))
	})
	first := action.Refuse(remedy.NothingToDo, "None of the instances that missed roll call is left.")
	var list []remedy.Replaced
	for _, launch := range launches {
		if launch.Status != outcome.Missed && launch.Status != outcome.GivenUp {
			continue
		}
		r, no := l.replaced(launch)
		switch {
		case no != nil && no.Reason == remedy.CouldNotLook:
			return nil, no
		case no != nil && first.Reason == remedy.NothingToDo:
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
func (l look) replaced(launch outcome.Launch) (remedy.Replaced, *action.Refusal) {
	id := launch.Instance
	i := slices.IndexFunc(l.Snapshot.Instances, func(x snapshot.Instance) bool { return x.ID == id })
	if i < 0 {
		return remedy.Replaced{}, action.Refuse(remedy.Gone, "EC2 no longer returns %s.", id)
	}
	in := l.Snapshot.Instances[i]
	_, tagged := in.Tags[action.ClusterTag(l.Subject.Cluster)]
	group := in.Tags["aws:autoscaling:groupName"]
	switch {
	case in.State != "running":
		return remedy.Replaced{}, action.Refuse(NotRunning, "%s is %s.", id, in.State)
	case !tagged:
		return remedy.Replaced{}, action.Refuse(remedy.OtherCluster, "%s is not tagged as %s's.", id, l.Subject.Cluster)
	case in.Launched.IsZero() || !in.Launched.Before(l.Subject.Cleared) || !launch.Started.Before(l.Subject.Cleared):
		return remedy.Replaced{}, action.Refuse(LaterLaunch, "%s was launched after the cause was gone: it failed for another reason.", id)
	case group == "":
		return remedy.Replaced{}, action.Refuse(remedy.NotTheGroups, "%s is in no Auto Scaling group, so nothing would launch a replacement.", id)
	}
	if node, is := l.nodeOf(in); is {
		return remedy.Replaced{}, action.Refuse(IsNode, "%s has registered as node %s.", id, node.Name)
	}
	g := slices.IndexFunc(l.Snapshot.Groups, func(x snapshot.Group) bool { return x.Name == group })
	if g < 0 {
		return remedy.Replaced{}, action.Missing(snapshot.Groups, group+" is not among them")
	}
	if no := l.mayLose(l.Snapshot.Groups[g], id); no != nil {
		return remedy.Replaced{}, no
	}
	return remedy.Replaced{Instance: id, Group: group, Nodegroup: in.Owner(), Zone: in.Zone}, nil
}

// nodeOf is the node that an instance is. One that names no instance is known
// by its address or name: who is unsure must not end it.
func (l look) nodeOf(in snapshot.Instance) (snapshot.Node, bool) {
	for _, n := range l.Snapshot.Nodes {
		switch {
		case n.Instance == in.ID, n.Name == in.ID:
			return n, true
		case n.Instance == "" && n.InternalIP.IsValid() && n.InternalIP == in.PrivateIP:
			return n, true
		case n.Instance == "" && in.PrivateDNS != "" && strings.EqualFold(n.Name, in.PrivateDNS):
			return n, true
		}
	}
	return snapshot.Node{}, false
}

// mayLose asks whether a group may lose an instance now.
func (l look) mayLose(g snapshot.Group, id string) *action.Refusal {
	m := slices.IndexFunc(g.Instances, func(x snapshot.GroupInstance) bool { return x.ID == id })
	switch {
	case g.Tags[action.ClusterTag(l.Subject.Cluster)] != "owned":
		return action.Refuse(remedy.OtherCluster, "%s is not tagged as owned by %s.", g.Name, l.Subject.Cluster)
	case m < 0 || slices.Contains(g.Warm, id):
		return action.Refuse(remedy.NotTheGroups, "%s does not have %s among its instances.", g.Name, id)
	case g.Instances[m].Lifecycle != "InService":
		// Standby is a user's request, Pending:Wait and Terminating a hook's.
		return action.Refuse(NotInGroup, "%s is %s in %s.", id, g.Instances[m].Lifecycle, g.Name)
	case g.Instances[m].Protected:
		return action.Refuse(Protected, "%s is protected from scale-in in %s.", id, g.Name)
	case g.Desired < len(g.Instances):
		return action.Refuse(remedy.GroupScales, "%s has %d instances, desired %d: it is terminating some itself.", g.Name, len(g.Instances), g.Desired)
	}
	for _, p := range g.Suspended {
		if slices.Contains([]string{"Launch", "Terminate", "ReplaceUnhealthy", "HealthCheck"}, p.Process) {
			return action.Refuse(remedy.Suspended, "The process %s of %s is suspended: somebody is working on it.", p.Process, g.Name)
		}
	}
	for _, n := range l.Snapshot.Nodegroups {
		if slices.Contains(n.Groups, g.Name) && n.Status != "ACTIVE" && n.Status != "DEGRADED" {
			return action.Refuse(remedy.AnotherChange, "Nodegroup %s is %s: EKS replaces its instances itself.", n.Name, n.Status)
		}
	}
	return nil
}

// applied reports whether all of the instances are on their way out.
func applied(r remedy.ReplaceInstance, s *snapshot.Snapshot) (done, known bool) {
	return !slices.ContainsFunc(r.Instances, func(x remedy.Replaced) bool {
		ending := slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool {
			return slices.ContainsFunc(g.Instances, func(m snapshot.GroupInstance) bool {
				return m.ID == x.Instance && strings.HasPrefix(m.Lifecycle, "Terminat")
			})
		})
		return !ending && slices.ContainsFunc(s.Instances, func(i snapshot.Instance) bool {
			return i.ID == x.Instance && i.State != "shutting-down" && i.State != "terminated"
		})
	}), s.Has(snapshot.Instances)
}
