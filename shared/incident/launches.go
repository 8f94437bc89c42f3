package incident

import (
	"cmp"
	"slices"
	"time"

	"rollcall/shared/report"
)

// maxMore is how many affected launches beyond MaxLaunches are told apart by
// id; 5,000 ids of 19 characters are about 110 KB of an item's 400.
const maxMore = 5000

// rank orders the standings: a launch never goes back. Joined is last, because
// a launch that joined and ended later is no failed launch.
func rank(s report.LaunchStatus) int {
	return slices.Index([]report.LaunchStatus{report.Waiting, report.Missed, report.GivenUp, report.Gone, report.Joined}, s)
}

// mergeLaunch is all that two sights of one launch tell, in whichever order
// they come.
func mergeLaunch(a, b report.Launch) report.Launch {
	if rank(b.Status) > rank(a.Status) {
		a.Status = b.Status
	}
	fill(&a.Nodegroup, b.Nodegroup)
	fill(&a.Group, b.Group)
	fill(&a.Subnet, b.Subnet)
	fill(&a.Zone, b.Zone)
	fill(&a.Type, b.Type)
	fill(&a.EndedWhy, b.EndedWhy)
	a.Started = Earlier(a.Started, b.Started)
	a.Registered = Earlier(a.Registered, b.Registered)
	a.Ready = Earlier(a.Ready, b.Ready)
	a.Ended = Earlier(a.Ended, b.Ended)
	return a
}

// fill sets an empty field; of two values the first in order stays, so that
// the order of arrival does not matter.
func fill(have *string, other string) {
	switch {
	case *have == "":
		*have = other
	case other != "":
		*have = min(*have, other)
	}
}

// Earlier is the earlier of two times, where a zero time is not known.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func byInstance(l report.Launch, id string) int { return cmp.Compare(l.Instance, id) }

func (inc *Incident) KeptLaunch(id string) (*report.Launch, bool) {
	i, found := slices.BinarySearchFunc(inc.Launches, id, byInstance)
	if !found {
		return nil, false
	}
	return &inc.Launches[i], true
}

// Affects tells whether a launch was ever among those of the incident.
func (inc *Incident) Affects(id string) bool {
	if _, kept := inc.KeptLaunch(id); kept {
		return true
	}
	_, found := slices.BinarySearch(inc.More, id)
	return found
}

// AddAffected takes in an affected launch, and tells whether it is a new one.
func (inc *Incident) AddAffected(l report.Launch) (added bool) {
	i, found := slices.BinarySearchFunc(inc.Launches, l.Instance, byInstance)
	if found {
		inc.Launches[i] = mergeLaunch(inc.Launches[i], l)
		return false
	}
	if len(inc.Launches) < MaxLaunches {
		inc.Launches = slices.Insert(inc.Launches, i, l)
		inc.Affected++
		return true
	}
	i, found = slices.BinarySearch(inc.More, l.Instance)
	if found || len(inc.More) >= maxMore {
		return false
	}
	inc.More = slices.Insert(inc.More, i, l.Instance)
	inc.Affected++
	return true
}

// UpdateLaunches takes in what an observation says of launches that are affected
// already, and gives those that missed roll call now for the first time.
func (inc *Incident) UpdateLaunches(seen []report.Launch) (missed []string, changed bool) {
	for _, l := range seen {
		have, kept := inc.KeptLaunch(l.Instance)
		if !kept {
			continue
		}
		before := *have
		*have = mergeLaunch(before, l)
		if *have == before {
			continue
		}
		changed = true
		if before.Status == report.Waiting && (have.Status == report.Missed || have.Status == report.GivenUp) {
			missed = append(missed, l.Instance)
		}
	}
	return missed, changed
}

// Count is how many of the launches kept by name stand so.
func (inc *Incident) Count(standing report.LaunchStatus) int {
	n := 0
	for _, l := range inc.Launches {
		if l.Status == standing {
			n++
		}
	}
	return n
}

func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Union is both lists, sorted, each member once.
func Union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}
