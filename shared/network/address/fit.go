package address

import "rollcall/shared/snapshot"

// Span is a number that is not known exactly.
type Span struct{ Least, Most int }

// Fit is what the groups that share a subnet may still launch, each to its
// maximum, against what the subnet has.
//
// A NodePool is in it as far as its limits go, and for sure in its only subnet; one
// without a limit is not. Nor are other clusters' groups, nor weights of a mixed
// instances policy (EKS nodegroups have none).
type Fit struct {
	Subnet snapshot.Subnet
	// Use is how its addresses are used; Counted tells whether that is known.
	Use     snapshot.Use
	Counted bool
	Terms   []Term
	// Starting is how many nodes started a moment ago, and Owed what these have
	// still to take here.
	Starting int
	Owed     int
	// Unbounded are the NodePools without a limit that may launch here: how much they
	// need pods decide.
	Unbounded []string
	// Gaps are what could not be told of it: it may need more.
	Gaps []Gap
}

// Term is one group's part, or a NodePool's.
type Term struct {
	Group string // of a NodePool its snapshot.PoolKey
	// Nodes is how many more nodes of the group take addresses here: its even
	// share at least (Auto Scaling balances zones), all of them at most, when no
	// other zone has capacity.
	Nodes Span
	// Wanted is how many of these the group wants now: its share of desired nodes
	// that do not run yet.
	Wanted int
	// Idle tells that the group wants no node at all now: nobody knows when it
	// will.
	Idle bool
	// Small and Large are the types that take least and most; the same where the
	// group has one.
	Small, Large string
	// Start and Full are what one node takes here as it starts, and when pods
	// fill it.
	Start, Full Span
	// Blocks is how many /28 blocks a node takes here as it starts, which are
	// part of Start.
	Blocks int
	// Pods tells that the nodes stand in other subnets, and only their pods take
	// addresses here.
	Pods bool
}

// Gap is what could not be told, and the source that would tell.
type Gap struct {
	Source snapshot.Source
	// Key is the item of the source that is not there; empty for all of it.
	Key string
	Why string
}

// Start is what all need as they start, in addresses.
func (f Fit) Start() Span {
	return f.sum(func(t Term) Span { return t.Start })
}

// Full is what all need when pods fill every node.
func (f Fit) Full() Span {
	return f.sum(func(t Term) Span { return t.Full })
}

func (f Fit) sum(of func(Term) Span) Span {
	all := Span{f.Owed, f.Owed}
	for _, t := range f.Terms {
		all.Least += t.Nodes.Least * of(t).Least
		all.Most += t.Nodes.Most * of(t).Most
	}
	return all
}

// Nodes is how many nodes may come. A group that has nodes and pods of others
// here counts with its nodes.
func (f Fit) Nodes() Span {
	own := map[string]bool{}
	for _, t := range f.Terms {
		own[t.Group] = own[t.Group] || !t.Pods
	}
	var all Span
	for _, t := range f.Terms {
		if t.Pods == own[t.Group] {
			continue
		}
		all.Least += t.Nodes.Least
		all.Most += t.Nodes.Most
	}
	return all
}

// Blocks is how many /28 blocks the even share needs as it starts.
func (f Fit) Blocks() int {
	n := 0
	for _, t := range f.Terms {
		n += t.Nodes.Least * t.Blocks
	}
	return n
}

// Verdict is whether a subnet has what its groups may need.
type Verdict string

// The verdicts.
const (
	Fits Verdict = "fits"
	// TooFew is that the groups' even shares need more addresses than are free.
	TooFew Verdict = "too few addresses"
	// TooFewBlocks is that there are addresses, and too few aligned /28 blocks.
	TooFewBlocks Verdict = "too few blocks"
	// NotCounted is that nodes take blocks, and the free ones are not counted.
	NotCounted Verdict = "not counted"
)

// Judge compares what the even shares need at start with what is free. It
// errs on the side of Fits: of several types it takes the smallest, and what
// may land in another subnet it leaves out.
func (f Fit) Judge() Verdict { return f.judge(f.Start().Least, f.Blocks()) }

// Imminent tells that this is no matter of a far maximum: what is wanted now
// does not fit, or there is room for less than two nodes of a group in use.
//
// Groups are read before subnets: a node that is wanted may have been launched in
// between, and have its first address.
func (f Fit) Imminent() bool {
	addresses, blocks := f.Owed, 0
	for _, t := range f.Terms {
		f.Subnet.Free += t.Wanted
		addresses += t.Wanted * t.Start.Least
		blocks += t.Wanted * t.Blocks
	}
	if f.judge(addresses, blocks) != Fits {
		return true
	}
	for _, t := range f.Terms {
		if !t.Idle && t.Nodes.Least > 0 && t.Start.Least > 0 && f.judge(f.Owed+2*t.Start.Least, 2*t.Blocks) != Fits {
			return true
		}
	}
	return false
}

func (f Fit) judge(addresses, needs int) Verdict {
	// EC2's count leaves out what a reservation keeps, and prefixes come out of
	// that first: it says nothing of blocks.
	if needs == 0 {
		if addresses > f.Subnet.Free {
			return TooFew
		}
		return Fits
	}
	switch {
	case addresses-needs*prefix > f.Subnet.Free:
		return TooFew
	case !f.Counted:
		return NotCounted
	case addresses > f.Subnet.Free+f.Use.Kept:
		return TooFew
	case needs > f.Use.Blocks:
		return TooFewBlocks
	}
	return Fits
}
