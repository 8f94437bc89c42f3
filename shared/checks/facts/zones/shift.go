package zones

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

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
