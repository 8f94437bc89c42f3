package incident

import (
	"slices"
	"time"

	"rollcall/shared/report"
	"rollcall/shared/silence"
)

// Silenced is what hides an incident now: who asked for it, until when and why.
type Silenced struct {
	ID     string      `json:"id"`
	By     report.User `json:"by"`
	At     time.Time   `json:"at"`
	Until  time.Time   `json:"until"`
	Reason string      `json:"reason,omitempty"`
}

// Subject is the incident as silences are about it.
func (inc Incident) Subject() silence.Subject {
	groups := slices.Clone(inc.Cause.Nodegroups)
	for _, l := range inc.Launches {
		if name := l.Nodegroup; name != "" {
			groups = append(groups, name)
		} else if l.Group != "" {
			groups = append(groups, l.Group)
		}
	}
	slices.Sort(groups)
	return silence.Subject{
		Spoke: inc.Key.Spoke, Cluster: inc.Key.Cluster, Check: inc.Key.Check, Own: inc.IsBlind() || inc.Key.Cluster == report.AllClusters,
		Nodegroups: slices.Compact(groups), Tags: inc.Tags,
	}
}

// Told tells that the channel has its message, or may have it.
func (inc *Incident) Told() bool { return inc.Delivery.TS != "" || !inc.Delivery.Sending.IsZero() }

// hushed tells that a reply is not made: who muted it asked for that. What was silenced
// before it was told has no thread yet; its replies wait with the message.
func (inc *Incident) hushed(at time.Time) bool {
	return inc.Muted(at) || inc.Silence != nil && inc.Told()
}
