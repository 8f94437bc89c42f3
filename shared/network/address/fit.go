package address

import (
	"cmp"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

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
	// Use is how its addresses are used; Counted reports whether that is known.
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
	// Idle reports whether the group wants no node at all now: when it will is not
	// known.
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
	// Pods reports whether the nodes stand in other subnets, and only their pods take
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

// Imminent reports whether this is no matter of a far maximum: what is wanted now
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

// starting is how long after its launch a node may still take its addresses:
// the plugin does within about a minute of its own start.
const starting = 5 * time.Minute

// Fitting are the subnets that the snapshot's groups and the pools may launch into,
// and those that their pods take addresses of, by id.
func Fitting(s *snapshot.Snapshot, with Settings, pools []Pool) []Fit {
	f := newFitting(s, with)
	for _, g := range s.Groups {
		f.group(g)
	}
	for _, p := range pools {
		f.pool(p)
	}
	ids := make([]string, 0, len(f.fits))
	for id := range f.fits {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	list := make([]Fit, len(ids))
	for i, id := range ids {
		list[i] = *f.fits[id]
	}
	return list
}

// fitting is Fitting at work.
type fitting struct {
	s     *snapshot.Snapshot
	with  Settings
	types map[string]snapshot.InstanceType
	// pods is the most pods that a kubelet on a type allows, where one tells.
	pods   map[string]int
	fits   map[string]*Fit
	places map[string]Places
}

func newFitting(s *snapshot.Snapshot, with Settings) *fitting {
	f := &fitting{s: s, with: with, types: map[string]snapshot.InstanceType{}, pods: map[string]int{}, fits: map[string]*Fit{}, places: map[string]Places{}}
	for _, t := range s.InstanceTypes {
		f.types[t.Name] = t
	}
	f.kubelets()
	return f
}

func (f *fitting) kubelets() {
	kinds := map[string]string{}
	for _, i := range f.s.Instances {
		kinds[i.ID] = i.Type
	}
	for _, n := range f.s.Nodes {
		if kind := kinds[n.Instance]; kind != "" {
			f.pods[kind] = max(f.pods[kind], n.MaxPods)
		}
	}
}

func (f *fitting) subnet(id string) (snapshot.Subnet, bool) {
	i := slices.IndexFunc(f.s.Subnets, func(n snapshot.Subnet) bool { return n.ID == id })
	if i < 0 {
		return snapshot.Subnet{}, false
	}
	return f.s.Subnets[i], true
}

func (f *fitting) fit(id string) *Fit {
	if f.fits[id] == nil {
		n, _ := f.subnet(id)
		fit := &Fit{Subnet: n}
		for _, u := range f.s.Uses {
			if u.Subnet == id && f.s.Has(snapshot.Usage) {
				fit.Use, fit.Counted = u, true
			}
		}
		f.fits[id] = fit
	}
	return f.fits[id]
}

// group adds what a group may still launch, and what its nodes that just
// started have still to take.
func (f *fitting) group(g snapshot.Group) {
	sp := spreadOf(g, f.s)
	sizes, gaps := f.sizes(g)
	for _, id := range g.Subnets {
		n, known := f.subnet(id)
		if !known || !n.CIDR.IsValid() {
			continue // another check reports a subnet that is gone; without IPv4 there is nothing to run out of
		}
		fit := f.fit(id)
		p, where := f.placed(n)
		if !sp.stops {
			fit.Gaps = append(fit.Gaps, gaps...)
			if len(sizes) > 0 {
				f.add(g.Name, fit, p, sp.share(n), sizes, where)
			}
		}
		f.owed(g.Name, fit, p, where)
	}
}

// placed is where nodes of a subnet take their addresses, and the settings
// that hold there: with its own subnet shut for pods, a node's first interface
// has none, as with custom networking.
func (f *fitting) placed(n snapshot.Subnet) (Places, Settings) {
	p, done := f.places[n.ID]
	if !done {
		var configs []snapshot.ENIConfig
		if f.s.Has(snapshot.ENIConfigsOf) {
			configs = f.s.ENIConfigs
		}
		p = f.with.PodSubnets(n, f.s.Subnets, configs)
		f.places[n.ID] = p
		if p.Doubt != NoDoubt {
			gap := Gap{Source: snapshot.ENIConfigsOf, Why: string(p.Doubt)}
			for _, id := range append([]string{n.ID}, p.Further...) {
				f.fit(id).Gaps = append(f.fit(id).Gaps, gap)
			}
		}
	}
	with := f.with
	with.Elsewhere = with.Elsewhere || !p.First
	return p, with
}

// add adds a group's nodes of one subnet to it, and to those of their pods.
func (f *fitting) add(group string, fit *Fit, p Places, nodes shared, sizes []snapshot.InstanceType, with Settings) {
	own := Term{Group: group, Nodes: nodes.nodes, Wanted: nodes.wanted, Idle: nodes.idle}
	pods := own
	pods.Pods = true
	for _, t := range sizes {
		startOwn, startPods := split(with.AtStart(t), p)
		fullOwn, fullPods := split(f.full(with, t), p)
		own.widen(t.Name, startOwn, fullOwn)
		pods.widen(t.Name, startPods, fullPods)
	}
	fit.merge(own)
	for _, id := range p.Further {
		if id != fit.Subnet.ID {
			f.fit(id).merge(pods)
		}
	}
}

func (f *fitting) full(with Settings, t snapshot.InstanceType) Demand {
	with.MaxPods = f.pods[t.Name]
	return with.Full(t)
}

// owed adds what nodes that started a moment ago have still to take. Those
// that are Ready have taken it.
func (f *fitting) owed(group string, fit *Fit, p Places, with Settings) {
	for _, i := range f.s.Instances {
		age := f.s.Time.Sub(i.Launched)
		if i.Subnet != fit.Subnet.ID || i.Tags["aws:autoscaling:groupName"] != group || i.Ended() || age >= starting ||
			slices.ContainsFunc(f.s.Nodes, func(n snapshot.Node) bool { return n.Instance == i.ID && n.Joined() }) {
			continue
		}
		t, known := f.types[i.Type]
		if !known {
			continue
		}
		d := with.AtStart(t)
		has := max(0, len(i.Interfaces)-1) * max(1, t.IPv4PerInterface)
		fit.Starting++
		fit.Owed += max(0, d.Total()-d.Own-has)
		if d.Elsewhere > 0 && len(p.Further) == 1 {
			pods := f.fit(p.Further[0])
			pods.Starting++
			pods.Owed += max(0, d.Elsewhere-has)
		}
	}
}

// gone reports whether a group no longer counts an instance, or not yet.
func gone(lifecycle string) bool {
	return strings.HasPrefix(lifecycle, "Terminat") || strings.HasPrefix(lifecycle, "Warmed") || strings.HasPrefix(lifecycle, "Detach")
}

// part is what a node takes of one subnet, Blocks of it in whole blocks.
type part struct {
	addresses Span
	blocks    int
}

// split is what a node takes of its own subnet, and of one of those of its
// pods. What may land in one of several counts as nothing at least.
func split(d Demand, p Places) (own, pods part) {
	own = part{Span{d.Total(), d.Total()}, d.Blocks}
	switch {
	case d.Elsewhere > 0:
		own.blocks = 0
		pods = part{Span{d.Elsewhere, d.Elsewhere}, d.Blocks}
		if len(p.Further) > 1 {
			pods.addresses.Least, pods.blocks = 0, 0
		}
	case len(p.Further) > 1:
		own.addresses.Least, own.blocks = d.First, min(d.Blocks, (d.First-1)/prefix)
		pods.addresses.Most = d.Warm
	}
	return own, pods
}

// widen takes one more type into a term. Types come by what they take.
func (t *Term) widen(name string, start, full part) {
	if t.Small == "" {
		t.Small, t.Start, t.Full, t.Blocks = name, start.addresses, full.addresses, start.blocks
	}
	t.Large = name
	t.Start = Span{min(t.Start.Least, start.addresses.Least), max(t.Start.Most, start.addresses.Most)}
	t.Full = Span{min(t.Full.Least, full.addresses.Least), max(t.Full.Most, full.addresses.Most)}
	t.Blocks = min(t.Blocks, start.blocks)
}

// merge adds a term; nodes of several subnets whose pods share one are one.
func (f *Fit) merge(t Term) {
	if t.Nodes.Most == 0 || t.Start.Most == 0 && t.Full.Most == 0 {
		return
	}
	for i := range f.Terms {
		if have := &f.Terms[i]; have.Group == t.Group && have.Pods == t.Pods {
			have.Nodes.Least += t.Nodes.Least
			have.Nodes.Most = max(have.Nodes.Most, t.Nodes.Most)
			have.Wanted += t.Wanted
			return
		}
	}
	f.Terms = append(f.Terms, t)
}

// sizes are the types that a group launches, from that which takes least to
// that which takes most; the gaps are what is not known of them.
func (f *fitting) sizes(g snapshot.Group) ([]snapshot.InstanceType, []Gap) {
	names, gap := f.names(g)
	if gap != nil {
		return nil, []Gap{*gap}
	}
	var list []snapshot.InstanceType
	var gaps []Gap
	for _, name := range names {
		t, known := f.types[name]
		if !known || t.Interfaces == 0 || t.IPv4PerInterface == 0 {
			gaps = append(gaps, Gap{Source: snapshot.InstanceTypes, Key: name, Why: fmt.Sprintf("what %s carries is not known", name)})
			continue
		}
		list = append(list, t)
	}
	f.sortSizes(list)
	return list, gaps
}

// sortSizes sorts types by what they take.
func (f *fitting) sortSizes(list []snapshot.InstanceType) {
	slices.SortFunc(list, func(a, b snapshot.InstanceType) int {
		x, y := f.with.AtStart(a), f.with.AtStart(b)
		return cmp.Or(cmp.Compare(x.Total()+x.Elsewhere, y.Total()+y.Elsewhere), cmp.Compare(a.Name, b.Name))
	})
}

// names are the types that a group launches: its overrides, else its
// nodegroup's, else its launch template's, else what it runs.
func (f *fitting) names(g snapshot.Group) ([]string, *Gap) {
	names := slices.Clone(g.Types)
	if len(names) == 0 {
		for _, n := range f.s.Nodegroups {
			if slices.Contains(n.Groups, g.Name) {
				names = append(names, n.Types...)
			}
		}
	}
	if len(names) == 0 {
		for _, t := range f.s.LaunchTemplates {
			if t.ID != "" && t.ID == g.Template.ID && t.Version == g.Template.Version && t.Type != "" {
				names = append(names, t.Type)
			}
		}
	}
	if len(names) == 0 {
		for _, i := range f.s.Instances {
			if i.Tags["aws:autoscaling:groupName"] == g.Name && !i.Ended() && i.Type != "" {
				names = append(names, i.Type)
			}
		}
	}
	if len(names) == 0 {
		return nil, &Gap{Source: snapshot.LaunchTemplates, Key: g.Template.ID, Why: fmt.Sprintf("which instance types %s launches is not known", g.Name)}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

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
		// AWS's own are no user's, whatever an interface says.
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

// whole reports whether a block lies wholly in the subnet. It does not in one that
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
