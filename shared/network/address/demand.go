// Package address is the arithmetic of addresses: how a subnet's are used, what a
// node takes out of it, what is left, and whether what groups may still launch
// fits in.
package address

import "rollcall/shared/snapshot"

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

// Prefixed tells that a type can have prefixes: only the Nitro hypervisor and
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
