// Package zones is a cluster by availability zone: its nodes, what launches more of
// them, and the volumes that can be nowhere else.
package zones

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks/facts"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

const (
	// coming is how long an instance that is no node yet counts as one that is
	// on its way: twice the time in which nodes usually join.
	coming = 10 * time.Minute

	computeLabel  = "eks.amazonaws.com/compute-type"
	disruptedMark = "karpenter.sh/disrupt"
)

// Node is a node, or an instance that is to become one, in a zone.
type Node struct {
	name     string // the node's, else the instance's
	instance string
	group    string // Auto Scaling group
	zone     string
	// Coming tells that it is on its way; cordoned that it takes no new pods.
	Coming   bool
	cordoned bool
	fit      scheduling.Node
}

// Zones are the nodes of a cluster by zone, and what launches them.
type Zones struct {
	S       *facts.View
	NodesIn map[string][]Node
	Sources []NodeSource
	// Pools tells that something else than groups launches nodes too (Karpenter,
	// Auto Mode), and where nobody can say: blind.
	Pools bool
	Blind bool
	// PoolsKnown tells that it is known into which zones the NodePools launch.
	PoolsKnown bool
}

// Of are the nodes of the cluster by zone, and what launches them.
func Of(s *facts.View) *Zones { return facts.Derive(s, "zones", newZoneView) }

func newZoneView(s *facts.View) *Zones {
	p := &Zones{S: s, NodesIn: map[string][]Node{}, Pools: s.Cluster.AutoMode || len(s.NodePools) > 0, PoolsKnown: poolZonesKnown(s)}
	p.Blind = !s.Has(snapshot.Nodes) && !s.Has(snapshot.Instances)
	of := map[string]string{} // instance to group
	zones := map[string]string{}
	for _, g := range s.Groups {
		for _, in := range g.Instances {
			of[in.ID] = g.Name
			zones[in.ID] = in.Zone
		}
	}
	launched := map[string]time.Time{}
	for _, in := range s.Instances {
		launched[in.ID] = in.Launched
		zones[in.ID] = cmp.Or(zones[in.ID], in.Zone)
		if p.ours(in) && in.Tags[scheduling.PoolLabel] != "" {
			p.Pools = true
		}
	}
	known := map[string]bool{}
	for _, n := range s.Nodes {
		if n.Labels[scheduling.PoolLabel] != "" || n.Labels[computeLabel] == "auto" {
			p.Pools = true
		}
		if n.Instance == "" {
			continue // Fargate and hybrid nodes carry no EBS volume
		}
		known[n.Instance] = true
		p.addNode(n, of[n.Instance], cmp.Or(n.Zone, n.Labels[scheduling.ZoneLabel], zones[n.Instance]))
	}
	add := func(id, group string) {
		if known[id] || zones[id] == "" {
			return
		}
		known[id] = true
		at, told := launched[id]
		young := !told || s.Time.Sub(at) < coming
		if s.Has(snapshot.Nodes) && !young {
			return // it had its time, and is no node
		}
		p.NodesIn[zones[id]] = append(p.NodesIn[zones[id]], Node{name: id, instance: id, group: group, zone: zones[id], Coming: s.Has(snapshot.Nodes)})
	}
	for _, in := range s.Instances {
		if p.ours(in) && (in.State == "running" || in.State == "pending") {
			add(in.ID, of[in.ID])
		}
	}
	for _, g := range s.Groups {
		for _, in := range g.Instances {
			if serves(in.Lifecycle) {
				add(in.ID, g.Name)
			}
		}
	}
	p.Sources = p.launchers()
	return p
}

// addNode takes a node that is Ready, or has just registered.
func (p *Zones) addNode(n snapshot.Node, group, zone string) {
	on := !n.Joined()
	if zone == "" || on && (n.Created.IsZero() || p.S.Time.Sub(n.Created) >= coming) {
		return
	}
	s := Node{name: n.Name, instance: n.Instance, group: group, zone: zone, Coming: on, cordoned: n.Cordoned}
	s.fit = scheduling.Node{Name: n.Name, Labels: n.Labels, Taints: n.Repels, Whole: true}
	for _, t := range n.Repels {
		s.cordoned = s.cordoned || strings.HasPrefix(t.Key, disruptedMark)
	}
	p.NodesIn[zone] = append(p.NodesIn[zone], s)
}

// ours tells an instance of the cluster: a VPC holds others too.
func (p *Zones) ours(in snapshot.Instance) bool {
	c := p.S.Cluster.Name
	if in.Tags["kubernetes.io/cluster/"+c] != "" || in.Tags["eks:cluster-name"] == c || in.Tags["eks:eks-cluster-name"] == c {
		return true
	}
	group := in.Tags["aws:autoscaling:groupName"]
	return group != "" && slices.ContainsFunc(p.S.Groups, func(g snapshot.Group) bool { return g.Name == group })
}

// serves tells that an instance of a group is, or is about to be, in service.
func serves(lifecycle string) bool {
	return lifecycle == "InService" || lifecycle == "Pending" || strings.HasPrefix(lifecycle, "Pending:")
}

// stood tells that an instance is a node, or is about to be one.
func (p *Zones) stood(instance string) bool {
	for _, list := range p.NodesIn {
		if slices.ContainsFunc(list, func(s Node) bool { return s.instance == instance }) {
			return true
		}
	}
	return false
}

// Zones are all that are known: what is found well in each closes what was
// found wrong there.
func (p *Zones) Zones() []string {
	var names []string
	for _, z := range p.S.Zones {
		names = append(names, z.Name)
	}
	for _, n := range p.S.Subnets {
		names = append(names, n.Zone)
	}
	for z := range p.NodesIn {
		names = append(names, z)
	}
	for _, r := range p.Sources {
		names = append(names, r.Zones...)
	}
	for _, v := range p.S.Volumes {
		names = append(names, v.Zone)
	}
	for _, v := range p.S.PersistentVolumes {
		names = append(names, v.Zones...)
	}
	names = slices.DeleteFunc(names, func(z string) bool { return z == "" })
	slices.Sort(names)
	return slices.Compact(names)
}
