package spot

import (
	"cmp"
	"slices"

	"rollcall/shared/network/address"

	"rollcall/shared/snapshot"
)

// Read judges the history. It is pure: the same input gives the same report.
func Read(in Input) Report {
	in.History = byStart(in.History)
	r := Report{Cluster: in.Cluster, From: in.From, To: in.To}
	for _, p := range in.History {
		if p.Spot {
			r.Spot.add(p)
		} else {
			r.OnDemand.add(p)
		}
	}
	r.Pools = pools(in)
	all, assumed := Bursts(in)
	r.Assumed = assumed
	r.Bursts = telling(all)
	w := weighing{in: in, pools: r.Pools, bursts: all}
	r.Explanations = []Explanation{}
	weighed := w.all()
	for _, e := range weighed {
		r.Explanations = append(r.Explanations, e.Explanation)
	}
	r.Change = w.change(weighed)
	return r
}

// byStart is the launches by the time at which they began. They are large, and
// mostly in order: only where they are not are they moved, each once.
func byStart(list []snapshot.Past) []snapshot.Past {
	earlier := func(a, b snapshot.Past) int { return a.Started.Compare(b.Started) }
	if slices.IsSortedFunc(list, earlier) {
		return list
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return earlier(list[i], list[j]) })
	out := make([]snapshot.Past, len(list))
	for i, j := range order {
		out[i] = list[j]
	}
	return out
}

// add counts one launch.
func (f *Funnel) add(p snapshot.Past) {
	f.Requested++
	if p.End == snapshot.Refused {
		f.Refused++
		return
	}
	f.Launched++
	switch p.End {
	case snapshot.Joined:
		f.Joined++
		if lived, ended := p.Lived(); ended && p.Lost && lived < snapshot.LostWithin {
			f.Lost++
		}
	case snapshot.Reclaimed:
		f.Reclaimed++
	case snapshot.NotJoined:
		f.NotJoined++
	case snapshot.Terminated:
		f.Terminated++
	case snapshot.Open:
		f.Open++
	default: // an end that is not known yet is not known
		f.Unknown++
	}
}

// told is how many bursts that fitted are told beside those that did not, most
// how many of all.
const (
	told = 3
	most = 20
)

// telling are the bursts worth telling: those that asked for more than there
// was, worst first, those of which that is not known and in which launches
// failed, then the largest that fitted.
func telling(all []Burst) []Burst {
	list := slices.Clone(all)
	open := func(b Burst) bool { return !b.HadKnown && b.Failed > 0 }
	slices.SortStableFunc(list, func(a, b Burst) int {
		c := cmp.Or(first(a.Exceeds(), b.Exceeds()), first(open(a), open(b)))
		if c == 0 && a.Exceeds() {
			c = cmp.Compare(b.Demand-b.Had, a.Demand-a.Had)
		}
		return cmp.Or(c, cmp.Compare(b.Demand, a.Demand), a.Began.Compare(b.Began), cmp.Compare(a.Subnet, b.Subnet))
	})
	n := 0
	for n < len(list) && (list[n].Exceeds() || open(list[n])) {
		n++
	}
	return list[:min(len(list), n+told, most)]
}

// settings are the CNI's, or what is taken in their place.
func settings(in Input) address.Settings {
	s := address.SettingsOf(in.CNI)
	s.IPv6 = s.IPv6 || in.IPv6
	return s
}
