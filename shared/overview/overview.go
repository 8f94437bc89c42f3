// Package overview is what a user gets who asks how things stand: which clusters are
// watched and when they were last looked at, what is open, muted and silenced. It decides
// from what was read; what could not be read stands beside it, and is never taken for
// nothing.
package overview

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
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

// forgotten is from when on a cluster without sweeps is left out of the answer to
// how things stand: one that was late yesterday is in it, one that was taken out of the settings
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

// StateOf returns whether a cluster is looked at.
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

// Silence is a silence, and its spoke.
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

// New is the overview of what was read.
func New(parts []Part, now time.Time) Overview {
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

const (
	day = 24 * time.Hour
	// turnDays is for how many UTC days turns are counted: a week that is reported at most
	// six days late, and the days since.
	turnDays = 15
	// mostGaps keeps a record in a write unit or two (1 KB each, DynamoDB developer guide,
	// "Read/write capacity mode"): the longest are kept.
	mostGaps = 12
)

// Turns is how a cluster was looked at lately: the proof that a quiet week was one.
type Turns struct {
	// Since is when the first look was noted; zero in records of earlier releases.
	Since time.Time `json:"since,omitzero"`
	// First is the UTC day of the first of the counts, which are of one day after the other.
	First time.Time `json:"first,omitzero"`
	// Made are all looks, Failed those in which a detector's look failed, Silent those in
	// which the cluster's Kubernetes API did not answer.
	Made   []int `json:"made,omitempty"`
	Failed []int `json:"failed,omitempty"`
	Silent []int `json:"silent,omitempty"`
	// Gaps are the times between two looks that are longer than Late, in order.
	Gaps []Gap `json:"gaps,omitempty"`
}

// Gap is a time without a look.
type Gap struct {
	From time.Time `json:"f"`
	To   time.Time `json:"t"`
}

// Lasts is how long it was.
func (g Gap) Lasts() time.Duration { return g.To.Sub(g.From) }

// Subnet is a subnet and how long its addresses last.
type Subnet struct {
	ID    string `json:"id"`
	Zone  string `json:"zone,omitempty"`
	Free  int    `json:"free"`
	Total int    `json:"total,omitempty"`
	// Empty is when it runs out at the pace of late; zero where nothing falls.
	Empty time.Time `json:"empty,omitzero"`
	At    time.Time `json:"at"`
}

// Sooner tells which of two subnets is the one to look at: the one that runs out first,
// else the one with the fewest free addresses.
func (s Subnet) Sooner(than Subnet) bool {
	switch {
	case s.Empty.IsZero() != than.Empty.IsZero():
		return !s.Empty.IsZero()
	case !s.Empty.Equal(than.Empty):
		return s.Empty.Before(than.Empty)
	case s.Free != than.Free:
		return s.Free < than.Free
	}
	return s.ID < than.ID
}

// ClusterSweep is one look at a cluster.
type ClusterSweep struct {
	At     time.Time
	Failed []string
	Silent bool
	// Soonest is the subnet of the cluster that runs out first; nil where that was not seen.
	Soonest *Subnet
}

// After is the record of a cluster after one more look. A look that is reported twice, or
// after a later one, is counted and makes no gap.
func (s Sweep) After(t ClusterSweep) Sweep {
	at := t.At.UTC().Truncate(time.Second)
	if !s.KnowsRelays {
		if s.answered() {
			s.RelayUntil = at.Add(relayGrace)
		}
		s.KnowsRelays = true
	}
	turns := s.Turns
	turns.Gaps = slices.Clone(turns.Gaps)
	switch {
	case turns.Since.IsZero():
		turns.Since = at
	case at.Sub(s.At) > Late:
		turns.Gaps = append(turns.Gaps, Gap{s.At.UTC(), at})
	}
	turns = turns.forget(at)
	i := turns.dayOf(at)
	turns.Made = count(turns.Made, i, true)
	turns.Failed = count(turns.Failed, i, len(t.Failed) > 0)
	turns.Silent = count(turns.Silent, i, t.Silent)
	s.Turns = turns
	if !at.Before(s.At) {
		s.At, s.Failed = at, t.Failed
	}
	if t.Soonest != nil {
		s.Soonest = t.Soonest
	}
	return s
}

// forget drops the days and the gaps that are too old, and of too many gaps the shortest.
func (t Turns) forget(at time.Time) Turns {
	oldest := at.Truncate(day).AddDate(0, 0, 1-turnDays)
	if t.First.IsZero() || t.First.Before(oldest) {
		n := len(t.Made)
		if !t.First.IsZero() {
			n = int(oldest.Sub(t.First) / day)
		}
		first := oldest
		if t.First.IsZero() {
			first = at.Truncate(day)
		}
		t.Made, t.Failed, t.Silent, t.First = from(t.Made, n), from(t.Failed, n), from(t.Silent, n), first
	}
	t.Gaps = slices.DeleteFunc(t.Gaps, func(g Gap) bool { return g.To.Before(oldest) })
	for len(t.Gaps) > mostGaps {
		shortest := 0
		for i, g := range t.Gaps {
			if g.Lasts() < t.Gaps[shortest].Lasts() {
				shortest = i
			}
		}
		t.Gaps = slices.Delete(t.Gaps, shortest, shortest+1)
	}
	return t
}

func from(list []int, n int) []int { return slices.Clone(list[min(max(n, 0), len(list)):]) }

// dayOf is the place of a time's day in the counts, before their beginning the first.
func (t Turns) dayOf(at time.Time) int { return max(int(at.Truncate(day).Sub(t.First)/day), 0) }

// count adds one to a day's number, or nothing.
func count(list []int, i int, yes bool) []int {
	if !yes {
		return list
	}
	for len(list) <= i {
		list = append(list, 0)
	}
	list[i]++
	return list
}

// Between are the looks of the UTC days that begin from one time on and before another.
func (t Turns) Between(from, to time.Time) (made, failed, silent int) {
	sum := func(list []int) (n int) {
		for i, k := range list {
			if d := t.First.AddDate(0, 0, i); !d.Before(from.Truncate(day)) && d.Before(to) {
				n += k
			}
		}
		return n
	}
	return sum(t.Made), sum(t.Failed), sum(t.Silent)
}

// GapsBetween are the times between two without a look at the cluster: those that
// are noted, and the one that still lasts. Before the first look that was noted nothing is
// known, and nothing reported.
func (s Sweep) GapsBetween(from, to time.Time) (list []Gap) {
	if s.Turns.Since.IsZero() {
		return nil
	}
	if s.Turns.Since.After(from) {
		from = s.Turns.Since
	}
	gaps := slices.Clone(s.Turns.Gaps)
	if to.Sub(s.At) > Late {
		gaps = append(gaps, Gap{s.At, to})
	}
	for _, g := range gaps {
		if g.From.Before(from) {
			g.From = from
		}
		if g.To.After(to) {
			g.To = to
		}
		if g.Lasts() > 0 {
			list = append(list, g)
		}
	}
	return list
}

// Why is what is stored of an instance.
type Why struct {
	Instance string
	Now      time.Time
	// Found are the launches of that id, by account and region: one, or none.
	Found []Found
	// Unread is what could not be read, for people.
	Unread []string
	Site   string
}

// Found is a launch that is known, and the incidents that it is in.
type Found struct {
	Cluster Cluster
	// Region is that of its cluster, where it is known.
	Region string
	// Nodegroup is its managed nodegroup, or its Auto Scaling group.
	Nodegroup, Type, Zone, Subnet string
	Started, Registered, Ready    time.Time
	Due                           time.Time
	Ended                         time.Time
	End                           snapshot.End
	Cause                         checkid.ID
	Says                          string
	// Incidents are those that name it, the open ones first.
	Incidents []incident.Incident
}

// Naming are the incidents that name an instance, the open ones first.
func Naming(list []incident.Incident, instance string) []incident.Incident {
	var open, closed []incident.Incident
	for _, inc := range list {
		switch {
		case inc.Number == 0 || !names(inc, instance):
		case inc.State == incident.Closed:
			closed = append(closed, inc)
		default:
			open = append(open, inc)
		}
	}
	return append(open, closed...)
}

func names(inc incident.Incident, instance string) bool {
	if inc.Key.Resource == instance {
		return true
	}
	for _, l := range inc.Launches {
		if l.Instance == instance {
			return true
		}
	}
	for _, id := range inc.More {
		if id == instance {
			return true
		}
	}
	return false
}

// Joined reports whether it is a Ready node, as far as is known.
func (f Found) Joined() bool { return f.End == snapshot.Joined }
