package zone

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

const (
	// fewestTroubles and fewestKinds are how many launches must have failed in
	// the zone, and in how many ways; fewestBeside how many must have joined in
	// the groups' other zones meanwhile. Two ways of failing by chance in one
	// zone alone, four times in an hour, while all is well beside it, does not
	// happen to settings, which are the same in all zones.
	fewestTroubles = 4
	fewestKinds    = 2
	fewestBeside   = 3
)

// zoneTrouble is what failed in one zone.
type zoneTrouble struct {
	kinds  map[string]int
	failed int
	joined int
	// beside are the launches of the same groups that joined in other zones.
	beside int
	groups []string
}

// troubled are the zones in which launches fail in several ways, and beside
// which they do not.
func troubled(s *facts.View) map[string]zoneTrouble {
	all := map[string]*zoneTrouble{}
	joined := map[string]map[string]int{} // group to zone
	failed := map[string]map[string]int{}
	count := func(m map[string]map[string]int, group, zone string) {
		if m[group] == nil {
			m[group] = map[string]int{}
		}
		m[group][zone]++
	}
	for _, h := range s.History {
		if h.Zone == "" || s.Time.Sub(h.Started) > zones.ImpairedWindow {
			continue
		}
		if all[h.Zone] == nil {
			all[h.Zone] = &zoneTrouble{kinds: map[string]int{}}
		}
		t := all[h.Zone]
		group := h.Group
		if group == "" {
			group = h.Nodegroup
		}
		if kind, bad := zoneTroubleOf(h); bad {
			t.kinds[kind]++
			t.failed++
			t.groups = append(t.groups, group)
			count(failed, group, h.Zone)
		} else if h.End == snapshot.Joined {
			t.joined++
			count(joined, group, h.Zone)
		}
	}
	found := map[string]zoneTrouble{}
	for zone, t := range all {
		slices.Sort(t.groups)
		t.groups = slices.Compact(t.groups)
		elsewhere := 0
		for _, g := range t.groups {
			for z, n := range joined[g] {
				if z != zone {
					t.beside += n
				}
			}
			for z, n := range failed[g] {
				if z != zone {
					elsewhere += n
				}
			}
		}
		kinds := len(t.kinds)
		if t.kinds[string(checkid.LaunchInsufficientCapacity)] > 0 {
			kinds-- // is short by itself, too
		}
		if t.failed >= fewestTroubles && kinds >= fewestKinds && t.joined*fewestTroubles <= t.failed && t.beside >= fewestBeside && elsewhere == 0 {
			found[zone] = *t
		}
	}
	return found
}

// zoneTroubleOf is how a launch failed, where no setting explains it.
func zoneTroubleOf(h snapshot.Past) (kind string, bad bool) {
	switch {
	case h.End == snapshot.Joined && h.Lost && !h.Spot:
		return "lost after it had joined", true
	case h.End == snapshot.Refused:
		return string(h.Cause), h.Cause == checkid.LaunchUnclassified || h.Cause == checkid.LaunchInsufficientCapacity
	case h.End == snapshot.NotJoined || h.End == snapshot.Open && !h.Missed.IsZero():
		switch h.Cause {
		case "", checkid.InstanceCommonFactor, checkid.InstanceStatusCheck, checkid.InstanceEndedEarly, checkid.NodeNotRegistered, checkid.NodeNotReady:
			if h.Cause == "" || h.Cause == checkid.InstanceCommonFactor {
				return "no node, and no cause found", true
			}
			return string(h.Cause), true
		}
	}
	return "", false
}

func (t zoneTrouble) says(zone string) string {
	return fmt.Sprintf("In the last hour %d launches failed in %s in %d ways that no setting explains, and %d became nodes there; in the other zones of %s %d did.", t.failed, zone, len(t.kinds), t.joined, phrase.Some(t.groups, 3), t.beside)
}

func (t zoneTrouble) evidence(zone string) finding.Evidence {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(t.kinds)) {
		parts = append(parts, fmt.Sprintf("%d %s", t.kinds[k], k))
	}
	return finding.Evidence{What: "Launches in " + zone, Value: strings.Join(parts, ", ")}
}
