package factor

import (
	"slices"

	"rollcall/shared/node/exact"
)

// rivals are the other values with which launches fail, but for those of the very
// same launches.
func (j *judge) rivals(s *suspect) []*suspect {
	return slices.DeleteFunc(slices.Clone(j.suspects), func(other *suspect) bool {
		return other == s || other.p > beyond || j.same(s, other)
	})
}

// beside tells that a value fails beside others of the same hours, or through so
// many hours that no cause of an hour is like it.
func (j *judge) beside(s *suspect) bool {
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

// before tells that no other value explains the failures better: among the launches
// with it, and among those without, they go with this one, and not less than with
// that one among those with and without this.
func (j *judge) before(s *suspect) bool {
	return !slices.ContainsFunc(j.rivals(s), func(other *suspect) bool { return j.given(s, other) > j.given(other, s) })
}

// given is the chance of the failures with a value if another is to blame: Fisher's
// test within the launches with the other, and within those without.
func (j *judge) given(s, other *suspect) float64 {
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

// same tells that two values are those of the very same launches, as far as both
// are known; one that is not known of those that failed is not the same.
func (j *judge) same(a, b *suspect) bool {
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
