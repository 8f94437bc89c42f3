package silence

import (
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/spoke"
)

// Subject is an incident, as far as silences are about it.
type Subject struct {
	Spoke   spoke.ID
	Cluster string
	Check   checkid.ID
	// Own tells that it is about Rollcall itself: what it cannot see, it cannot tell later.
	Own bool
	// Nodegroups are all that it is about.
	Nodegroups []string
	// Tags are theirs, as far as they are known.
	Tags map[string]map[string]string
}

// Verdict is whether a silence hides an incident, and why not.
type Verdict string

// The verdicts.
const (
	Hides          Verdict = "hides"
	OwnTrouble     Verdict = "own-trouble"   // about Rollcall itself: never silenced
	OtherAccount   Verdict = "other-account" // a cluster of an account or a region of its own, whatever its name
	OtherCluster   Verdict = "other-cluster"
	OtherCheck     Verdict = "other-check"
	OtherNodegroup Verdict = "other-nodegroup" // it is also about another one
	NoNodegroup    Verdict = "no-nodegroup"    // it is about no nodegroup that is known
	OtherTag       Verdict = "other-tag"       // one of its nodegroups does not have the tag
	NotBegun       Verdict = "not-begun"
	OutsideWindow  Verdict = "outside-window"
	RanOut         Verdict = "ran-out"
	EndedEarly     Verdict = "ended" // a person ended it
)

// Judge tells whether a silence hides an incident now. What is about several nodegroups
// is hidden only where all of them are meant: one of them may be somebody else's.
func (s Silence) Judge(of Subject, now time.Time) Verdict {
	switch {
	case of.Own:
		return OwnTrouble
	case s.Spoke != of.Spoke:
		return OtherAccount
	case s.Cluster != of.Cluster:
		return OtherCluster
	case s.Check != "" && s.Check != of.Check:
		return OtherCheck
	}
	if v := s.meant(of); v != Hides {
		return v
	}
	return s.Time(now)
}

// meant tells whether all of an incident's nodegroups are meant.
func (s Silence) meant(of Subject) Verdict {
	if s.Nodegroup == "" && s.Tag == nil {
		return Hides
	}
	if len(of.Nodegroups) == 0 {
		return NoNodegroup
	}
	for _, name := range of.Nodegroups {
		if s.Nodegroup != "" && name != s.Nodegroup {
			return OtherNodegroup
		}
		if s.Tag == nil {
			continue
		}
		if value, has := of.Tags[name][s.Tag.Key]; !has || value != s.Tag.Value {
			return OtherTag
		}
	}
	return Hides
}

// Time tells whether a silence counts now.
func (s Silence) Time(now time.Time) Verdict {
	switch {
	case !s.Ended.IsZero():
		return EndedEarly
	case !now.Before(s.Until):
		return RanOut
	case now.Before(s.From):
		return NotBegun
	}
	if s.Weekly != nil {
		if _, yes := s.Weekly.covers(now); !yes {
			return OutsideWindow
		}
	}
	return Hides
}

// Ends is when what it hides now is told at the latest: its own end, or that of this
// week's window.
func (s Silence) Ends(now time.Time) time.Time {
	if s.Weekly != nil {
		if ends, yes := s.Weekly.covers(now); yes && ends.Before(s.Until) {
			return ends
		}
	}
	return s.Until
}

// Of is the silence that hides an incident: of several that which hides it longest.
func Of(list []Silence, of Subject, now time.Time) (found Silence, hidden bool) {
	for _, s := range list {
		if s.Judge(of, now) != Hides {
			continue
		}
		if !hidden || s.Ends(now).After(found.Ends(now)) {
			found, hidden = s, true
		}
	}
	return found, hidden
}

// TagKeys are the keys of the tags that silences ask for.
func TagKeys(list []Silence) []string {
	var keys []string
	for _, s := range list {
		if s.Tag != nil {
			keys = append(keys, s.Tag.Key)
		}
	}
	return keys
}
