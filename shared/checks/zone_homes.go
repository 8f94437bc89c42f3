package checks

import (
	"slices"
	"strings"
	"time"

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
	heldUnknown held = iota // Kubernetes could not be asked
	heldNo                  // no claim: somebody left it behind
	heldBound               // a claim is bound to it
)

// home is a volume of the cluster, where it lives, and who waits for it.
type home struct {
	id    string
	zones []string
	claim string // "namespace/name", empty where it is not known
	held  held
	// attached tells that it is attached to an instance.
	attached bool
	// unshown is why nothing can be said of the instance that it is attached to.
	unshown *snapshot.Failure
	outpost bool
	// pods wait for it since longer than it takes; fresh tells that some wait
	// only since a moment ago.
	pods  []*snapshot.WaitingPod
	fresh bool
}

// homes are the volumes that can be used: those that are made, deleted or
// broken are left out.
func (p *places) homes() []home {
	s := p.s
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
		h := home{id: v.ID, zones: pv.Zones, claim: pv.Claim, attached: v.State == "in-use" || len(v.Attached) > 0, outpost: v.Outpost != ""}
		for _, id := range v.Attached {
			if f, lacks := s.Lacks(snapshot.Instances, id); lacks {
				h.unshown = &f
			}
		}
		if len(h.zones) == 0 {
			h.zones = []string{v.Zone}
		}
		if !known && h.claim == "" {
			h.claim = v.Claim()
		}
		h.held = p.holds(pv, known, h.claim, claims)
		if h.held != heldNo {
			h.pods, h.fresh = p.settled(waiting[h.claim])
		}
		list = append(list, h)
	}
	return list
}

// holds tells whether a claim holds a volume.
func (p *places) holds(pv snapshot.PersistentVolume, known bool, key string, claims map[string]snapshot.Claim) held {
	claim, there := claims[key]
	switch {
	case p.s.Has(snapshot.PersistentVolumes) && (!known || pv.Phase != "Bound"):
		return heldNo
	case p.s.Has(snapshot.ClaimsOf) && (!there || claim.Phase != "Bound" || known && claim.Volume != pv.Name):
		return heldNo
	case known || there:
		return heldBound
	}
	return heldUnknown
}

// settled are the pods that wait since longer than it takes.
func (p *places) settled(pods []*snapshot.WaitingPod) (list []*snapshot.WaitingPod, fresh bool) {
	patience := settled
	if p.pools || slices.ContainsFunc(p.rigs, func(r rig) bool { return r.scaled }) {
		patience = settledScaled
	}
	for _, pod := range pods {
		switch {
		case pod.Gated || pod.Scheduled.Status != "False":
		case p.s.Time.Sub(pod.Since()) < patience:
			fresh = true
		default:
			list = append(list, pod)
		}
	}
	return list, fresh
}

// words name the volume: "volume vol-0ab1 of claim redash/redis".
func (h home) words() string {
	if h.claim == "" {
		return "volume " + h.id
	}
	return "volume " + h.id + " of claim " + h.claim
}

// short names the volume in a title.
func (h home) short() string {
	if h.claim == "" {
		return h.id
	}
	return h.id + " (" + h.claim + ")"
}

func (h home) zone() string { return strings.Join(h.zones, " or ") }
