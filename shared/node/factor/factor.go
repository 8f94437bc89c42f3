// Package factor finds what launches that failed have in common and launches that
// joined do not: an AMI, a launch template's version, an instance type.
//
// It models a launch as a draw from the launches of a week: if a value has nothing
// to do with failing, any of them is as likely to be among those that failed. The
// chance that as many with the value fail is Fisher's exact test, one-sided.
//
//   - Launches that begin together share a fate. Of each value one launch of each
//     quarter of an hour counts, drawn by its id: twenty at once are one witness.
//   - The chance is multiplied by the number of values that were tried, and by the
//     number of launches that 90 days have at this rate: an operator looks again at
//     each (Bonferroni holds however looks and values hang together).
//   - A cause of its hour (an API that does not answer) is no value's fault: launches
//     without the value in the same hours must have joined, by Fisher's test over
//     strata of an hour. Where hardly any other was launched then, as after a
//     rollout to all, the failures must stand in more hours than such a cause lasts.
//   - Of values that go together the one is named with which launches fail also
//     within the other's (Fisher's test over two strata); those of the very same
//     launches are named together, and what too few launches tell apart is named too.
//   - What has begun to join again is not accused of what was.
//
// Where there is too little, it says nothing. How soon it names what, and that no
// healthy value is accused in 10,000 histories of 90 days, is in docs/factor.md.
package factor

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/exact"
	"rollcall/shared/snapshot"
)

// Kind is a kind of what launches can share.
type Kind string

// The kinds, in the order in which people would change them.
const (
	AMI          Kind = "AMI"
	Template     Kind = "launch template version"
	Plugin       Kind = "VPC CNI"
	Group        Kind = "nodegroup" // or NodePool
	Type         Kind = "instance type"
	Family       Kind = "instance family"
	Architecture Kind = "architecture"
	Capacity     Kind = "capacity type"
	Subnet       Kind = "subnet"
	Zone         Kind = "zone"
)

// Kinds are all kinds.
func Kinds() []Kind {
	return []Kind{AMI, Template, Plugin, Group, Type, Family, Architecture, Capacity, Subnet, Zone}
}

const kinds = 10

// Value is what a launch has of a kind.
type Value struct {
	Kind Kind
	Name string
}

// Launch is a launch as it is compared. Of is its value of each kind, in the order
// of Kinds; empty for one that is not known.
type Launch struct {
	ID      string
	Started time.Time
	Failed  bool
	Of      [kinds]string
}

// LaunchOf is a launch of the history, and whether its end says something about
// what it was launched with: it joined, or it failed and no check found why.
func LaunchOf(p snapshot.Past) (Launch, bool) {
	failed := p.End == snapshot.NotJoined || p.End == snapshot.Open && !p.Missed.IsZero()
	if p.End != snapshot.Joined && !(failed && Unexplained(p.Cause)) {
		return Launch{}, false
	}
	l := Launch{ID: p.ID, Started: p.Started, Failed: failed}
	set := func(k Kind, name string) { l.Of[index(k)] = name }
	set(AMI, p.AMI)
	if p.Template.ID != "" && p.Template.Version != "" {
		set(Template, p.Template.ID+" version "+p.Template.Version)
	}
	set(Plugin, p.Plugin)
	set(Group, p.Nodegroup)
	if p.Nodegroup == "" {
		set(Group, p.Group)
	}
	set(Type, p.Type)
	set(Family, familyOf(p.Type))
	set(Architecture, p.Architecture)
	set(Capacity, "on-demand")
	if p.Spot {
		set(Capacity, "Spot")
	}
	set(Subnet, p.Subnet)
	set(Zone, p.Zone)
	return l, true
}

// Unexplained reports whether a launch that failed for this cause may have failed for
// what it was launched with: no cause was found, or one that says how it failed and
// not why.
func Unexplained(cause checkid.ID) bool {
	switch cause {
	case "", checkid.NodeNotRegistered, checkid.NodeNotReady, checkid.NodeCNINotReady, checkid.NodeUninitialized,
		checkid.InstanceEndedEarly, checkid.InstanceStatusCheck, checkid.InstanceConsoleError, checkid.InstanceCommonFactor:
		return true
	}
	return false
}

// familyOf is the family of an instance type: "m6g" of "m6g.large".
func familyOf(name string) string {
	for i := range name {
		if name[i] == '.' {
			return name[:i]
		}
	}
	return ""
}

func index(k Kind) int {
	for i, other := range Kinds() {
		if other == k {
			return i
		}
	}
	panic("no such kind: " + string(k))
}

// clear is the value that alone tells the launches that failed from those of the same
// hours that joined; nil where there is none. Values of the very same launches are the
// suspects then, to be named together.
func (j *judge) clear() *candidate {
	var failed, joined []Launch
	for _, l := range j.list {
		if l.Failed {
			failed = append(failed, l)
		} else {
			joined = append(joined, l)
		}
	}
	if len(failed) < clearFailed || failed[len(failed)-1].Started.Sub(failed[0].Started) > clearSpan {
		return nil
	}
	var found []*candidate
	for kind := range kinds {
		name := failed[0].Of[kind]
		if name == "" || !all(failed, func(l Launch) bool { return l.Of[kind] == name }) || !all(joined, func(l Launch) bool { return l.Of[kind] != name }) {
			continue
		}
		others := 0
		for _, l := range joined {
			if l.Of[kind] != "" && startedNear(failed, l.Started) {
				others++
			}
		}
		if others < max(clearOthers, 3*len(failed)) {
			continue
		}
		n := len(failed) + others
		of := units(j.list, kind, nil)[name]
		found = append(found, &candidate{
			kind: kind, name: name, drawn: of, tally: tally{failed: failedOf(of), units: len(of)},
			p: exact.Tail([]exact.Stratum{{Launches: n, Failed: len(failed), Drawn: len(failed)}}, len(failed)),
		})
	}
	if len(found) == 0 {
		return nil
	}
	j.candidates, j.tried = found, max(j.tried, kinds)
	return found[0]
}

func all(list []Launch, is func(Launch) bool) bool {
	for _, l := range list {
		if !is(l) {
			return false
		}
	}
	return true
}

// startedNear reports whether one of the launches began within an hour of a time.
func startedNear(list []Launch, at time.Time) bool {
	return !all(list, func(l Launch) bool { return l.Started.Sub(at).Abs() > time.Hour })
}

// Window is how far back launches count.
const Window = 7 * 24 * time.Hour

const (
	// chance bounds that a healthy value is ever accused in watched of a cluster.
	chance  = 0.01
	watched = 90 * 24 * time.Hour
	// together is the time in which launches share a fate.
	together = 15 * time.Minute
	// fewestFailed and fewestOthers are how many quarters of an hour must have a
	// failure with the value, and a launch without it.
	fewestFailed = 4
	fewestOthers = 5
	// leastShare is how many of those with the value must fail for anybody to
	// give it up, beside those without.
	leastShare = 0.3
	// beyond is how unlikely the failures must be beside the others of their hours, and
	// apart from another value not to name that one too, in one look. alone is how many others of those
	// hours are too few to tell, longest in how many hours the failures must then
	// stand: a cause that no check sees is seldom over four.
	beyond  = 0.05
	alone   = 2
	longest = 5
	// within is how unlikely it must be that launches with another value fail more
	// among those with the one that is named, for it to be told.
	within = 0.001
	// lately is how many of the last launches with the value are asked whether
	// it works again.
	lately = 4
)

// What any reader names, however few quarters of an hour it stands in: all launches with a
// value failed, clearFailed at least and within clearSpan; none without it did; and three
// times as many without it, clearOthers at least, joined within an hour of one that failed.
const (
	clearFailed = 6
	clearOthers = 18
	clearSpan   = 6 * time.Hour
)

// Reason is why a value is named, or none is.
type Reason string

// The reasons. Where none is named it is what the most suspicious value lacked.
const (
	Named      Reason = "named"
	NoFailure  Reason = "no launch failed without a cause"
	TooFew     Reason = "too few launches"
	ByChance   Reason = "by chance"
	WorksAgain Reason = "works again"
	OfItsHour  Reason = "launches without it failed in the same hours, or too few were there"
	OfAnother  Reason = "another value explains as much"
)

// Verdict is what the failed launches share and the joined do not.
type Verdict struct {
	Reason Reason
	// Shared are the values, those of the very same launches: nothing tells them
	// apart. The most suspicious where none is named; empty where none is suspected.
	// Near are others that explain the failures too: too few launches differ.
	Shared, Near []Value
	// Among is another value with which those with this one fail more than without,
	// AmongFailed of AmongLaunches of them; its kind is empty where there is none.
	Among                      Value
	AmongFailed, AmongLaunches int
	// Failed of Launches with the value did not join, OtherFailed of Others without.
	Failed, Launches    int
	OtherFailed, Others int
	// Witnesses are the quarters of an hour in which one with the value failed.
	Witnesses int
	// P is the chance of this by chance, corrected for Tried values and Looks.
	P            float64
	Tried, Looks int
	// First is when the first of those that failed was launched; IDs are they.
	First time.Time
	IDs   []string
}

// Judge compares launches of the last week. It is pure; the order of the launches
// changes nothing.
func Judge(list []Launch, now time.Time) Verdict {
	list = slices.DeleteFunc(slices.Clone(list), func(l Launch) bool { return now.Sub(l.Started) > Window })
	order := func(a, b Launch) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID)) }
	if !slices.IsSortedFunc(list, order) {
		slices.SortFunc(list, order)
	}
	if !slices.ContainsFunc(list, func(l Launch) bool { return l.Failed }) {
		return Verdict{Reason: NoFailure, P: 1}
	}
	j := judge{list: list, inspections: int(math.Ceil(float64(len(list)) * float64(watched) / float64(Window)))}
	j.count()
	if s := j.clear(); s != nil {
		return j.verdict(s, Named)
	}
	if len(j.candidates) == 0 {
		return Verdict{Reason: TooFew, P: 1, Looks: j.inspections}
	}
	first := Verdict{}
	for i, s := range j.candidates {
		reason := j.reason(s)
		if i == 0 || reason == Named {
			first = j.verdict(s, reason)
		}
		if reason == Named || i > 0 && s.p*float64(j.tried*j.inspections) > chance {
			break
		}
	}
	return first
}

// judge is one look.
type judge struct {
	list        []Launch
	inspections int
	// tried is how many values had launches enough to be accused.
	tried int
	// candidates are the values with failures enough, the most suspicious first.
	candidates []*candidate
}

// candidate is a value.
type candidate struct {
	kind  int
	name  string
	drawn []unit
	tally
	p float64
}

// tally counts units with the value and of all.
type tally struct{ failed, units, allFailed, all int }

func (t tally) stratum() exact.Stratum {
	return exact.Stratum{Launches: t.all, Failed: t.allFailed, Drawn: t.units}
}

// unit is the launches of one value in a quarter of an hour, of which one is drawn.
type unit struct {
	at     time.Time
	draw   uint64
	failed bool
}

// units draws one launch of each quarter of an hour, which begins with its first
// launch: by value, in time.
func units(list []Launch, kind int, in func(*Launch) bool) map[string][]unit {
	of := map[string][]unit{}
	for i := range list {
		l := &list[i]
		name := l.Of[kind]
		if name == "" || in != nil && !in(l) {
			continue
		}
		have, draw := of[name], drawOf(l.ID)
		if n := len(have); n > 0 && l.Started.Sub(have[n-1].at) < together {
			if draw < have[n-1].draw {
				have[n-1].draw, have[n-1].failed = draw, l.Failed
			}
			continue
		}
		of[name] = append(have, unit{at: l.Started, draw: draw, failed: l.Failed})
	}
	return of
}

// drawOf is the FNV-1a hash of an id.
func drawOf(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}

func failedOf(list []unit) (n int) {
	for _, u := range list {
		if u.failed {
			n++
		}
	}
	return n
}

// count finds the suspects.
func (j *judge) count() {
	for kind := range kinds {
		of := units(j.list, kind, nil)
		all, allFailed := 0, 0
		for _, list := range of {
			all, allFailed = all+len(list), allFailed+failedOf(list)
		}
		for name, list := range of {
			if len(list) < fewestFailed || all-len(list) < fewestOthers {
				continue
			}
			j.tried++
			s := &candidate{kind: kind, name: name, drawn: list, tally: tally{failed: failedOf(list), units: len(list), allFailed: allFailed, all: all}}
			if s.failed >= fewestFailed {
				s.p = exact.Tail([]exact.Stratum{s.stratum()}, s.failed)
				j.candidates = append(j.candidates, s)
			}
		}
	}
	slices.SortFunc(j.candidates, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
}

// reason is why a value is named, or is not.
func (j *judge) reason(s *candidate) Reason {
	share := float64(s.failed) / float64(s.units)
	rest := float64(s.allFailed-s.failed) / float64(s.all-s.units)
	switch {
	case s.p*float64(j.tried)*float64(j.inspections) > chance, share-rest < leastShare:
		return ByChance
	case 2*failedOf(s.drawn[max(0, len(s.drawn)-lately):]) < lately:
		return WorksAgain
	case !j.beside(s):
		return OfItsHour
	case !j.before(s):
		return OfAnother
	}
	return Named
}

// verdict counts the launches themselves, as people do.
func (j *judge) verdict(s *candidate, reason Reason) Verdict {
	v := Verdict{
		Reason: reason, Shared: []Value{{Kinds()[s.kind], s.name}}, Witnesses: s.failed,
		P: min(1, s.p*float64(j.tried)*float64(j.inspections)), Tried: j.tried, Looks: j.inspections,
	}
	for _, other := range j.candidates {
		// A type that alone stands for its family says the same twice.
		if other != s && j.same(s, other) {
			v.Shared = append(v.Shared, Value{Kinds()[other.kind], other.name})
		}
	}
	least := within
	for _, other := range j.rivals(s) {
		if reason != Named {
			break
		}
		if j.given(s, other) > beyond {
			v.Near = append(v.Near, Value{Kinds()[other.kind], other.name})
		} else if p := j.given(other, s); p <= least {
			least, v.Among = p, Value{Kinds()[other.kind], other.name}
		}
	}
	for i := range j.list {
		l := &j.list[i]
		if v.Among.Kind == "" || l.Of[s.kind] != s.name || l.Of[index(v.Among.Kind)] != v.Among.Name {
			continue
		}
		if v.AmongLaunches++; l.Failed {
			v.AmongFailed++
		}
	}
	slices.SortFunc(v.Shared, func(a, b Value) int { return cmp.Compare(index(a.Kind), index(b.Kind)) })
	if slices.ContainsFunc(v.Shared, func(o Value) bool { return o.Kind == Type }) {
		v.Shared = slices.DeleteFunc(v.Shared, func(o Value) bool { return o.Kind == Family })
	}
	for i := range j.list {
		l := &j.list[i]
		switch name := l.Of[s.kind]; {
		case name == "":
		case name != s.name:
			if v.Others++; l.Failed {
				v.OtherFailed++
			}
		default:
			if v.Launches++; l.Failed {
				v.Failed++
				v.IDs = append(v.IDs, l.ID)
				if v.First.IsZero() {
					v.First = l.Started
				}
			}
		}
	}
	return v
}

// Instead is what most launches that joined have in place of a value: for a version
// of a launch template another one of the same. It is empty where none has.
func Instead(list []Launch, v Value) string {
	kind, count := index(v.Kind), map[string]int{}
	template, _, _ := strings.Cut(v.Name, " version ")
	for i := range list {
		name := list[i].Of[kind]
		if other, _, _ := strings.Cut(name, " version "); list[i].Failed || name == "" || name == v.Name || v.Kind == Template && other != template {
			continue
		}
		count[name]++
	}
	best := ""
	for name, n := range count {
		if n > count[best] || n == count[best] && name < best {
			best = name
		}
	}
	return best
}

// rivals are the other values with which launches fail, but for those of the very
// same launches.
func (j *judge) rivals(s *candidate) []*candidate {
	return slices.DeleteFunc(slices.Clone(j.candidates), func(other *candidate) bool {
		return other == s || other.p > beyond || j.same(s, other)
	})
}

// beside reports whether a value fails beside others of the same hours, or through so
// many hours that no cause of an hour is like it.
func (j *judge) beside(s *candidate) bool {
	hours := map[int64]*tally{}
	for name, list := range units(j.list, s.kind, nil) {
		for _, u := range list {
			h := u.at.Unix() / 3600
			t := hours[h]
			if t == nil {
				t = &tally{}
				hours[h] = t
			}
			t.all++
			if u.failed {
				t.allFailed++
			}
			if name == s.name {
				if t.units++; u.failed {
					t.failed++
				}
			}
		}
	}
	var strata []exact.Stratum
	failed, in, others, otherFailed := 0, 0, 0, 0
	for _, h := range sorted(hours) {
		t := hours[h]
		if t.units == 0 {
			continue
		}
		strata, failed = append(strata, t.stratum()), failed+t.failed
		if t.failed > 0 {
			in++
			others, otherFailed = others+t.all-t.units, otherFailed+t.allFailed-t.failed
		}
	}
	if others <= alone {
		return otherFailed == 0 && in >= longest
	}
	return exact.Tail(strata, failed) <= beyond
}

func sorted(of map[int64]*tally) []int64 {
	list := make([]int64, 0, len(of))
	for h := range of {
		list = append(list, h)
	}
	slices.Sort(list)
	return list
}

// before reports whether no other value explains the failures better: among the launches
// with it, and among those without, they go with this one, and not less than with
// that one among those with and without this.
func (j *judge) before(s *candidate) bool {
	return !slices.ContainsFunc(j.rivals(s), func(other *candidate) bool { return j.given(s, other) > j.given(other, s) })
}

// given is the chance of the failures with a value if another is to blame: Fisher's
// test within the launches with the other, and within those without.
func (j *judge) given(s, other *candidate) float64 {
	var strata []exact.Stratum
	failed := 0
	for _, with := range []bool{true, false} {
		var t tally
		for name, list := range units(j.list, s.kind, func(l *Launch) bool { return (l.Of[other.kind] == other.name) == with }) {
			n := failedOf(list)
			t.all, t.allFailed = t.all+len(list), t.allFailed+n
			if name == s.name {
				t.units, t.failed = len(list), n
			}
		}
		strata, failed = append(strata, t.stratum()), failed+t.failed
	}
	return exact.Tail(strata, failed)
}

// same reports whether two values are those of the very same launches, as far as both
// are known; one that is not known of those that failed is not the same.
func (j *judge) same(a, b *candidate) bool {
	for i := range j.list {
		l := &j.list[i]
		x, y := l.Of[a.kind], l.Of[b.kind]
		if x == "" || y == "" {
			if l.Failed && (x == a.name || y == b.name) {
				return false
			}
			continue
		}
		if (x == a.name) != (y == b.name) {
			return false
		}
	}
	return true
}
