package address

import (
	"cmp"
	"math/bits"
	"net/netip"
	"slices"

	"rollcall/shared/snapshot"
)

const (
	// AWS keeps the first four addresses of every subnet and the last (VPC user
	// guide, "Subnet CIDR blocks").
	keptFirst = 4
	// largest is more than the largest subnet, a /16 (same page). What claims to
	// be larger is no subnet, and is not counted.
	largest = 8
	// nearest is how many blocks a use names that are nearly free.
	nearest = 3
)

// Tally counts how the IPv4 addresses of subnets are used. It keeps a bit for
// each address, and nothing of the interfaces that are added.
//
// What a CIDR reservation keeps (VPC user guide, "Subnet CIDR reservations";
// awslabs/eks-perf-tests#511 and aws-samples/sample-apex-skills#223 on the
// count; amazon-vpc-cni-k8s#2749, a maintainer, on where prefixes come from):
//
//   - EC2 gives no single address by itself out of a reservation of either type,
//     and AvailableIpAddressCount leaves out what a reservation keeps. So it is
//     not Free here either.
//   - Out of an explicit one it gives no prefix by itself: its blocks are not
//     free. Out of one of type prefix it does, first of all, and then out of the
//     rest of the subnet.
//   - Undocumented: whether a block that lies half in a reservation of type
//     prefix can be given out (a /29 or smaller: larger ones are whole blocks).
//     It counts as free: "no free block" is then never said wrongly, and at most
//     one block for each such reservation is counted too much.
//   - Undocumented too: that EC2 sets some of a subnet aside for nodes and gives
//     no prefix there (same maintainer). Those blocks count as free.
//
// In a shared VPC other accounts' interfaces cannot be seen: there are then
// fewer free addresses and blocks than counted, never more.
type Tally struct {
	of  map[string]*counted
	ids []string
}

// counted is one subnet's count.
type counted struct {
	cidr       netip.Prefix
	interfaces int
	// used are the addresses of interfaces and prefixes, aws AWS's own; kept are
	// those in reservations, and barred those where no prefix is given.
	used, aws, kept, barred blocks
}

// NewTally is a count of these subnets, with nothing in them. Subnets without
// an IPv4 range are not counted.
func NewTally(subnets []snapshot.Subnet, reservations []snapshot.Reservation) *Tally {
	t := &Tally{of: make(map[string]*counted, len(subnets))}
	for _, n := range subnets {
		if _, twice := t.of[n.ID]; twice || !n.CIDR.IsValid() || !n.CIDR.Addr().Is4() || n.CIDR.Bits() < largest {
			continue
		}
		t.of[n.ID] = newCounted(n.CIDR.Masked())
		t.ids = append(t.ids, n.ID)
	}
	slices.Sort(t.ids)
	for _, r := range reservations {
		c := t.of[r.Subnet]
		if c == nil {
			continue
		}
		from, to, ok := span(c.cidr, r.CIDR)
		if !ok {
			continue
		}
		c.keep(from, to, r.Explicit)
	}
	return t
}

func newCounted(cidr netip.Prefix) *counted {
	n := size(cidr)
	words := (n + prefix - 1) / prefix
	c := &counted{cidr: cidr, used: make(blocks, words), aws: make(blocks, words)}
	c.aws.set(0, min(keptFirst, n)-1)
	c.aws.set(n-1, n-1)
	return c
}

func (c *counted) keep(from, to int, explicit bool) {
	if c.kept == nil {
		c.kept, c.barred = make(blocks, len(c.used)), make(blocks, len(c.used))
	}
	c.kept.set(from, to)
	if explicit {
		c.barred.set(from, to)
	}
}

// Add counts an interface. What it has outside its subnet's range, or over
// IPv6, is passed over; an address that is there twice counts once.
func (t *Tally) Add(i snapshot.Interface) {
	c := t.of[i.Subnet]
	if c == nil {
		return
	}
	c.interfaces++
	for _, a := range i.PrivateIPs {
		if a.Is4() && c.cidr.Contains(a) {
			n := offset(c.cidr, a)
			c.used.set(n, n)
		}
	}
	for _, p := range i.Prefixes {
		// A range that holds the whole subnet is none that EC2 delegates.
		if from, to, ok := span(c.cidr, p); ok && p.Bits() >= c.cidr.Bits() {
			c.used.set(from, to)
		}
	}
}

// Uses are the counts by now, by subnet.
func (t *Tally) Uses() []snapshot.Use {
	list := make([]snapshot.Use, 0, len(t.ids))
	for _, id := range t.ids {
		list = append(list, t.of[id].use(id))
	}
	return list
}

func (c *counted) use(id string) snapshot.Use {
	u := snapshot.Use{Subnet: id, Interfaces: c.interfaces}
	for i := range c.used {
		// AWS's own are nobody else's, whatever an interface says.
		used := c.used[i] &^ c.aws[i]
		u.Held += bits.OnesCount16(used)
		if c.kept != nil {
			u.Kept += bits.OnesCount16(c.kept[i] &^ c.used[i] &^ c.aws[i])
		}
		if c.whole(i) && used|c.aws[i]|c.bars(i) == 0 {
			u.Blocks++
		}
	}
	u.Free = max(0, size(c.cidr)-c.aws.count()-u.Held-u.Kept)
	if u.Blocks == 0 {
		u.Nearest = c.nearest()
	}
	return u
}

// whole tells that a block lies wholly in the subnet. It does not in one that
// is smaller than a block.
func (c *counted) whole(i int) bool { return (i+1)*prefix <= size(c.cidr) }

func (c *counted) bars(i int) uint16 {
	if c.barred == nil {
		return 0
	}
	return c.barred[i]
}

// nearest are the blocks that would be free with the fewest addresses given
// back. Those that AWS or an explicit reservation keeps never are.
func (c *counted) nearest() []snapshot.Block {
	var could []int
	for i := range c.used {
		if c.whole(i) && c.aws[i]|c.bars(i) == 0 {
			could = append(could, i)
		}
	}
	slices.SortStableFunc(could, func(a, b int) int {
		return cmp.Compare(bits.OnesCount16(c.used[a]), bits.OnesCount16(c.used[b]))
	})
	var list []snapshot.Block
	for _, i := range could[:min(nearest, len(could))] {
		// One that is in use as a whole is a prefix, or as good as one.
		if c.used[i] == 1<<prefix-1 {
			break
		}
		b := snapshot.Block{CIDR: netip.PrefixFrom(at(c.cidr, i*prefix), 28)}
		for n := range prefix {
			if c.used[i]&(1<<n) != 0 {
				b.Used = append(b.Used, at(c.cidr, i*prefix+n))
			}
		}
		list = append(list, b)
	}
	return list
}
