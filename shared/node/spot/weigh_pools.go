package spot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/exact"
	"rollcall/shared/snapshot"
)

// pool weighs whether single pools fail.
func (w *weighing) pool() weighed {
	e := weighed{Explanation: Explanation{Name: "One pool does not work", Check: checkid.SpotPoolFailing}, narrow: ofPool}
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
		if says = append(says, p.Says()); short == "" {
			short = p.short()
		}
		e.change = append(e.change, fmt.Sprintf("Leave %s out of %s.", p.Name(), and(p.Nodegroups)))
	}
	const enough = 10
	switch {
	case e.Of > 0:
		e.Verdict, e.Says, e.Short = Supported, strings.Join(says, "; ")+".", short+"."
		if len(says) > 1 {
			e.Name = fmt.Sprintf("%d pools do not work", len(says))
			e.Short = fmt.Sprintf("The worst is %s.", short)
		}
	case own == 0:
		e.Verdict = w.verdict(0)
		e.Says = fmt.Sprintf("None of %s points at its pool%s.", w.failed(), w.unseen())
		e.Short = fmt.Sprintf("none of %s points at its pool.", w.those())
	case own >= enough && best >= 1 && w.spread(own):
		e.Verdict = RuledOut
		e.Says = fmt.Sprintf("The %s failures that could be a pool's own are spread over the pools as chance spreads them.", figure(own))
		e.Short = fmt.Sprintf("the %s failures it could explain are spread over all pools.", figure(own))
	default:
		e.Verdict = Open
		e.Says = fmt.Sprintf("%s could be a pool's own, too few to tell one pool from the others beside it.", count(own, "failure", "failures"))
		e.Short = fmt.Sprintf("%s could be a pool's own, too few to tell.", count(own, "failure", "failures"))
	}
	return e
}

// spread tells that no pool has more than half of the failures that could be
// its own.
func (w *weighing) spread(own int) bool {
	return !slices.ContainsFunc(w.pools, func(p Pool) bool { return p.Spot && 2*p.Failed > own })
}

// Says is how a failing pool does, in words: "c5.large in us-west-2b: 11 of 14
// were taken back before they joined; of the other pools of workers 1 of 60
// launches failed".
func (p Pool) Says() string {
	own := p.Failed
	var how string
	switch {
	case p.Reclaimed >= own:
		how = fmt.Sprintf("%s of %s were taken back before they joined", figure(own), figure(p.Judged))
	case p.Reclaimed > 0:
		how = fmt.Sprintf("%s of %s did not join, %s of them were taken back", figure(own), figure(p.Judged), figure(p.Reclaimed))
	default:
		how = fmt.Sprintf("%s of %s did not join", figure(own), figure(p.Judged))
	}
	return fmt.Sprintf("%s: %s; in the other pools of %s %s of %s failed", p.Name(), how, and(p.Nodegroups), figure(p.RestFailed), figure(p.Rest))
}

// short is the same without the nodegroups: "c5.large in us-west-2b: 11 of 14
// failed, elsewhere 1 of 60".
func (p Pool) short() string {
	what := "did not join"
	if p.Reclaimed >= p.Failed {
		what = "were taken back"
	}
	return fmt.Sprintf("%s: %s of %s %s, elsewhere %s of %s failed", p.Name(), figure(p.Failed), figure(p.Judged), what, figure(p.RestFailed), figure(p.Rest))
}

// spotItself weighs whether launches fail because they are Spot: whether
// on-demand launches of the same types on the same day do better.
func (w *weighing) spotItself() weighed {
	e := weighed{Explanation: Explanation{Name: "Spot itself"}, narrow: anySpot}
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
	numbers := fmt.Sprintf("of the same types on the same days %s of %s Spot launches failed and %s of %s on-demand", figure(a.Failed), figure(a.Launches), figure(b.Failed), figure(b.Launches))
	e.Short = fmt.Sprintf("on-demand %s of %s failed, Spot %s of %s (same types, same days)", figure(b.Failed), figure(b.Launches), figure(a.Failed), figure(a.Launches))
	const fewest = 10
	p := exact.Tail(strata, a.Failed)
	switch {
	case b.Launches == 0:
		e.Verdict, e.Says = Open, "There is no on-demand launch of the same types on the same days to compare with."
		e.Short = "no on-demand launch to compare with."
	case p <= chance:
		e.Verdict, e.Says = Supported, upper(numbers)+": on-demand does better by more than chance."
		e.Short += "."
		// What on-demand would have lost too is not Spot's.
		e.Of = a.Failed - a.Launches*b.Failed/b.Launches
	case b.Launches >= fewest && 2*b.Failed*a.Launches >= a.Failed*b.Launches && a.Failed > 0:
		e.Verdict, e.Says = RuledOut, upper(numbers)+": on-demand does about as badly."
		e.Short += "."
	default:
		e.Verdict, e.Says = Open, upper(numbers)+": too few to tell."
		e.Short += ", too few to tell."
	}
	return e
}

// joinTime weighs whether launches were given up on too early.
func (w *weighing) joinTime() weighed {
	e := weighed{Explanation: Explanation{Name: "The join time is too short", Check: checkid.NodeNotRegistered}, narrow: timeSet}
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
		e.Says = fmt.Sprintf("%s of %s became Ready later, the last after %s.", figure(e.Of), w.failed(), span(longestWait))
		e.Short = fmt.Sprintf("%s of %s became Ready later, the last after %s.", figure(e.Of), w.those(), span(longestWait))
		e.change = []string{fmt.Sprintf("Set the join time to %s or more: %s became Ready after they had been given up on.", span(longestWait.Round(time.Minute)+time.Minute), count(e.Of, "launch", "launches"))}
	case len(times) == 0:
		e.Verdict, e.Says = Open, "No launch joined, so how long joining takes is not known."
		e.Short = "no launch joined, so how long it takes is not known."
	default:
		most := span(times[(len(times)*95-1)/100])
		e.Says = fmt.Sprintf("None of %s became Ready later; of those that joined 95 %% took at most %s%s.", w.failed(), most, w.unseen())
		e.Short = fmt.Sprintf("none of %s became Ready later; 95 %% join within %s.", w.those(), most)
	}
	return e
}
