package zones

import (
	"rollcall/shared/checks/facts"
	"rollcall/shared/snapshot"
)

// Counts are how many volumes of a cluster have no node where they live
// and none that comes, those that nobody claims left out, and how many pods
// wait for one. Known is false for what could not be read.
func Counts(s *snapshot.Snapshot) (volumes, pods int, volumesKnown, podsKnown bool) {
	volumesKnown = s.Has(snapshot.VolumesOf) && s.Has(snapshot.Groups) && s.Has(snapshot.Clusters)
	if !volumesKnown {
		return 0, 0, false, false
	}
	waiting := map[string]bool{}
	for _, l := range VolumesOf(facts.NewView(s)) {
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
