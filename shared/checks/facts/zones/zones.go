// Package zones is a cluster by availability zone: its nodes, what launches more of
// them, and the volumes that can be nowhere else.
package zones

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
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

// Counts are how many volumes of a cluster have no node where they live
// and none that comes, those that nobody claims left out, and how many pods
// wait for one. Known is false for what could not be read.
func Counts(s *snapshot.Snapshot) (volumes, pods int, volumesKnown, podsKnown bool) {
	volumesKnown = s.Has(snapshot.VolumesOf) && s.Has(snapshot.Groups) && s.Has(snapshot.Clusters)
	if !volumesKnown {
		return 0, 0, false, false
	}
	waiting := map[string]bool{}
	for _, l := range VolumesOf(facts.NewView(s)) {
		if l.Home.Held == HeldNo || l.State != Gap && l.State != Stranded {
			continue
		}
		volumes++
		for _, p := range l.Home.Pods {
			waiting[p.Key()] = true
		}
	}
	return volumes, len(waiting), true, s.Has(snapshot.WaitingPods)
}

// NodeSource is an Auto Scaling group as something that can bring nodes to zones.
type NodeSource struct {
	Group snapshot.Group
	// Managed is its EKS nodegroup, if it has one.
	Managed *snapshot.Nodegroup
	Zones   []string
	// Count is how many instances it has in each zone.
	Count map[string]int
	// unready are instances by zone that had their time and are no Ready nodes:
	// checks of nodes say why.
	unready map[string]string
	// Idle says why it launches nothing; empty where it does.
	Idle string
	// Failing says, by zone, what becomes of its launches there.
	Failing map[string]string
	// shifted are the zonal shifts that keep it out of its zones.
	shifted map[string]*snapshot.Shift
	fit     scheduling.Node
	// Scaled tells that an autoscaler may change its desired count.
	Scaled bool
	// moving tells that nodes of it come and go just now.
	moving bool
}

// Name is what a person calls it: its nodegroup, else the group itself.
func (r NodeSource) Name() string {
	if r.Managed != nil {
		return r.Managed.Name
	}
	return r.Group.Name
}

// Most is its maximum. EKS keeps one of its own for a nodegroup; where somebody
// changed the group beside EKS the smaller one holds.
func (r NodeSource) Most() int {
	if r.Managed != nil {
		return min(r.Managed.Max, r.Group.Max)
	}
	return r.Group.Max
}

// Shifted says, by zone, what keeps it out; empty where it launches.
func (r NodeSource) Shifted(zone string) string {
	if s := r.shifted[zone]; s != nil {
		return shiftText(s)
	}
	return ""
}

func (r NodeSource) total() int {
	n := 0
	for _, c := range r.Count {
		n += c
	}
	return n
}

// Empty are the zones into which it launches and where it has no instance.
func (r NodeSource) Empty() []string {
	return slices.DeleteFunc(slices.Clone(r.Zones), func(z string) bool { return r.Count[z] > 0 })
}

// launchers are the groups that can launch nodes at all.
func (p *Zones) launchers() []NodeSource {
	failing := p.failing()
	var rigs []NodeSource
	for _, g := range p.S.Groups {
		r := NodeSource{Group: g, Zones: slices.Compact(slices.Sorted(slices.Values(g.Zones))), Count: map[string]int{}, unready: map[string]string{}, Failing: failing[g.Name]}
		for i, n := range p.S.Nodegroups {
			if slices.Contains(n.Groups, g.Name) || g.Tags["eks:nodegroup-name"] == n.Name && g.Tags["eks:cluster-name"] == p.S.Cluster.Name {
				r.Managed = &p.S.Nodegroups[i]
			}
		}
		for z, list := range p.NodesIn {
			for _, s := range list {
				if s.group == g.Name {
					r.Count[z]++
				}
			}
		}
		for _, in := range g.Instances {
			if in.Zone != "" && serves(in.Lifecycle) && !p.stood(in.ID) {
				r.Count[in.Zone]++
				r.unready[in.Zone] = in.ID
			}
		}
		switch {
		case Stopped(g):
			r.Idle = "its process Launch is suspended"
		case g.Max == 0:
			r.Idle = "its maximum is 0"
		case r.Managed != nil && strings.HasPrefix(r.Managed.Status, "DELET"):
			r.Idle = "it is being deleted"
		}
		r.moving = r.Managed != nil && (r.Managed.Status == "CREATING" || r.Managed.Status == "UPDATING") || g.Desired > len(g.Instances)
		for key := range g.Tags {
			r.Scaled = r.Scaled || strings.HasPrefix(key, "k8s.io/cluster-autoscaler/")
		}
		r.fit, r.shifted = p.model(r), p.shiftsOf(r)
		rigs = append(rigs, r)
	}
	return rigs
}

// model is what a new node of the group would be like: as one that it has, else
// as its nodegroup says.
func (p *Zones) model(r NodeSource) scheduling.Node {
	for _, z := range slices.Sorted(maps.Keys(p.NodesIn)) {
		for _, s := range p.NodesIn[z] {
			if s.group != r.Group.Name || !s.fit.Whole || s.Coming {
				continue
			}
			labels := maps.Clone(s.fit.Labels)
			for _, own := range []string{scheduling.ZoneLabel, scheduling.HostLabel, "topology.ebs.csi.aws.com/zone", "failure-domain.beta.kubernetes.io/zone", "topology.k8s.aws/zone-id"} {
				delete(labels, own)
			}
			return scheduling.Node{Labels: labels, Taints: s.fit.Taints, Whole: true}
		}
	}
	b := scheduling.Node{Labels: map[string]string{"kubernetes.io/os": "linux"}}
	if m := r.Managed; m != nil {
		maps.Copy(b.Labels, m.Labels)
		b.Labels[scheduling.GroupLabel] = m.Name
		switch {
		case strings.Contains(m.AMIType, "ARM"):
			b.Labels["kubernetes.io/arch"] = "arm64"
		case strings.Contains(m.AMIType, "x86_64") || m.AMIType == "AL2_x86_64_GPU":
			b.Labels["kubernetes.io/arch"] = "amd64"
		}
		if strings.HasPrefix(m.AMIType, "WINDOWS") {
			b.Labels["kubernetes.io/os"] = "windows"
		}
		b.Taints = m.Taints
	}
	return b
}

// failing are, by group and zone, the launches that came to nothing and were
// followed by none that did: refused ones, and those that never joined.
func (p *Zones) failing() map[string]map[string]string {
	all := map[string]map[string]string{}
	note := func(group, zone, why string) {
		if group == "" || zone == "" {
			return
		}
		if all[group] == nil {
			all[group] = map[string]string{}
		}
		all[group][zone] = why
	}
	for _, t := range p.S.Attempts().List {
		if !t.Unsure {
			note(t.Group, t.Zone, fmt.Sprintf("%s, %s", cmp.Or(string(t.Verdict.Class), t.Told), phrase.ClockTime(t.At)))
		}
	}
	if !p.S.Has(snapshot.LaunchHistory) {
		return all
	}
	joined := map[string]time.Time{}
	for _, h := range p.S.History {
		if key := h.Group + "/" + h.Zone; h.End == snapshot.Joined && h.Started.After(joined[key]) {
			joined[key] = h.Started
		}
	}
	for _, h := range p.S.History {
		if h.End != snapshot.NotJoined && h.End != snapshot.Refused || p.S.Time.Sub(h.Started) > ImpairedWindow || h.Started.Before(joined[h.Group+"/"+h.Zone]) {
			continue
		}
		note(h.Group, h.Zone, fmt.Sprintf("%s, %s", cmp.Or(string(h.Cause), string(h.End)), phrase.ClockTime(h.Started)))
	}
	return all
}

// ImpairedWindow is how far back launches count. It is as far as join-check
// looks back, so that two looks at the same time say the same.
const ImpairedWindow = time.Hour

// Stopped tells that a group launches nothing.
func Stopped(g snapshot.Group) bool {
	return slices.ContainsFunc(g.Suspended, func(s snapshot.Suspended) bool { return s.Process == "Launch" })
}

// poolZonesKnown tells that the NodePools were read, and of each of them where it
// launches. EKS Auto Mode has NodePools too; where there are none, though nodes say
// that something launches beside the groups, nothing is known of it.
func poolZonesKnown(s *facts.View) bool {
	return s.Has(snapshot.NodePoolsOf) && len(s.NodePools) > 0 && !slices.ContainsFunc(s.NodePools, func(p snapshot.NodePool) bool {
		_, known := facts.PoolSubnets(s, p)
		return !p.Deleting && !known
	})
}

// poolFor is a NodePool that launches in one of the zones, and whose nodes take
// the pod, if one waits.
func (p *Zones) poolFor(zones []string, pod *snapshot.WaitingPod) string {
	for _, pool := range p.S.NodePools {
		if pool.Deleting || pod != nil && !scheduling.PoolTakes(pool, pod) {
			continue
		}
		if p.poolLaunches(pool, slices.DeleteFunc(slices.Clone(zones), func(z string) bool { return p.poolShifted(pool.Name, z) })) {
			return pool.Name
		}
	}
	return ""
}

// poolLaunches reports whether a NodePool has a subnet in one of the zones.
func (p *Zones) poolLaunches(pool snapshot.NodePool, zones []string) bool {
	subnets, _ := facts.PoolSubnets(p.S, pool)
	return slices.ContainsFunc(subnets, func(n snapshot.ZonedSubnet) bool { return slices.Contains(zones, n.Zone) })
}

// mostPools is of how many NodePools it is told where they launch.
const mostPools = 10

// PoolEvidence is where the NodePools launch, as far as that is known.
func (p *Zones) PoolEvidence() []finding.Evidence {
	var out []finding.Evidence
	for _, pool := range p.S.NodePools[:min(len(p.S.NodePools), mostPools)] {
		subnets, known := facts.PoolSubnets(p.S, pool)
		if !known {
			continue
		}
		var zones []string
		for _, n := range subnets {
			zones = append(zones, n.Zone)
		}
		value := "launches in " + strings.Join(slices.Compact(zones), ", ")
		if len(zones) == 0 {
			value = "launches nowhere: its class has no subnet in a zone that it allows"
		}
		out = append(out, finding.Evidence{What: "NodePool " + pool.Name, Value: value})
	}
	return out
}

// ShiftSources are what says which zones are shifted away from.
func ShiftSources() []snapshot.Source {
	return []snapshot.Source{snapshot.ZonalShifts, snapshot.AutoshiftsOf, snapshot.PoolEventsOf}
}

// Shift is what zonal shifts do in one zone.
type Shift struct {
	Zone string
	// Of are the shifts: the cluster's first, then those of groups.
	Of []snapshot.Shift
	// Cluster reports whether the cluster is shifted: its nodes in the zone are cordoned.
	Cluster bool
	// Sources are the groups, and Pools the NodePools, that would launch there.
	Sources []*NodeSource
	Pools   []string
	p       *Zones
}

// ShiftIn returns what keeps the cluster's nodes or launches out of a zone, or nil. A zone
// in which the cluster has no nodes and launches none is none of its zones.
func (p *Zones) ShiftIn(zone string) *Shift {
	x := &Shift{Zone: zone, p: p}
	if c := p.S.ClusterShift(zone); c != nil {
		x.Of, x.Cluster = append(x.Of, *c), true
	}
	for i := range p.Sources {
		r := &p.Sources[i]
		g := r.shifted[zone]
		if g == nil {
			continue
		}
		x.Sources = append(x.Sources, r)
		if !slices.ContainsFunc(x.Of, func(o snapshot.Shift) bool { return o == *g }) {
			x.Of = append(x.Of, *g)
		}
	}
	for _, pool := range p.S.NodePools {
		if p.poolShifted(pool.Name, zone) && p.poolLaunches(pool, []string{zone}) {
			x.Pools = append(x.Pools, pool.Name)
		}
	}
	if len(x.Of) == 0 || len(x.Sources)+len(x.Pools) == 0 && (!x.Cluster || len(p.NodesIn[zone]) == 0) {
		return nil
	}
	return x
}

// Keeps reports whether a pod could run in the zone but for the shift: on a node that is
// cordoned for it, or on one that would be launched.
func (x *Shift) Keeps(pod *snapshot.WaitingPod) bool {
	fits := func(n scheduling.Node) bool {
		can, _ := n.Takes(pod)
		return can != scheduling.FitsNot
	}
	return x.Cluster && slices.ContainsFunc(x.p.NodesIn[x.Zone], func(n Node) bool { return fits(n.fit) }) ||
		slices.ContainsFunc(x.Sources, func(r *NodeSource) bool { return r.Idle == "" && fits(r.fit.In(x.Zone)) }) ||
		slices.ContainsFunc(x.p.S.NodePools, func(pool snapshot.NodePool) bool {
			return slices.Contains(x.Pools, pool.Name) && (pod == nil || scheduling.PoolTakes(pool, pod))
		})
}

// Cordoned counts the nodes in the zone that take no new pods.
func (x *Shift) Cordoned() (n int) {
	for _, s := range x.p.NodesIn[x.Zone] {
		if s.cordoned {
			n++
		}
	}
	return n
}

// Wanted are the waiting pods that can run in the given zones alone: their volume is
// there, or they ask for it.
func (p *Zones) Wanted(zones []string) map[*snapshot.WaitingPod]*VolumePlacement {
	within := func(list []string) bool {
		return len(list) > 0 && !slices.ContainsFunc(list, func(z string) bool { return !slices.Contains(zones, z) })
	}
	out := map[*snapshot.WaitingPod]*VolumePlacement{}
	for i := range p.S.WaitingPods {
		pod := &p.S.WaitingPods[i]
		if list, _ := p.Settled([]*snapshot.WaitingPod{pod}); len(list) > 0 && within(PodZones(pod)) {
			out[pod] = nil
		}
	}
	all := VolumesOf(p.S)
	for i := range all {
		for _, pod := range all[i].Home.Pods {
			if within(all[i].Home.Zones) {
				out[pod] = &all[i]
			}
		}
	}
	return out
}

// CanCome reports whether a node that takes the pod can still come to one of the zones.
func (p *Zones) CanCome(zones []string, pod *snapshot.WaitingPod) bool {
	best, _, _ := p.bringer(zones, pod)
	return best != nil || p.poolFor(zones, pod) != "" || p.Pools && !p.PoolsKnown
}

// shiftsOf are the shifts that keep a group out of its zones.
func (p *Zones) shiftsOf(r NodeSource) map[string]*snapshot.Shift {
	out := map[string]*snapshot.Shift{}
	for _, z := range r.Zones {
		if s := p.S.GroupShift(r.Group, z); s != nil {
			out[z] = s
		}
	}
	return out
}

// poolShifted reports whether a NodePool launches nothing in a zone for the cluster's
// shift. EKS Auto Mode heeds it. Karpenter does where its integration is on, which it says
// in an event of the NodePool (aws/karpenter-provider-aws pkg/cloudprovider/events):
// "Zonal shift detected: offerings in zone us-west-2c (usw2-az3) are unavailable …".
func (p *Zones) poolShifted(pool, zone string) bool {
	shift := p.S.ClusterShift(zone)
	if shift == nil {
		return false
	}
	return p.S.Cluster.AutoMode || slices.ContainsFunc(p.S.PoolEvents, func(e snapshot.PoolEvent) bool {
		return e.Kind == "NodePool" && e.Name == pool && e.Reason == "ZonalShiftActive" && strings.Contains(e.Message, "("+shift.ZoneID+")")
	})
}

// shiftText is why a group launches nothing in a zone.
func shiftText(s *snapshot.Shift) string {
	text := "a zonal shift"
	switch s.Kind {
	case snapshot.Autoshift:
		text = "a zonal autoshift of AWS"
	case snapshot.PracticeRun:
		text = "a practice run of zonal autoshift"
	}
	if s.Group == "" {
		text += " of the cluster"
	}
	if !s.Expires.IsZero() {
		text += fmt.Sprintf(" until %s UTC", s.Expires.UTC().Format("2006-01-02 15:04"))
	}
	return text
}

// ShiftsUnread are why it is not known whether a zone is shifted away from, where the
// cluster or a group of it can be.
func (p *Zones) ShiftsUnread() (list []snapshot.Failure) {
	if !p.S.Cluster.ZonalShift && !slices.ContainsFunc(p.S.Groups, func(g snapshot.Group) bool { return g.ZonalShift }) {
		return nil
	}
	unnamed := slices.ContainsFunc(slices.Concat(p.S.Shifts, p.S.Autoshifts), func(s snapshot.Shift) bool { return p.S.ZoneOfID(s.ZoneID) == "" })
	for _, source := range []snapshot.Source{snapshot.ZonalShifts, snapshot.AutoshiftsOf, snapshot.ZonesOf} {
		if !p.S.Has(source) && (source != snapshot.ZonesOf || unnamed) {
			list = append(list, p.S.Why(source))
		}
	}
	return list
}

// MostPods is how many pods a finding names: a headline names one and counts the
// others.
const MostPods = 100

// PodsOf are the pods that wait for the volumes' zone, as the scheduler says. A
// pod that waits for something else is none of them.
func PodsOf(list []VolumePlacement) []string {
	var names []string
	for _, l := range list {
		for _, pod := range l.Home.Pods {
			if len(scheduling.OfKind(scheduling.Obstacles(pod.Scheduled.Message), scheduling.VolumeElsewhere)) > 0 {
				names = append(names, pod.Key())
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), MostPods)]
}

// Unsaid is what Kubernetes was not asked about a volume, or that nobody waits
// for it: who reads it is to know what it rests on.
func (p *Zones) Unsaid(l VolumePlacement) string {
	switch {
	case len(l.Home.Pods) > 0, l.Home.Held == HeldNo:
		return ""
	case l.Home.Held == HeldUnknown && !p.S.Has(snapshot.WaitingPods):
		return " Its tags say whose it is: whether a claim still holds it, and whether a pod waits for it, is not known."
	case l.Home.Held == HeldUnknown:
		return " Its tags say whose it is: whether a claim still holds it is not known."
	case !p.S.Has(snapshot.WaitingPods):
		return " Whether a pod waits for it is not known: the pods could not be read."
	}
	return " No pod waits for it now."
}

// Others counts the volumes beside the first, of which as much is known.
func Others(first VolumePlacement, n int) string {
	if n <= 0 {
		return ""
	}
	if first.Home.Held == HeldUnknown {
		return fmt.Sprintf(" %d more %s such tags.", n, phrase.Plural(n, "volume there has", "volumes there have"))
	}
	return fmt.Sprintf(" The same is true of %d more %s.", n, phrase.Plural(n, "volume", "volumes"))
}

// StandsIn says how many nodes are in a zone, and how many come.
func (p *Zones) StandsIn(zone string) string {
	here, come := 0, 0
	for _, s := range p.NodesIn[zone] {
		if s.Coming {
			come++
		} else {
			here++
		}
	}
	text := "no node there"
	if here > 0 {
		text = fmt.Sprintf("%d %s there", here, phrase.Plural(here, "node", "nodes"))
	}
	if come > 0 {
		text += fmt.Sprintf(", %d on %s way", come, phrase.Plural(come, "its", "their"))
	}
	return text
}
