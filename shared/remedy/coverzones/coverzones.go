// Package coverzones raises the desired count of a group, so that each of its zones has a
// node.
package coverzones

import (
	"context"
	"slices"
	"time"

	"rollcall/shared/checks/finding"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Remedy is the remedy.
func Remedy() action.Remedy[remedy.CoverZones, Calls] {
	return action.Remedy[remedy.CoverZones, Calls]{
		Name:    optin.CoverZones,
		Sources: []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.Groups, snapshot.Nodegroups, snapshot.Activities, snapshot.ZonalShifts, snapshot.AutoshiftsOf},
		More:    action.More{GroupMembers: true},
		Plan:    func(l action.Look) (*remedy.CoverZones, *action.Refusal) { return look{l}.plan() },
		Applied: applied,
		Do:      do,
		Grants:  grants,
	}
}

// Calls are what the remedy asks of AWS.
type Calls interface {
	// SetDesiredCapacity sets the desired count of an Auto Scaling group.
	SetDesiredCapacity(ctx context.Context, group string, desired int) action.Answer
	// SetDesiredSize sets the desired count of a managed nodegroup alone: EKS keeps
	// minimum and maximum. The token makes EKS take the same update once.
	SetDesiredSize(ctx context.Context, cluster, nodegroup string, desired int, token string) action.Answer
}

// do raises the count. It lowers none, and exceeds no maximum, whatever the plan
// says.
func do(ctx context.Context, calls Calls, p remedy.CoverZones, at remedy.Place, token string) action.Result {
	name := p.Nodegroup + p.Group
	switch {
	case p.To <= p.From || p.To > p.Max:
		return action.One(name, action.NotAsked("NotARaise", "the desired count is not raised within its limits"))
	case p.Nodegroup == "":
		return action.One(name, calls.SetDesiredCapacity(ctx, p.Group, p.To))
	}
	return action.One(name, calls.SetDesiredSize(ctx, at.Cluster, p.Nodegroup, p.To, token))
}

// grants are on groups and on managed nodegroups, whose ARN holds their
// cluster's name.
func grants(o action.OptIn) []spec.Grant {
	return slices.Concat(
		o.ToGroups("autoscaling:SetDesiredCapacity", "cover-zones raises the desired count of Auto Scaling groups, never above their maximum."),
		o.ByARN("arn:${Partition}:eks:${Region}:${Account}:nodegroup/%s/*/*", spec.Grant{
			Sid: "RaiseNodegroups", Why: "cover-zones raises the desired count of managed nodegroups, never above their maximum.",
			Actions: []string{"eks:UpdateNodegroupConfig"},
		}),
	)
}

// The reasons why a desired count is not raised.
const (
	NoGroup     remedy.Reason = "no-group"
	OverMax     remedy.Reason = "over-max"
	ZoneRefuses remedy.Reason = "zone-refuses"
	ZoneShifted remedy.Reason = "zone-shifted"
	// ZoneNotReached is that one more instance would come to another zone.
	ZoneNotReached remedy.Reason = "zone-not-reached"
)

// refusedLately is for how long a refused launch speaks against a zone: one
// more instance wanted would be refused there too.
const refusedLately = time.Hour

// look is one look at the world, for this remedy.
type look struct{ action.Look }

// plan plans the desired count that puts an instance into each zone of a
// group: Auto Scaling launches where the group has the fewest, so as many more
// as there are zones without one are enough.
func (l look) plan() (*remedy.CoverZones, *action.Refusal) {
	g, n, no := l.group()
	if no != nil {
		return nil, no
	}
	zones, without, no := l.zonesOf(g)
	if no != nil {
		return nil, no
	}
	c := &remedy.CoverZones{
		From: g.Desired, To: g.Desired + len(without), Max: g.Max, Zones: zones, Without: without,
		Autoscaler: g.Tags["k8s.io/cluster-autoscaler/enabled"] != "",
	}
	name := g.Name
	if n != nil {
		c.Nodegroup, c.Max, name = n.Name, min(n.Max, g.Max), n.Name
	} else {
		c.Group = g.Name
	}
	if c.To > c.Max {
		return nil, action.Refuse(OverMax, "%s needs %d instances for one in each of %d zones, but its maximum is %d.", name, c.To, len(zones), c.Max)
	}
	if no := l.Still(finding.Certain, finding.Likely); no != nil {
		return nil, no
	}
	if !slices.ContainsFunc(l.Covered(), func(zone string) bool { return slices.Contains(without, zone) }) {
		return nil, action.Refuse(ZoneNotReached, "%s would launch in %s, which is not where a node is missing.", name, remedy.And(without))
	}
	return c, nil
}

// group is the Auto Scaling group that is to cover more zones, with its managed
// nodegroup if it has one: the one that the incident is of.
func (l look) group() (snapshot.Group, *snapshot.Nodegroup, *action.Refusal) {
	names := []string{l.Subject.Resource}
	i := slices.IndexFunc(l.Snapshot.Nodegroups, func(n snapshot.Nodegroup) bool { return n.Name == l.Subject.Resource })
	if i < 0 && !slices.ContainsFunc(l.Snapshot.Groups, func(g snapshot.Group) bool { return g.Name == l.Subject.Resource }) {
		if names = l.Subject.Nodegroups; len(names) != 1 {
			return snapshot.Group{}, nil, action.Refuse(NoGroup, "The incident covers %d nodegroups: which one gets more instances is a person's decision.", len(names))
		}
		i = slices.IndexFunc(l.Snapshot.Nodegroups, func(n snapshot.Nodegroup) bool { return n.Name == names[0] })
	}
	group := names[0]
	var nodegroup *snapshot.Nodegroup
	if i >= 0 {
		n := l.Snapshot.Nodegroups[i]
		switch {
		case n.Cluster != "" && n.Cluster != l.Subject.Cluster:
			return snapshot.Group{}, nil, action.Refuse(remedy.OtherCluster, "%s is a nodegroup of %s.", n.Name, n.Cluster)
		case n.Status != "ACTIVE":
			return snapshot.Group{}, nil, action.Refuse(remedy.AnotherChange, "Nodegroup %s is %s.", n.Name, n.Status)
		case len(n.Groups) != 1:
			return snapshot.Group{}, nil, action.Refuse(NoGroup, "Nodegroup %s has %d Auto Scaling groups.", n.Name, len(n.Groups))
		}
		nodegroup, group = &n, n.Groups[0]
	}
	k := slices.IndexFunc(l.Snapshot.Groups, func(g snapshot.Group) bool { return g.Name == group })
	if k < 0 {
		return snapshot.Group{}, nil, action.Refuse(NoGroup, "%s is not an Auto Scaling group of %s: whatever launches its nodes chooses zones itself.", group, l.Subject.Cluster)
	}
	g := l.Snapshot.Groups[k]
	managed := g.Tags["eks:nodegroup-name"]
	switch {
	case g.Tags[action.ClusterTag(l.Subject.Cluster)] != "owned":
		return snapshot.Group{}, nil, action.Refuse(remedy.OtherCluster, "%s is not tagged as owned by %s.", g.Name, l.Subject.Cluster)
	case nodegroup == nil && managed != "":
		return snapshot.Group{}, nil, action.Missing(snapshot.Nodegroups, managed+" is not among them")
	case nodegroup != nil && nodegroup.Desired != g.Desired:
		return snapshot.Group{}, nil, action.Refuse(remedy.GroupScales, "EKS reports %[2]d desired instances for %[1]s, its group %[3]d.", nodegroup.Name, nodegroup.Desired, g.Desired)
	}
	return g, nodegroup, l.quiet(g)
}

// quiet asks that nothing else changes a group at the moment.
func (l look) quiet(g snapshot.Group) *action.Refusal {
	for _, p := range g.Suspended {
		if slices.Contains([]string{"Launch", "AZRebalance"}, p.Process) {
			return action.Refuse(remedy.Suspended, "The process %s of %s is suspended: it would not launch, or not balance zones.", p.Process, g.Name)
		}
	}
	for _, m := range g.Instances {
		if m.Lifecycle != "InService" {
			return action.Refuse(remedy.GroupScales, "%s is %s in %s: a change is already in progress.", m.ID, m.Lifecycle, g.Name)
		}
	}
	if len(g.Instances) != g.Desired {
		return action.Refuse(remedy.GroupScales, "%s has %d instances, desired %d: a change is already in progress.", g.Name, len(g.Instances), g.Desired)
	}
	for _, a := range l.Snapshot.Activities {
		// An instance refresh too is at work through activities.
		if a.Group == g.Name && a.Ended.IsZero() && a.Status != "Successful" && a.Status != "Failed" && a.Status != "Cancelled" {
			return action.Refuse(remedy.AnotherChange, "%s has an activity in progress: %s.", g.Name, a.About)
		}
	}
	return nil
}

// zonesOf are a group's zones, and those in which it has no instance.
func (l look) zonesOf(g snapshot.Group) (zones, without []string, _ *action.Refusal) {
	for _, id := range g.Subnets {
		i := slices.IndexFunc(l.Snapshot.Subnets, func(s snapshot.Subnet) bool { return s.ID == id })
		if i < 0 || l.Snapshot.Subnets[i].Zone == "" {
			return nil, nil, action.Missing(snapshot.Subnets, "the zone of "+id+" is not known")
		}
		if zone := l.Snapshot.Subnets[i].Zone; !slices.Contains(zones, zone) {
			zones = append(zones, zone)
		}
	}
	slices.Sort(zones)
	without = slices.Clone(zones)
	for _, m := range g.Instances {
		i := slices.IndexFunc(l.Snapshot.Instances, func(x snapshot.Instance) bool { return x.ID == m.ID })
		if i < 0 || l.Snapshot.Instances[i].Zone == "" {
			return nil, nil, action.Missing(snapshot.Instances, "the zone of "+m.ID+" is not known")
		}
		without = slices.DeleteFunc(without, func(zone string) bool { return zone == l.Snapshot.Instances[i].Zone })
	}
	if len(without) == 0 {
		return nil, nil, action.Refuse(remedy.NothingToDo, "%s has an instance in each of its zones.", g.Name)
	}
	for _, zone := range without {
		switch {
		case l.Snapshot.GroupShift(g, zone) != nil:
			return nil, nil, action.Refuse(ZoneShifted, "A zonal shift moves %s away from %s: another instance would launch in another zone.", g.Name, zone)
		case l.Snapshot.ClusterShift(zone) != nil:
			// A group that EKS does not manage still launches there.
			return nil, nil, action.Refuse(ZoneShifted, "A zonal shift moves %s away from %s: a node there should get no pods.", l.Subject.Cluster, zone)
		}
	}
	for _, a := range l.Snapshot.Activities {
		if a.Group == g.Name && a.Status == "Failed" && slices.Contains(without, a.Zone) && l.Snapshot.Time.Sub(a.Started) < refusedLately {
			return nil, nil, action.Refuse(ZoneRefuses, "A launch of %s in %s failed at %s: another would fail there, too.", g.Name, a.Zone, a.Started.UTC().Format("15:04"))
		}
	}
	return zones, without, nil
}

func applied(c remedy.CoverZones, s *snapshot.Snapshot) (done, known bool) {
	return slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool {
		return (g.Name == c.Group || c.Nodegroup != "" && g.Tags["eks:nodegroup-name"] == c.Nodegroup) && g.Desired >= c.To
	}), s.Has(snapshot.Groups)
}
