package report

import (
	"slices"
	"strings"
	"time"
)

// matches tells whether a launch that joined says something of the incident:
// it came from what the cause covers, or is one of the affected.
func (f *draft) matches(l Launch) bool {
	if f.blind() {
		return false
	}
	if f.affects(l.Instance) || slices.Contains(f.Covers, l.Subnet) {
		return true
	}
	if f.symptom() {
		return false // another instance's luck is no proof for these
	}
	if l.Subnet != "" && slices.ContainsFunc(f.Covers, isSubnet) {
		return false // a node of the same nodegroup in a healthy subnet
	}
	return l.Nodegroup != "" && slices.Contains(f.Cause.Nodegroups, l.Nodegroup) ||
		slices.ContainsFunc(f.Launches, func(a Launch) bool {
			return l.Nodegroup != "" && a.Nodegroup == l.Nodegroup || l.Group != "" && a.Group == l.Group
		})
}

func isSubnet(id string) bool { return strings.HasPrefix(id, "subnet-") }

// since is when the cause was last known to hold: who became Ready earlier
// joined in spite of it, and proves nothing.
func (f *draft) since() time.Time {
	if !f.oneOff() {
		return f.Seen
	}
	var ended time.Time
	for _, l := range f.Launches {
		if l.Ended.After(ended) {
			ended = l.Ended
		}
	}
	if ended.IsZero() {
		return f.Seen
	}
	return ended
}

// proves tells whether a launch that joined shows that the cause is gone. An
// instance that was seen to lack, and then joined, has shown it whatever the
// clocks of the node and of EC2 say.
func (f *draft) proves(l Launch) bool {
	return l.Ready.After(f.since()) || f.symptom() && f.affects(l.Instance)
}

// join keeps a launch that may be the proof, and tells whether it is kept:
// the first, because it is what people waited for, and the last, because it
// still counts if the cause is found to have held longer.
func (f *draft) join(l Launch) bool {
	if !f.proves(l) || slices.ContainsFunc(f.Joins, func(j Launch) bool { return j.Instance == l.Instance }) {
		return false
	}
	f.Joins = append(f.Joins, l)
	slices.SortStableFunc(f.Joins, func(a, b Launch) int {
		if c := a.Ready.Compare(b.Ready); c != 0 {
			return c
		}
		return strings.Compare(a.Instance, b.Instance)
	})
	if len(f.Joins) > 2 {
		f.Joins = []Launch{f.Joins[0], f.Joins[len(f.Joins)-1]}
	}
	return true
}

// drop forgets joins that turned out to be older than the cause.
func (f *draft) drop() {
	f.Joins = slices.DeleteFunc(f.Joins, func(l Launch) bool { return !f.proves(l) })
}

func (f *draft) proof() (Launch, bool) {
	if len(f.Joins) == 0 {
		return Launch{}, false
	}
	return f.Joins[0], true
}
