package checks

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/ipam"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// leaks are the interfaces that dead nodes left behind, by subnet.
type leaks struct {
	s       *View
	ground  leak.Ground
	subnets map[string]*leaked
}

// leaked is what is left behind in one subnet.
type leaked struct {
	// own are those that name this cluster, or none; oldest first.
	own []leak.Verdict
	// others is how many name another cluster: that one's business.
	others int
	// spared are the reasons why further idle ones are not left behind.
	spared map[leak.Reason]int
}

// newLeaks judges the idle interfaces. An interface is left behind once its
// owner is dead, and the VPC CNI's own grace is over: for what is said the
// setting does not count, only for what is deleted.
func newLeaks(s *View) leaks {
	l := leaks{s: s, subnets: map[string]*leaked{}, ground: leak.Ground{
		Now: s.Time, Account: cmp.Or(s.Account, accountIn(s.Cluster.ARN)), VPC: s.Cluster.VPC,
		Clusters: []string{s.Cluster.Name}, Grace: leak.LeastGrace, Creators: map[string]snapshot.Creator{},
	}}
	for _, c := range s.Creators {
		l.ground.Creators[c.Instance] = c
	}
	for _, i := range s.Idle {
		if i.VPC != s.Cluster.VPC || leak.Owner(i) == "" {
			continue
		}
		here := l.subnets[i.Subnet]
		if here == nil {
			here = &leaked{spared: map[leak.Reason]int{}}
			l.subnets[i.Subnet] = here
		}
		v := leak.Judge(i, l.ground)
		switch {
		// Its owner is dead; who wants to delete it must know how old it is.
		case !v.Dead() && v.Why != leak.NoDate:
			here.spared[v.Why]++
		case v.Cluster != "" && v.Cluster != s.Cluster.Name:
			here.others++
		default:
			here.own = append(here.own, v)
		}
	}
	for _, here := range l.subnets {
		slices.SortFunc(here.own, func(a, b leak.Verdict) int {
			return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Interface.ID, b.Interface.ID))
		})
	}
	return l
}

func accountIn(arn string) string {
	const field = 4
	if parts := strings.Split(arn, ":"); len(parts) > field {
		return parts[field]
	}
	return ""
}

// addresses is how many IPv4 addresses the cluster's own leaks hold.
func (l *leaked) addresses() int {
	n := 0
	for _, v := range l.own {
		n += len(v.Interface.PrivateIPs)
		for _, p := range v.Interface.Prefixes {
			if p.IsValid() && p.Addr().Is4() {
				n += 1 << (32 - p.Bits())
			}
		}
	}
	return n
}

// blocks is how many prefixes they hold: each is a whole block that comes back.
func (l *leaked) blocks() int {
	n := 0
	for _, v := range l.own {
		n += len(slices.DeleteFunc(slices.Clone(v.Interface.Prefixes), func(p netip.Prefix) bool { return !p.IsValid() || !p.Addr().Is4() }))
	}
	return n
}

// owners are the dead nodes.
func (l *leaked) owners() []string {
	var ids []string
	for _, v := range l.own {
		ids = append(ids, v.Owner)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Leaked is how many addresses dead nodes of the cluster hold, by subnet; false
// where that could not be read.
func Leaked(s *snapshot.Snapshot) (bySubnet map[string]int, known bool) { return NewView(s).leaked() }

func (v *View) leaked() (bySubnet map[string]int, known bool) {
	if !v.Has(snapshot.Unattached) || !v.Has(snapshot.CreatorsOf) {
		return nil, false
	}
	bySubnet = map[string]int{}
	for id, here := range v.Leaks().subnets {
		bySubnet[id] = here.addresses()
	}
	return bySubnet, true
}

// leakedAddresses is how many addresses of a subnet dead nodes of the cluster
// hold; none where that could not be read.
func leakedAddresses(s *View, subnet string) int {
	leaked, _ := s.leaked()
	return leaked[subnet]
}

// nextNode is what one more node takes at start out of a subnet, and whose type
// that is: of the scope's instances there, else of all types that were read,
// the one that takes least.
type nextNode struct {
	kind  string
	count int
	// block tells that it takes a whole block too.
	block bool
	// sure tells that aws-node's settings were read.
	sure bool
}

func (l leaks) wants(subnet string) nextNode {
	settings := ipam.Defaults()
	w := nextNode{count: mostFirst, sure: l.s.Has(snapshot.AWSNode)}
	if w.sure {
		settings = ipam.SettingsOf(l.s.CNI)
	}
	if l.s.Cluster.IPv6 || settings.IPv6 {
		return nextNode{count: 1, sure: w.sure}
	}
	if slices.ContainsFunc(l.s.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Subnet == subnet }) {
		settings.Elsewhere = false // it is there that the pods are
	}
	if !l.s.Has(snapshot.InstanceTypes) {
		return w // more than any type takes
	}
	here := map[string]bool{}
	for _, i := range l.s.Scoped() {
		if i.Subnet == subnet && !i.Ended() {
			here[i.Type] = true
		}
	}
	types := slices.DeleteFunc(slices.Clone(l.s.InstanceTypes), func(t snapshot.InstanceType) bool { return !here[t.Name] })
	if len(types) == 0 {
		types = l.s.InstanceTypes
	}
	for _, t := range types {
		if n := settings.AtStart(t).First; w.kind == "" || n < w.count {
			w.kind, w.count = t.Name, n
		}
	}
	w.block = settings.Prefixes && w.count > 1
	return w
}
