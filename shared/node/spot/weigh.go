package spot

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// weighing is the Spot launches that failed, and what may explain them.
type weighing struct {
	in     Input
	pools  []Pool
	bursts []Burst

	failures []snapshot.Past
	joined   []time.Duration // how long those that joined took
	unclear  int             // Spot launches whose end nobody saw
	// over are the launches of the bursts that asked too much.
	over map[string]bool
}

// weighed is an explanation with how narrow it is: of two that explain as
// much, the narrower one comes first.
type weighed struct {
	Explanation
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
	order := []Verdict{Supported, Open, RuledOut}
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
func (w *weighing) verdict(of int) Verdict {
	switch {
	case of*share >= len(w.failures):
		return Supported
	case of > 0, w.unclear*share > len(w.failures):
		return Open
	}
	return RuledOut
}

// those is "the 14", the launches that failed, where they were named before.
func (w *weighing) those() string { return "the " + figure(len(w.failures)) }

// failed is "the 14 Spot launches that failed".
func (w *weighing) failed() string {
	if len(w.failures) == 1 {
		return "the 1 Spot launch that failed"
	}
	return fmt.Sprintf("the %s Spot launches that failed", figure(len(w.failures)))
}

// unseen is the reservation where many ended unseen.
func (w *weighing) unseen() string {
	if w.unclear*share <= len(w.failures) {
		return ""
	}
	return fmt.Sprintf("; how %s more ended nobody saw", figure(w.unclear))
}

// reclaimed weighs what EC2 took back before it joined.
func (w *weighing) reclaimed() weighed {
	e := weighed{Explanation: Explanation{Name: "Spot took them back", Check: checkid.SpotReclaimedBeforeJoin}, narrow: ofEC2}
	where := map[string]int{}
	for _, p := range w.failures {
		if p.End == snapshot.Reclaimed {
			e.Of++
			where[p.Type+" in "+p.Zone]++
		}
	}
	e.Verdict = w.verdict(e.Of)
	if e.Of == 0 {
		e.Says = fmt.Sprintf("EC2 took back none of %s%s.", w.failed(), w.unseen())
		e.Short = fmt.Sprintf("EC2 took back none of %s.", w.those())
		return e
	}
	e.Says = fmt.Sprintf("EC2 took back %s of %s before they had joined: %s.", figure(e.Of), w.failed(), mostly(where))
	e.Short = fmt.Sprintf("EC2 took back %s of %s before they joined%s.", figure(e.Of), w.those(), chiefly(where))
	if slices.ContainsFunc(w.pools, func(p Pool) bool { return p.Failing }) {
		// Which pool it was is said there.
		e.Short = fmt.Sprintf("EC2 took back %s of %s before they joined.", figure(e.Of), w.those())
	}
	e.change = []string{fmt.Sprintf("Use more pools than %s, with the allocation strategy price-capacity-optimized.", frequent(where)[0].Name)}
	return e
}

// capacity weighs what EC2 refused because it had none.
func (w *weighing) capacity() weighed {
	e := weighed{Explanation: Explanation{Name: "EC2 had no capacity", Check: checkid.LaunchInsufficientCapacity}, narrow: ofEC2}
	where := map[string]int{}
	for _, p := range w.failures {
		if noCapacity(p) {
			e.Of++
			where[place(p)]++
		}
	}
	e.Verdict = w.verdict(e.Of)
	if e.Of == 0 {
		e.Says = fmt.Sprintf("EC2 refused none of %s for want of capacity%s.", w.failed(), w.unseen())
		e.Short = fmt.Sprintf("it refused none of %s for that.", w.those())
		return e
	}
	e.Says = fmt.Sprintf("EC2 refused %s of %s for want of Spot capacity: %s.", figure(e.Of), w.failed(), mostly(where))
	e.Short = fmt.Sprintf("it refused %s of %s for that%s.", figure(e.Of), w.those(), chiefly(where))
	e.change = []string{fmt.Sprintf("Add types or zones: EC2 had no Spot capacity for %s, most in %s.", count(e.Of, "launch", "launches"), frequent(where)[0].Name)}
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
	return fmt.Sprintf(", %s of them %s", figure(list[0].Count), list[0].Name)
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
	return and(parts)
}
