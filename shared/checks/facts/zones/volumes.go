package zones

import (
	"cmp"
	"fmt"
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
	HeldNo                  // no claim: somebody left it behind
	heldBound               // a claim is bound to it
)

// home is a volume of the cluster, where it lives, and who waits for it.
type home struct {
	ID    string
	Zones []string
	Claim string // "namespace/name", empty where it is not known
	Held  held
	// Attached tells that it is attached to an instance.
	Attached bool
	// Unshown is why nothing can be said of the instance that it is attached to.
	Unshown *snapshot.Failure
	outpost bool
	// Pods wait for it since longer than it takes; fresh tells that some wait
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
		if !v.Of(s.Cluster.Name) && !known {
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

// Apart tells that no zone is one of each list, and of those that the pod itself asks for:
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

// holds tells whether a claim holds a volume.
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
	growable                       // no node, and nobody needs one; one can come
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
	// Awaited tells that a node is on its way there.
	Awaited bool
	// unsure tells that labels or taints of a new node are not all known.
	unsure bool
}

// VolumesOf are the cluster's volumes, and what serves each.
func VolumesOf(s *facts.View) []VolumePlacement {
	return facts.Derive(s, "volumes", func(s *facts.View) []VolumePlacement { return slices.Clip(Of(s).volumePlacements()) })
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
//	attached, and nobody waits for it         served
//	a node that takes the pod is there        served
//	one is on its way there                   coming
//	the group is being changed, nobody waits  coming
//	a NodePool launches there                 grows
//	a node of the group is there, and does
//	not take the pod                          served, and zone/pod-unschedulable says why not
//	a zonal shift keeps the group out         none of these
//	a group launches there and has no node    gap; nobody waits and it has this zone alone: grows
//	Karpenter or Auto Mode, nobody waits, and
//	where their pools launch is not known     grows
//	none of these                             stranded
func (p *Zones) judge(h home, pod *snapshot.WaitingPod) VolumePlacement {
	l := VolumePlacement{Home: h, Pod: pod}
	if h.outpost {
		l.State, l.Why = Unseen, h.ID+" is on an Outpost: which nodes are there is not read"
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
		l.State, l.Why = Coming, "a pod waits for it only since a moment ago"
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
		l.Why = fmt.Sprintf("node %s of %s is there, and does not take it: %s", p.stays(best, h.Zones), best.Name(), reason)
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
			can, why := r.fit.In(z).Takes(pod)
			switch {
			case r.Idle != "":
				idle = append(idle, fmt.Sprintf("%s launches nothing: %s", r.Name(), r.Idle))
				continue
			case r.shifted[z] != nil:
				idle = append(idle, fmt.Sprintf("%s keeps launches of %s out of %s", shiftText(r.shifted[z]), r.Name(), z))
				continue
			case can == scheduling.FitsNot:
				idle = append(idle, fmt.Sprintf("nodes of %s do not take %s: %s", r.Name(), pod.Key(), why))
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
		text = fmt.Sprintf("%d %s there, but %s cannot run on %s: %s", refused, phrase.Plural(refused, "node is", "nodes are"), pod.Key(), phrase.Plural(refused, "it", "them"), reason)
	}
	switch {
	case len(idle) > 0 && text != "":
		return text + "; " + phrase.Some(idle, 2)
	case len(idle) > 0:
		return phrase.Some(idle, 2)
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
func (p *Zones) Confidence(l VolumePlacement) finding.Confidence {
	c := finding.Possible
	switch {
	case l.Home.Held == HeldNo:
		return finding.Advice
	case len(l.Home.Pods) > 0 && l.Pod != nil:
		c = finding.Certain
		if len(scheduling.OfKind(scheduling.Obstacles(l.Pod.Scheduled.Message), scheduling.VolumeElsewhere)) == 0 {
			c = finding.Likely // it waits for something else too
		}
	case l.Home.Held == heldBound:
		c = finding.Likely
	}
	if c == finding.Certain && (p.Pools && !p.PoolsKnown || p.Blind || l.unsure || !p.S.Has(snapshot.Nodes) || len(p.ShiftsUnread()) > 0) {
		c = finding.Likely
	}
	if p.Blind && c == finding.Likely {
		c = finding.Possible
	}
	return c
}

// Strongest is the strongest of the confidences.
func (p *Zones) Strongest(list []VolumePlacement) finding.Confidence {
	order := []finding.Confidence{finding.Certain, finding.Likely, finding.Possible, finding.Advice}
	best := len(order) - 1
	for _, l := range list {
		best = min(best, slices.Index(order, p.Confidence(l)))
	}
	return order[best]
}
