package report

import (
	"cmp"
	"slices"
	"time"
)

// maxMore is how many affected launches beyond MaxLaunches are told apart by
// id; 5,000 ids of 19 characters are about 110 KB of an item's 400.
const maxMore = 5000

// rank orders the standings: a launch never goes back. Joined is last, because
// a launch that joined and ended later is no failed launch.
func rank(s Standing) int {
	switch s {
	case Missed:
		return 1
	case GivenUp:
		return 2
	case Gone:
		return 3
	case Joined:
		return 4
	}
	return 0
}

// unfinished tells whether a launch is still to answer roll call.
func (l Launch) unfinished() bool { return l.Standing != Joined && l.Standing != Gone }

// mergeLaunch is all that two sights of one launch tell, in whichever order
// they come.
func mergeLaunch(a, b Launch) Launch {
	if rank(b.Standing) > rank(a.Standing) {
		a.Standing = b.Standing
	}
	fill(&a.Nodegroup, b.Nodegroup)
	fill(&a.Group, b.Group)
	fill(&a.Subnet, b.Subnet)
	fill(&a.Zone, b.Zone)
	fill(&a.Type, b.Type)
	fill(&a.EndedWhy, b.EndedWhy)
	a.Started = earlier(a.Started, b.Started)
	a.Registered = earlier(a.Registered, b.Registered)
	a.Ready = earlier(a.Ready, b.Ready)
	a.Ended = earlier(a.Ended, b.Ended)
	return a
}

// fill sets an empty field; of two values the first in order stays, so that
// the order of arrival does not matter.
func fill(have *string, other string) {
	if other != "" && (*have == "" || other < *have) {
		*have = other
	}
}

// earlier is the earlier of two times, where a zero time is not known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func byInstance(l Launch, id string) int { return cmp.Compare(l.Instance, id) }

func (inc *Incident) launch(id string) (*Launch, bool) {
	i, found := slices.BinarySearchFunc(inc.Launches, id, byInstance)
	if !found {
		return nil, false
	}
	return &inc.Launches[i], true
}

// affects tells whether a launch was ever among those of the incident.
func (inc *Incident) affects(id string) bool {
	if _, kept := inc.launch(id); kept {
		return true
	}
	_, found := slices.BinarySearch(inc.More, id)
	return found
}

// affect takes in an affected launch, and tells whether it is a new one.
func (inc *Incident) affect(l Launch) (added bool) {
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

// update takes in what an observation says of launches that are affected
// already, and gives those that missed roll call now for the first time.
func (inc *Incident) update(seen []Launch) (missed []string, changed bool) {
	for _, l := range seen {
		have, kept := inc.launch(l.Instance)
		if !kept {
			continue
		}
		before := *have
		*have = mergeLaunch(before, l)
		if *have == before {
			continue
		}
		changed = true
		if before.Standing == Waiting && (have.Standing == Missed || have.Standing == GivenUp) {
			missed = append(missed, l.Instance)
		}
	}
	return missed, changed
}

// Count is how many of the launches kept by name stand so.
func (inc *Incident) Count(standing Standing) int {
	n := 0
	for _, l := range inc.Launches {
		if l.Standing == standing {
			n++
		}
	}
	return n
}
