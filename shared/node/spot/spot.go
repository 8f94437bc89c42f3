package spot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/network/address"
	"rollcall/shared/node/exact"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/snapshot"
)

// The bound on false accusations. In a history of 90 days, read
// every hour, the chance that any healthy pool is ever accused is at most
// chance: it is divided by the number of looks (Bonferroni: that holds however
// the looks hang together, and whatever window each looks at), by the two
// comparisons, and by the number of pools (Holm). A window of 7 days keeps what
// was repaired from being held against a pool for longer.
const (
	chance = 0.01
	looks  = 90 * 24
	// Window is how far back launches count against a pool.
	Window = 7 * 24 * time.Hour
)

// What a pool must have beside, to be accused: launches, failures, and a loss
// that matters. A thousand launches show a difference of one in a hundred,
// for which no operator would give up a pool.
const (
	fewestLaunches = 5
	fewestFailures = 3
	leastLoss      = 0.1
)

// Place names a pool of Spot capacity.
type Place struct{ Type, Zone string }

// PoolResult is how a pool does in the window.
type PoolResult struct {
	Place
	Judged, Failed int
	// Rest and RestFailed are the launches of the other pools of its nodegroups.
	Rest, RestFailed int
	// Low and High bound the share that joins, 95 %.
	Low, High float64
	// Plain is the chance of doing as badly by chance, in one look at one pool;
	// P is Plain after the correction for all pools and looks. Both are 1 where
	// there was nothing to compare it with.
	Plain, P float64
	// Units is how many of its launches, drawn one each half hour, there was
	// something to compare with.
	Units   int
	Failing bool
}

// Look tells how the pools stand, worst first.
func (w *Watch) Look(from time.Time) []PoolResult {
	w.dropBefore(from)
	if len(w.places) == 0 {
		return nil
	}
	list := make([]PoolResult, len(w.places))
	var strata [comparisons][][]exact.Stratum
	var failed [comparisons][]int
	for c := range comparisons {
		strata[c], failed[c] = make([][]exact.Stratum, len(list)), make([]int, len(list))
	}
	for _, s := range w.spells {
		for c := range comparisons {
			for _, u := range s.units[c] {
				strata[c][u.pool] = append(strata[c][u.pool], u.of)
				failed[c][u.pool] += u.failed
			}
		}
	}
	w.count(list)
	tested := 0
	for i := range list {
		st := &list[i]
		st.Place, st.Plain, st.P = w.places[i], 1, 1
		st.Low, st.High = exact.Interval(st.Judged-st.Failed, st.Judged)
		if st.Judged < fewestLaunches {
			continue
		}
		tested++
		for c := range comparisons {
			drawn := 0
			for _, s := range strata[c][i] {
				drawn += s.Drawn
			}
			st.Units = max(st.Units, drawn)
			st.Plain = min(st.Plain, comparisons*exact.Tail(strata[c][i], failed[c][i]))
		}
	}
	slices.SortStableFunc(list, func(a, b PoolResult) int {
		return cmp.Or(cmp.Compare(a.Plain, b.Plain), cmp.Compare(a.High, b.High), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Zone, b.Zone))
	})
	holm(list, tested)
	return list
}

// holm corrects for the number of pools and looks, and accuses. The list is
// sorted by Plain.
func holm(list []PoolResult, tested int) {
	worst := 0.0
	for i := range list {
		st := &list[i]
		if st.Judged < fewestLaunches {
			continue
		}
		worst = max(worst, min(1, st.Plain*float64(max(1, tested-i))*looks))
		st.P = worst
		rest := 1 - float64(st.RestFailed)/float64(max(1, st.Rest))
		loss := float64(st.Failed) / float64(st.Judged)
		st.Failing = st.P <= chance && st.Failed >= fewestFailures && loss >= leastLoss && st.High < rest
	}
}

// count counts the launches of each pool, and of the others of its nodegroups.
func (w *Watch) count(list []PoolResult) {
	type tally struct{ judged, failed int }
	groups := make([]tally, len(w.groups))
	type corner struct{ pool, group int }
	corners := map[corner]tally{}
	for _, s := range w.spells {
		for _, t := range s.trials {
			if !t.judged {
				continue
			}
			at := corner{pool: t.pool, group: t.group}
			add, own := &groups[t.group], corners[at]
			add.judged, own.judged = add.judged+1, own.judged+1
			if t.failed {
				add.failed, own.failed = add.failed+1, own.failed+1
			}
			corners[at] = own
		}
	}
	for at, own := range corners {
		st := &list[at.pool]
		st.Judged, st.Failed = st.Judged+own.judged, st.Failed+own.failed
		st.Rest, st.RestFailed = st.Rest+groups[at.group].judged-own.judged, st.RestFailed+groups[at.group].failed-own.failed
	}
}

const (
	// apart ends a burst: a node takes its addresses within about a minute of
	// its start, and Auto Scaling starts those of one decision within seconds.
	apart = 5 * time.Minute
	// longest is the most that is taken for one burst.
	longest = 30 * time.Minute
	// fresh is how old a sample may be: subnets are looked at every few minutes.
	fresh = time.Hour
	// atOnce is how soon after its start a launch must have been looked at, for
	// what its subnet had left to be what the launch found. Later the plugin has
	// taken addresses too.
	atOnce = 2 * time.Minute
)

// Bursts are all bursts of the history, by subnet and time, and what was
// assumed about them. A single launch is a burst of one.
func Bursts(in Input) ([]spotreport.Burst, []string) {
	b := bursts{settings: settings(in), types: map[string]snapshot.InstanceType{}, subnets: map[string]snapshot.Subnet{}, samples: map[string][]snapshot.Sample{}}
	for _, t := range in.Types {
		b.types[t.Name] = t
	}
	for _, n := range in.Subnets {
		b.subnets[n.ID] = n
	}
	for _, s := range in.Samples {
		b.samples[s.Subnet] = append(b.samples[s.Subnet], s)
	}
	for id := range b.samples {
		slices.SortStableFunc(b.samples[id], func(x, y snapshot.Sample) int { return x.At.Compare(y.At) })
	}
	of := map[string][]*snapshot.Past{}
	var ids []string
	history := byStart(in.History)
	for i := range history {
		p := &history[i]
		if p.Subnet == "" || p.End == snapshot.Refused && p.Cause != checkid.LaunchSubnetFull {
			continue
		}
		if of[p.Subnet] == nil {
			ids = append(ids, p.Subnet)
		}
		of[p.Subnet] = append(of[p.Subnet], p)
	}
	slices.Sort(ids)
	var list []spotreport.Burst
	for _, id := range ids {
		list = append(list, b.split(of[id])...)
	}
	return list, b.assumed(in)
}

// bursts is what bursts are made with.
type bursts struct {
	settings address.Settings
	types    map[string]snapshot.InstanceType
	subnets  map[string]snapshot.Subnet
	samples  map[string][]snapshot.Sample
	// unknown are types of which nothing is known.
	unknown []string
}

// split cuts the launches of one subnet, oldest first, into bursts.
func (b *bursts) split(list []*snapshot.Past) []spotreport.Burst {
	var out []spotreport.Burst
	var before time.Time
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Started.Sub(list[n-1].Started) < apart && list[n].Started.Sub(list[0].Started) <= longest {
			n++
		}
		out = append(out, b.burst(list[:n], before))
		before, list = list[n-1].Started, list[n:]
	}
	return out
}

// burst sums up one burst; before is when the last launch before it began.
func (b *bursts) burst(list []*snapshot.Past, before time.Time) spotreport.Burst {
	out := spotreport.Burst{
		Subnet: list[0].Subnet, Zone: cmp.Or(list[0].Zone, b.subnets[list[0].Subnet].Zone),
		Began: list[0].Started, Last: list[len(list)-1].Started, Launches: len(list),
	}
	numbers := map[string]int{}
	for _, p := range list {
		numbers[p.Type]++
		out.IDs = append(out.IDs, p.ID)
		out.Nodegroups = append(out.Nodegroups, cmp.Or(p.Nodegroup, p.Group))
		if failure(*p) {
			out.Failed++
		}
	}
	slices.Sort(out.Nodegroups)
	out.Nodegroups = slices.Compact(out.Nodegroups)
	for name, n := range numbers {
		t := b.term(name, n)
		out.Terms = append(out.Terms, t)
		out.Demand += t.Count * t.Each
	}
	slices.SortFunc(out.Terms, func(x, y spotreport.Term) int {
		return cmp.Or(cmp.Compare(y.Count*y.Each, x.Count*x.Each), cmp.Compare(x.Type, y.Type))
	})
	b.addSubnetRoom(&out, list, before)
	return out
}

// term is what some nodes of a type take. A refused launch often names no
// type: what EC2 had not for it was its own address.
func (b *bursts) term(name string, n int) spotreport.Term {
	t, known := b.types[name]
	if !known && name != "" && !slices.Contains(b.unknown, name) {
		b.unknown = append(b.unknown, name)
	}
	d := b.settings.AtStart(t)
	term := spotreport.Term{Type: name, Count: n, Interfaces: 1, Addresses: d.Total(), Each: d.Total()}
	if d.Warm > 0 && d.Warm%d.First == 0 {
		term.Interfaces, term.Addresses = 1+d.Warm/d.First, d.First
	}
	return term
}

// addSubnetRoom adds what the subnet had before the burst: the latest sample since the
// launch before it, or what the first launch left, and what the launches had
// taken for themselves by then. The larger of both counts: a sample is as old as
// an hour, and addresses may have come back since; the launch's own look misses
// what the plugin took meanwhile.
func (b *bursts) addSubnetRoom(out *spotreport.Burst, list []*snapshot.Past, before time.Time) {
	if n, known := b.subnets[out.Subnet]; known {
		out.Total = address.Usable(n.CIDR)
	}
	samples := b.samples[out.Subnet]
	for i := len(samples) - 1; i >= 0; i-- {
		s := samples[i]
		if s.At.After(out.Began) {
			continue
		}
		if out.Total = max(out.Total, s.Total); out.Began.Sub(s.At) <= fresh && s.At.After(before) {
			out.Had, out.HadKnown = s.Free, true
		}
		break
	}
	p := list[0]
	if p.FreeAt.IsZero() || p.FreeAt.Before(p.Started) || p.FreeAt.Sub(p.Started) > atOnce {
		return
	}
	left := p.Free
	for _, other := range list {
		if other.End != snapshot.Refused && !other.Started.After(p.FreeAt) {
			left++
		}
	}
	out.Had, out.HadKnown = max(out.Had, left), true
	if out.Total > 0 {
		out.Had = min(out.Had, out.Total)
	}
}

// assumed says what was taken in place of what was not read.
func (b *bursts) assumed(in Input) []string {
	var list []string
	if in.CNI == nil && !in.IPv6 {
		list = append(list, "The settings of aws-node were not read: assuming its defaults, a first interface full of addresses and a second one in reserve.")
	}
	slices.Sort(b.unknown)
	for _, name := range b.unknown {
		list = append(list, fmt.Sprintf("The addresses that %s can hold are unknown: each counts with only its own address.", name))
	}
	return list
}

// FewPools is how many pools a Spot nodegroup should be able to choose from at
// least: two types in three zones. AWS advises to be flexible across at least
// ten types (EC2 user guide, "Best practices for Amazon EC2 Spot"); what has
// fewer than this rides out no shortage at all.
const FewPools = 6

// change is what to do: first what cures the explanations that are supported,
// then what makes nodegroups with few pools less fragile, if launches were
// refused or taken back.
func (w *weighing) change(list []weighed) []string {
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, e := range list {
		if e.Verdict == spotreport.Supported {
			for _, s := range e.change {
				add(s)
			}
		}
	}
	short := false
	for _, p := range w.failures {
		short = short || p.End == snapshot.Reclaimed || noCapacity(p)
	}
	if !short {
		return out
	}
	for _, g := range w.groups() {
		if n := len(g.pools); n < FewPools {
			add(fmt.Sprintf("Add types: %s has %s.", g.name, spotreport.Count(n, "pool", "pools")))
		}
	}
	return out
}

// group is a nodegroup with Spot launches and the pools it can choose from.
type group struct {
	name  string
	pools []Place
}

// groups are those of the history: the types of its Auto Scaling group in all
// its zones, and what it has launched.
func (w *weighing) groups() []group {
	var list []group
	add := func(name string, p Place) {
		i := slices.IndexFunc(list, func(g group) bool { return g.name == name })
		if i < 0 {
			i = len(list)
			list = append(list, group{name: name})
		}
		if !slices.Contains(list[i].pools, p) {
			list[i].pools = append(list[i].pools, p)
		}
	}
	named := map[string]string{}
	for _, p := range w.in.History {
		if !p.Spot {
			continue
		}
		name := cmp.Or(p.Nodegroup, p.Group)
		named[p.Group] = name
		if p.Type != "" && p.Zone != "" {
			add(name, Place{p.Type, p.Zone})
		}
	}
	for _, g := range w.in.Groups {
		name, known := named[g.Name]
		if !known {
			continue
		}
		for _, t := range g.Types {
			for _, zone := range g.Zones {
				add(name, Place{t, zone})
			}
		}
	}
	slices.SortFunc(list, func(a, b group) int { return cmp.Compare(a.name, b.name) })
	return list
}

// Launches of one pool that begin together share a fate: a subnet fills up, the
// pool is taken back as a whole, an API does not answer for a minute. Ten of
// ten failures of one burst are then one piece of evidence, not ten. So of each
// pool one launch of each half hour counts, drawn by its id; what lasts over
// the end of a half hour counts once. If a pool is like the others beside it,
// each of the drawn is as likely to be among those that failed, however the
// launches of one pool hang together. Where all fail, or none, nothing is said
// about any of them.

// half is the time in which launches of a pool share a fate, quiet how long
// before a drawn launch no other of its pool may have begun in the half hour
// before, and stretch what is kept and judged at once.
const (
	half    = int64(30 * time.Minute / time.Second)
	quiet   = int64(15 * time.Minute / time.Second)
	stretch = int64(6 * time.Hour / time.Second)
)

// trial is a launch as the test sees it. Names are numbers.
type trial struct {
	draw  uint64 // decides which launch is drawn
	at    int64  // seconds
	pool  int
	group int // nodegroup
	place int // subnet, else zone
	label
}

// The two comparisons.
const (
	// nearby compares what did not join for a reason that can be the pool's
	// with other types in the same subnet, in the same six hours: a zone that
	// does not work accuses no pool of it. There are seldom two types of one
	// subnet in the same half hour, as Auto Scaling takes those that are easiest
	// to have just then.
	nearby = iota
	// reclaims compares what EC2 took back early with all pools of the
	// nodegroup, in the same half hour: no fault of a network can look like it.
	reclaims
	comparisons
)

// counts reports whether a trial takes part in a comparison.
func (t trial) counts(comparison int) bool {
	if comparison == reclaims {
		return t.started
	}
	return t.judged
}

// bad reports whether it failed there.
func (t trial) bad(comparison int) bool {
	if comparison == reclaims {
		return t.taken
	}
	return t.failed
}

// unit is what one stretch says about one pool: how many of its drawn launches
// failed, among how many of all that are beside them.
type unit struct {
	pool   int
	failed int
	of     exact.Stratum
	// least is the logarithm of the chance that as many fail.
	least float64
}

// beside is where launches are compared with each other.
type beside struct {
	group, place int
	half         int64
}

// among is where a launch is compared.
func (t trial) among(comparison int) beside {
	if comparison == reclaims {
		return beside{group: t.group, half: t.at / half}
	}
	return beside{group: t.group, place: t.place}
}

// evidence is what one stretch says: a unit for each pool in each place where
// it has something to be compared with. The launches before are those of the
// stretch before it.
func evidence(here, before []trial, comparison int) []unit {
	// Most stretches have no failure at all, and most of the time goes by here.
	if !slices.ContainsFunc(here, func(t trial) bool { return t.counts(comparison) && t.bad(comparison) }) {
		return nil
	}
	drawn := draw(here, before, comparison)
	slices.SortFunc(drawn, func(a, b trial) int {
		x, y := a.among(comparison), b.among(comparison)
		return cmp.Or(cmp.Compare(x.group, y.group), cmp.Compare(x.place, y.place), cmp.Compare(x.half, y.half), cmp.Compare(a.pool, b.pool))
	})
	var list []unit
	for len(drawn) > 0 {
		n := 1
		for n < len(drawn) && drawn[n].among(comparison) == drawn[0].among(comparison) {
			n++
		}
		list = append(list, weigh(drawn[:n], comparison)...)
		drawn = drawn[n:]
	}
	return list
}

// weigh makes the units of one place; the launches are sorted by pool.
func weigh(drawn []trial, comparison int) []unit {
	failed := 0
	for _, t := range drawn {
		if t.bad(comparison) {
			failed++
		}
	}
	if failed == 0 || failed == len(drawn) || drawn[0].pool == drawn[len(drawn)-1].pool {
		return nil
	}
	var list []unit
	for _, t := range drawn {
		if n := len(list); n == 0 || list[n-1].pool != t.pool {
			list = append(list, unit{pool: t.pool, of: exact.Stratum{Launches: len(drawn), Failed: failed}})
		}
		u := &list[len(list)-1]
		u.of.Drawn++
		if t.bad(comparison) {
			u.failed++
		}
	}
	for i := range list {
		list[i].least = math.Log(exact.Tail([]exact.Stratum{list[i].of}, list[i].failed))
	}
	return list
}

// draw draws one launch of each pool in each half hour.
func draw(here, before []trial, comparison int) []trial {
	list := make([]trial, 0, len(here))
	for _, t := range here {
		if t.counts(comparison) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b trial) int {
		return cmp.Or(cmp.Compare(a.pool, b.pool), cmp.Compare(a.at, b.at), cmp.Compare(a.draw, b.draw))
	})
	var drawn []trial
	var last trial // of the half hour before
	for i := 0; i < len(list); {
		n, best := i+1, list[i]
		for n < len(list) && list[n].pool == best.pool && list[n].at/half == best.at/half {
			if list[n].draw < best.draw {
				best = list[n]
			}
			n++
		}
		switch {
		case i > 0 && last.pool == best.pool && best.at-last.at < quiet:
		case lasts(best, before, comparison):
		default:
			drawn = append(drawn, best)
		}
		i, last = n, list[n-1]
	}
	return drawn
}

// lasts reports whether the pool's launches of the stretch before go on into this
// one.
func lasts(t trial, before []trial, comparison int) bool {
	return t.at%stretch < quiet && slices.ContainsFunc(before, func(o trial) bool {
		return o.pool == t.pool && o.counts(comparison) && t.at-o.at < quiet
	})
}

// early is within how long after its start an instance that is taken back
// counts against its pool wherever it stands. It is the same for those that
// joined and those that did not: where nothing can join, instances wait for
// longer, and more of them are taken back meanwhile.
const early = 10 * time.Minute

// label is what a launch says about its pool.
type label struct {
	// judged reports whether its end says something: it joined, or it failed for a
	// reason that can be the pool's own.
	judged, failed bool
	// started reports whether an instance was there long enough to be taken back,
	// taken that it was, early.
	started, taken bool
}

func labelOf(p snapshot.Past) label {
	var l label
	switch p.End {
	case snapshot.Joined:
		l.judged, l.started = true, true
		l.taken = within(p, p.Noticed)
	case snapshot.Reclaimed:
		l.judged, l.failed, l.started = true, true, true
		at := p.Noticed
		if at.IsZero() {
			at = p.Ended
		}
		l.taken = at.IsZero() || within(p, at)
	case snapshot.NotJoined:
		l.judged = own(p.Cause)
		l.failed, l.started = l.judged, true
	}
	return l
}

func within(p snapshot.Past, at time.Time) bool {
	return !at.IsZero() && at.Sub(p.Started) <= early
}

// own reports whether a launch that did not join for this cause may have failed
// because of its pool: no cause was found, or one that says how the instance
// failed and not why. Routes, endpoints, roles, addresses and settings are the
// same for all pools of a subnet, and say nothing about one of them.
func own(cause checkid.ID) bool {
	if cause == "" || cause.Family() == checkid.Node {
		return cause != checkid.NodeCNINotReady
	}
	return slices.Contains([]checkid.ID{
		checkid.SpotReclaimedBeforeJoin, checkid.InstanceEndedEarly, checkid.InstanceStatusCheck, checkid.InstanceScheduledEvent, checkid.InstanceConsoleError, checkid.InstanceCommonFactor,
	}, cause)
}

// failure reports whether a launch came to no node.
func failure(p snapshot.Past) bool {
	return p.End == snapshot.NotJoined || p.End == snapshot.Reclaimed || p.End == snapshot.Refused
}

// pools are the launches by type, zone and kind, and what the test says of
// those of Spot.
func pools(in Input) []spotreport.Pool {
	type key struct {
		Place
		spot bool
	}
	index := map[key]int{}
	var list []spotreport.Pool
	causes := map[key]map[string]int{}
	groups := map[key]map[string]bool{}
	var w Watch
	for _, p := range in.History {
		k := key{Place{p.Type, p.Zone}, p.Spot}
		i, known := index[k]
		if !known {
			i = len(list)
			index[k], causes[k], groups[k] = i, map[string]int{}, map[string]bool{}
			list = append(list, spotreport.Pool{Type: p.Type, Zone: p.Zone, Spot: p.Spot, High: 1, P: 1})
		}
		pool := &list[i]
		addTo(&pool.Funnel, p)
		groups[k][cmp.Or(p.Nodegroup, p.Group)] = true
		if failure(p) {
			causes[k][causeOf(p)]++
		}
		if p.Started.After(pool.Last) {
			pool.Last = p.Started
		}
		switch l := labelOf(p); {
		case l.failed:
			pool.Streak = 0
		case l.judged:
			pool.Streak++
		}
		w.Add(p)
	}
	for k, i := range index {
		for name := range groups[k] {
			list[i].Nodegroups = append(list[i].Nodegroups, name)
		}
		slices.Sort(list[i].Nodegroups)
		list[i].Causes = frequent(causes[k])
	}
	for _, st := range w.Look(in.From) {
		pool := &list[index[key{st.Place, true}]]
		pool.Judged, pool.Failed, pool.Rest, pool.RestFailed = st.Judged, st.Failed, st.Rest, st.RestFailed
		pool.Low, pool.High, pool.P, pool.Failing = st.Low, st.High, st.P, st.Failing
	}
	slices.SortStableFunc(list, worse)
	return list
}

// worse sorts pools: Spot first, those that do worst first.
func worse(a, b spotreport.Pool) int {
	lost := func(p spotreport.Pool) float64 {
		if p.Launched == 0 {
			return 0
		}
		return float64(p.Reclaimed+p.NotJoined) / float64(p.Launched)
	}
	return cmp.Or(
		first(a.Spot, b.Spot), first(a.Failing, b.Failing),
		cmp.Compare(lost(b), lost(a)), cmp.Compare(b.Refused, a.Refused), cmp.Compare(b.Requested, a.Requested),
		cmp.Compare(a.Type, b.Type), cmp.Compare(a.Zone, b.Zone),
	)
}

// first sorts what is before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// causeOf is what a launch that failed is counted under: the check that named
// its cause, else its end.
func causeOf(p snapshot.Past) string {
	if p.End == snapshot.Reclaimed {
		return string(snapshot.Reclaimed)
	}
	return cmp.Or(string(p.Cause), string(p.End))
}

// frequent are the causes, most frequent first.
func frequent(of map[string]int) []spotreport.Cause {
	var list []spotreport.Cause
	for name, n := range of {
		list = append(list, spotreport.Cause{Name: name, Count: n})
	}
	slices.SortFunc(list, func(a, b spotreport.Cause) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Read judges the history. It is pure: the same input gives the same report.
func Read(in Input) spotreport.Report {
	in.History = byStart(in.History)
	r := spotreport.Report{Cluster: in.Cluster, From: in.From, To: in.To}
	for _, p := range in.History {
		if p.Spot {
			addTo(&r.Spot, p)
		} else {
			addTo(&r.OnDemand, p)
		}
	}
	r.Pools = pools(in)
	all, assumed := Bursts(in)
	r.Assumed = assumed
	r.Bursts = telling(all)
	w := weighing{in: in, pools: r.Pools, bursts: all}
	r.Explanations = []spotreport.Explanation{}
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

// addTo counts one launch.
func addTo(f *spotreport.Funnel, p snapshot.Past) {
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

// told is how many bursts that fitted are listed beside those that did not, most
// how many of all.
const (
	told = 3
	most = 20
)

// telling are the bursts worth telling: those that asked for more than there
// was, worst first, those of which that is not known and in which launches
// failed, then the largest that fitted.
func telling(all []spotreport.Burst) []spotreport.Burst {
	list := slices.Clone(all)
	open := func(b spotreport.Burst) bool { return !b.HadKnown && b.Failed > 0 }
	slices.SortStableFunc(list, func(a, b spotreport.Burst) int {
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
