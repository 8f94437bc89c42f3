// Package silence decides what is not posted for a while: a cluster that is worked on, a
// fault that is known. What it hides is found and recorded all the same, and is posted
// when the silence ends, if it is still there.
package silence

import (
	"errors"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/spoke"
)

// Format is the version of Silence that this code writes and reads. One of a newer
// version may hide what this code would tell: it is refused, and never taken for none.
const Format = 1

const (
	// Longest is how long a silence may last: what is quiet for longer is forgotten.
	Longest = 30 * 24 * time.Hour
	// Shortest keeps a slip of the finger from being a silence.
	Shortest = 5 * time.Minute
	// UnreasonedFor is how long it may last without a reason.
	UnreasonedFor = 24 * time.Hour
	// LeadTime is how long before it begins a silence may be asked for.
	LeadTime = 30 * 24 * time.Hour
)

// Silence is who asked that what is not told, why, from when and until when.
type Silence struct {
	// ID is what people call it by: it is of one silence in all clusters.
	ID string `json:"id"`
	// Version counts the writes of the record, Format is the version of this type.
	Version int `json:"version"`
	Format  int `json:"format"`

	// Spoke and Cluster are whose incidents are silenced; the zero Spoke is the hub's own.
	Spoke   spoke.ID `json:"spoke,omitzero"`
	Cluster string   `json:"cluster"`
	// Nodegroup, Tag and Check narrow it; empty is every one.
	Nodegroup string     `json:"nodegroup,omitempty"`
	Tag       *Tag       `json:"tag,omitempty"`
	Check     checkid.ID `json:"check,omitempty"`

	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// Weekly narrows it to the same hours of each week; nil is all of the time.
	Weekly *Window `json:"weekly,omitempty"`

	By     Person    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
	// Ended is when a person ended it before its time, EndedBy who.
	Ended   time.Time `json:"ended,omitzero"`
	EndedBy Person    `json:"endedBy,omitzero"`

	// Begun is the line of the channel about it, Over the one that a user ended it.
	Begun Line `json:"begun,omitzero"`
	Over  Line `json:"over,omitzero"`
}

// Tag is a tag of a nodegroup.
type Tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Person is a person in Slack.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// Line is a message that is sent once. Sending is when it was about to be: with no TS an
// earlier attempt may have been cut off after Slack took it.
type Line struct {
	Channel string    `json:"channel,omitempty"`
	TS      string    `json:"ts,omitempty"`
	Sending time.Time `json:"sending,omitzero"`
}

// SpokeCluster is the cluster that it is of.
func (s Silence) SpokeCluster() spoke.Cluster { return spoke.Cluster{ID: s.Spoke, Name: s.Cluster} }

// Standing reports whether it counts, or will: it is not over.
func (s Silence) Standing(now time.Time) bool { return s.Ended.IsZero() && now.Before(s.Until) }

// The reasons for which a silence cannot be.
var (
	ErrCluster  = errors.New("a silence covers one cluster: cluster=NAME")
	ErrShort    = errors.New("a silence lasts at least five minutes")
	ErrLong     = errors.New("a silence lasts at most 30 days")
	ErrReason   = errors.New("a silence longer than a day needs a reason: reason \"why\"")
	ErrBegins   = errors.New("a silence starts within 30 days, not in the past")
	ErrNobody   = errors.New("a silence needs an owner")
	ErrWindow   = errors.New("a weekly window needs a day, and an end that differs from its start")
	ErrNarrowed = errors.New("a silence covers a nodegroup or a tag, not both")
)

// late is how much later than its beginning a silence may be written: it was on its way.
const late = 3 * time.Hour

// Sound is an error where it may not be.
func (s Silence) Sound() error {
	switch lasts := s.Until.Sub(s.From); {
	case s.Cluster == "":
		return ErrCluster
	case s.By.ID == "" || s.ID == "":
		return ErrNobody
	case s.Nodegroup != "" && s.Tag != nil:
		return ErrNarrowed
	case s.Weekly != nil && !s.Weekly.sound():
		return ErrWindow
	case lasts < Shortest:
		return ErrShort
	case lasts > Longest:
		return ErrLong
	case lasts > UnreasonedFor && strings.TrimSpace(s.Reason) == "":
		return ErrReason
	case s.From.Before(s.At.Add(-late)) || s.From.Sub(s.At) > LeadTime:
		return ErrBegins
	}
	return nil
}

// Subject is an incident, as far as silences are about it.
type Subject struct {
	Spoke   spoke.ID
	Cluster string
	Check   checkid.ID
	// Own is set where it is about Rollcall itself: what it cannot see, it cannot tell later.
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

// Judge decides whether a silence hides an incident now. What is about several nodegroups
// is hidden only where all of them are meant: one of them may be another team's.
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

// meant decides whether all of an incident's nodegroups are meant.
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

// Time decides whether a silence counts now.
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

// Ends is when what it hides now is posted at the latest: its own end, or that of this
// week's window.
func (s Silence) Ends(now time.Time) time.Time {
	if s.Weekly != nil {
		if ends, yes := s.Weekly.covers(now); yes && ends.Before(s.Until) {
			return ends
		}
	}
	return s.Until
}

// Hiding is the silence that hides an incident: of several that which hides it longest.
func Hiding(list []Silence, of Subject, now time.Time) (found Silence, hidden bool) {
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

// Window is the same hours of each week, in UTC: clocks that are put forward do not move
// it.
type Window struct {
	Day time.Weekday `json:"day"`
	// From and To are times of the day; To is on the next day where it is not after From.
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
}

const day = 24 * time.Hour

func (w Window) sound() bool {
	in := func(d time.Duration) bool { return d >= 0 && d < day }
	return w.Day >= time.Sunday && w.Day <= time.Saturday && in(w.From) && in(w.To) && w.From != w.To
}

// lasts is how long the window is.
func (w Window) lasts() time.Duration {
	if w.To > w.From {
		return w.To - w.From
	}
	return w.To - w.From + day
}

// last is when the window began last, at or before a time.
func (w Window) last(now time.Time) time.Time {
	now = now.UTC()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	back := (int(now.Weekday()) - int(w.Day) + 7) % 7
	began := midnight.AddDate(0, 0, -back).Add(w.From)
	if began.After(now) {
		began = began.AddDate(0, 0, -7)
	}
	return began
}

// covers reports whether a time is within the window, and when that ends.
func (w Window) covers(now time.Time) (ends time.Time, yes bool) {
	ends = w.last(now).Add(w.lasts())
	return ends, now.Before(ends)
}
