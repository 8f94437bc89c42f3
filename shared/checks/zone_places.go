package checks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

const (
	// coming is how long an instance that is no node yet counts as one that is
	// on its way: twice the time in which nodes usually join.
	coming = 10 * time.Minute

	zoneLabel     = "topology.kubernetes.io/zone"
	hostLabel     = "kubernetes.io/hostname"
	poolLabel     = "karpenter.sh/nodepool"
	groupLabel    = "eks.amazonaws.com/nodegroup"
	computeLabel  = "eks.amazonaws.com/compute-type"
	disruptedMark = "karpenter.sh/disrupt"
)

// stand is a node, or an instance that is to become one, in a zone.
type stand struct {
	name     string // the node's, else the instance's
	instance string
	group    string // Auto Scaling group
	zone     string
	// coming tells that it is on its way; cordoned that it takes no new pods.
	coming   bool
	cordoned bool
	berth    berth
}

// places are the nodes of a cluster by zone, and what launches them.
type places struct {
	s      *View
	stands map[string][]stand
	rigs   []rig
	// pools tells that something else than groups launches nodes too (Karpenter,
	// Auto Mode), and where nobody can say: blind.
	pools bool
	blind bool
}

func newPlaces(s *View) *places {
	p := &places{s: s, stands: map[string][]stand{}, pools: s.Cluster.AutoMode}
	p.blind = !s.Has(snapshot.Nodes) && !s.Has(snapshot.Instances)
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
		if p.ours(in) && in.Tags[poolLabel] != "" {
			p.pools = true
		}
	}
	known := map[string]bool{}
	for _, n := range s.Nodes {
		if n.Labels[poolLabel] != "" || n.Labels[computeLabel] == "auto" {
			p.pools = true
		}
		if n.Instance == "" {
			continue // Fargate and hybrid nodes carry no EBS volume
		}
		known[n.Instance] = true
		p.addNode(n, of[n.Instance], cmp.Or(n.Zone, n.Labels[zoneLabel], zones[n.Instance]))
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
		p.stands[zones[id]] = append(p.stands[zones[id]], stand{name: id, instance: id, group: group, zone: zones[id], coming: s.Has(snapshot.Nodes)})
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
	p.rigs = p.launchers()
	return p
}

// addNode takes a node that is Ready, or has just registered.
func (p *places) addNode(n snapshot.Node, group, zone string) {
	on := !n.Joined()
	if zone == "" || on && (n.Created.IsZero() || p.s.Time.Sub(n.Created) >= coming) {
		return
	}
	s := stand{name: n.Name, instance: n.Instance, group: group, zone: zone, coming: on, cordoned: n.Cordoned}
	s.berth = berth{name: n.Name, labels: n.Labels, taints: n.Repels, whole: true}
	for _, t := range n.Repels {
		s.cordoned = s.cordoned || strings.HasPrefix(t.Key, disruptedMark)
	}
	p.stands[zone] = append(p.stands[zone], s)
}

// ours tells an instance of the cluster: a VPC holds others too.
func (p *places) ours(in snapshot.Instance) bool {
	c := p.s.Cluster.Name
	if in.Tags["kubernetes.io/cluster/"+c] != "" || in.Tags["eks:cluster-name"] == c || in.Tags["eks:eks-cluster-name"] == c {
		return true
	}
	group := in.Tags["aws:autoscaling:groupName"]
	return group != "" && slices.ContainsFunc(p.s.Groups, func(g snapshot.Group) bool { return g.Name == group })
}

// serves tells that an instance of a group is, or is about to be, in service.
func serves(lifecycle string) bool {
	return lifecycle == "InService" || lifecycle == "Pending" || strings.HasPrefix(lifecycle, "Pending:")
}

// stood tells that an instance is a node, or is about to be one.
func (p *places) stood(instance string) bool {
	for _, list := range p.stands {
		if slices.ContainsFunc(list, func(s stand) bool { return s.instance == instance }) {
			return true
		}
	}
	return false
}

// zones are all that are known: what is found well in each closes what was
// found wrong there.
func (p *places) zones() []string {
	var names []string
	for _, z := range p.s.Zones {
		names = append(names, z.Name)
	}
	for _, n := range p.s.Subnets {
		names = append(names, n.Zone)
	}
	for z := range p.stands {
		names = append(names, z)
	}
	for _, r := range p.rigs {
		names = append(names, r.zones...)
	}
	for _, v := range p.s.Volumes {
		names = append(names, v.Zone)
	}
	for _, v := range p.s.PersistentVolumes {
		names = append(names, v.Zones...)
	}
	names = slices.DeleteFunc(names, func(z string) bool { return z == "" })
	slices.Sort(names)
	return slices.Compact(names)
}
