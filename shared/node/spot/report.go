// Package spot tells from the history of a cluster's launches how its Spot
// capacity does: the funnel of each pool beside on-demand, which pools fail
// by more than chance, what bursts asked of their subnets, and which
// explanation of the failures the numbers support or rule out. It is pure.
package spot

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// Input is what Read judges.
type Input struct {
	Cluster string
	From    time.Time
	To      time.Time
	// History is the launches that began in that time, the open ones too.
	History []snapshot.Past
	// Samples are what the subnets had in that time.
	Samples []snapshot.Sample
	Subnets []snapshot.Subnet
	Types   []snapshot.InstanceType
	Groups  []snapshot.Group
	// CNI is what aws-node runs with; nil where it could not be read: the
	// defaults are taken then, and the report says so.
	CNI *snapshot.CNI
	// IPv6 tells that the cluster gives pods IPv6 addresses.
	IPv6 bool
}

// Report is what the history says.
type Report struct {
	Cluster string    `json:"cluster"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	// Spot and OnDemand are all launches of each kind.
	Spot     Funnel `json:"spot"`
	OnDemand Funnel `json:"onDemand"`
	// Pools are by type and zone, Spot first, those that do worst first.
	Pools []Pool `json:"pools"`
	// Bursts are the bursts that asked more of a subnet than it had, the worst
	// first, then the largest that fitted.
	Bursts []Burst `json:"bursts,omitempty"`
	// Explanations are all that were weighed: supported, then open, then ruled out.
	Explanations []Explanation `json:"explanations"`
	// Change is what to change, the most useful first; each a sentence.
	Change []string `json:"change,omitempty"`
	// Assumed says what was not read, and what was taken in its place.
	Assumed []string `json:"assumed,omitempty"`
}

// Funnel counts launches by how they ended. Requested is all of them.
type Funnel struct {
	Requested  int `json:"requested"`
	Refused    int `json:"refused"`
	Launched   int `json:"launched"` // Requested without Refused
	Reclaimed  int `json:"reclaimed"`
	NotJoined  int `json:"notJoined"`
	Joined     int `json:"joined"`
	Lost       int `json:"lost"` // of Joined, taken back or failed within an hour; not what somebody or a scale-in ended
	Terminated int `json:"terminated"`
	Unknown    int `json:"unknown"`
	Open       int `json:"open"`
}

// Pool is a Spot capacity pool, or the on-demand launches of the same type and
// zone.
type Pool struct {
	Type       string   `json:"type"` // empty: the launches of which it is not known
	Zone       string   `json:"zone"`
	Spot       bool     `json:"spot"`
	Nodegroups []string `json:"nodegroups"`
	Funnel
	// Low and High bound the share of its launches that join (Clopper-Pearson,
	// 95 %); both 0 and 1 where none is judged.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// P is the chance of doing as badly as this if the pool were like the rest
	// of its nodegroups, after the correction for the number of pools and looks.
	P       float64 `json:"p"`
	Failing bool    `json:"failing"`
	// Judged are the launches that say something about the pool, Failed those of
	// them that failed; Rest and RestFailed are the same of the other Spot pools
	// of its nodegroups. Only Spot pools are judged.
	Judged     int `json:"judged"`
	Failed     int `json:"failed"`
	Rest       int `json:"rest"`
	RestFailed int `json:"restFailed"`
	// Last is when its last launch began, Streak how many launches have joined
	// since one failed.
	Last   time.Time `json:"last"`
	Streak int       `json:"streak"`
	// Causes are why its launches did not join, most frequent first.
	Causes []Cause `json:"causes,omitempty"`
}

// Cause is a check's id, or an end, and how often.
type Cause struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Burst is the launches that began together in one subnet.
type Burst struct {
	Subnet     string    `json:"subnet"`
	Zone       string    `json:"zone"`
	Began      time.Time `json:"began"`
	Last       time.Time `json:"last"` // start of its last launch
	Launches   int       `json:"launches"`
	Nodegroups []string  `json:"nodegroups"`
	// IDs are its launches.
	IDs []string `json:"-"`
	// Terms are the launches by type with what each takes: the arithmetic.
	Terms []Term `json:"terms"`
	// Demand is the sum of the terms, Had what the subnet had before the first.
	Demand int `json:"demand"`
	Had    int `json:"had"`
	// HadKnown is false where nobody looked at the subnet then.
	HadKnown bool `json:"hadKnown"`
	Total    int  `json:"total"`
	// Failed are those of its launches that did not join, or were refused for
	// want of addresses.
	Failed int `json:"failed"`
}

// Exceeds tells that the burst asked more than the subnet had.
func (b Burst) Exceeds() bool { return b.HadKnown && b.Demand > b.Had }

// Term is one type's share of a burst: Count × Interfaces × Addresses. Where a
// node's interfaces hold different numbers (WARM_IP_TARGET), they are counted
// as one interface with all of them.
type Term struct {
	Type       string `json:"type"`
	Count      int    `json:"count"`
	Interfaces int    `json:"interfaces"`
	Addresses  int    `json:"addresses"` // per interface, prefixes counted as 16
	Each       int    `json:"each"`      // what one node takes
}

// Verdict is what the evidence makes of an explanation.
type Verdict string

// The verdicts.
const (
	Supported Verdict = "supported"
	Open      Verdict = "open" // too little to tell
	RuledOut  Verdict = "ruled out"
)

// Explanation is one explanation of the failures, and what the numbers say.
type Explanation struct {
	// Name is short: "Spot took them back", "The subnet was too small for the
	// burst".
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Says is one sentence with the numbers.
	Says string `json:"says"`
	// Short is the same in so few words that it stands beside Name in one line;
	// empty in what was said before there were short forms.
	Short string `json:"short,omitempty"`
	// Of is how many of the failures it explains.
	Of int `json:"of"`
	// Check is the check that stands for it, where there is one.
	Check checkid.ID `json:"check,omitempty"`
}

// Watch tells which pools fail by more than chance. Launches go in by the time
// at which they began; looks and launches may take turns. Read looks once at
// all that it has; a simulation looks every hour. The zero value is ready.
type Watch struct {
	pools           map[Place]int
	groups, subnets map[string]int
	places          []Place
	spells          []spell
}

// spell is a stretch of time with its launches, and what they say.
type spell struct {
	bucket int64
	trials []trial
	units  [comparisons][]unit
	told   int // how many of the trials the units are of
}

// number numbers names.
func number[K comparable](of *map[K]int, name K) int {
	if *of == nil {
		*of = map[K]int{}
	}
	i, known := (*of)[name]
	if !known {
		i = len(*of)
		(*of)[name] = i
	}
	return i
}

// Add takes a Spot launch in, as far as its end says something about its pool.
func (w *Watch) Add(p snapshot.Past) {
	l := labelOf(p)
	if !p.Spot || p.Type == "" || p.Zone == "" || !l.judged && !l.started {
		return
	}
	place := Place{p.Type, p.Zone}
	pool := number(&w.pools, place)
	if pool == len(w.places) {
		w.places = append(w.places, place)
	}
	at := p.Started.Unix()
	if n := len(w.spells); n == 0 || w.spells[n-1].bucket != at/stretch {
		w.spells = append(w.spells, spell{bucket: at / stretch})
	}
	s := &w.spells[len(w.spells)-1]
	s.trials = append(s.trials, trial{
		draw: drawOf(p.ID), at: at, pool: pool, label: l,
		group: number(&w.groups, cmp.Or(p.Nodegroup, p.Group)), place: number(&w.subnets, cmp.Or(p.Subnet, p.Zone)),
	})
}

// drawOf is the FNV-1a hash of an id.
func drawOf(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}

// dropBefore forgets what began before from, and works out what the rest says.
func (w *Watch) dropBefore(from time.Time) {
	gone := 0
	for gone < len(w.spells) && w.spells[gone].bucket < from.Unix()/stretch {
		gone++
	}
	w.spells = w.spells[gone:]
	for i := range w.spells {
		s := &w.spells[i]
		if s.told == len(s.trials) {
			continue
		}
		var before []trial
		if i > 0 && w.spells[i-1].bucket == s.bucket-1 {
			before = w.spells[i-1].trials
		}
		for c := range comparisons {
			s.units[c] = evidence(s.trials, before, c)
		}
		s.told = len(s.trials)
	}
}

// Perhaps tells that a pool may be failing: that the exact test is worth its
// while. The chance that each stretch by itself has as many failures is never
// more than the chance that all together have.
func (w *Watch) Perhaps(from time.Time) bool {
	w.dropBefore(from)
	var sums [comparisons][]float64
	least := math.Log(chance / looks / comparisons)
	for c := range comparisons {
		sums[c] = make([]float64, len(w.places))
		for _, s := range w.spells {
			for _, u := range s.units[c] {
				sums[c][u.pool] += u.least
				if sums[c][u.pool] <= least {
					return true
				}
			}
		}
	}
	return false
}

// count is a number with its noun: "1 launch", "3 launches".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return figure(n) + " " + many
}

// figure writes thousands with commas, as the message does.
func figure(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// span writes a duration as people say it: "70 s", "7 min", "2 min 20 s".
func span(d time.Duration) string {
	seconds := int(d.Round(time.Second) / time.Second)
	switch {
	case seconds < 120:
		return fmt.Sprintf("%d s", seconds)
	case seconds%60 == 0:
		return fmt.Sprintf("%d min", seconds/60)
	}
	return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
}

// upper begins a sentence.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// and joins names for a sentence: "a, b and c".
func and(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}
