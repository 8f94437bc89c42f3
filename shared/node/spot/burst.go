package spot

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/network/address"

	"rollcall/shared/snapshot"
)

const (
	// apart ends a burst: a node takes its addresses within about a minute of
	// its start, and Auto Scaling starts those of one decision within seconds.
	apart = 5 * time.Minute
	// longest is the most that is taken for one burst.
	longest = 30 * time.Minute
	// fresh is how old a sample may be: subnets are looked at every few minutes.
	fresh = time.Hour
	// atOnce is how soon after its start a launch must have been looked at, for
	// what its subnet had left to be what the launch found. Later the plugin has
	// taken addresses too.
	atOnce = 2 * time.Minute
	// reserved are the addresses of each subnet that AWS keeps (VPC user guide,
	// "Subnet CIDR blocks").
	reserved = 5
)

// Bursts are all bursts of the history, by subnet and time, and what was
// assumed about them. A single launch is a burst of one.
func Bursts(in Input) ([]Burst, []string) {
	b := bursts{settings: settings(in), types: map[string]snapshot.InstanceType{}, subnets: map[string]snapshot.Subnet{}, samples: map[string][]snapshot.Sample{}}
	for _, t := range in.Types {
		b.types[t.Name] = t
	}
	for _, n := range in.Subnets {
		b.subnets[n.ID] = n
	}
	for _, s := range in.Samples {
		b.samples[s.Subnet] = append(b.samples[s.Subnet], s)
	}
	for id := range b.samples {
		slices.SortStableFunc(b.samples[id], func(x, y snapshot.Sample) int { return x.At.Compare(y.At) })
	}
	of := map[string][]*snapshot.Past{}
	var ids []string
	history := byStart(in.History)
	for i := range history {
		p := &history[i]
		if p.Subnet == "" || p.End == snapshot.Refused && p.Cause != checkid.LaunchSubnetFull {
			continue
		}
		if of[p.Subnet] == nil {
			ids = append(ids, p.Subnet)
		}
		of[p.Subnet] = append(of[p.Subnet], p)
	}
	slices.Sort(ids)
	var list []Burst
	for _, id := range ids {
		list = append(list, b.in(of[id])...)
	}
	return list, b.assumed(in)
}

// bursts is what bursts are made with.
type bursts struct {
	settings address.Settings
	types    map[string]snapshot.InstanceType
	subnets  map[string]snapshot.Subnet
	samples  map[string][]snapshot.Sample
	// unknown are types of which nothing is known.
	unknown []string
}

// in cuts the launches of one subnet, oldest first, into bursts.
func (b *bursts) in(list []*snapshot.Past) []Burst {
	var out []Burst
	var before time.Time
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Started.Sub(list[n-1].Started) < apart && list[n].Started.Sub(list[0].Started) <= longest {
			n++
		}
		out = append(out, b.burst(list[:n], before))
		before, list = list[n-1].Started, list[n:]
	}
	return out
}

// burst sums up one burst; before is when the last launch before it began.
func (b *bursts) burst(list []*snapshot.Past, before time.Time) Burst {
	out := Burst{
		Subnet: list[0].Subnet, Zone: cmp.Or(list[0].Zone, b.subnets[list[0].Subnet].Zone),
		Began: list[0].Started, Last: list[len(list)-1].Started, Launches: len(list),
	}
	numbers := map[string]int{}
	for _, p := range list {
		numbers[p.Type]++
		out.IDs = append(out.IDs, p.ID)
		out.Nodegroups = append(out.Nodegroups, cmp.Or(p.Nodegroup, p.Group))
		if failure(*p) {
			out.Failed++
		}
	}
	slices.Sort(out.Nodegroups)
	out.Nodegroups = slices.Compact(out.Nodegroups)
	for name, n := range numbers {
		t := b.term(name, n)
		out.Terms = append(out.Terms, t)
		out.Demand += t.Count * t.Each
	}
	slices.SortFunc(out.Terms, func(x, y Term) int {
		return cmp.Or(cmp.Compare(y.Count*y.Each, x.Count*x.Each), cmp.Compare(x.Type, y.Type))
	})
	b.had(&out, list, before)
	return out
}

// term is what some nodes of a type take. A refused launch often names no
// type: what EC2 had not for it was its own address.
func (b *bursts) term(name string, n int) Term {
	t, known := b.types[name]
	if !known && name != "" && !slices.Contains(b.unknown, name) {
		b.unknown = append(b.unknown, name)
	}
	d := b.settings.AtStart(t)
	term := Term{Type: name, Count: n, Interfaces: 1, Addresses: d.Total(), Each: d.Total()}
	if d.Warm > 0 && d.Warm%d.First == 0 {
		term.Interfaces, term.Addresses = 1+d.Warm/d.First, d.First
	}
	return term
}

// had finds what the subnet had before the burst: the latest sample since the
// launch before it, or what the first launch left, and what the launches had
// taken for themselves by then. The larger of both counts: a sample is as old as
// an hour, and addresses may have come back since; the launch's own look misses
// what the plugin took meanwhile.
func (b *bursts) had(out *Burst, list []*snapshot.Past, before time.Time) {
	if n, known := b.subnets[out.Subnet]; known {
		out.Total = address.Usable(n.CIDR)
	}
	samples := b.samples[out.Subnet]
	for i := len(samples) - 1; i >= 0; i-- {
		s := samples[i]
		if s.At.After(out.Began) {
			continue
		}
		if out.Total = max(out.Total, s.Total); out.Began.Sub(s.At) <= fresh && s.At.After(before) {
			out.Had, out.HadKnown = s.Free, true
		}
		break
	}
	p := list[0]
	if p.FreeAt.IsZero() || p.FreeAt.Before(p.Started) || p.FreeAt.Sub(p.Started) > atOnce {
		return
	}
	left := p.Free
	for _, other := range list {
		if other.End != snapshot.Refused && !other.Started.After(p.FreeAt) {
			left++
		}
	}
	out.Had, out.HadKnown = max(out.Had, left), true
	if out.Total > 0 {
		out.Had = min(out.Had, out.Total)
	}
}

// assumed says what was taken in place of what was not read.
func (b *bursts) assumed(in Input) []string {
	var list []string
	if in.CNI == nil && !in.IPv6 {
		list = append(list, "The settings of aws-node were not read: a node is taken to fill its first interface and to keep a second one in reserve, as it does by default.")
	}
	slices.Sort(b.unknown)
	for _, name := range b.unknown {
		list = append(list, fmt.Sprintf("What %s carries was not read: each is counted with its own address alone.", name))
	}
	return list
}
