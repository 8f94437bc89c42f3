package leak

import (
	"cmp"
	"slices"
	"time"
)

// Rules are what one run may do in one VPC.
type Rules struct {
	// Began and Ended are when the look at the VPC began and ended.
	Began, Ended time.Time
	// Modes is the mode of a cluster; Untagged that of interfaces that name none.
	Modes    func(cluster string) Mode
	Untagged Mode
	// Cap is how many interfaces may still be acted on in this run.
	Cap int
	// Interfaces is how many the VPC has in all; 0 where they were not counted.
	Interfaces int
	// Share is the largest part of them, in percent, that may look deletable.
	Share int
	// Asked are the interfaces that EC2 was asked about today, in the mode
	// dry-run.
	Asked map[string]bool
	// Only narrows the run to these interfaces, where a person or a policy has
	// approved them; nil is no narrowing. Where it is set, nothing else is acted
	// on, and every rule holds as ever.
	Only map[string]bool
}

// Plan is what a run is to do in a VPC.
type Plan struct {
	// Delete are to be deleted, Ask to be asked for with EC2's DryRun; the
	// oldest first.
	Delete, Ask []Verdict
	// Remember are sightings to be written over the version that they have,
	// Forget those to be dropped: their interfaces are gone, in use again, or
	// not left behind after all.
	Remember, Forget []Sighting
	// Judged are all verdicts, with what came of them here.
	Judged []Verdict
	// Stopped is set where too many of the VPC's interfaces look deletable:
	// then a fault is more likely than so many leaks, and nothing is done.
	Stopped *Stop
}

// Stop is why nothing is done.
type Stop struct{ Candidates, Interfaces, Share int }

// Decide asks the rules that are about all interfaces of a VPC together:
// the verdicts are those of all unattached interfaces in it, the sightings all
// that are remembered of it.
func Decide(verdicts []Verdict, sightings map[string]Sighting, r Rules) Plan {
	p := Plan{Judged: slices.Clone(verdicts)}
	slices.SortFunc(p.Judged, func(a, b Verdict) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Interface.ID, b.Interface.ID))
	})
	p.remember(sightings, r)
	candidates := 0
	for _, v := range p.Judged {
		if v.Why == Leaked && r.mode(v).acts() {
			candidates++
		}
	}
	// Fewer interfaces in all than candidates is no count: it stops the run too.
	if candidates > r.Interfaces || candidates*100 > r.Share*r.Interfaces {
		p.Stopped = &Stop{Candidates: candidates, Interfaces: r.Interfaces, Share: r.Share}
	}
	left := r.Cap
	// What is deleted comes before what is only asked for.
	for _, mode := range []Mode{Delete, DryRun, Report} {
		for i := range p.Judged {
			v := &p.Judged[i]
			if v.Why != Leaked || r.mode(*v) != mode {
				continue
			}
			if why := p.hold(*v, sightings, r, mode); why != Leaked {
				v.Why = why
				continue
			}
			if left--; left < 0 {
				v.Why = OverCap
				continue
			}
			if mode == Delete {
				p.Delete = append(p.Delete, *v)
			} else {
				p.Ask = append(p.Ask, *v)
			}
		}
	}
	return p
}

// mode is the mode of an interface's cluster.
func (r Rules) mode(v Verdict) Mode {
	m := r.Untagged
	if v.Cluster != "" {
		m = r.Modes(v.Cluster)
	}
	if !m.acts() {
		return Report
	}
	return m
}

// hold is why an interface is not acted on in this run; Leaked if it is.
func (p Plan) hold(v Verdict, sightings map[string]Sighting, r Rules, mode Mode) Reason {
	s, seen := sightings[v.Interface.ID]
	switch {
	case !mode.acts(), r.Only != nil && !r.Only[v.Interface.ID]:
		return NotOptedIn
	case p.Stopped != nil:
		return OverShare
	case seen && s.leased(r.Began):
		return Claimed
	case !seen || s.Version == 0 || s.Print == "" || s.Print != Print(v.Interface) || r.Began.Sub(s.First) < Apart:
		return NotSeenBefore
	case mode == DryRun && r.Asked[v.Interface.ID]:
		return AskedToday
	}
	return Leaked
}

// remember tells what of the sightings is new, and what is over. In all modes:
// what an operator switches on later works at once.
func (p *Plan) remember(sightings map[string]Sighting, r Rules) {
	here := map[string]bool{}
	for _, v := range p.Judged {
		id := v.Interface.ID
		s, seen := sightings[id]
		switch {
		case v.Why == OwnerUnread:
			here[id] = true // neither proved nor disproved
		case v.Dead():
			here[id] = true
			// A clock that was ahead saw it in what is still to come: that would
			// hold it back until then.
			fresh := !seen || s.Print != Print(v.Interface) || s.First.After(r.Ended.Add(Apart))
			if print := Print(v.Interface); fresh && !s.leased(r.Began) {
				p.Remember = append(p.Remember, Sighting{Interface: id, First: r.Ended, Print: print, Version: s.Version})
			}
		}
	}
	for id, s := range sightings {
		if !here[id] && !s.leased(r.Began) {
			p.Forget = append(p.Forget, s)
		}
	}
	slices.SortFunc(p.Forget, func(a, b Sighting) int { return cmp.Compare(a.Interface, b.Interface) })
}
