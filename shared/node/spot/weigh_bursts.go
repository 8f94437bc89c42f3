package spot

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/node/exact"
	"rollcall/shared/snapshot"
)

// burst weighs whether bursts asked for more addresses than their subnets had.
func (w *weighing) burst() weighed {
	e := weighed{Explanation: Explanation{Name: "The subnet was too small for the burst", Check: checkid.SpotBurstExceedsSubnet}, narrow: ofBurst}
	in := map[string]bool{}
	var over []Burst
	unknown, hit, largest := 0, 0, Burst{}
	for _, b := range w.bursts {
		switch {
		case b.Exceeds():
			over = append(over, b)
			if b.Failed > 0 {
				hit++
			}
			for _, id := range b.IDs {
				in[id] = true
			}
		case !b.HadKnown && b.Failed > 0:
			unknown++
		case b.HadKnown && b.Demand > largest.Demand:
			largest = b
		}
	}
	w.over = in
	e.Of = w.inBursts(in)
	// Where none failed, what there was may have been seen too early.
	slices.SortStableFunc(over, func(a, b Burst) int {
		return cmp.Or(first(a.Failed > 0, b.Failed > 0), cmp.Compare(b.Demand-b.Had, a.Demand-a.Had))
	})
	switch {
	case e.Of > 0:
		e.Verdict = w.verdict(e.Of)
		e.Says = fmt.Sprintf("%s; that explains %s of %s.", over[0].Says(), figure(e.Of), w.failed())
		if n := hit - 1; n > 0 {
			e.Says = fmt.Sprintf("%s, and %s asked too much; that explains %s of %s.", over[0].Says(), count(n, "more burst", "more bursts"), figure(e.Of), w.failed())
		}
		e.Short = over[0].Short() + "."
		e.change = w.larger(over[:max(hit, 1)])
	case len(over) > 0:
		e.Verdict, e.Says = Open, over[0].Says()+", but launches did not fail more often there than elsewhere."
		e.Short = over[0].Short() + ", but launches failed no more often there than elsewhere."
		e.change = w.larger(over)
	case unknown > 0:
		e.Verdict, e.Says = Open, fmt.Sprintf("What the subnets had left was not recorded for %s in which launches failed.", count(unknown, "burst", "bursts"))
		e.Short = fmt.Sprintf("nobody saw what the subnets had before %s.", count(unknown, "burst", "bursts"))
	case largest.Launches > 0:
		e.Verdict = RuledOut
		e.Says = fmt.Sprintf("No burst asked for more than there was: the largest, of %s, needed %s, and %s had %s.", count(largest.Launches, "launch", "launches"), count(largest.Demand, "address", "addresses"), largest.Subnet, figure(largest.Had))
		e.Short = fmt.Sprintf("the largest asked %s of %s.", figure(largest.Demand), count(largest.Had, "address", "addresses"))
	default:
		e.Verdict, e.Says = Open, "In which subnets the launches began is not known."
		e.Short = "in which subnets they began is not known."
	}
	return e
}

// inBursts is how many failures the bursts explain: those for want of
// addresses, and those without a cause if in such bursts launches fail more
// often than in others.
func (w *weighing) inBursts(in map[string]bool) int {
	named, unnamed := 0, exact.Stratum{}
	for _, p := range w.in.History {
		l := labelOf(p)
		switch {
		case !p.Spot:
		case in[p.ID] && forAddresses(p), p.Cause == checkid.SpotBurstExceedsSubnet && len(in) > 0:
			named++
		case l.judged && p.End != snapshot.Reclaimed:
			unnamed.Launches++
			if in[p.ID] {
				unnamed.Drawn++
			}
			if l.failed {
				unnamed.Failed++
			}
		}
	}
	within := 0
	for _, p := range w.failures {
		if l := labelOf(p); in[p.ID] && l.failed && p.Cause != checkid.SpotBurstExceedsSubnet && p.End != snapshot.Reclaimed {
			within++
		}
	}
	const usual = 0.05
	if within > 0 && exact.Tail([]exact.Stratum{unnamed}, within) <= usual {
		named += within
	}
	return named
}

// forAddresses tells a launch that failed for want of addresses.
func forAddresses(p snapshot.Past) bool {
	if p.End == snapshot.Refused {
		return p.Cause == checkid.LaunchSubnetFull
	}
	return p.End == snapshot.NotJoined && (p.Cause.Family() == checkid.IP || p.Cause == checkid.SpotBurstExceedsSubnet || p.Cause == checkid.NodeCNINotReady)
}

// larger is a sentence for each subnet that was too small, worst first, three
// at most.
func (w *weighing) larger(over []Burst) []string {
	var list, seen []string
	for _, b := range over {
		if slices.Contains(seen, b.Subnet) || len(list) == 3 {
			continue
		}
		seen = append(seen, b.Subnet)
		list = append(list, b.Larger())
	}
	return list
}

// Larger is what would have been enough: a block of which the burst leaves a
// quarter free, beside what is in use.
func (b Burst) Larger() string {
	bits := block(b.Demand + max(0, b.Total-b.Had))
	if bits < 16 {
		// The largest block of a subnet (VPC user guide, "Subnet CIDR blocks").
		return fmt.Sprintf("Spread %s over more subnets than %s.", and(b.Nodegroups), b.Subnet)
	}
	return fmt.Sprintf("Give %s a /%d in %s instead of %s.", and(b.Nodegroups), bits, b.Zone, b.Subnet)
}

// block is the smallest block of which some addresses take three quarters at
// most.
func block(addresses int) int {
	bits := 28
	for bits > 0 && 3*(1<<(32-bits)-reserved) < 4*addresses {
		bits--
	}
	return bits
}
