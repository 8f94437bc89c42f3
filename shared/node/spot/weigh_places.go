package spot

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// named weighs the causes that checks found: those of a subnet, a zone or a
// nodegroup, and refusals that more capacity would not cure. The three most
// frequent are told.
func (w *weighing) named() []weighed {
	of := map[string][]snapshot.Past{}
	counts := map[string]int{}
	for _, p := range w.failures {
		if w.over[p.ID] && forAddresses(p) || p.Cause == checkid.SpotBurstExceedsSubnet && len(w.over) > 0 {
			continue // the burst says it
		}
		refusal := p.End == snapshot.Refused && p.Cause != "" && !noCapacity(p)
		if refusal && p.Cause != checkid.LaunchSubnetFull || p.End == snapshot.NotJoined && !own(p.Cause) {
			of[string(p.Cause)] = append(of[string(p.Cause)], p)
			counts[string(p.Cause)]++
		}
	}
	var list []weighed
	for i, c := range frequent(counts) {
		if i == 3 {
			break
		}
		where, also := w.where(of[c.Name])
		e := weighed{Explanation: Explanation{
			Name: fmt.Sprintf("A fault in %s: %s", where, c.Name), Verdict: w.verdict(c.Count), Of: c.Count, Check: checkid.ID(c.Name),
			Says:  fmt.Sprintf("%s explains %s of %s: all in %s, where %s.", c.Name, figure(c.Count), w.failed(), where, also),
			Short: fmt.Sprintf("%s of %s failed there; %s.", figure(c.Count), w.those(), also),
		}, narrow: ofPlace}
		if e.Check.Family() == checkid.Launch {
			e.Name = fmt.Sprintf("EC2 refuses launches of %s: %s", where, c.Name)
			e.Short = fmt.Sprintf("%s of %s were refused; %s.", figure(c.Count), w.those(), also)
		}
		e.change = []string{fmt.Sprintf("Fix %s in %s, as its own message says: it cost %s.", c.Name, where, count(c.Count, "launch", "launches"))}
		list = append(list, e)
	}
	return list
}

// where is the narrowest that launches have in common, and how many of all
// Spot launches joined there.
func (w *weighing) where(list []snapshot.Past) (name, joined string) {
	for _, of := range []func(snapshot.Past) string{
		func(p snapshot.Past) string { return p.Subnet },
		func(p snapshot.Past) string { return p.Zone },
		func(p snapshot.Past) string { return cmp.Or(p.Nodegroup, p.Group) },
	} {
		name := of(list[0])
		if name == "" || slices.ContainsFunc(list, func(p snapshot.Past) bool { return of(p) != name }) {
			continue
		}
		return name, w.joinedWhere(func(p snapshot.Past) bool { return of(p) == name })
	}
	return "several nodegroups", w.joinedWhere(func(snapshot.Past) bool { return true })
}

func (w *weighing) joinedWhere(in func(snapshot.Past) bool) string {
	joined, all := 0, 0
	for _, p := range w.in.History {
		if !p.Spot || p.End != snapshot.Joined && !failure(p) || !in(p) {
			continue
		}
		if all++; p.End == snapshot.Joined {
			joined++
		}
	}
	return fmt.Sprintf("%s of %s joined", figure(joined), count(all, "launch", "launches"))
}

// zone weighs whether launches without a named cause fail in one zone,
// whatever their type. Pools that fail by themselves are left out.
func (w *weighing) zone() weighed {
	e := weighed{Explanation: Explanation{Name: "An unknown fault in one zone"}, narrow: ofPlace}
	failing := map[Place]bool{}
	for _, p := range w.pools {
		if p.Spot && p.Failing {
			failing[Place{p.Type, p.Zone}] = true
		}
	}
	// Zones are judged as pools are, whatever the types: by one launch of each
	// half hour, beside those of the nodegroup's other zones.
	var watch Watch
	var zones []string
	for _, p := range w.in.History {
		if l := labelOf(p); !p.Spot || p.Zone == "" || !l.judged || p.End == snapshot.Reclaimed || p.End == snapshot.NotJoined && !p.Ready.IsZero() || failing[Place{p.Type, p.Zone}] {
			continue
		}
		p.Type, p.Subnet, p.Noticed = "any", "all", time.Time{}
		watch.Add(p)
		if !slices.Contains(zones, p.Zone) {
			zones = append(zones, p.Zone)
		}
	}
	worst, unnamed, all := PoolResult{Plain: 1}, 0, 0
	for _, st := range watch.Look(w.in.From) {
		unnamed, all = unnamed+st.Failed, all+st.Judged
		if st.Plain < worst.Plain {
			worst = st
		}
	}
	switch {
	case unnamed == 0:
		e.Verdict = w.verdict(0)
		e.Says = fmt.Sprintf("In no zone is one of %s left without an explanation%s.", w.failed(), w.unseen())
		e.Short = fmt.Sprintf("in no zone is one of %s left unexplained.", w.those())
	case worst.Plain*float64(len(zones)) <= chance:
		e.Verdict, e.Of = Supported, worst.Failed
		e.Name = "An unknown fault in " + worst.Zone
		e.Says = fmt.Sprintf("In %s %s of %s did not join, whatever their type, and no check found why; elsewhere %s of %s.", worst.Zone, figure(worst.Failed), figure(worst.Judged), figure(unnamed-worst.Failed), figure(all-worst.Judged))
		e.Short = fmt.Sprintf("%s of %s did not join there, elsewhere %s of %s.", figure(worst.Failed), figure(worst.Judged), figure(unnamed-worst.Failed), figure(all-worst.Judged))
		e.change = []string{fmt.Sprintf("Look at what is particular to %s (routes, network ACLs, endpoints, AWS Health): %d launches did not join there.", worst.Zone, worst.Failed)}
	default:
		e.Verdict = Open
		e.Says = fmt.Sprintf("Of %s that did not join no check found why, and no zone has more of them than chance would have it.", count(unnamed, "launch", "launches"))
		e.Short = fmt.Sprintf("%s without a cause, in no zone more than by chance.", count(unnamed, "failure", "failures"))
	}
	return e
}
