package zone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// coverZones is the remedy that raises a desired count (package remedy).
const coverZones = "cover-zones"

// order puts first what is surest, and of that what waits longest.
func order(p *zones.Zones, list []zones.VolumePlacement) []zones.VolumePlacement {
	order := []finding.Confidence{finding.Certain, finding.Likely, finding.Possible, finding.Advice}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b zones.VolumePlacement) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, p.Confidence(a)), slices.Index(order, p.Confidence(b))),
			strings.Compare(a.Home.ID, b.Home.ID),
		)
	})
	return list
}

// surest are those of which it is as sure as of the surest: a volume that nobody
// claims, or waits for, does not count beside one that a pod waits for.
func surest(p *zones.Zones, list []zones.VolumePlacement) []zones.VolumePlacement {
	best := p.Strongest(list)
	return slices.DeleteFunc(slices.Clone(list), func(l zones.VolumePlacement) bool { return p.Confidence(l) != best })
}

func volumesOf(list []zones.VolumePlacement) []string {
	var ids []string
	for _, l := range list {
		ids = append(ids, l.Home.ID)
	}
	slices.Sort(ids)
	return ids
}

// evidence is what a person would look up: the volumes, the pods, the nodes by
// zone, and the groups.
func evidence(p *zones.Zones, list []zones.VolumePlacement) []finding.Evidence {
	const most = 10
	var out []finding.Evidence
	for i, l := range order(p, list) {
		if i == most {
			out = append(out, finding.Evidence{What: "More volumes", Value: fmt.Sprint(len(list) - most)})
			break
		}
		out = append(out, finding.Evidence{What: l.Home.ID, Value: tells(p, l)})
	}
	for _, l := range list {
		for _, pod := range l.Home.Pods {
			if len(out) > most+most {
				break
			}
			out = append(out, waitsEvidence(p, pod))
		}
	}
	out = append(out, nodesByZone(p))
	for _, r := range p.Sources {
		out = append(out, finding.Evidence{What: "Group " + r.Group.Name, Value: words(r)})
	}
	out = append(out, p.PoolEvidence()...)
	if p.Pools && !p.PoolsKnown {
		out = append(out, finding.Evidence{What: "Beside groups", Value: "Karpenter or Auto Mode launches nodes too; what limits it was not read"})
	}
	out = append(out, shiftsUnread(p)...)
	if p.Blind {
		out = append(out, finding.Evidence{What: "Not seen", Value: "nodes beside those of the groups: neither nodes nor instances could be read"})
	}
	return out
}

// shiftsUnread says that zones may be shifted away from, where that was not read.
func shiftsUnread(p *zones.Zones) (out []finding.Evidence) {
	for _, f := range p.ShiftsUnread() {
		out = append(out, finding.Evidence{What: "Not checked", Value: fmt.Sprintf("zone/shifted, %s (%s: %s)", f.Source, f.Reason, f.Call)})
	}
	return out
}

func tells(p *zones.Zones, l zones.VolumePlacement) string {
	text := "in " + l.Home.Zone()
	if l.Home.Claim != "" {
		text += ", claim " + l.Home.Claim
	}
	switch l.Home.Held {
	case zones.HeldNo:
		text += ", which does not hold it (any more)"
		if l.Home.Claim == "" {
			text = "in " + l.Home.Zone() + ", no claim holds it"
		}
	case zones.HeldUnknown:
		text += ", as its tags say (Kubernetes could not be asked)"
	}
	if l.Home.Attached {
		return text + ", attached"
	}
	return text + ", detached"
}

func waitsEvidence(p *zones.Zones, pod *snapshot.WaitingPod) finding.Evidence {
	return finding.Evidence{What: "Pod " + pod.Key(), Value: fmt.Sprintf("waits since %s: %s", phrase.ClockTime(pod.Since()), cmp.Or(phrase.Clip(pod.Scheduled.Message), "the scheduler says nothing"))}
}

// nodesByZone counts nodes: "us-east-1a 1, us-east-1b 1, us-east-1c 0".
func nodesByZone(p *zones.Zones) finding.Evidence {
	var parts []string
	for _, z := range p.Zones() {
		here := slices.DeleteFunc(slices.Clone(p.NodesIn[z]), func(s zones.Node) bool { return s.Coming })
		parts = append(parts, fmt.Sprintf("%s %d", z, len(here)))
	}
	what := "Nodes by zone"
	if !p.S.Has(snapshot.Nodes) {
		what = "Instances by zone"
	}
	return finding.Evidence{What: what, Value: strings.Join(parts, ", ")}
}

// words are what a group is set to.
func words(r zones.NodeSource) string {
	text := fmt.Sprintf("%s: min %d, desired %d, max %d", strings.Join(r.Zones, ", "), r.Group.Min, r.Group.Desired, r.Group.Max)
	if r.Idle != "" {
		text += "; launches nothing: " + r.Idle
	}
	for _, z := range r.Zones {
		if why := r.Failing[z]; why != "" {
			text += fmt.Sprintf("; launches in %s fail: %s", z, why)
		}
	}
	for _, z := range r.Zones {
		if why := r.Shifted(z); why != "" {
			text += fmt.Sprintf("; launches nothing in %s: %s", z, why)
		}
	}
	if r.Scaled {
		text += "; tagged for the cluster autoscaler"
	}
	return text
}
