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
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Remedy is the remedy.
func Remedy() action.Remedy[Plan, Calls] {
	return action.Remedy[Plan, Calls]{
		Name:       optin.ReplaceInstance,
		Cures:      "Instances that did not join while a cause was there that is gone now.",
		AfterCause: true,
		Sources:    []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Nodes, snapshot.Nodegroups},
		Plan:       func(l action.Look) (*Plan, *action.Refusal) { return look{l}.plan() },
		Most:       Most,
		Left:       func(l action.Look) int { return look{l}.left() },
		Things:     func(p Plan) int { return max(len(p.Instances), 1) },
		Applied:    applied,
		Words:      words,
		Do:         do,
		Grants:     grants,
	}
}

// Plan are instances to be ended through their Auto Scaling groups, which
// launch others in their place.
type Plan struct {
	Instances []Replaced `json:"instances"`
}

// Replaced is one of them.
type Replaced struct {
	Instance  string `json:"instance"`
	Group     string `json:"group"`
	Nodegroup string `json:"nodegroup,omitempty"`
	Zone      string `json:"zone,omitempty"`
}

// Calls are what the remedy asks of AWS.
type Calls interface {
	// EndInGroup ends an instance whose Auto Scaling group launches another: the
	// capacity stays.
	EndInGroup(ctx context.Context, instance string) call.Answer
}

// do ends instances one after the other, and stops at the first that AWS does
// not end.
func do(ctx context.Context, calls Calls, p Plan, _ action.Place, _ string) action.Result {
	all := action.Result{Status: action.Done}
	for _, i := range p.Instances {
		r := action.One(i.Instance, calls.EndInGroup(ctx, i.Instance))
		all.Requests = append(all.Requests, r.Requests...)
		all.Changed = append(all.Changed, r.Changed...)
		if r.Status == action.Done {
			continue
		}
		all.Status, all.Reason, all.Says = r.Status, r.Reason, r.Says
		if r.Status == action.Failed && len(all.Changed) > 0 {
			all.Status = action.Partly
			all.Says = fmt.Sprintf("%d of %d instances were ended; then AWS said %s.", len(all.Changed), len(p.Instances), r.Reason)
		}
		break
	}
	return all
}

func grants(o action.OptIn) []spec.Grant {
	return o.ToGroups("autoscaling:TerminateInstanceInAutoScalingGroup",
		"replace-instance ends instances that did not join through their Auto Scaling group, which launches others.")
}

// The reasons why an instance is not ended.
const (
	NotRunning  action.Reason = "not-running"
	IsNode      action.Reason = "is-node"
	Protected   action.Reason = "protected"
	NotInGroup  action.Reason = "not-in-service"
	LaterLaunch action.Reason = "launched-after"
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
func (l look) plan() (*Plan, *action.Refusal) {
	list, no := l.stuck()
	if no != nil {
		return nil, no
	}
	return &Plan{Instances: list[:min(len(list), l.most())]}, nil
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
func (l look) stuck() ([]Replaced, *action.Refusal) {
	if l.Subject.Cleared.IsZero() {
		return nil, action.Refuse(action.CauseIsThere, "The cause is still there: a new instance would fail in the same way.")
	}
	if no := l.CauseGone(); no != nil {
		return nil, no
	}
	if wait := l.Subject.Cleared.Add(Settle); l.Snapshot.Time.Before(wait) {
		no := action.Refuse(action.TooSoon, "The cause is gone since %s: instances may still join by themselves.", l.Subject.Cleared.UTC().Format("15:04:05"))
		no.Again = wait
		return nil, no
	}
	launches := slices.Clone(l.Subject.Launches)
	slices.SortFunc(launches, func(a, b outcome.Launch) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Instance, b.Instance))
	})
	first := action.Refuse(action.NothingToDo, "No instance that missed the roll call is left.")
	var list []Replaced
	for _, launch := range launches {
		if launch.Status != outcome.Missed && launch.Status != outcome.GivenUp {
			continue
		}
		r, no := l.replaced(launch)
		switch {
		case no != nil && no.Reason == action.CouldNotLook:
			return nil, no
		case no != nil && first.Reason == action.NothingToDo:
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
func (l look) replaced(launch outcome.Launch) (Replaced, *action.Refusal) {
	id := launch.Instance
	i := slices.IndexFunc(l.Snapshot.Instances, func(x snapshot.Instance) bool { return x.ID == id })
	if i < 0 {
		return Replaced{}, action.Refuse(action.Gone, "EC2 does not describe %s.", id)
	}
	in := l.Snapshot.Instances[i]
	_, tagged := in.Tags[action.ClusterTag(l.Subject.Cluster)]
	group := in.Tags["aws:autoscaling:groupName"]
	switch {
	case in.State != "running":
		return Replaced{}, action.Refuse(NotRunning, "%s is %s.", id, in.State)
	case !tagged:
		return Replaced{}, action.Refuse(action.OtherCluster, "%s is not tagged as %s's.", id, l.Subject.Cluster)
	case in.Launched.IsZero() || !in.Launched.Before(l.Subject.Cleared) || !launch.Started.Before(l.Subject.Cleared):
		return Replaced{}, action.Refuse(LaterLaunch, "%s was launched after the cause was gone: it fails for another reason.", id)
	case group == "":
		return Replaced{}, action.Refuse(action.NotTheGroups, "%s is in no Auto Scaling group, so nothing would launch another.", id)
	}
	if node, is := l.nodeOf(in); is {
		return Replaced{}, action.Refuse(IsNode, "%s has registered as node %s.", id, node.Name)
	}
	g := slices.IndexFunc(l.Snapshot.Groups, func(x snapshot.Group) bool { return x.Name == group })
	if g < 0 {
		return Replaced{}, action.Missing(snapshot.Groups, group+" is not among them")
	}
	if no := l.mayLose(l.Snapshot.Groups[g], id); no != nil {
		return Replaced{}, no
	}
	return Replaced{Instance: id, Group: group, Nodegroup: in.Owner(), Zone: in.Zone}, nil
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
		return action.Refuse(action.OtherCluster, "%s is not tagged as owned by %s.", g.Name, l.Subject.Cluster)
	case m < 0 || slices.Contains(g.Warm, id):
		return action.Refuse(action.NotTheGroups, "%s does not count %s among its instances.", g.Name, id)
	case g.Instances[m].Lifecycle != "InService":
		// Standby is somebody's hand, Pending:Wait and Terminating a hook's.
		return action.Refuse(NotInGroup, "%s is %s in %s.", id, g.Instances[m].Lifecycle, g.Name)
	case g.Instances[m].Protected:
		return action.Refuse(Protected, "%s is protected from scale-in in %s.", id, g.Name)
	case g.Desired < len(g.Instances):
		return action.Refuse(action.GroupScales, "%s has %d instances and wants %d: it ends some by itself.", g.Name, len(g.Instances), g.Desired)
	}
	for _, p := range g.Suspended {
		if slices.Contains([]string{"Launch", "Terminate", "ReplaceUnhealthy", "HealthCheck"}, p.Process) {
			return action.Refuse(action.Suspended, "The process %s of %s is suspended: somebody is at work there.", p.Process, g.Name)
		}
	}
	for _, n := range l.Snapshot.Nodegroups {
		if slices.Contains(n.Groups, g.Name) && n.Status != "ACTIVE" && n.Status != "DEGRADED" {
			return action.Refuse(action.AnotherChange, "Nodegroup %s is %s: EKS replaces its instances itself.", n.Name, n.Status)
		}
	}
	return nil
}

// applied tells that all of the instances are on their way out.
func applied(r Plan, s *snapshot.Snapshot) (done, known bool) {
	return !slices.ContainsFunc(r.Instances, func(x Replaced) bool {
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

func words(r Plan, at action.Place) action.Words {
	w := action.Words{Cost: "Whatever else runs on an instance ends with it; no pod does: it never was a node."}
	var ids []string
	for _, i := range r.Instances {
		ids = append(ids, i.Instance)
		w.Steps = append(w.Steps, fmt.Sprintf("End %s (%s, %s) through its Auto Scaling group %s, which launches another: the capacity stays.", i.Instance, i.Nodegroup, i.Zone, i.Group))
		w.Commands = append(w.Commands, at.AWS("autoscaling terminate-instance-in-auto-scaling-group", "--instance-id", i.Instance, "--no-should-decrement-desired-capacity"))
	}
	w.Title = "Replace " + action.Few(ids, "instance")
	if len(ids) > 2 {
		w.Title = fmt.Sprintf("Replace %s that did not join", action.Count(len(ids), "instance"))
	}
	w.Undo = []string{"An instance that has ended cannot be brought back; its group launches another in its place."}
	return w
}
