package address

import (
	"math"
	"slices"

	"rollcall/shared/snapshot"
)

// Pool is what a NodePool of Karpenter or EKS Auto Mode may still launch.
type Pool struct {
	Name string
	// Subnets are those that it launches into. Which of them a node comes to the pods,
	// the prices and what EC2 has decide: of several none is sure to get any.
	Subnets []string
	// Nodes and CPUs are what its limits leave; nil where it has no such limit.
	Nodes *int
	CPUs  *float64
	// Wanted is how many nodes it has asked for that have no instance yet. Whether its
	// limits count these already is not told.
	Wanted int
	// Idle tells that it has no node and wants none.
	Idle bool
	// Types are those that it may launch, as far as they are known.
	Types []string
	// Auto tells that EKS runs its nodes' network, with settings of its own: only a
	// node's own address is sure.
	Auto bool
}

// sizes are the types of a pool that are known, from that which takes least on.
func (f *fitting) poolSizes(p Pool) []snapshot.InstanceType {
	var list []snapshot.InstanceType
	for _, name := range p.Types {
		if t, known := f.types[name]; known && t.Interfaces > 0 && t.IPv4PerInterface > 0 {
			list = append(list, t)
		}
	}
	f.sortSizes(list)
	return list
}

// more is how many more nodes a pool may have: all that its limits leave, at the least
// as if each was of the largest type. It is not bounded where no limit counts nodes or
// their CPUs: Karpenter then launches as many as pods ask for.
func (p Pool) more(types []snapshot.InstanceType) (n Span, bounded bool) {
	n = Span{math.MaxInt32, math.MaxInt32}
	if p.Nodes != nil {
		n, bounded = Span{max(0, *p.Nodes), max(0, *p.Nodes)}, true
	}
	if p.CPUs == nil {
		return n, bounded
	}
	least, most := 0, 0
	for _, t := range types {
		if t.CPUs > 0 {
			most = max(most, t.CPUs)
			if least == 0 {
				least = t.CPUs
			}
			least = min(least, t.CPUs)
		}
	}
	if most == 0 {
		return Span{0, n.Most}, bounded // how many that is the types would tell
	}
	left := max(0, *p.CPUs)
	return Span{min(n.Least, int(left)/most), min(n.Most, int(left)/least)}, true
}

// atLeastWanted is how many nodes may come: what is asked for, and what a limit leaves.
func (p Pool) atLeastWanted(n Span, bounded bool) Span {
	if !bounded {
		n = Span{}
	}
	return Span{max(n.Least, p.Wanted), max(n.Most, p.Wanted)}
}

// pool adds what a pool may still launch. Only of a single subnet it is sure that its
// nodes come there.
func (f *fitting) pool(p Pool) {
	types := f.poolSizes(p)
	n, bounded := p.more(types)
	n = p.atLeastWanted(n, bounded)
	for _, id := range p.Subnets {
		subnet, known := f.subnet(id)
		if !known || !subnet.CIDR.IsValid() {
			continue
		}
		fit := f.fit(id)
		if !bounded {
			fit.Unbounded = append(fit.Unbounded, p.Name)
		}
		part := shared{nodes: Span{0, n.Most}, idle: p.Idle}
		if len(p.Subnets) == 1 {
			part.nodes.Least, part.wanted = n.Least, p.Wanted
		}
		places, with := f.placed(subnet)
		if p.Auto {
			places, with = Places{}, OwnOnly()
		}
		if len(types) > 0 {
			f.add(snapshot.PoolKey(p.Name), fit, places, part, types, with)
		}
	}
}

// PoolFit is what a pool with several subnets may still launch, against what all of
// them have together.
type PoolFit struct {
	Pool    string
	Subnets []string
	Free    int
	// Nodes is how many more may come, Wanted how many of them are asked for.
	Nodes  Span
	Wanted int
	Idle   bool
	// Small is the type that takes least, Each what one takes at the least as it
	// starts: its first interface.
	Small string
	Each  int
}

// Fits tells that what the pool may launch for sure has addresses. It errs on the side
// of it: others that launch into these subnets are left out.
func (f PoolFit) Fits() bool { return f.Nodes.Least*f.Each <= f.Free }

// Imminent tells that this is no matter of a far limit: what is asked for does not fit,
// or there is room for less than two nodes of a pool in use. A node that is asked for
// may have its first address already.
func (f PoolFit) Imminent() bool {
	return f.Wanted*f.Each > f.Free+f.Wanted || !f.Idle && f.Nodes.Least > 0 && f.Free < 2*f.Each
}

// FittingPools are the pools with several subnets that have a limit or ask for nodes.
// With custom networking pods take their addresses elsewhere: none is judged then.
func FittingPools(s *snapshot.Snapshot, with Settings, pools []Pool) []PoolFit {
	f := newFitting(s, with)
	var list []PoolFit
	for _, p := range pools {
		types := f.poolSizes(p)
		n, bounded := p.more(types)
		if len(p.Subnets) < 2 || len(types) == 0 || !bounded && p.Wanted == 0 || with.Elsewhere {
			continue
		}
		n = p.atLeastWanted(n, bounded)
		here := with
		if p.Auto {
			here = OwnOnly()
		}
		fit := PoolFit{Pool: p.Name, Nodes: n, Wanted: p.Wanted, Idle: p.Idle, Small: types[0].Name, Each: here.AtStart(types[0]).First}
		for _, id := range p.Subnets {
			subnet, known := f.subnet(id)
			if !known || !subnet.CIDR.IsValid() || slices.Contains(fit.Subnets, id) {
				continue
			}
			fit.Subnets, fit.Free = append(fit.Subnets, id), fit.Free+subnet.Free
		}
		if len(fit.Subnets) == len(p.Subnets) {
			list = append(list, fit)
		}
	}
	return list
}
