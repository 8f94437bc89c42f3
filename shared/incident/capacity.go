package incident

import (
	"slices"
	"time"

	"rollcall/shared/report"
)

// Capacity is how many nodes the groups of an incident want together, and how many Ready
// ones they have, in one look.
type Capacity struct {
	At      time.Time `json:"at"`
	Desired int       `json:"desired"`
	Ready   int       `json:"ready"`
	// Affected and Joined are how its launches stood then.
	Affected int `json:"affected"`
	Joined   int `json:"joined"`
}

// Same tells that two looks counted the same.
func (c *Capacity) Same(other *Capacity) bool {
	if c == nil || other == nil {
		return c == other
	}
	return c.Desired == other.Desired && c.Ready == other.Ready
}

// Missing is how many of the wanted nodes there are not.
func (c *Capacity) Missing() int {
	if c == nil {
		return 0
	}
	return max(c.Desired-c.Ready, 0)
}

// capacityHolds is how long what one look counted is said where no later one counted:
// three sweeps.
const capacityHolds = 15 * time.Minute

// CapacityStands tells that what was counted is of the moment that the rest of the message
// is of: its launches stand as they did, and it is not long ago.
func (inc Incident) CapacityStands(at time.Time) bool {
	c := inc.Capacity
	return c != nil && c.Affected == inc.Affected && c.Joined == inc.Count(report.Joined) && at.Sub(c.At) <= capacityHolds
}

// groupNames are the groups that an incident is about: those of its launches that are no
// nodes, and those that its cause names.
func (inc Incident) groupNames() []string {
	names := slices.Clone(inc.Cause.Nodegroups)
	for _, l := range inc.Launches {
		switch {
		case l.Status == report.Joined:
		case l.Group != "":
			names = append(names, l.Group)
		default:
			names = append(names, l.Nodegroup) // of a NodePool, which wants no number
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// CapacityIn is what an observation says of the groups of an incident; nil where it does
// not tell of each: a sum that leaves one out is of nothing.
func (inc Incident) CapacityIn(obs report.Observation) *Capacity {
	names := inc.groupNames()
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(obs.Capacity, func(c report.Capacity) bool { return c.Of(name) }) {
			return nil
		}
	}
	sum := Capacity{At: obs.At, Affected: inc.Affected, Joined: inc.Count(report.Joined)}
	for _, c := range obs.Capacity {
		if slices.ContainsFunc(names, c.Of) {
			sum.Desired += c.Desired
			sum.Ready += c.Ready
		}
	}
	return &sum
}
