package spot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/exact"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/snapshot"
)

// weighing is the Spot launches that failed, and what may explain them.
type weighing struct {
	in     Input
	pools  []spotreport.Pool
	bursts []spotreport.Burst

	failures []snapshot.Past
	joined   []time.Duration // how long those that joined took
	unclear  int             // Spot launches whose end was not seen
	// over are the launches of the bursts that asked too much.
	over map[string]bool
}

// weighed is an explanation with how narrow it is: of two that explain as
// much, the narrower one comes first.
type weighed struct {
	spotreport.Explanation
	narrow int
	// change is what to do about it.
	change []string
}

// narrowness, widest first.
const (
	anySpot = iota
	timeSet
	ofEC2
	ofPlace
	ofBurst
	ofPool
)

// share is the part of the failures that an explanation must explain to be
// supported: one in five. What explains fewer is no answer to why launches
// fail, and stays open.
const share = 5

// collect sorts the launches.
func (w *weighing) collect() {
	for _, p := range w.in.History {
		switch {
		case !p.Spot:
		case failure(p):
			w.failures = append(w.failures, p)
		case p.End == snapshot.Joined:
			if d, known := p.Joining(); known {
				w.joined = append(w.joined, d)
			}
		case p.End == snapshot.Unclear:
			w.unclear++
		}
	}
}

// all are the explanations, supported, then open, then ruled out; none where
// nothing failed.
func (w *weighing) all() []weighed {
	w.collect()
	if len(w.failures) == 0 {
		return nil
	}
	list := []weighed{w.pool(), w.burst(), w.reclaimed(), w.capacity(), w.joinTime(), w.spotItself()}
	list = append(list, w.named()...)
	list = append(list, w.zone())
	order := []spotreport.Verdict{spotreport.Supported, spotreport.Open, spotreport.RuledOut}
	slices.SortStableFunc(list, func(a, b weighed) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Verdict), slices.Index(order, b.Verdict)),
			cmp.Compare(b.Of, a.Of), cmp.Compare(b.narrow, a.narrow),
		)
	})
	return list
}

// verdict is that on an explanation whose launches can be counted. None is no
// answer where many ended unseen.
func (w *weighing) verdict(of int) spotreport.Verdict {
	switch {
	case of*share >= len(w.failures):
		return spotreport.Supported
	case of > 0, w.unclear*share > len(w.failures):
		return spotreport.Open
	}
	return spotreport.RuledOut
}

// those is "the 14", the launches that failed, where they were named before.
func (w *weighing) those() string { return "the " + spotreport.Figure(len(w.failures)) }

// failed is "the 14 Spot launches that failed".
func (w *weighing) failed() string {
	if len(w.failures) == 1 {
		return "the 1 Spot launch that failed"
	}
	return fmt.Sprintf("the %s Spot launches that failed", spotreport.Figure(len(w.failures)))
}

// unseen is the reservation where many ended unseen.
func (w *weighing) unseen() string {
	if w.unclear*share <= len(w.failures) {
		return ""
	}
	return fmt.Sprintf("; the outcome of %s more is unknown", spotreport.Figure(w.unclear))
}

// reclaimed weighs what EC2 took back before it joined.
func (w *weighing) reclaimed() weighed {
	e := weighed{Explanation: spotreport.Explanation{Name: "Spot interruptions", Check: checkid.SpotReclaimedBeforeJoin}, narrow: ofEC2}
	where := map[string]int{}
	for _, p := range w.failures {
		if p.End == snapshot.Reclaimed {
			e.Of++
			where[p.Type+" in "+p.Zone]++
		}
	}
	e.Verdict = w.verdict(e.Of)
	if e.Of == 0 {
		e.Says = fmt.Sprintf("None of %s was interrupted%s.", w.failed(), w.unseen())
		e.Short = fmt.Sprintf("none of %s was interrupted.", w.those())
		return e
	}
	e.Says = fmt.Sprintf("EC2 reclaimed %s of %s before they joined: %s.", spotreport.Figure(e.Of), w.failed(), mostly(where))
	e.Short = fmt.Sprintf("EC2 reclaimed %s of %s before they joined%s.", spotreport.Figure(e.Of), w.those(), chiefly(where))
	if slices.ContainsFunc(w.pools, func(p spotreport.Pool) bool { return p.Failing }) {
		// Which pool it was is said there.
		e.Short = fmt.Sprintf("EC2 reclaimed %s of %s before they joined.", spotreport.Figure(e.Of), w.those())
	}
	e.change = []string{fmt.Sprintf("Use more pools than %s, with the allocation strategy price-capacity-optimized.", frequent(where)[0].Name)}
	return e
}

// capacity weighs what EC2 refused because it had none.
func (w *weighing) capacity() weighed {
	e := weighed{Explanation: spotreport.Explanation{Name: "No Spot capacity", Check: checkid.LaunchInsufficientCapacity}, narrow: ofEC2}
	where := map[string]int{}
	for _, p := range w.failures {
		if noCapacity(p) {
			e.Of++
			where[place(p)]++
		}
	}
	e.Verdict = w.verdict(e.Of)
	if e.Of == 0 {
		e.Says = fmt.Sprintf("None of %s was refused for capacity%s.", w.failed(), w.unseen())
		e.Short = fmt.Sprintf("none of %s was refused for capacity.", w.those())
		return e
	}
	e.Says = fmt.Sprintf("EC2 refused %s of %s for lack of Spot capacity: %s.", spotreport.Figure(e.Of), w.failed(), mostly(where))
	e.Short = fmt.Sprintf("EC2 refused %s of %s for that%s.", spotreport.Figure(e.Of), w.those(), chiefly(where))
	e.change = []string{fmt.Sprintf("Add types or zones: EC2 had no Spot capacity for %s, most in %s.", spotreport.Count(e.Of, "launch", "launches"), frequent(where)[0].Name)}
	return e
}

// noCapacity tells a refusal because EC2 had none to give at the price.
func noCapacity(p snapshot.Past) bool {
	return p.End == snapshot.Refused && (p.Cause == checkid.LaunchInsufficientCapacity || p.Cause == checkid.LaunchSpotPrice)
}

// place is where a launch was to be, as far as that is known.
func place(p snapshot.Past) string {
	switch {
	case p.Type != "" && p.Zone != "":
		return p.Type + " in " + p.Zone
	case p.Type+p.Zone != "":
		return p.Type + p.Zone
	}
	return cmp.Or(p.Nodegroup, p.Group)
}

// chiefly names the place that has most: ", 9 of them c5.large in us-west-2b".
func chiefly(of map[string]int) string {
	list := frequent(of)
	switch {
	case len(list) == 0 || list[0].Name == "":
		return ""
	case len(list) == 1:
		return ", all " + list[0].Name
	}
	return fmt.Sprintf(", %s of them %s", spotreport.Figure(list[0].Count), list[0].Name)
}

// mostly names the places that have most: "9 in a, 2 in b and 3 elsewhere".
func mostly(of map[string]int) string {
	const named = 3
	list := frequent(of)
	var parts []string
	rest := 0
	for i, c := range list {
		if i >= named {
			rest += c.Count
			continue
		}
		parts = append(parts, fmt.Sprintf("%d of %s", c.Count, c.Name))
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("%d elsewhere", rest))
	}
	return spotreport.And(parts)
}

// burst weighs whether bursts asked for more addresses than their subnets had.
func (w *weighing) burst() weighed {
	e := weighed{Explanation: spotreport.Explanation{Name: "The subnet was too small for the burst", Check: checkid.SpotBurstExceedsSubnet}, narrow: ofBurst}
	in := map[string]bool{}
	var over []spotreport.Burst
	unknown, hit, largest := 0, 0, spotreport.Burst{}
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
	slices.SortStableFunc(over, func(a, b spotreport.Burst) int {
		return cmp.Or(first(a.Failed > 0, b.Failed > 0), cmp.Compare(b.Demand-b.Had, a.Demand-a.Had))
	})
	switch {
	case e.Of > 0:
		e.Verdict = w.verdict(e.Of)
		e.Says = fmt.Sprintf("%s; this explains %s of %s.", over[0].Describe(), spotreport.Figure(e.Of), w.failed())
		if n := hit - 1; n > 0 {
			e.Says = fmt.Sprintf("%s, and %s exceeded theirs; this explains %s of %s.", over[0].Describe(), spotreport.Count(n, "more burst", "more bursts"), spotreport.Figure(e.Of), w.failed())
		}
		e.Short = over[0].Short() + "."
		e.change = w.larger(over[:max(hit, 1)])
	case len(over) > 0:
		e.Verdict, e.Says = spotreport.Open, over[0].Describe()+", but launches did not fail more often there than elsewhere."
		e.Short = over[0].Short() + ", but launches failed no more often there than elsewhere."
		e.change = w.larger(over)
	case unknown > 0:
		e.Verdict, e.Says = spotreport.Open, fmt.Sprintf("The subnets' free addresses were not recorded for %s with failed launches.", spotreport.Count(unknown, "burst", "bursts"))
		e.Short = fmt.Sprintf("the subnets' free addresses before %s are unknown.", spotreport.Count(unknown, "burst", "bursts"))
	case largest.Launches > 0:
		e.Verdict = spotreport.RuledOut
		e.Says = fmt.Sprintf("No burst needed more than was free: the largest, of %s, needed %s, and %s had %s.", spotreport.Count(largest.Launches, "launch", "launches"), spotreport.Count(largest.Demand, "address", "addresses"), largest.Subnet, spotreport.Figure(largest.Had))
		e.Short = fmt.Sprintf("the largest needed %s of %s.", spotreport.Figure(largest.Demand), spotreport.Count(largest.Had, "address", "addresses"))
	default:
		e.Verdict, e.Says = spotreport.Open, "The subnets of the launches are unknown."
		e.Short = "the subnets of the launches are unknown."
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
func (w *weighing) larger(over []spotreport.Burst) []string {
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

// named weighs the causes that checks found: those of a subnet, a zone or a
// nodegroup, and refusals that more capacity would not cure. The three most
// frequent are named.
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
		e := weighed{Explanation: spotreport.Explanation{
			Name: fmt.Sprintf("A fault in %s: %s", where, c.Name), Verdict: w.verdict(c.Count), Of: c.Count, Check: checkid.ID(c.Name),
			Says:  fmt.Sprintf("%s explains %s of %s: all in %s, where %s.", c.Name, spotreport.Figure(c.Count), w.failed(), where, also),
			Short: fmt.Sprintf("%s of %s failed there; %s.", spotreport.Figure(c.Count), w.those(), also),
		}, narrow: ofPlace}
		if e.Check.Family() == checkid.Launch {
			e.Name = fmt.Sprintf("EC2 refuses launches of %s: %s", where, c.Name)
			e.Short = fmt.Sprintf("%s of %s were refused; %s.", spotreport.Figure(c.Count), w.those(), also)
		}
		e.change = []string{fmt.Sprintf("Fix %s in %s as its own message describes: it cost %s.", c.Name, where, spotreport.Count(c.Count, "launch", "launches"))}
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
	return fmt.Sprintf("%s of %s joined", spotreport.Figure(joined), spotreport.Count(all, "launch", "launches"))
}

// zone weighs whether launches without a named cause fail in one zone,
// whatever their type. Pools that fail by themselves are left out.
func (w *weighing) zone() weighed {
	e := weighed{Explanation: spotreport.Explanation{Name: "Zone-specific fault"}, narrow: ofPlace}
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
		e.Says = fmt.Sprintf("No zone has an unexplained failure: every one of %s has a cause%s.", w.failed(), w.unseen())
		e.Short = fmt.Sprintf("each of %s has a known cause.", w.those())
	case worst.Plain*float64(len(zones)) <= chance:
		e.Verdict, e.Of = spotreport.Supported, worst.Failed
		e.Name = "Zone-specific fault in " + worst.Zone
		e.Says = fmt.Sprintf("In %s %s of %s did not join, whatever their type, and no check found why; elsewhere %s of %s.", worst.Zone, spotreport.Figure(worst.Failed), spotreport.Figure(worst.Judged), spotreport.Figure(unnamed-worst.Failed), spotreport.Figure(all-worst.Judged))
		e.Short = fmt.Sprintf("%s of %s did not join there, elsewhere %s of %s.", spotreport.Figure(worst.Failed), spotreport.Figure(worst.Judged), spotreport.Figure(unnamed-worst.Failed), spotreport.Figure(all-worst.Judged))
		e.change = []string{fmt.Sprintf("Check what is specific to %s (routes, network ACLs, endpoints, AWS Health): %d launches did not join there.", worst.Zone, worst.Failed)}
	default:
		e.Verdict = spotreport.Open
		e.Says = fmt.Sprintf("No check found a cause for %s that did not join, and no zone has more of them than chance explains.", spotreport.Count(unnamed, "launch", "launches"))
		e.Short = fmt.Sprintf("%s without a cause, in no zone more than by chance.", spotreport.Count(unnamed, "failure", "failures"))
	}
	return e
}

// pool weighs whether single pools fail.
func (w *weighing) pool() weighed {
	e := weighed{Explanation: spotreport.Explanation{Name: "Bad Spot pool", Check: checkid.SpotPoolFailing}, narrow: ofPool}
	var says []string
	short := ""
	own, best := 0, 1.0
	for _, p := range w.pools {
		if !p.Spot {
			continue
		}
		own, best = own+p.Failed, min(best, p.P)
		if !p.Failing {
			continue
		}
		e.Of += p.Failed
		if says = append(says, p.Describe()); short == "" {
			short = p.Short()
		}
		e.change = append(e.change, fmt.Sprintf("Remove %s from %s.", p.Name(), spotreport.And(p.Nodegroups)))
	}
	const enough = 10
	switch {
	case e.Of > 0:
		e.Verdict, e.Says, e.Short = spotreport.Supported, strings.Join(says, "; ")+".", short+"."
		if len(says) > 1 {
			e.Name = fmt.Sprintf("%d bad Spot pools", len(says))
			e.Short = fmt.Sprintf("The worst is %s.", short)
		}
	case own == 0:
		e.Verdict = w.verdict(0)
		e.Says = fmt.Sprintf("None of %s is explained by its pool%s.", w.failed(), w.unseen())
		e.Short = fmt.Sprintf("none of %s is explained by its pool.", w.those())
	case own >= enough && best >= 1 && w.spread(own):
		e.Verdict = spotreport.RuledOut
		e.Says = fmt.Sprintf("The %s failures that could be a pool's own are spread over the pools as chance would spread them.", spotreport.Figure(own))
		e.Short = fmt.Sprintf("the %s failures it could explain are spread over all pools.", spotreport.Figure(own))
	default:
		e.Verdict = spotreport.Open
		e.Says = fmt.Sprintf("%s could be a pool's own, too few to compare it with the others.", spotreport.Count(own, "failure", "failures"))
		e.Short = fmt.Sprintf("%s could be a pool's own, too few to tell.", spotreport.Count(own, "failure", "failures"))
	}
	return e
}

// spread reports whether no pool has more than half of the failures that could be
// its own.
func (w *weighing) spread(own int) bool {
	return !slices.ContainsFunc(w.pools, func(p spotreport.Pool) bool { return p.Spot && 2*p.Failed > own })
}

// spotItself weighs whether launches fail because they are Spot: whether
// on-demand launches of the same types on the same day do better.
func (w *weighing) spotItself() weighed {
	e := weighed{Explanation: spotreport.Explanation{Name: "Spot itself"}, narrow: anySpot}
	type key struct {
		of  string
		day int64
	}
	spot, other := map[key]exact.Stratum{}, map[key]exact.Stratum{}
	for _, p := range w.in.History {
		joined, failed := p.End == snapshot.Joined, p.End == snapshot.NotJoined || p.End == snapshot.Reclaimed
		if p.Type == "" || !joined && !failed {
			continue
		}
		to := other
		if p.Spot {
			to = spot
		}
		k := key{p.Type, p.Started.Unix() / int64(24*time.Hour/time.Second)}
		s := to[k]
		s.Launches++
		if failed {
			s.Failed++
		}
		to[k] = s
	}
	var strata []exact.Stratum
	var a, b exact.Stratum
	for k, s := range spot {
		o, is := other[k]
		if !is {
			continue
		}
		strata = append(strata, exact.Stratum{Launches: s.Launches + o.Launches, Failed: s.Failed + o.Failed, Drawn: s.Launches})
		a.Launches, a.Failed = a.Launches+s.Launches, a.Failed+s.Failed
		b.Launches, b.Failed = b.Launches+o.Launches, b.Failed+o.Failed
	}
	slices.SortFunc(strata, func(x, y exact.Stratum) int { // sums of floats hang on the order
		if x.Launches != y.Launches {
			return x.Launches - y.Launches
		}
		if x.Failed != y.Failed {
			return x.Failed - y.Failed
		}
		return x.Drawn - y.Drawn
	})
	numbers := fmt.Sprintf("of the same types on the same days %s of %s Spot launches failed and %s of %s on-demand", spotreport.Figure(a.Failed), spotreport.Figure(a.Launches), spotreport.Figure(b.Failed), spotreport.Figure(b.Launches))
	e.Short = fmt.Sprintf("on-demand %s of %s failed, Spot %s of %s (same types, same days)", spotreport.Figure(b.Failed), spotreport.Figure(b.Launches), spotreport.Figure(a.Failed), spotreport.Figure(a.Launches))
	const fewest = 10
	p := exact.Tail(strata, a.Failed)
	switch {
	case b.Launches == 0:
		e.Verdict, e.Says = spotreport.Open, "There is no on-demand launch of the same types on the same days to compare with."
		e.Short = "no on-demand launch to compare with."
	case p <= chance:
		e.Verdict, e.Says = spotreport.Supported, upper(numbers)+": on-demand does better by more than chance."
		e.Short += "."
		// What on-demand would have lost too is not Spot's.
		e.Of = a.Failed - a.Launches*b.Failed/b.Launches
	case b.Launches >= fewest && 2*b.Failed*a.Launches >= a.Failed*b.Launches && a.Failed > 0:
		e.Verdict, e.Says = spotreport.RuledOut, upper(numbers)+": on-demand does about as badly."
		e.Short += "."
	default:
		e.Verdict, e.Says = spotreport.Open, upper(numbers)+": too few to compare."
		e.Short += ", too few to compare."
	}
	return e
}

// joinTime weighs whether launches were given up on too early.
func (w *weighing) joinTime() weighed {
	e := weighed{Explanation: spotreport.Explanation{Name: "The join time is too short", Check: checkid.NodeNotRegistered}, narrow: timeSet}
	var longestWait time.Duration
	for _, p := range w.failures {
		if p.End == snapshot.NotJoined && p.Ready.After(p.Started) {
			e.Of++
			longestWait = max(longestWait, p.Ready.Sub(p.Started))
		}
	}
	times := slices.Sorted(slices.Values(w.joined))
	e.Verdict = w.verdict(e.Of)
	switch {
	case e.Of > 0:
		e.Says = fmt.Sprintf("%s of %s became Ready later, the last after %s.", spotreport.Figure(e.Of), w.failed(), span(longestWait))
		e.Short = fmt.Sprintf("%s of %s became Ready later, the last after %s.", spotreport.Figure(e.Of), w.those(), span(longestWait))
		e.change = []string{fmt.Sprintf("Set the join time to %s or more: %s became Ready after Rollcall had given up on them.", span(longestWait.Round(time.Minute)+time.Minute), spotreport.Count(e.Of, "launch", "launches"))}
	case len(times) == 0:
		e.Verdict, e.Says = spotreport.Open, "No launch joined, so the usual join time is unknown."
		e.Short = "no launch joined, so the usual join time is unknown."
	default:
		most := span(times[(len(times)*95-1)/100])
		e.Says = fmt.Sprintf("None of %s became Ready later; of those that joined 95 %% took at most %s%s.", w.failed(), most, w.unseen())
		e.Short = fmt.Sprintf("none of %s became Ready later; 95 %% join within %s.", w.those(), most)
	}
	return e
}
