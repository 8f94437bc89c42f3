package zones

import (
	"slices"
	"strings"
	"time"

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
