// Package silence decides what is not told for a while: a cluster that is worked on, a
// fault that is known. What it hides is found and recorded all the same, and is told
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
	// Ahead is how long before it begins a silence may be asked for.
	Ahead = 30 * 24 * time.Hour
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

	// Begun is the line of the channel that tells of it, Over the one that somebody ended it.
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

// Of is the cluster that it is of.
func (s Silence) Of() spoke.Cluster { return spoke.Cluster{ID: s.Spoke, Name: s.Cluster} }

// Standing tells that it counts, or will: it is not over.
func (s Silence) Standing(now time.Time) bool { return s.Ended.IsZero() && now.Before(s.Until) }

// The reasons for which a silence cannot be.
var (
	ErrCluster  = errors.New("a silence is of one cluster: cluster=NAME")
	ErrShort    = errors.New("a silence lasts five minutes or more")
	ErrLong     = errors.New("a silence lasts 30 days at most")
	ErrReason   = errors.New("a silence of more than a day needs a reason: reason \"why\"")
	ErrBegins   = errors.New("a silence begins within 30 days, and not in the past")
	ErrNobody   = errors.New("a silence is somebody's")
	ErrWindow   = errors.New("a weekly window has a day, and an end that is not its beginning")
	ErrNarrowed = errors.New("a silence is of a nodegroup or of a tag, not of both")
)

// late is how much later than its beginning a silence may be written: it was on its way.
const late = 3 * time.Hour

// Sound tells whether it may be, and why not.
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
	case s.From.Before(s.At.Add(-late)) || s.From.Sub(s.At) > Ahead:
		return ErrBegins
	}
	return nil
}
