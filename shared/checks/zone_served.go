package checks

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/shared/snapshot"
)

// fate is what can become of a volume: whether a node is where it lives, or can
// come there.
type fate int

const (
	fateServed   fate = iota // a node is there, or it is attached to one
	fateComing               // a node is on its way, or the group is being changed
	fateGrows                // no node, and nobody needs one; one can come
	fateGap                  // a group launches there, and has no node there
	fateStranded             // nothing can bring a node there
	fateUnseen               // on an Outpost, or attached to what EC2 does not show: where that is is not read
)

// lodging is the fate of a volume, and what says so.
type lodging struct {
	home home
	fate fate
	why  string
	// rig is the group that could bring a node, of fateGap.
	rig *rig
	// pod is the waiting pod that decided it, if one did.
	pod *snapshot.WaitingPod
	// awaited tells that a node is on its way there.
	awaited bool
	// unsure tells that labels or taints of a new node are not all known.
	unsure bool
}

// lodge judges every volume of the cluster.
func (p *places) lodge() []lodging {
	var list []lodging
	for _, h := range p.homes() {
		worst := p.judge(h, nil)
		for _, pod := range h.pods {
			if l := p.judge(h, pod); l.fate > worst.fate || worst.pod == nil {
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
//	attached, and nobody waits for it         served
//	a node that takes the pod is there        served
//	one is on its way there                   coming
//	the group is being changed, nobody waits  coming
//	a node of the group is there, and does
//	not take the pod                          served, and zone/pod-unschedulable says why not
//	a group launches there and has no node    gap; nobody waits and it has this zone alone: grows
//	Karpenter or Auto Mode, nobody waits      grows
//	none of these                             stranded
func (p *places) judge(h home, pod *snapshot.WaitingPod) lodging {
	l := lodging{home: h, pod: pod}
	if h.outpost {
		l.fate, l.why = fateUnseen, h.id+" is on an Outpost: which nodes are there is not read"
		return l
	}
	if h.attached && h.unshown != nil {
		l.fate, l.why = fateUnseen, h.unshown.Message
		return l
	}
	if pod == nil && h.attached {
		l.why = "it is attached to an instance"
		return l
	}
	refused := 0
	reason := ""
	for _, z := range h.zones {
		for _, s := range p.stands[z] {
			can, why := s.berth.takes(pod)
			switch {
			case can == fitsNot:
				refused++
				reason = why
			case s.coming:
				l.fate, l.why, l.awaited = fateComing, s.name+" is on its way", true
			default:
				return lodging{home: h, pod: pod, why: s.name + " is there"}
			}
		}
	}
	if l.fate == fateComing {
		return l
	}
	if h.fresh && pod == nil {
		l.fate, l.why = fateComing, "a pod waits for it only since a moment ago"
		return l
	}
	best, unsure, idle := p.bringer(h.zones, pod)
	switch {
	case best != nil && best.moving && pod == nil:
		l.fate, l.why = fateComing, best.name()+" is being changed"
	case best != nil && best.unready[h.zones[0]] != "":
		l.fate, l.why = fateComing, best.unready[h.zones[0]]+" of "+best.name()+" is there, and is no Ready node"
	case best != nil && len(best.zones) == 1 && pod == nil:
		l.fate, l.why = fateGrows, best.name()+" launches in this zone alone, and can grow"
	case best != nil && p.stays(best, h.zones) != "":
		// One more node would come to another zone: Auto Scaling launches where
		// the group has fewest.
		l.why = fmt.Sprintf("node %s of %s is there, and does not take it: %s", p.stays(best, h.zones), best.name(), reason)
	case best != nil:
		l.fate, l.rig, l.unsure = fateGap, best, unsure
	case p.pools && pod == nil:
		l.fate, l.why = fateGrows, "Karpenter or Auto Mode can launch there"
	default:
		l.fate, l.why = fateStranded, p.whyNone(h, pod, refused, reason, idle)
	}
	return l
}

// bringer is the group that can best bring a node to one of the zones: one with
// room before one without, one whose nodes surely take the pod before others,
// one of this zone alone before one of several. One that has a node there, which
// does not take the pod, comes last.
func (p *places) bringer(zones []string, pod *snapshot.WaitingPod) (best *rig, unsure bool, idle []string) {
	score := -100
	for i := range p.rigs {
		r := &p.rigs[i]
		for _, z := range zones {
			if !slices.Contains(r.zones, z) {
				continue
			}
			can, why := r.berth.in(z).takes(pod)
			switch {
			case r.idle != "":
				idle = append(idle, fmt.Sprintf("%s launches nothing: %s", r.name(), r.idle))
				continue
			case can == fitsNot:
				idle = append(idle, fmt.Sprintf("nodes of %s do not take %s: %s", r.name(), pod.Key(), why))
				continue
			case r.failing[z] != "":
				idle = append(idle, fmt.Sprintf("launches of %s there fail: %s", r.name(), r.failing[z]))
				continue
			}
			n := int(can)
			if len(r.zones) == 1 {
				n += 4
			}
			if _, fit := r.wanted(); fit {
				n += 8
			}
			if p.stays(r, zones) != "" {
				n -= 16
			}
			if n > score {
				score, best, unsure = n, r, can == fitsMaybe && pod != nil
			}
		}
	}
	return best, unsure, idle
}

// stays is a node of the group in one of the zones, if it has one in each of
// them into which it launches.
func (p *places) stays(r *rig, zones []string) string {
	name := ""
	for _, z := range zones {
		if !slices.Contains(r.zones, z) {
			continue
		}
		i := slices.IndexFunc(p.stands[z], func(s stand) bool { return s.group == r.group.Name })
		if i < 0 {
			return ""
		}
		name = cmp.Or(name, p.stands[z][i].name)
	}
	return name
}

func (p *places) whyNone(h home, pod *snapshot.WaitingPod, refused int, reason string, idle []string) string {
	text := ""
	if refused > 0 {
		text = fmt.Sprintf("%d %s there, but %s cannot run on %s: %s", refused, plural(refused, "node is", "nodes are"), pod.Key(), plural(refused, "it", "them"), reason)
	}
	switch {
	case len(idle) > 0 && text != "":
		return text + "; " + some(idle, 2)
	case len(idle) > 0:
		return some(idle, 2)
	case text != "":
		return text
	}
	return "no group launches in " + h.zone()
}

// wanted is the desired count with which the group has a node in every zone
// into which it launches: Auto Scaling launches where it has fewest, so one
// more for each zone without. Whether its maximum allows it.
func (r rig) wanted() (count int, fit bool) {
	count = max(r.group.Desired, r.total()) + len(r.empty())
	return count, count <= r.most()
}

// confidence is how surely something is wrong for a volume without a node.
func (p *places) confidence(l lodging) Confidence {
	c := Possible
	switch {
	case l.home.held == heldNo:
		return Advice
	case len(l.home.pods) > 0 && l.pod != nil:
		c = Certain
		if len(ofKind(obstacles(l.pod.Scheduled.Message), volumeElsewhere)) == 0 {
			c = Likely // it waits for something else too
		}
	case l.home.held == heldBound:
		c = Likely
	}
	if c == Certain && (p.pools || p.blind || l.unsure || !p.s.Has(snapshot.Nodes)) {
		c = Likely
	}
	if p.blind && c == Likely {
		c = Possible
	}
	return c
}

// strongest is the strongest of the confidences.
func (p *places) strongest(list []lodging) Confidence {
	order := []Confidence{Certain, Likely, Possible, Advice}
	best := len(order) - 1
	for _, l := range list {
		best = min(best, slices.Index(order, p.confidence(l)))
	}
	return order[best]
}
