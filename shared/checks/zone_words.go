package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// coverZones is the remedy that raises a desired count (package remedy).
const coverZones = "cover-zones"

// order puts first what is surest, and of that what waits longest.
func (p *places) order(list []lodging) []lodging {
	order := []Confidence{Certain, Likely, Possible, Advice}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b lodging) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, p.confidence(a)), slices.Index(order, p.confidence(b))),
			strings.Compare(a.home.id, b.home.id),
		)
	})
	return list
}

// surest are those of which it is as sure as of the surest: a volume that nobody
// claims, or waits for, does not count beside one that a pod waits for.
func (p *places) surest(list []lodging) []lodging {
	best := p.strongest(list)
	return slices.DeleteFunc(slices.Clone(list), func(l lodging) bool { return p.confidence(l) != best })
}

func volumesOf(list []lodging) []string {
	var ids []string
	for _, l := range list {
		ids = append(ids, l.home.id)
	}
	slices.Sort(ids)
	return ids
}

// evidence is what a person would look up: the volumes, the pods, the nodes by
// zone, and the groups.
func (p *places) evidence(list []lodging) []Evidence {
	const most = 10
	var out []Evidence
	for i, l := range p.order(list) {
		if i == most {
			out = append(out, Evidence{What: "More volumes", Value: fmt.Sprint(len(list) - most)})
			break
		}
		out = append(out, Evidence{What: l.home.id, Value: p.tells(l)})
	}
	for _, l := range list {
		for _, pod := range l.home.pods {
			if len(out) > most+most {
				break
			}
			out = append(out, p.waits(pod))
		}
	}
	out = append(out, p.nodesByZone())
	for _, r := range p.rigs {
		out = append(out, Evidence{What: "Group " + r.group.Name, Value: r.words()})
	}
	if p.pools {
		out = append(out, Evidence{What: "Beside groups", Value: "Karpenter or Auto Mode launches nodes too; what limits it was not read"})
	}
	if p.blind {
		out = append(out, Evidence{What: "Not seen", Value: "nodes beside those of the groups: neither nodes nor instances could be read"})
	}
	return out
}

func (p *places) tells(l lodging) string {
	text := "in " + l.home.zone()
	if l.home.claim != "" {
		text += ", claim " + l.home.claim
	}
	switch l.home.held {
	case heldNo:
		text += ", which does not hold it (any more)"
		if l.home.claim == "" {
			text = "in " + l.home.zone() + ", no claim holds it"
		}
	case heldUnknown:
		text += ", as its tags say (Kubernetes could not be asked)"
	}
	if l.home.attached {
		return text + ", attached"
	}
	return text + ", detached"
}

func (p *places) waits(pod *snapshot.WaitingPod) Evidence {
	return Evidence{What: "Pod " + pod.Key(), Value: fmt.Sprintf("waits since %s: %s", clockTime(pod.Since()), cmp.Or(clip(pod.Scheduled.Message), "the scheduler says nothing"))}
}

// nodesByZone counts nodes: "us-east-1a 1, us-east-1b 1, us-east-1c 0".
func (p *places) nodesByZone() Evidence {
	var parts []string
	for _, z := range p.zones() {
		here := slices.DeleteFunc(slices.Clone(p.stands[z]), func(s stand) bool { return s.coming })
		parts = append(parts, fmt.Sprintf("%s %d", z, len(here)))
	}
	what := "Nodes by zone"
	if !p.s.Has(snapshot.Nodes) {
		what = "Instances by zone"
	}
	return Evidence{What: what, Value: strings.Join(parts, ", ")}
}

// words are what a group is set to.
func (r rig) words() string {
	text := fmt.Sprintf("%s: min %d, desired %d, max %d", strings.Join(r.zones, ", "), r.group.Min, r.group.Desired, r.group.Max)
	if r.idle != "" {
		text += "; launches nothing: " + r.idle
	}
	for _, z := range r.zones {
		if why := r.failing[z]; why != "" {
			text += fmt.Sprintf("; launches in %s fail: %s", z, why)
		}
	}
	if r.scaled {
		text += "; tagged for the cluster autoscaler"
	}
	return text
}
