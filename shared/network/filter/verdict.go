package filter

import (
	"cmp"
	"slices"

	"rollcall/shared/snapshot"
)

// Addresses is how much of the addresses the segment admits. Part leaves out
// lists of single hosts: see hosts.
func (s Segment) Addresses() Extent {
	allowed, denied, unclear := rulingSize(s.Allowed), rulingSize(s.Denied), rulingSize(s.Unclear)
	switch {
	case unclear > 0:
		return Unknown
	case denied == 0 && allowed == 0:
		return Unknown // no addresses were asked about
	case denied == 0:
		return All
	case allowed == 0:
		return None
	case s.hosts():
		return All
	}
	return Part
}

// hosts tells that what is denied is a short list of a much larger range: an
// ACL that shuts out some attackers' addresses says nothing about a service's.
// Fewer addresses than a /16, of at least a thousand times as many.
func (s Segment) hosts() bool {
	denied := rulingSize(s.Denied)
	return denied < 1<<16 && rulingSize(s.Allowed) > 1000*denied
}

func rulingSize(list []Ruling) float64 {
	var sum float64
	for _, r := range list {
		sum += size(r.Ranges)
	}
	return sum
}

// Verdict is the sum of segments.
type Verdict struct {
	// Admits is All, None, Part (some of the ports are shut for everybody) or
	// Unknown (for some addresses only, which may be those in question or not).
	Admits Extent
	// Shut are the ports that are shut for all addresses.
	Shut []Ports
	// By are the entries that shut them, lowest first.
	By []snapshot.ACLEntry
	// Some tells that the answer is Unknown because it differs by address.
	Some bool
}

// Sum adds segments up.
func Sum(segments []Segment) Verdict {
	var v Verdict
	open, unknown := 0, 0
	for _, s := range segments {
		switch s.Addresses() {
		case All:
			open++
		case None:
			if n := len(v.Shut); n > 0 && v.Shut[n-1].To+1 == s.Ports.From {
				v.Shut[n-1].To = s.Ports.To
			} else {
				v.Shut = append(v.Shut, s.Ports)
			}
			for _, d := range s.Denied {
				if !slices.Contains(v.By, d.Entry) {
					v.By = append(v.By, d.Entry)
				}
			}
		case Part:
			v.Some = true
			unknown++
		default:
			unknown++
		}
	}
	slices.SortStableFunc(v.By, func(a, b snapshot.ACLEntry) int { return cmp.Compare(a.Number, b.Number) })
	switch {
	case len(segments) == 0:
		v.Admits = Unknown
	case open == len(segments):
		v.Admits = All
	case len(v.Shut) > 0 && open+unknown == 0:
		v.Admits = None
	case len(v.Shut) > 0:
		v.Admits = Part
	default:
		v.Admits = Unknown
	}
	return v
}
