// Package spotreport is what the history of launches says of Spot capacity, as plain data
// with its words: package spot makes it, messages and the outbox hold it.
package spotreport

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checkid"
)

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
	Lost       int `json:"lost"` // of Joined, taken back or failed within an hour; not what a call or a scale-in ended
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

// Name is how people write a pool: "c5.large in us-west-2b".
func (p Pool) Name() string {
	return cmp.Or(p.Type, "launches of unknown type") + " in " + cmp.Or(p.Zone, "an unknown zone")
}

// Key is how records name it: "c5.large/us-west-2b".
func (p Pool) Key() string { return p.Type + "/" + p.Zone }

// Describe returns how a failing pool does, in words: "c5.large in us-west-2b: 11 of 14
// were taken back before they joined; of the other pools of workers 1 of 60
// launches failed".
func (p Pool) Describe() string {
	own := p.Failed
	var how string
	switch {
	case p.Reclaimed >= own:
		how = fmt.Sprintf("%s of %s were reclaimed before they joined", Figure(own), Figure(p.Judged))
	case p.Reclaimed > 0:
		how = fmt.Sprintf("%s of %s did not join, %s of them were reclaimed", Figure(own), Figure(p.Judged), Figure(p.Reclaimed))
	default:
		how = fmt.Sprintf("%s of %s did not join", Figure(own), Figure(p.Judged))
	}
	return fmt.Sprintf("%s: %s; in the other pools of %s %s of %s failed", p.Name(), how, And(p.Nodegroups), Figure(p.RestFailed), Figure(p.Rest))
}

// Short is the same without the nodegroups: "c5.large in us-west-2b: 11 of 14
// failed, elsewhere 1 of 60".
func (p Pool) Short() string {
	what := "did not join"
	if p.Reclaimed >= p.Failed {
		what = "were reclaimed"
	}
	return fmt.Sprintf("%s: %s of %s %s, elsewhere %s of %s failed", p.Name(), Figure(p.Failed), Figure(p.Judged), what, Figure(p.RestFailed), Figure(p.Rest))
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
	// HadKnown is false where the subnet was not read then.
	HadKnown bool `json:"hadKnown"`
	Total    int  `json:"total"`
	// Failed are those of its launches that did not join, or were refused for
	// want of addresses.
	Failed int `json:"failed"`
}

// Exceeds reports whether the burst asked more than the subnet had.
func (b Burst) Exceeds() bool { return b.HadKnown && b.Demand > b.Had }

// Describe returns the arithmetic in words: "8 launches at once needed 480 addresses (8
// nodes × 2 interfaces × 30 addresses), subnet-0a had 251". Times are for
// whoever can write them in the reader's own zone.
func (b Burst) Describe() string {
	return fmt.Sprintf("%s needed %s (%s), %s had %s", b.together(), Count(b.Demand, "address", "addresses"), b.Sum(), b.Subnet, Figure(b.Had))
}

func (b Burst) together() string {
	if b.Launches == 1 {
		return "1 launch"
	}
	return Figure(b.Launches) + " launches at once"
}

// Short is the arithmetic alone: "8 nodes × 2 interfaces × 30 addresses = 480;
// subnet-0a had 251".
func (b Burst) Short() string {
	return fmt.Sprintf("%s = %s; %s had %s", b.Sum(), Figure(b.Demand), b.Subnet, Figure(b.Had))
}

// Sum is what the nodes take, those that take the same together: "8 nodes × 2
// interfaces × 30 addresses". Of more than three kinds it gives only the number
// of nodes.
func (b Burst) Sum() string {
	const most = 3
	type kind struct{ interfaces, addresses int }
	nodes := map[kind]int{}
	var kinds []kind
	for _, t := range b.Terms {
		k := kind{t.Interfaces, t.Addresses}
		if nodes[k] == 0 {
			kinds = append(kinds, k)
		}
		nodes[k] += t.Count
	}
	if len(kinds) > most {
		return fmt.Sprintf("%s of %d sizes", Count(b.Launches, "node", "nodes"), len(kinds))
	}
	parts := make([]string, len(kinds))
	for i, k := range kinds {
		parts[i] = Count(nodes[k], "node", "nodes")
		if k.interfaces > 1 {
			parts[i] += fmt.Sprintf(" × %d interfaces", k.interfaces)
		}
		parts[i] += " × " + Count(k.addresses, "address", "addresses")
	}
	return strings.Join(parts, " + ")
}

// ByType is the terms of a burst in words, one for each type: "8 m5.4xlarge × 2 interfaces ×
// 30".
func (b Burst) ByType() []string {
	parts := make([]string, len(b.Terms))
	for i, t := range b.Terms {
		name := t.Type
		if name == "" {
			name = "of unknown type"
		}
		parts[i] = fmt.Sprintf("%d %s × %d", t.Count, name, t.Addresses)
		if t.Interfaces > 1 {
			parts[i] = fmt.Sprintf("%d %s × %d interfaces × %d", t.Count, name, t.Interfaces, t.Addresses)
		}
	}
	return parts
}

// Larger is what would have been enough: a block of which the burst leaves a
// quarter free, beside what is in use.
func (b Burst) Larger() string {
	bits := block(b.Demand + max(0, b.Total-b.Had))
	if bits < 16 {
		// The largest block of a subnet (VPC user guide, "Subnet CIDR blocks").
		return fmt.Sprintf("Spread %s over more subnets than %s.", And(b.Nodegroups), b.Subnet)
	}
	return fmt.Sprintf("Give %s a /%d in %s instead of %s.", And(b.Nodegroups), bits, b.Zone, b.Subnet)
}

// reserved are the addresses of each subnet that AWS keeps (VPC user guide,
// "Subnet CIDR blocks").
const reserved = 5

// block is the smallest block of which some addresses take three quarters at
// most.
func block(addresses int) int {
	bits := 28
	for bits > 0 && 3*(1<<(32-bits)-reserved) < 4*addresses {
		bits--
	}
	return bits
}

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

// Count is a number with its noun: "1 launch", "3 launches".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Figure(n) + " " + many
}

// Figure writes thousands with commas, as the message does.
func Figure(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// And joins names for a sentence: "a, b and c".
func And(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}
