package facts

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/network/address"

	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// Leaks are the interfaces that dead nodes left behind, by subnet.
type Leaks struct {
	S       *View
	Ground  leak.Ground
	Subnets map[string]*SubnetLeaks
}

// SubnetLeaks is what is left behind in one subnet.
type SubnetLeaks struct {
	// Own are those that name this cluster, or none; oldest first.
	Own []leak.Verdict
	// Others is how many name another cluster: that one's business.
	Others int
	// Spared are the reasons why further idle ones are not left behind.
	Spared map[leak.Reason]int
}

// newLeaks judges the idle interfaces. An interface is left behind once its
// owner is dead, and the VPC CNI's own grace is over: for what is said the
// setting does not count, only for what is deleted.
func newLeaks(s *View) Leaks {
	l := Leaks{S: s, Subnets: map[string]*SubnetLeaks{}, Ground: leak.Ground{
		Now: s.Time, Account: cmp.Or(s.Account, accountIn(s.Cluster.ARN)), VPC: s.Cluster.VPC,
		Clusters: []string{s.Cluster.Name}, Grace: leak.LeastGrace, Creators: map[string]snapshot.Creator{},
	}}
	for _, c := range s.Creators {
		l.Ground.Creators[c.Instance] = c
	}
	for _, i := range s.Idle {
		if i.VPC != s.Cluster.VPC || leak.Owner(i) == "" {
			continue
		}
		here := l.Subnets[i.Subnet]
		if here == nil {
			here = &SubnetLeaks{Spared: map[leak.Reason]int{}}
			l.Subnets[i.Subnet] = here
		}
		v := leak.Judge(i, l.Ground)
		switch {
		// Its owner is dead; who wants to delete it must know how old it is.
		case !v.Dead() && v.Why != leak.NoDate:
			here.Spared[v.Why]++
		case v.Cluster != "" && v.Cluster != s.Cluster.Name:
			here.Others++
		default:
			here.Own = append(here.Own, v)
		}
	}
	for _, here := range l.Subnets {
		slices.SortFunc(here.Own, func(a, b leak.Verdict) int {
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

// Addresses is how many IPv4 addresses the cluster's own leaks hold.
func (l *SubnetLeaks) Addresses() int {
	n := 0
	for _, v := range l.Own {
		n += len(v.Interface.PrivateIPs)
		for _, p := range v.Interface.Prefixes {
			if p.IsValid() && p.Addr().Is4() {
				n += 1 << (32 - p.Bits())
			}
		}
	}
	return n
}

// Blocks is how many prefixes they hold: each is a whole block that comes back.
func (l *SubnetLeaks) Blocks() int {
	n := 0
	for _, v := range l.Own {
		n += len(slices.DeleteFunc(slices.Clone(v.Interface.Prefixes), func(p netip.Prefix) bool { return !p.IsValid() || !p.Addr().Is4() }))
	}
	return n
}

// Owners are the dead nodes.
func (l *SubnetLeaks) Owners() []string {
	var ids []string
	for _, v := range l.Own {
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
	for id, here := range v.Leaks().Subnets {
		bySubnet[id] = here.Addresses()
	}
	return bySubnet, true
}

// LeakedAddresses is how many addresses of a subnet dead nodes of the cluster
// hold; none where that could not be read.
func LeakedAddresses(s *View, subnet string) int {
	leaked, _ := s.leaked()
	return leaked[subnet]
}

// NextNode is what one more node takes at start out of a subnet, and whose type
// that is: of the scope's instances there, else of all types that were read,
// the one that takes least.
type NextNode struct {
	Kind  string
	Count int
	// Block tells that it takes a whole block too.
	Block bool
	// Sure tells that aws-node's settings were read.
	Sure bool
}

func (l Leaks) Wants(subnet string) NextNode {
	settings := address.Defaults()
	w := NextNode{Count: MostFirst, Sure: l.S.Has(snapshot.AWSNode)}
	if w.Sure {
		settings = address.SettingsOf(l.S.CNI)
	}
	if l.S.Cluster.IPv6 || settings.IPv6 {
		return NextNode{Count: 1, Sure: w.Sure}
	}
	if slices.ContainsFunc(l.S.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Subnet == subnet }) {
		settings.Elsewhere = false // it is there that the pods are
	}
	if !l.S.Has(snapshot.InstanceTypes) {
		return w // more than any type takes
	}
	here := map[string]bool{}
	for _, i := range l.S.Scoped() {
		if i.Subnet == subnet && !i.Ended() {
			here[i.Type] = true
		}
	}
	types := slices.DeleteFunc(slices.Clone(l.S.InstanceTypes), func(t snapshot.InstanceType) bool { return !here[t.Name] })
	if len(types) == 0 {
		types = l.S.InstanceTypes
	}
	for _, t := range types {
		if n := settings.AtStart(t).First; w.Kind == "" || n < w.Count {
			w.Kind, w.Count = t.Name, n
		}
	}
	w.Block = settings.Prefixes && w.Count > 1
	return w
}

// MostFirst is as much as the first interface of any type takes (64 of an
// r8i.96xlarge, amazon-vpc-cni-k8s, pkg/vpc/vpc_ip_resource_limit.go).
const MostFirst = 64

// StrayBranches are the branch interfaces in a subnet whose trunk is gone: each holds one
// address. None where that could not be read.
func StrayBranches(s *View, subnet string) []string {
	var ids []string
	for _, stray := range s.StrayBranches {
		if stray.Subnet == subnet {
			ids = append(ids, stray.ID)
		}
	}
	return ids
}
