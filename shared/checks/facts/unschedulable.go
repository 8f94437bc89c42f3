package facts

import (
	"slices"
	"time"

	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// Unschedulable are the pods that a new node could help, and that the scheduler
// has found none for since some time: for whom the volume, another pod or a
// spread decides is none of them. nil where the pods were not read.
func Unschedulable(s *View, span time.Duration) []*snapshot.WaitingPod {
	var list []*snapshot.WaitingPod
	for i := range s.WaitingPods {
		w := &s.WaitingPods[i]
		if w.Gated || w.Scheduled.Status != "False" || w.Scheduled.Reason != "Unschedulable" || s.Time.Sub(w.Since()) < span {
			continue
		}
		if slices.ContainsFunc(scheduling.Obstacles(w.Scheduled.Message), func(o scheduling.Obstacle) bool {
			return o.Kind != scheduling.TooSmall && o.Kind != scheduling.NotSelected && o.Kind != scheduling.Tainted && o.Kind != scheduling.Cordoned
		}) {
			continue
		}
		list = append(list, w)
	}
	return list
}
