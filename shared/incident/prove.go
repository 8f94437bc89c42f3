package incident

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/report"
)

// Concerns tells whether a launch that joined says something of the incident:
// it came from what the cause covers, or is one of the affected.
func (inc *Incident) Concerns(l report.Launch) bool {
	if inc.IsBlind() {
		return false
	}
	if inc.Affects(l.Instance) || slices.Contains(inc.Covers, l.Subnet) {
		return true
	}
	if inc.IsSymptom() {
		return false // another instance's luck is no proof for these
	}
	if l.Subnet != "" && slices.ContainsFunc(inc.Covers, isSubnet) {
		return false // a node of the same nodegroup in a healthy subnet
	}
	return l.Nodegroup != "" && slices.Contains(inc.Cause.Nodegroups, l.Nodegroup) ||
		slices.ContainsFunc(inc.Launches, func(a report.Launch) bool {
			return l.Nodegroup != "" && a.Nodegroup == l.Nodegroup || l.Group != "" && a.Group == l.Group
		})
}

func isSubnet(id string) bool { return strings.HasPrefix(id, "subnet-") }

// heldUntil is when the cause was last known to hold: who became Ready earlier
// joined in spite of it, and proves nothing.
func (inc *Incident) heldUntil() time.Time {
	if !inc.AllEnded() {
		return inc.Seen
	}
	var ended time.Time
	for _, l := range inc.Launches {
		if l.Ended.After(ended) {
			ended = l.Ended
		}
	}
	if ended.IsZero() {
		return inc.Seen
	}
	return ended
}

// proves tells whether a launch that joined shows that the cause is gone. An
// instance that was seen to lack, and then joined, has shown it whatever the
// clocks of the node and of EC2 say.
func (inc *Incident) proves(l report.Launch) bool {
	return l.Ready.After(inc.heldUntil()) || inc.IsSymptom() && inc.Affects(l.Instance)
}

// AddJoin keeps a launch that may be the proof, and tells whether it is kept:
// the first, because it is what people waited for, and the last, because it
// still counts if the cause is found to have held longer.
func (inc *Incident) AddJoin(l report.Launch) bool {
	if !inc.proves(l) || slices.ContainsFunc(inc.Joins, func(j report.Launch) bool { return j.Instance == l.Instance }) {
		return false
	}
	inc.Joins = append(inc.Joins, l)
	slices.SortStableFunc(inc.Joins, func(a, b report.Launch) int {
		return cmp.Or(a.Ready.Compare(b.Ready), strings.Compare(a.Instance, b.Instance))
	})
	inc.Joins = slices.Delete(inc.Joins, 1, max(1, len(inc.Joins)-1))
	return true
}

// DropOutdatedJoins forgets joins that turned out to be older than the cause.
func (inc *Incident) DropOutdatedJoins() {
	inc.Joins = slices.DeleteFunc(inc.Joins, func(l report.Launch) bool { return !inc.proves(l) })
}

func (inc *Incident) FirstJoin() (report.Launch, bool) {
	if len(inc.Joins) == 0 {
		return report.Launch{}, false
	}
	return inc.Joins[0], true
}
