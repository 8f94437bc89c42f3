// Package address is the arithmetic of addresses: how a subnet's are used, what a
// node takes out of it, what is left, and whether what groups may still launch
// fits in.
package address

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// Demand is how many IPv4 addresses one node takes.
type Demand struct {
	// Own is the primary address of its first interface: without it EC2
	// refuses the launch. It is all that the kubelet needs to register.
	Own int
	// First is the first interface with all its addresses, Own among them.
	// The CNI fills it as it starts; pods get their addresses from it.
	First int
	// Warm is what further interfaces hold: with the default settings a second
	// one, which the CNI attaches for the first pod so that one whole interface
	// is always in reserve. With prefixes it is the next one, likewise.
	Warm int
	// Elsewhere is what custom networking takes out of the pods' subnet, and
	// not out of the node's own.
	Elsewhere int
	// Blocks is how many of those addresses come as whole aligned /28 blocks,
	// 16 each.
	Blocks int
}

// Total is First and Warm, what the node's own subnet gives: 60 for one
// m5.4xlarge.
func (d Demand) Total() int { return d.First + d.Warm }

// AtStart is the demand of one node of a type with the VPC CNI's default
// settings (WARM_ENI_TARGET=1, no prefix delegation, pods in the node's own
// subnet).
func AtStart(t snapshot.InstanceType) Demand { return Defaults().AtStart(t) }

// AtStart is the demand of one node of a type as it starts, and runs its first
// pod. Trunk and branch interfaces (ENABLE_POD_ENI) are not counted.
func (s Settings) AtStart(t snapshot.InstanceType) Demand {
	if s.IPv6 {
		return Demand{Own: 1, First: 1}
	}
	d := s.onDefaultCard(t)
	if !s.Cards {
		return s.place(d)
	}
	// Each further card has a pool of its own, which is as large as the reserve and holds no
	// pod yet (amazon-vpc-cni-k8s pkg/ipamd/ipamd.go, isDatastorePoolTooLow, of each of the
	// data stores; README, ENABLE_MULTI_NIC).
	for _, most := range t.Cards {
		card := t
		card.Interfaces = most
		r := s.rack(card)
		if s.Elsewhere {
			r.interfaces++ // the node's own interface is on the default card
		}
		reserve := s.reserve(r)
		d.Warm, d.Blocks = d.Warm+reserve.Total(), d.Blocks+reserve.Blocks
	}
	return s.place(d)
}

// reserve is what a card without pods holds.
func (s Settings) reserve(r rack) Demand {
	wanted := max(s.WarmAddresses, s.MinimumAddresses)
	switch {
	case r.size == prefix && wanted > 0:
		return r.filled((wanted + prefix - 1) / prefix)
	case r.size == prefix:
		return r.filled(s.WarmPrefixes)
	case wanted > 0:
		return r.filled(wanted)
	}
	return r.whole(s.WarmInterfaces)
}

func (s Settings) onDefaultCard(t snapshot.InstanceType) Demand {
	r := s.rack(t)
	wanted := max(s.WarmAddresses, s.MinimumAddresses)
	switch {
	case r.size == prefix && wanted > 0:
		return r.filled((wanted + prefix - 1) / prefix)
	case r.size == prefix:
		d := r.filled(s.WarmPrefixes)
		// The first pod takes an address of a reserve that is to stay whole.
		next := r.filled(s.WarmPrefixes + 1)
		d.Warm, d.Blocks = next.Total()-d.First, next.Blocks
		return d
	case wanted > 0:
		return r.filled(wanted)
	}
	return r.whole(1 + s.WarmInterfaces)
}

// place puts what pods take where they take it.
func (s Settings) place(pods Demand) Demand {
	if s.Elsewhere {
		return Demand{Own: 1, First: 1, Elsewhere: pods.Total(), Blocks: pods.Blocks}
	}
	return pods
}

// rack is what of a type pods may have: interfaces, the slots that each has
// beside its own address, and how many addresses a slot takes.
type rack struct{ interfaces, slots, size int }

func (s Settings) rack(t snapshot.InstanceType) rack {
	r := rack{interfaces: max(1, t.Interfaces), slots: max(1, t.IPv4PerInterface) - 1, size: 1}
	if s.MaxInterfaces > 0 {
		r.interfaces = min(r.interfaces, s.MaxInterfaces)
	}
	if s.Elsewhere {
		r.interfaces-- // the first one has no pods (amazon-vpc-cni-k8s, README)
	}
	if s.Prefixes && Prefixed(t) {
		r.size = prefix
	}
	return r
}

// Prefixed reports whether a type can have prefixes: only the Nitro hypervisor and
// bare metal can (EC2 user guide, "Prefix delegation"); elsewhere the plugin
// falls back to single addresses.
func Prefixed(t snapshot.InstanceType) bool {
	return t.Hypervisor == "nitro" || t.Hypervisor == "" || t.BareMetal
}

// whole is the demand of some whole interfaces.
func (r rack) whole(interfaces int) Demand {
	n := min(interfaces, r.interfaces)
	if n == 0 {
		return Demand{}
	}
	each := 1 + r.slots*r.size
	d := Demand{Own: 1, First: each, Warm: each * (n - 1)}
	if r.size == prefix {
		d.Blocks = n * r.slots
	}
	return d
}

// filled is the demand of a node that takes a number of slots. Every interface
// has one address of its own beside them.
func (r rack) filled(wanted int) Demand {
	if r.interfaces == 0 {
		return Demand{}
	}
	taken := min(wanted, r.slots)
	d := Demand{Own: 1, First: 1 + taken*r.size}
	for left := r.interfaces - 1; left > 0 && r.slots > 0 && taken < wanted; left-- {
		next := min(wanted-taken, r.slots)
		d.Warm += 1 + next*r.size
		taken += next
	}
	if r.size == prefix {
		d.Blocks = taken
	}
	return d
}

// blocks is a set of a subnet's addresses: one word for each aligned /28, one
// bit for each of its addresses. A /16, the largest subnet, takes 8 KiB.
type blocks []uint16

// set adds the addresses from offset from to offset to, both included.
func (b blocks) set(from, to int) {
	for at := from; at <= to; {
		last := min(to, at|(prefix-1))
		b[at/prefix] |= uint16(1<<(last-at+1)-1) << (at % prefix)
		at = last + 1
	}
}

func (b blocks) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount16(w)
	}
	return n
}

// span is the part of a range that lies in a subnet, as offsets from the
// subnet's first address; not ok where nothing of it does.
func span(subnet, cidr netip.Prefix) (from, to int, ok bool) {
	if !cidr.IsValid() || !cidr.Addr().Is4() || !subnet.Overlaps(cidr) {
		return 0, 0, false
	}
	// Of two ranges that overlap one holds the other.
	if cidr.Bits() <= subnet.Bits() {
		return 0, size(subnet) - 1, true
	}
	from = offset(subnet, cidr.Masked().Addr())
	return from, from + size(cidr) - 1, true
}

// offset is how far an address of a subnet is from its first.
func offset(subnet netip.Prefix, a netip.Addr) int {
	return int(number(a) - number(subnet.Addr()))
}

// at is the address of a subnet with an offset.
func at(subnet netip.Prefix, offset int) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], number(subnet.Addr())+uint32(offset))
	return netip.AddrFrom4(b)
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

// Usable is how many addresses a subnet can give: its block without the five that
// AWS keeps (VPC user guide, "Subnet CIDR blocks"); 0 where it has no IPv4 block.
func Usable(cidr netip.Prefix) int {
	if !cidr.IsValid() || !cidr.Addr().Is4() {
		return 0
	}
	const kept = 5
	return max(size(cidr)-kept, 0)
}

func size(cidr netip.Prefix) int { return 1 << (32 - cidr.Bits()) }

const (
	// fewPods and manyPods are the most pods that EKS advises for a node, with
	// fewer than manyCPUs virtual CPUs and else (EKS user guide, "Choose an
	// optimal Amazon EC2 node instance type"; managed nodegroups set them).
	fewPods  = 110
	manyPods = 250
	manyCPUs = 30
	// hostPods are aws-node and kube-proxy, which have the host's address. The
	// plugin's table of max pods adds them (amazon-vpc-cni-k8s,
	// misc/eni-max-pods.txt).
	hostPods = 2
)

// Pods is the most pods that a node of a type has addresses for, those that
// use the host's address among them.
func (s Settings) Pods(t snapshot.InstanceType) int {
	r := s.rack(t)
	return r.interfaces*r.slots*r.size + hostPods
}

// Full is the demand of one node of a type that pods fill. The plugin takes no
// more once it has an address for each pod that the kubelet allows (ipamd,
// isDatastorePoolTooLow): MaxPods where it is set, else what the type has
// addresses for, and with prefixes what EKS advises. A type whose CPUs are not
// known counts as a small one.
//
// Trunk and branch interfaces (ENABLE_POD_ENI) are not counted, nor further
// network cards.
func (s Settings) Full(t snapshot.InstanceType) Demand {
	if s.IPv6 {
		return Demand{Own: 1, First: 1}
	}
	r := s.rack(t)
	pods := s.MaxPods
	if pods <= 0 && r.size == prefix {
		pods = fewPods
		if t.CPUs >= manyCPUs {
			pods = manyPods
		}
	}
	most := r.interfaces * r.slots
	switch {
	case pods <= 0:
		return s.place(r.whole(r.interfaces))
	case r.size == prefix:
		return s.place(r.filled(min(most, (pods+prefix-1)/prefix)))
	case s.WarmAddresses > 0 || s.MinimumAddresses > 0:
		return s.place(r.filled(min(most, pods)))
	}
	// Without targets for addresses the plugin takes whole interfaces.
	return s.place(r.whole((pods + max(1, r.slots) - 1) / max(1, r.slots)))
}

// The tags of subnets that the plugin's subnet discovery goes by
// (amazon-vpc-cni-k8s, pkg/awsutils, isSubnetValidForENICreation; since 1.22.1
// a value of "0" shuts a subnet out, and tags for clusters shut other clusters
// out).
const (
	discoveryTag   = "kubernetes.io/role/cni"
	discoveryShut  = "0"
	clusterTagHead = "cni.networking.k8s.aws/cluster/"
)

// zoneLabels are the labels of a node with its zone's name.
func zoneLabels() []string {
	return []string{"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"}
}

// Doubt is why it cannot be told where pods take their addresses.
type Doubt string

// The doubts.
const (
	// NoDoubt is that it can be told.
	NoDoubt Doubt = ""
	// NodesChoose is that a label or annotation of each node names its ENIConfig,
	// and the ENIConfigs of the zone lead to several subnets.
	NodesChoose Doubt = "which ENIConfig a node uses, its own label or annotation says"
	// NoConfig is that custom networking is on, and no ENIConfig leads to a
	// subnet that was read in the node's zone.
	NoConfig Doubt = "no ENIConfig leads to a known subnet in the node's zone"
)

// Places is where a node of a subnet takes the addresses of its pods.
type Places struct {
	// First reports whether the node's first interface has pods, out of its own subnet.
	First bool
	// Further are the subnets in which the plugin makes further interfaces: it
	// tries the one with the most free addresses first. In doubt they are those
	// that it may be.
	Further []string
	Doubt   Doubt
}

// PodSubnets tells where a node that starts in a subnet takes the addresses of
// its pods. Subnets are all of the VPC that were read, configs all ENIConfigs.
// That an annotation on a node overrides the label is not seen.
func (s Settings) PodSubnets(node snapshot.Subnet, subnets []snapshot.Subnet, configs []snapshot.ENIConfig) Places {
	switch {
	case s.IPv6:
		return Places{}
	case s.Elsewhere:
		return s.configured(node, subnets, configs)
	case !s.Discovery:
		return Places{First: true, Further: []string{node.ID}}
	}
	own := s.admits(node, true)
	var found []snapshot.Subnet
	if own {
		found = append(found, node)
	}
	for _, n := range subnets {
		if n.ID != node.ID && n.VPC == node.VPC && n.Zone == node.Zone && s.admits(n, false) {
			found = append(found, n)
		}
	}
	slices.SortStableFunc(found, func(a, b snapshot.Subnet) int { return cmp.Compare(b.Free, a.Free) })
	return Places{First: own, Further: subnetIDs(found)}
}

// admits reports whether subnet discovery makes interfaces in a subnet. The node's
// own needs no tag.
func (s Settings) admits(n snapshot.Subnet, own bool) bool {
	value := n.Tags[discoveryTag]
	if !s.ByValue {
		_, tagged := n.Tags[discoveryTag]
		return own || tagged
	}
	if value == "" {
		return own
	}
	if value == discoveryShut {
		return false
	}
	if s.Cluster == "" {
		return true
	}
	foreign := false
	for key := range n.Tags {
		if cluster, is := strings.CutPrefix(key, clusterTagHead); is {
			if cluster == s.Cluster {
				return true
			}
			foreign = true
		}
	}
	return !foreign
}

// configured is where custom networking leads: to the ENIConfig that the node's
// label names, which is its zone's where ENI_CONFIG_LABEL_DEF says so. An
// ENIConfig's subnet must be in the node's zone (amazon-vpc-cni-k8s, README): if
// all of the zone's lead to one subnet, it is that one whichever the node names.
func (s Settings) configured(node snapshot.Subnet, subnets []snapshot.Subnet, configs []snapshot.ENIConfig) Places {
	var found []snapshot.Subnet
	for _, c := range configs {
		i := slices.IndexFunc(subnets, func(n snapshot.Subnet) bool { return n.ID == c.Subnet && n.Zone == node.Zone })
		if i < 0 {
			continue
		}
		if c.Name == node.Zone && slices.Contains(zoneLabels(), s.ConfigLabel) {
			return Places{Further: []string{c.Subnet}}
		}
		if !slices.ContainsFunc(found, func(n snapshot.Subnet) bool { return n.ID == c.Subnet }) {
			found = append(found, subnets[i])
		}
	}
	switch {
	case len(found) == 0, slices.Contains(zoneLabels(), s.ConfigLabel):
		return Places{Further: subnetIDs(found), Doubt: NoConfig}
	case len(found) > 1:
		return Places{Further: subnetIDs(found), Doubt: NodesChoose}
	}
	return Places{Further: subnetIDs(found)}
}

func subnetIDs(list []snapshot.Subnet) []string {
	ids := make([]string, len(list))
	for i, n := range list {
		ids[i] = n.ID
	}
	return ids
}

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
	// Idle reports whether it has no node and wants none.
	Idle bool
	// Types are those that it may launch, as far as they are known.
	Types []string
	// Auto reports whether EKS runs its nodes' network, with settings of its own: only a
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

// Fits reports whether what the pool may launch for sure has addresses. It errs on the side
// of it: others that launch into these subnets are left out.
func (f PoolFit) Fits() bool { return f.Nodes.Least*f.Each <= f.Free }

// Imminent reports whether this is no matter of a far limit: what is asked for does not fit,
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

const (
	slot = 5 * time.Minute // how often subnet-watch looks
	// slots are kept for a day and a half, hours for as long as the longest
	// window and the days before it that it is compared with.
	mostSlots = 36 * 12
	mostHours = 35 * 24
	// What a subnet had stays true until the next reading, but not for longer.
	staysTrue = time.Hour
	// stale is how old the last sample may be.
	stale = 30 * time.Minute
)

// missing is the value of a time without a reading.
const missing = -1

// Series is what a subnet had, as the forecast looks at it: the least of each
// five minutes, of each hour. Samples are added one by one, in the order of
// time; the zero Series has none.
type Series struct {
	last    snapshot.Sample
	count   int
	five    grid
	hours   grid
	windows []window
	// long are the falls over windows that whole hours decide, as of an hour.
	long   []fall
	longAt int64
	// recent are those over the others, in the order of windows.
	recent [32]recent
	// due is the last forecast for which a warning was due, at dueAt.
	due   Runway
	dueAt time.Time
}

// SeriesOf is the series of some samples, those until now.
func SeriesOf(samples []snapshot.Sample, now time.Time) *Series {
	samples = slices.Clone(samples)
	slices.SortStableFunc(samples, func(a, b snapshot.Sample) int { return a.At.Compare(b.At) })
	s := &Series{}
	for _, x := range samples {
		if !x.At.After(now) {
			s.Add(x)
		}
	}
	return s
}

// Add adds a sample; one that is older than the last does not count. A subnet
// that can give another number of addresses than before is another subnet.
func (s *Series) Add(x snapshot.Sample) {
	if x.Free < 0 || s.count > 0 && x.At.Before(s.last.At) {
		return
	}
	if s.count > 0 && x.Total > 0 && s.last.Total > 0 && x.Total != s.last.Total {
		*s = Series{}
	}
	if x.Total == 0 {
		x.Total = s.last.Total
	}
	s.last = x
	s.count++
	s.five.add(x.At.Unix()/int64(slot/time.Second), x.Free, int64(staysTrue/slot), mostSlots)
	s.hours.add(x.At.Unix()/3600, x.Free, int64(staysTrue/time.Hour)+1, mostHours)
}

// grid is the least value of each of equal spans of time.
type grid struct {
	first int64 // index of values[0]
	low   []float64
}

// add notes a value, and fills a gap of a few spans with what was before it.
func (g *grid) add(at int64, value int, gap int64, most int) {
	if len(g.low) == 0 {
		g.first = at
	}
	end := g.first + int64(len(g.low))
	if at-end > int64(most) {
		g.first, g.low, end = at, g.low[:0], at
	}
	fill := float64(missing)
	if at-end <= gap && len(g.low) > 0 {
		fill = g.low[len(g.low)-1]
	}
	for ; end < at; end++ {
		g.low = append(g.low, fill)
	}
	if end == at {
		g.low = append(g.low, float64(value))
	} else if i := at - g.first; i >= 0 && (g.low[i] < 0 || float64(value) < g.low[i]) {
		g.low[i] = float64(value)
	}
	if len(g.low) > 2*most {
		cut := len(g.low) - most
		g.low = append(g.low[:0], g.low[cut:]...)
		g.first += int64(cut)
	}
}

// value is the value of a span, missing where there is no reading.
func (g *grid) value(i int64) float64 {
	if i -= g.first; i >= 0 && i < int64(len(g.low)) {
		return g.low[i]
	}
	return missing
}

func (g *grid) end() int64 { return g.first + int64(len(g.low)) }

// before is how many spans there are before an index.
func (g *grid) before(i int64) int64 { return max(i-g.first, 0) }

// recent is a fall over a window of five minutes' steps, as of an end.
type recent struct {
	end  int64
	fall fall
	ok   bool
	// usual is the season before the window, as of until.
	usual *season
	until int64
}

// held is how long a warning stays that is not due any more.
const held = 6 * time.Hour

// Warn is Warn with the samples added so far; it is to be asked after each.
func (s *Series) Warn(need int, horizon time.Duration, now time.Time) (Runway, bool) {
	r := s.Forecast(need, now)
	switch {
	case r.Falls() && r.Within(horizon, now):
		s.due, s.dueAt = r, now
		return r, true
	case r.Reason == TooFewSamples || r.Reason == Reached:
		return r, false
	case s.dueAt.IsZero() || now.Sub(s.dueAt) > held || s.due.Need != need || !now.Before(s.due.Empty):
		return r, false
	case s.due.Reason == Fast && now.Sub(s.dueAt) > s.dueAt.Sub(s.due.Since):
		return r, false // it stopped, for as long as it had lasted
	case 4*(r.Free-s.due.Free) > s.due.From-s.due.Free:
		return r, false // a quarter came back
	case r.Falls():
		return r, true
	}
	stays := s.due
	stays.At, stays.Free = r.At, r.Free
	return stays, true
}

func replay(samples []snapshot.Sample, need int, horizon time.Duration, now time.Time) (Runway, bool) {
	samples = slices.Clone(samples)
	slices.SortStableFunc(samples, func(a, b snapshot.Sample) int { return a.At.Compare(b.At) })
	s := &Series{}
	for _, x := range samples {
		if x.At.After(now) {
			break
		}
		s.Add(x)
		if now.Sub(x.At) < held {
			s.Warn(need, horizon, x.At)
		}
	}
	return s.Warn(need, horizon, now)
}

// prefix is how many addresses a prefix has: a /28 (EC2 user guide, "Assign
// prefixes to network interfaces").
const prefix = 16

// Settings are those of the VPC CNI that decide how many addresses a node
// takes, and where (amazon-vpc-cni-k8s, README, docs/eni-and-ip-target.md and
// docs/prefix-and-ip-target.md).
type Settings struct {
	// WarmInterfaces is WARM_ENI_TARGET: whole interfaces in reserve.
	WarmInterfaces int
	// WarmAddresses and MinimumAddresses are WARM_IP_TARGET and
	// MINIMUM_IP_TARGET. Where one of them is set, WarmInterfaces and
	// WarmPrefixes do not count.
	WarmAddresses    int
	MinimumAddresses int
	// Prefixes is ENABLE_PREFIX_DELEGATION, WarmPrefixes WARM_PREFIX_TARGET.
	Prefixes     bool
	WarmPrefixes int
	// Elsewhere is custom networking: pods have their addresses in the subnet of
	// an ENIConfig. ConfigLabel is the label of a node that names its ENIConfig.
	Elsewhere   bool
	ConfigLabel string
	// Discovery is that the plugin also makes interfaces in other subnets of the
	// node's zone, where they have the tag for it. ByValue is that the tag's
	// value counts, and which cluster a subnet is for.
	Discovery bool
	ByValue   bool
	// Cluster is CLUSTER_NAME; empty where it is not set.
	Cluster string
	// IPv6 clusters give pods IPv6 addresses.
	IPv6 bool
	// MaxInterfaces is MAX_ENI; 0 for as many as the type has.
	MaxInterfaces int
	// Cards is ENABLE_MULTI_NIC: the plugin keeps a reserve on each network card.
	Cards bool
	// MaxPods is the kubelet's, which the plugin does not set; 0 for what the
	// type gives.
	MaxPods int
}

// defaultConfigLabel is ENI_CONFIG_LABEL_DEF where it is not set.
const defaultConfigLabel = "k8s.amazonaws.com/eniConfig"

// Defaults are those of an unchanged aws-node.
func Defaults() Settings {
	return Settings{WarmInterfaces: 1, WarmPrefixes: 1, ConfigLabel: defaultConfigLabel, Discovery: true, ByValue: true}
}

// SettingsOf reads them from aws-node; without it they are the defaults. What
// is no number counts as not set, as it does in the plugin.
func SettingsOf(cni *snapshot.CNI) Settings {
	s := Defaults()
	if cni == nil {
		return s
	}
	number := func(name string, least, otherwise int) int {
		n, err := strconv.Atoi(cni.Env[name])
		if err != nil || n < least {
			return otherwise
		}
		return n
	}
	on := func(name string, otherwise bool) bool {
		set, err := strconv.ParseBool(cni.Env[name])
		if err != nil {
			return otherwise
		}
		return set
	}
	s.WarmInterfaces = number("WARM_ENI_TARGET", 0, 1)
	s.WarmAddresses = number("WARM_IP_TARGET", 1, 0)
	s.MinimumAddresses = number("MINIMUM_IP_TARGET", 1, 0)
	s.WarmPrefixes = number("WARM_PREFIX_TARGET", 1, 1)
	s.MaxInterfaces = number("MAX_ENI", 1, 0)
	s.Prefixes = on("ENABLE_PREFIX_DELEGATION", false)
	s.Elsewhere = on("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", false)
	s.IPv6 = on("ENABLE_IPv6", false)
	s.Cards = on("ENABLE_MULTI_NIC", false) && !before(cni.Image, 1, 20, 0)
	if label := cni.Env["ENI_CONFIG_LABEL_DEF"]; label != "" {
		s.ConfigLabel = label
	}
	// Subnet discovery came with 1.18.0; that the tag's value and the cluster
	// count, with 1.22.1 (amazon-vpc-cni-k8s, CHANGELOG).
	s.Discovery = on("ENABLE_SUBNET_DISCOVERY", true) && !before(cni.Image, 1, 18, 0)
	s.ByValue = !before(cni.Image, 1, 22, 1)
	s.Cluster = cni.Env["CLUSTER_NAME"]
	return s
}

// before reports whether an image is of an earlier version. One whose version cannot
// be read counts as a current one.
func before(image string, version ...int) bool {
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":v")
	tag, _, _ = strings.Cut(tag, "-")
	parts := strings.Split(tag, ".")
	if len(parts) != len(version) {
		return false
	}
	for i, want := range version {
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return false
		}
		if n != want {
			return n < want
		}
	}
	return false
}

// OwnOnly are settings with which a node takes its own address alone: another
// plugin gives pods theirs, and where is not known.
func OwnOnly() Settings { return Settings{IPv6: true} }

// spread is how a group's nodes spread over its subnets.
type spread struct {
	group  snapshot.Group
	more   int // to its maximum
	wanted int // of these, to what it desires now
	// zones are its subnets' zones, and how many of its subnets each has; ran is
	// how many of its nodes run in each.
	zones map[string]int
	ran   map[string]int
	// unplaced reports whether it is not known where all of its nodes run.
	unplaced bool
	// stops reports whether it launches no more.
	stops bool
}

// shared is a group's part in one subnet.
type shared struct {
	nodes  Span
	wanted int
	idle   bool // it wants no node at all now
}

func spreadOf(g snapshot.Group, s *snapshot.Snapshot) spread {
	sp := spread{group: g, zones: map[string]int{}, ran: map[string]int{}}
	zone := map[string]string{}
	for _, n := range s.Subnets {
		zone[n.ID] = n.Zone
	}
	for _, id := range g.Subnets {
		sp.zones[zone[id]]++
	}
	ids := map[string]bool{}
	for _, i := range g.Instances {
		if !gone(i.Lifecycle) {
			ids[i.ID] = true
		}
	}
	placed := 0
	for _, i := range s.Instances {
		ended := i.Ended()
		if ended {
			delete(ids, i.ID)
			continue
		}
		if i.Tags["aws:autoscaling:groupName"] == g.Name && !slices.Contains(g.Warm, i.ID) {
			ids[i.ID] = true
		}
		if ids[i.ID] {
			placed++
			sp.ran[i.Zone]++
		}
	}
	sp.unplaced = placed < len(ids)
	sp.more = max(0, g.Max-len(ids))
	sp.wanted = min(sp.more, max(0, g.Desired-len(ids)))
	sp.stops = sp.more == 0 || slices.ContainsFunc(g.Suspended, func(p snapshot.Suspended) bool { return p.Process == "Launch" })
	return sp
}

// share is the part of a subnet. Auto Scaling keeps zones at the same number of
// nodes, and of a zone's subnets it takes any (EC2 Auto Scaling user guide,
// "Instance distribution"): so at its maximum a group has the same number in
// each zone. It is rounded down. When other zones have no capacity, it may be
// all.
func (sp spread) share(n snapshot.Subnet) shared {
	least, wanted := sp.more/len(sp.group.Subnets), sp.wanted/len(sp.group.Subnets)
	if !sp.unplaced {
		least = max(0, min(sp.more, sp.group.Max/len(sp.zones)-sp.ran[n.Zone])) / sp.zones[n.Zone]
		wanted = max(0, min(sp.wanted, sp.group.Desired/len(sp.zones)-sp.ran[n.Zone])) / sp.zones[n.Zone]
	}
	return shared{nodes: Span{least, sp.more}, wanted: wanted, idle: sp.group.Desired == 0}
}
