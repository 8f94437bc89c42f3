// Package overview is what somebody sees who asks how things stand: which clusters are
// watched and when they were last looked at, what is open, muted and silenced. It decides
// from what was read; what could not be read stands beside it, and is never taken for
// nothing.
package overview

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/silence"
	"rollcall/shared/spoke"
)

// SweepFormat is the version of Sweep that this code writes and reads.
const SweepFormat = 1

// Sweep is when a cluster was last looked at.
type Sweep struct {
	Cluster string    `json:"cluster"`
	Format  int       `json:"format"`
	At      time.Time `json:"at"`
	// Failed are the detectors whose look failed.
	Failed []string `json:"failed,omitempty"`
	// Turns are the looks of late, Soonest the subnet that runs out of addresses first.
	Turns   Turns   `json:"turns,omitzero"`
	Soonest *Subnet `json:"soonest,omitempty"`
	// KnowsRelays is set by each release that asks no relay but those that the setting
	// relays names. RelayUntil is until when that of a cluster which answered an earlier
	// release is asked all the same.
	KnowsRelays bool      `json:"knowsRelays,omitempty"`
	RelayUntil  time.Time `json:"relayUntil,omitzero"`
}

// relayGrace is how long a relay that was used before the setting relays was there is asked
// without it.
const relayGrace = 30 * 24 * time.Hour

// RelayUsed reports whether the relay of the cluster may be asked although the setting does
// not name it.
func (s Sweep) RelayUsed(now time.Time) bool {
	return !s.KnowsRelays && s.answered() || now.Before(s.RelayUntil)
}

// answered reports whether the cluster answered an earlier release on the last day on
// which it was looked at.
func (s Sweep) answered() bool {
	i := len(s.Turns.Made) - 1
	return i >= 0 && s.Turns.Made[i] > 0 && (i >= len(s.Turns.Silent) || s.Turns.Silent[i] < s.Turns.Made[i])
}

// forgotten is from when on a cluster that nobody looks at is not told any more by who asks
// how things stand: one that was late yesterday is, one that was taken out of the settings
// last week is not. The record itself is kept for the weekly message.
const forgotten = 48 * time.Hour

// Watched are the clusters that were looked at lately.
func Watched(list []Sweep, now time.Time) []Sweep {
	return slices.DeleteFunc(slices.Clone(list), func(s Sweep) bool { return now.Sub(s.At) >= forgotten })
}

// Late is from when on a look is late: two turns were missed.
const Late = 12 * time.Minute

// Cluster is a cluster that is watched.
type Cluster struct {
	spoke.Cluster
	// Whose is the name that people know its account and region by; empty where there is
	// nothing to tell apart.
	Whose string
	// Swept is when it was last looked at; zero where that is not known.
	Swept  time.Time
	Failed []string
	// Open is how many incidents it has that are not closed.
	Open int
}

// State is whether a cluster is looked at.
type State string

// The states.
const (
	InTime  State = "in-time"
	TooLate State = "late"
	Unknown State = "unknown"
	Partly  State = "partly" // a detector's look failed
)

// StateOf tells whether a cluster is looked at.
func (c Cluster) StateOf(now time.Time) State {
	switch {
	case c.Swept.IsZero():
		return Unknown
	case now.Sub(c.Swept) > Late:
		return TooLate
	case len(c.Failed) > 0:
		return Partly
	}
	return InTime
}

// Overview is how things stand in all accounts and regions.
type Overview struct {
	Now      time.Time
	Clusters []Cluster
	// Incidents are those that are not closed.
	Incidents []incident.Incident
	// Silences are those that stand.
	Silences []Silence
	// Unread is what could not be read, for people.
	Unread []string
	// Site is the address of the Slack workspace, "https://acme.slack.com/"; empty for
	// none. Links to messages begin with it.
	Site string
}

// Silence is a silence, and whose it is.
type Silence struct {
	silence.Silence
	Whose string
}

// Part is what was read of one account and region.
type Part struct {
	Spoke     spoke.ID
	Whose     string
	Named     []string // clusters that the settings name
	Sweeps    []Sweep
	Incidents []incident.Incident
	Silences  []silence.Silence
	Unread    []string
}

// Of is the overview of what was read.
func Of(parts []Part, now time.Time) Overview {
	o := Overview{Now: now}
	for _, p := range parts {
		clusters := map[string]*Cluster{}
		of := func(name string) *Cluster {
			if clusters[name] == nil {
				clusters[name] = &Cluster{Cluster: spoke.Cluster{ID: p.Spoke, Name: name}, Whose: p.Whose}
			}
			return clusters[name]
		}
		for _, name := range p.Named {
			of(name)
		}
		for _, s := range Watched(p.Sweeps, now) {
			if c := of(s.Cluster); s.At.After(c.Swept) {
				c.Swept, c.Failed = s.At, s.Failed
			}
		}
		for _, inc := range p.Incidents {
			if inc.State == incident.Closed || inc.Number == 0 {
				continue
			}
			o.Incidents = append(o.Incidents, inc)
			if !inc.Subject().Own || inc.IsBlind() && clusters[inc.Key.Cluster] != nil {
				of(inc.Key.Cluster).Open++
			}
		}
		for _, s := range p.Silences {
			if s.Standing(now) {
				o.Silences = append(o.Silences, Silence{s, p.Whose})
			}
		}
		for _, c := range clusters {
			o.Clusters = append(o.Clusters, *c)
		}
		o.Unread = append(o.Unread, p.Unread...)
	}
	slices.SortFunc(o.Clusters, func(a, b Cluster) int { return strings.Compare(a.String(), b.String()) })
	slices.SortStableFunc(o.Incidents, func(a, b incident.Incident) int {
		if d := rank(a.Severity()) - rank(b.Severity()); d != 0 {
			return d
		}
		return a.Opened.Compare(b.Opened)
	})
	slices.SortStableFunc(o.Silences, func(a, b Silence) int { return a.Until.Compare(b.Until) })
	return o
}

func rank(s incident.Severity) int {
	return slices.Index([]incident.Severity{incident.Critical, incident.Warning, incident.Info}, s)
}

// Counts is how many incidents are open by severity, and how many of them are muted or
// silenced.
type Counts struct{ Critical, Warning, Info, Muted, Silenced int }

// Counts counts what is open.
func (o Overview) Counts() (n Counts) {
	for _, inc := range o.Incidents {
		switch inc.Severity() {
		case incident.Critical:
			n.Critical++
		case incident.Warning:
			n.Warning++
		default:
			n.Info++
		}
		if inc.Muted(o.Now) {
			n.Muted++
		}
		if inc.Silence != nil {
			n.Silenced++
		}
	}
	return n
}

// States counts the clusters by how they are looked at.
func (o Overview) States() map[State]int {
	n := map[State]int{}
	for _, c := range o.Clusters {
		n[c.StateOf(o.Now)]++
	}
	return n
}

// Named is the cluster of a name; false where none is known of it.
func (o Overview) Named(of spoke.Cluster) (Cluster, bool) {
	i := slices.IndexFunc(o.Clusters, func(c Cluster) bool { return c.Cluster == of })
	if i < 0 {
		return Cluster{}, false
	}
	return o.Clusters[i], true
}

// Alike are the clusters of the same name in other accounts and regions.
func (o Overview) Alike(name string) (list []spoke.Cluster) {
	for _, c := range o.Clusters {
		if c.Name == name {
			list = append(list, c.Cluster)
		}
	}
	return list
}
