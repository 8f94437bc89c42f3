package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/snapshot"
)

// mostPods is how many pods a finding names: a headline names one and counts the
// others.
const mostPods = 100

// podsOf are the pods that wait for the volumes' zone, as the scheduler says. A
// pod that waits for something else is none of them.
func podsOf(list []lodging) []string {
	var names []string
	for _, l := range list {
		for _, pod := range l.home.pods {
			if len(ofKind(obstacles(pod.Scheduled.Message), volumeElsewhere)) > 0 {
				names = append(names, pod.Key())
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), mostPods)]
}

// unsaid is what Kubernetes was not asked about a volume, or that nobody waits
// for it: who reads it is to know what it rests on.
func (p *places) unsaid(l lodging) string {
	switch {
	case len(l.home.pods) > 0, l.home.held == heldNo:
		return ""
	case l.home.held == heldUnknown && !p.s.Has(snapshot.WaitingPods):
		return " Its tags say whose it is: whether a claim still holds it, and whether a pod waits for it, is not known."
	case l.home.held == heldUnknown:
		return " Its tags say whose it is: whether a claim still holds it is not known."
	case !p.s.Has(snapshot.WaitingPods):
		return " Whether a pod waits for it is not known: the pods could not be read."
	}
	return " No pod waits for it now."
}

// others counts the volumes beside the first, of which as much is known.
func others(first lodging, n int) string {
	if n <= 0 {
		return ""
	}
	if first.home.held == heldUnknown {
		return fmt.Sprintf(" %d more %s such tags.", n, plural(n, "volume there has", "volumes there have"))
	}
	return fmt.Sprintf(" The same is true of %d more %s.", n, plural(n, "volume", "volumes"))
}

// standsIn says how many nodes are in a zone, and how many come.
func (p *places) standsIn(zone string) string {
	here, come := 0, 0
	for _, s := range p.stands[zone] {
		if s.coming {
			come++
		} else {
			here++
		}
	}
	text := "no node there"
	if here > 0 {
		text = fmt.Sprintf("%d %s there", here, plural(here, "node", "nodes"))
	}
	if come > 0 {
		text += fmt.Sprintf(", %d on %s way", come, plural(come, "its", "their"))
	}
	return text
}
