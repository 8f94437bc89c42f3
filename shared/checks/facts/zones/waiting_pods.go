package zones

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

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
