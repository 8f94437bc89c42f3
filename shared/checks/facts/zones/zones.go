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

	"rollcall/shared/checks/check"
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
	// Coming reports whether it is on its way; cordoned that it takes no new pods.
	Coming   bool
	cordoned bool
	fit      scheduling.Node
}

// Zones are the nodes of a cluster by zone, and what launches them.
type Zones struct {
	S       *check.View
	NodesIn map[string][]Node
	Sources []NodeSource
	// Pools reports whether something else than groups launches nodes too (Karpenter,
	// Auto Mode). Blind is set where that is not known.
	Pools       bool
	PoolsUnread bool
	// PoolsKnown reports whether it is known into which zones the NodePools launch.
	PoolsKnown bool
}

// ForView returns the nodes of the cluster by zone, and what launches them.
func ForView(s *check.View) *Zones { return check.Derive(s, "zones", newZoneView) }

func newZoneView(s *check.View) *Zones {
	p := &Zones{S: s, NodesIn: map[string][]Node{}, Pools: s.Cluster.AutoMode || len(s.NodePools) > 0, PoolsKnown: poolZonesKnown(s)}
	p.PoolsUnread = !s.Has(snapshot.Nodes) && !s.Has(snapshot.Instances)
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

// serves reports whether an instance of a group is, or is about to be, in service.
func serves(lifecycle string) bool {
	return lifecycle == "InService" || lifecycle == "Pending" || strings.HasPrefix(lifecycle, "Pending:")
}

// stood reports whether an instance is a node, or is about to be one.
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
// and none that comes, those without a claim left out, and how many pods
// wait for one. Known is false for what could not be read.
func Counts(s *snapshot.Snapshot) (volumes, pods int, volumesKnown, podsKnown bool) {
	volumesKnown = s.Has(snapshot.VolumesOf) && s.Has(snapshot.Groups) && s.Has(snapshot.Clusters)
	if !volumesKnown {
		return 0, 0, false, false
	}
	waiting := map[string]bool{}
	for _, l := range VolumesOf(check.NewView(s)) {
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
	// Scaled reports whether an autoscaler may change its desired count.
	Scaled bool
	// moving reports whether nodes of it come and go just now.
	moving bool
}

// Name is what a person calls it: its nodegroup, else the group itself.
func (r NodeSource) Name() string {
	if r.Managed != nil {
		return r.Managed.Name
	}
	return r.Group.Name
}

// Most is its maximum. EKS keeps one of its own for a nodegroup; where the
// group was changed beside EKS the smaller one holds.
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

// Takes reports whether a new node of the group could run a pod. It is unsure where the
// pod fits in some of the group's zones only, or where labels and taints decide that
// neither the group nor a node of it shows.
func (r NodeSource) Takes(p *snapshot.WaitingPod) (takes, unsure bool) {
	var yes, no int
	for _, zone := range r.Zones {
		n := r.fit.InZone(zone)
		fit, _ := n.Takes(p)
		if fit == scheduling.FitsMaybe && r.Managed != nil {
			// Its labels and taints are those that EKS gives nodes (DescribeNodegroup), but
			// for what a launch template adds. Labels that every node has are not among them.
			n.Whole = true
			if fit, _ = n.Takes(p); fit == scheduling.FitsNot {
				fit = scheduling.FitsMaybe
			}
		}
		switch fit {
		case scheduling.FitsNot:
			no++
		case scheduling.FitsMaybe:
		default:
			yes++
		}
	}
	all := len(r.Zones)
	return all > 0 && yes == all, all == 0 || yes < all && no < all
}

// Launches reports whether nodes of the group are on their way, or an autoscaler could
// launch one.
func (r NodeSource) Launches() bool {
	return r.Idle == "" && len(r.Failing) < len(r.Zones) && (r.moving || r.Scaled && r.Group.Desired < r.Most())
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
			note(t.Group, t.Zone, fmt.Sprintf("%s, %s", cmp.Or(string(t.Verdict.Class), t.Status), check.ClockTime(t.At)))
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
		note(h.Group, h.Zone, fmt.Sprintf("%s, %s", cmp.Or(string(h.Cause), string(h.End)), check.ClockTime(h.Started)))
	}
	return all
}

// ImpairedWindow is how far back launches count. It is as far as join-check
// looks back, so that two looks at the same time say the same.
const ImpairedWindow = time.Hour

// Stopped reports whether a group launches nothing.
func Stopped(g snapshot.Group) bool {
	return slices.ContainsFunc(g.Suspended, func(s snapshot.Suspended) bool { return s.Process == "Launch" })
}

// poolZonesKnown reports whether the NodePools were read, and of each of them where it
// launches. EKS Auto Mode has NodePools too; where there are none, though nodes say
// that something launches beside the groups, nothing is known of it.
func poolZonesKnown(s *check.View) bool {
	return s.Has(snapshot.NodePoolsOf) && len(s.NodePools) > 0 && !slices.ContainsFunc(s.NodePools, func(p snapshot.NodePool) bool {
		_, known := check.PoolSubnets(s, p)
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
	subnets, _ := check.PoolSubnets(p.S, pool)
	return slices.ContainsFunc(subnets, func(n snapshot.ZonedSubnet) bool { return slices.Contains(zones, n.Zone) })
}

// mostPools is the number of NodePools whose zones are named.
const mostPools = 10

// PoolEvidence is where the NodePools launch, as far as that is known.
func (p *Zones) PoolEvidence() []check.Evidence {
	var out []check.Evidence
	for _, pool := range p.S.NodePools[:min(len(p.S.NodePools), mostPools)] {
		subnets, known := check.PoolSubnets(p.S, pool)
		if !known {
			continue
		}
		var zones []string
		for _, n := range subnets {
			zones = append(zones, n.Zone)
		}
		value := "launches in " + strings.Join(slices.Compact(zones), ", ")
		if len(zones) == 0 {
			value = "launches nowhere: its class has no subnet in an allowed zone"
		}
		out = append(out, check.Evidence{What: "NodePool " + pool.Name, Value: value})
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
		slices.ContainsFunc(x.Sources, func(r *NodeSource) bool { return r.Idle == "" && fits(r.fit.InZone(x.Zone)) }) ||
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

// Unsaid is what was not read from Kubernetes about a volume, or that no pod waits
// for it: the reader is to know what the statement rests on.
func (p *Zones) Unsaid(l VolumePlacement) string {
	switch {
	case len(l.Home.Pods) > 0, l.Home.Held == HeldNo:
		return ""
	case l.Home.Held == HeldUnknown && !p.S.Has(snapshot.WaitingPods):
		return " It belongs to the cluster by its tags: whether a claim still holds it, and whether a pod waits for it, is unknown."
	case l.Home.Held == HeldUnknown:
		return " It belongs to the cluster by its tags: whether a claim still holds it is unknown."
	case !p.S.Has(snapshot.WaitingPods):
		return " Whether a pod waits for it is unknown: the pods could not be read."
	}
	return " No pod is waiting for it now."
}

// Others counts the volumes beside the first, of which as much is known.
func Others(first VolumePlacement, n int) string {
	if n <= 0 {
		return ""
	}
	if first.Home.Held == HeldUnknown {
		return fmt.Sprintf(" %d more %s such tags.", n, check.Plural(n, "volume there has", "volumes there have"))
	}
	return fmt.Sprintf(" The same is true of %d more %s.", n, check.Plural(n, "volume", "volumes"))
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
		text = fmt.Sprintf("%d %s there", here, check.Plural(here, "node", "nodes"))
	}
	if come > 0 {
		text += fmt.Sprintf(", %d on %s way", come, check.Plural(come, "its", "their"))
	}
	return text
}

const (
	// settled is how long a pod waits before that says anything: the scheduler
	// tries again within seconds of a node's coming, and that it comes is seen.
	// An autoscaler or Karpenter needs longer to begin with it.
	settled       = 2 * time.Minute
	settledScaled = 5 * time.Minute
)

// held says whether something in the cluster still asks for a volume.
type held int

const (
	HeldUnknown held = iota // Kubernetes could not be asked
	HeldNo                  // no claim: it was left behind
	heldBound               // a claim is bound to it
)

// home is a volume of the cluster, where it lives, and who waits for it.
type home struct {
	ID    string
	Zones []string
	Claim string // "namespace/name", empty where it is not known
	Held  held
	// Attached reports whether it is attached to an instance.
	Attached bool
	// Unshown is why nothing can be said of the instance that it is attached to.
	Unshown *snapshot.Failure
	outpost bool
	// Pods wait for it since longer than it takes; fresh reports whether some wait
	// only since a moment ago.
	Pods  []*snapshot.WaitingPod
	fresh bool
}

// homes are the volumes that can be used: those that are made, deleted or
// broken are left out.
func (p *Zones) homes() []home {
	s := p.S
	named := map[string]snapshot.PersistentVolume{}
	for _, v := range s.PersistentVolumes {
		if v.Volume != "" {
			named[v.Volume] = v
		}
	}
	claims := map[string]snapshot.Claim{}
	for _, c := range s.Claims {
		claims[c.Key()] = c
	}
	waiting := map[string][]*snapshot.WaitingPod{}
	for i := range s.WaitingPods {
		pod := &s.WaitingPods[i]
		for _, c := range pod.Claims {
			waiting[pod.Namespace+"/"+c] = append(waiting[pod.Namespace+"/"+c], pod)
		}
	}
	var list []home
	for _, v := range s.Volumes {
		if v.State != "available" && v.State != "in-use" {
			continue
		}
		pv, known := named[v.ID]
		// Whoever reads this without Kubernetes' word takes what the tags say.
		if !v.BelongsTo(s.Cluster.Name) && !known {
			continue
		}
		h := home{ID: v.ID, Zones: pv.Zones, Claim: pv.Claim, Attached: v.State == "in-use" || len(v.Attached) > 0, outpost: v.Outpost != ""}
		for _, id := range v.Attached {
			if f, lacks := s.Lacks(snapshot.Instances, id); lacks {
				h.Unshown = &f
			}
		}
		if len(h.Zones) == 0 {
			h.Zones = []string{v.Zone}
		}
		if !known && h.Claim == "" {
			h.Claim = v.Claim()
		}
		h.Held = p.holds(pv, known, h.Claim, claims)
		if h.Held != HeldNo {
			h.Pods, h.fresh = p.Settled(waiting[h.Claim])
		}
		list = append(list, h)
	}
	p.leaveOut(list)
	return list
}

// leaveOut takes pods that no node can serve off the volumes that they wait for: a node in
// the zone of one of those would not help.
func (p *Zones) leaveOut(list []home) {
	of := map[*snapshot.WaitingPod][][]string{}
	for _, h := range list {
		for _, pod := range h.Pods {
			of[pod] = append(of[pod], h.Zones)
		}
	}
	for i := range list {
		list[i].Pods = slices.DeleteFunc(list[i].Pods, func(pod *snapshot.WaitingPod) bool { return Apart(pod, of[pod]) })
	}
}

// Apart reports whether no zone is one of each list, and of those that the pod itself asks for:
// an EBS volume can be attached in its own zone alone (EBS user guide, "Attach an Amazon
// EBS volume to an Amazon EC2 instance").
func Apart(pod *snapshot.WaitingPod, volumes [][]string) bool {
	if asked := PodZones(pod); len(asked) > 0 && len(volumes) > 0 {
		volumes = append(slices.Clone(volumes), asked)
	}
	if len(volumes) < 2 {
		return false
	}
	return !slices.ContainsFunc(volumes[0], func(zone string) bool {
		return !slices.ContainsFunc(volumes[1:], func(other []string) bool { return !slices.Contains(other, zone) })
	})
}

// PodZones are the zones that a pod asks for by its selector, or by each term of its
// required affinity; nil where it does not.
func PodZones(pod *snapshot.WaitingPod) []string {
	if zone := pod.Selector[scheduling.ZoneLabel]; zone != "" {
		return []string{zone}
	}
	var all []string
	for _, t := range pod.Terms {
		i := slices.IndexFunc(t.Labels, func(r snapshot.Requirement) bool { return r.Key == scheduling.ZoneLabel && r.Operator == "In" })
		if i < 0 {
			return nil
		}
		all = append(all, t.Labels[i].Values...)
	}
	return all
}

// holds reports whether a claim holds a volume.
func (p *Zones) holds(pv snapshot.PersistentVolume, known bool, key string, claims map[string]snapshot.Claim) held {
	claim, there := claims[key]
	switch {
	case p.S.Has(snapshot.PersistentVolumes) && (!known || pv.Phase != "Bound"):
		return HeldNo
	case p.S.Has(snapshot.ClaimsOf) && (!there || claim.Phase != "Bound" || known && claim.Volume != pv.Name):
		return HeldNo
	case known || there:
		return heldBound
	}
	return HeldUnknown
}

// Settled are the pods that wait since longer than it takes.
func (p *Zones) Settled(pods []*snapshot.WaitingPod) (list []*snapshot.WaitingPod, fresh bool) {
	patience := settled
	if p.Pools || slices.ContainsFunc(p.Sources, func(r NodeSource) bool { return r.Scaled }) {
		patience = settledScaled
	}
	for _, pod := range pods {
		switch {
		case pod.Gated || pod.Scheduled.Status != "False":
		case p.S.Time.Sub(pod.Since()) < patience:
			fresh = true
		default:
			list = append(list, pod)
		}
	}
	return list, fresh
}

// Words name the volume: "volume vol-0ab1 of claim redash/redis".
func (h home) Words() string {
	if h.Claim == "" {
		return "volume " + h.ID
	}
	return "volume " + h.ID + " of claim " + h.Claim
}

// Short names the volume in a title.
func (h home) Short() string {
	if h.Claim == "" {
		return h.ID
	}
	return h.ID + " (" + h.Claim + ")"
}

func (h home) Zone() string { return strings.Join(h.Zones, " or ") }

// placementState is what can become of a volume: whether a node is where it lives, or can
// come there.
type placementState int

const (
	Served   placementState = iota // a node is there, or it is attached to one
	Coming                         // a node is on its way, or the group is being changed
	growable                       // no node, and no pod needs one; one can come
	Gap                            // a group launches there, and has no node there
	Stranded                       // nothing can bring a node there
	Unseen                         // on an Outpost, or attached to what EC2 does not show: where that is is not read
)

// VolumePlacement is the fate of a volume, and what says so.
type VolumePlacement struct {
	Home  home
	State placementState
	Why   string
	// Source is the group that could bring a node, of Gap.
	Source *NodeSource
	// Pod is the waiting pod that decided it, if one did.
	Pod *snapshot.WaitingPod
	// Awaited reports whether a node is on its way there.
	Awaited bool
	// unsure reports whether labels or taints of a new node are not all known.
	unsure bool
}

// VolumesOf are the cluster's volumes, and what serves each.
func VolumesOf(s *check.View) []VolumePlacement {
	return check.Derive(s, "volumes", func(s *check.View) []VolumePlacement { return slices.Clip(ForView(s).volumePlacements()) })
}

// volumePlacements judges every volume of the cluster.
func (p *Zones) volumePlacements() []VolumePlacement {
	var list []VolumePlacement
	for _, h := range p.homes() {
		worst := p.judge(h, nil)
		for _, pod := range h.Pods {
			if l := p.judge(h, pod); l.State > worst.State || worst.Pod == nil {
				worst = l
			}
		}
		list = append(list, worst)
	}
	return list
}

// judge holds the rule, for one pod that waits for the volume or for none:
//
//	attached to an instance that EC2 does
//	not show                                  unseen
//	attached, and no pod waits for it         served
//	a node that takes the pod is there        served
//	one is on its way there                   coming
//	the group is being changed, no pod waits  coming
//	a NodePool launches there                 grows
//	a node of the group is there, and does
//	not take the pod                          served, and zone/pod-unschedulable says why not
//	a zonal shift keeps the group out         none of these
//	a group launches there and has no node    gap; no pod waits and it has this zone alone: grows
//	Karpenter or Auto Mode, no pod waits, and
//	where their pools launch is not known     grows
//	none of these                             stranded
func (p *Zones) judge(h home, pod *snapshot.WaitingPod) VolumePlacement {
	l := VolumePlacement{Home: h, Pod: pod}
	if h.outpost {
		l.State, l.Why = Unseen, h.ID+" is on an Outpost, whose nodes are not read"
		return l
	}
	if h.Attached && h.Unshown != nil {
		l.State, l.Why = Unseen, h.Unshown.Message
		return l
	}
	if pod == nil && h.Attached {
		l.Why = "it is attached to an instance"
		return l
	}
	refused := 0
	reason := ""
	for _, z := range h.Zones {
		for _, s := range p.NodesIn[z] {
			can, why := s.fit.Takes(pod)
			switch {
			case can == scheduling.FitsNot:
				refused++
				reason = why
			case s.Coming:
				l.State, l.Why, l.Awaited = Coming, s.name+" is on its way", true
			default:
				return VolumePlacement{Home: h, Pod: pod, Why: s.name + " is there"}
			}
		}
	}
	if l.State == Coming {
		return l
	}
	if h.fresh && pod == nil {
		l.State, l.Why = Coming, "a pod has been waiting for it only for a moment"
		return l
	}
	best, unsure, idle := p.bringer(h.Zones, pod)
	switch {
	case best != nil && best.moving && pod == nil:
		l.State, l.Why = Coming, best.Name()+" is being changed"
	case best != nil && best.unready[h.Zones[0]] != "":
		l.State, l.Why = Coming, best.unready[h.Zones[0]]+" of "+best.Name()+" is there, and is no Ready node"
	case best != nil && len(best.Zones) == 1 && pod == nil:
		l.State, l.Why = growable, best.Name()+" launches in this zone alone, and can grow"
	case p.poolFor(h.Zones, pod) != "":
		// Karpenter asks for a node in the zone of the volume that a pod waits for
		// (kubernetes-sigs/karpenter pkg/controllers/provisioning/scheduling/volumetopology.go):
		// what keeps one from coming is no matter of zones.
		l.State, l.Why = growable, "NodePool "+p.poolFor(h.Zones, pod)+" launches there"
	case best != nil && p.stays(best, h.Zones) != "":
		// One more node would come to another zone: Auto Scaling launches where
		// the group has fewest.
		l.Why = fmt.Sprintf("node %s of %s is there, and cannot run it: %s", p.stays(best, h.Zones), best.Name(), reason)
	case best != nil:
		l.State, l.Source, l.unsure = Gap, best, unsure
	case p.Pools && !p.PoolsKnown && pod == nil:
		l.State, l.Why = growable, "Karpenter or Auto Mode can launch there"
	default:
		l.State, l.Why = Stranded, p.whyNone(h, pod, refused, reason, idle)
	}
	return l
}

// bringer is the group that can best bring a node to one of the zones: one with
// room before one without, one whose nodes surely take the pod before others,
// one of this zone alone before one of several. One that has a node there, which
// does not take the pod, comes last.
func (p *Zones) bringer(zones []string, pod *snapshot.WaitingPod) (best *NodeSource, unsure bool, idle []string) {
	score := -100
	for i := range p.Sources {
		r := &p.Sources[i]
		for _, z := range zones {
			if !slices.Contains(r.Zones, z) {
				continue
			}
			can, why := r.fit.InZone(z).Takes(pod)
			switch {
			case r.Idle != "":
				idle = append(idle, fmt.Sprintf("%s launches nothing: %s", r.Name(), r.Idle))
				continue
			case r.shifted[z] != nil:
				idle = append(idle, fmt.Sprintf("%s keeps launches of %s out of %s", shiftText(r.shifted[z]), r.Name(), z))
				continue
			case can == scheduling.FitsNot:
				idle = append(idle, fmt.Sprintf("nodes of %s cannot run %s: %s", r.Name(), pod.Key(), why))
				continue
			case r.Failing[z] != "":
				idle = append(idle, fmt.Sprintf("launches of %s there fail: %s", r.Name(), r.Failing[z]))
				continue
			}
			n := int(can)
			if len(r.Zones) == 1 {
				n += 4
			}
			if _, fit := r.Wanted(); fit {
				n += 8
			}
			if p.stays(r, zones) != "" {
				n -= 16
			}
			if n > score {
				score, best, unsure = n, r, can == scheduling.FitsMaybe && pod != nil
			}
		}
	}
	return best, unsure, idle
}

// stays is a node of the group in one of the zones, if it has one in each of
// them into which it launches.
func (p *Zones) stays(r *NodeSource, zones []string) string {
	name := ""
	for _, z := range zones {
		if !slices.Contains(r.Zones, z) {
			continue
		}
		i := slices.IndexFunc(p.NodesIn[z], func(s Node) bool { return s.group == r.Group.Name })
		if i < 0 {
			return ""
		}
		name = cmp.Or(name, p.NodesIn[z][i].name)
	}
	return name
}

func (p *Zones) whyNone(h home, pod *snapshot.WaitingPod, refused int, reason string, idle []string) string {
	text := ""
	if refused > 0 {
		text = fmt.Sprintf("%d %s there, but %s cannot run on %s: %s", refused, check.Plural(refused, "node is", "nodes are"), pod.Key(), check.Plural(refused, "it", "them"), reason)
	}
	switch {
	case len(idle) > 0 && text != "":
		return text + "; " + check.Some(idle, 2)
	case len(idle) > 0:
		return check.Some(idle, 2)
	case text != "":
		return text
	}
	if p.PoolsKnown {
		return "neither a group nor a NodePool launches in " + h.Zone()
	}
	return "no group launches in " + h.Zone()
}

// Wanted is the desired count with which the group has a node in every zone
// into which it launches: Auto Scaling launches where it has fewest, so one
// more for each zone without. Whether its maximum allows it.
func (r NodeSource) Wanted() (count int, fit bool) {
	count = max(r.Group.Desired, r.total()) + len(r.Empty())
	return count, count <= r.Most()
}

// Confidence is how surely something is wrong for a volume without a node.
func (p *Zones) Confidence(l VolumePlacement) check.Confidence {
	c := check.Possible
	switch {
	case l.Home.Held == HeldNo:
		return check.Advice
	case len(l.Home.Pods) > 0 && l.Pod != nil:
		c = check.Certain
		if len(scheduling.OfKind(scheduling.Obstacles(l.Pod.Scheduled.Message), scheduling.VolumeElsewhere)) == 0 {
			c = check.Likely // it waits for something else too
		}
	case l.Home.Held == heldBound:
		c = check.Likely
	}
	if c == check.Certain && (p.Pools && !p.PoolsKnown || p.PoolsUnread || l.unsure || !p.S.Has(snapshot.Nodes) || len(p.ShiftsUnread()) > 0) {
		c = check.Likely
	}
	if p.PoolsUnread && c == check.Likely {
		c = check.Possible
	}
	return c
}

// Strongest is the strongest of the confidences.
func (p *Zones) Strongest(list []VolumePlacement) check.Confidence {
	order := []check.Confidence{check.Certain, check.Likely, check.Possible, check.Advice}
	best := len(order) - 1
	for _, l := range list {
		best = min(best, slices.Index(order, p.Confidence(l)))
	}
	return order[best]
}
