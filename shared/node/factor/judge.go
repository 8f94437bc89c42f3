package factor

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"rollcall/shared/node/exact"
)

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
	j := judge{list: list, looks: int(math.Ceil(float64(len(list)) * float64(watched) / float64(Window)))}
	j.count()
	if s := j.clear(); s != nil {
		return j.verdict(s, Named)
	}
	if len(j.suspects) == 0 {
		return Verdict{Reason: TooFew, P: 1, Looks: j.looks}
	}
	first := Verdict{}
	for i, s := range j.suspects {
		reason := j.reason(s)
		if i == 0 || reason == Named {
			first = j.verdict(s, reason)
		}
		if reason == Named || i > 0 && s.p*float64(j.tried*j.looks) > chance {
			break
		}
	}
	return first
}

// judge is one look.
type judge struct {
	list  []Launch
	looks int
	// tried is how many values had launches enough to be accused.
	tried int
	// suspects are the values with failures enough, the most suspicious first.
	suspects []*suspect
}

// suspect is a value.
type suspect struct {
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
			s := &suspect{kind: kind, name: name, drawn: list, tally: tally{failed: failedOf(list), units: len(list), allFailed: allFailed, all: all}}
			if s.failed >= fewestFailed {
				s.p = exact.Tail([]exact.Stratum{s.stratum()}, s.failed)
				j.suspects = append(j.suspects, s)
			}
		}
	}
	slices.SortFunc(j.suspects, func(a, b *suspect) int {
		return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
}

// reason is why a value is named, or is not.
func (j *judge) reason(s *suspect) Reason {
	share := float64(s.failed) / float64(s.units)
	rest := float64(s.allFailed-s.failed) / float64(s.all-s.units)
	switch {
	case s.p*float64(j.tried)*float64(j.looks) > chance, share-rest < leastShare:
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
func (j *judge) verdict(s *suspect, reason Reason) Verdict {
	v := Verdict{
		Reason: reason, Shared: []Value{{Kinds()[s.kind], s.name}}, Witnesses: s.failed,
		P: min(1, s.p*float64(j.tried)*float64(j.looks)), Tried: j.tried, Looks: j.looks,
	}
	for _, other := range j.suspects {
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
