package ipam

import (
	"strconv"

	"rollcall/shared/snapshot"
)

// prefix is how many addresses a prefix has: a /28 (EC2 user guide, "Assign
// prefixes to network interfaces").
const prefix = 16

// Settings are those of the VPC CNI that decide how many addresses a node
// takes as it starts (amazon-vpc-cni-k8s, docs/eni-and-ip-target.md and
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
	// Elsewhere is custom networking: pods have their addresses in another
	// subnet.
	Elsewhere bool
	// IPv6 clusters give pods IPv6 addresses.
	IPv6 bool
	// MaxInterfaces is MAX_ENI; 0 for as many as the type has.
	MaxInterfaces int
}

// Defaults are those of an aws-node that nobody changed.
func Defaults() Settings { return Settings{WarmInterfaces: 1, WarmPrefixes: 1} }

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
	on := func(name string) bool {
		set, err := strconv.ParseBool(cni.Env[name])
		return err == nil && set
	}
	s.WarmInterfaces = number("WARM_ENI_TARGET", 0, 1)
	s.WarmAddresses = number("WARM_IP_TARGET", 1, 0)
	s.MinimumAddresses = number("MINIMUM_IP_TARGET", 1, 0)
	s.WarmPrefixes = number("WARM_PREFIX_TARGET", 1, 1)
	s.MaxInterfaces = number("MAX_ENI", 1, 0)
	s.Prefixes = on("ENABLE_PREFIX_DELEGATION")
	s.Elsewhere = on("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG")
	s.IPv6 = on("ENABLE_IPv6")
	return s
}

// AtStart is the demand of one node of a type.
func (s Settings) AtStart(t snapshot.InstanceType) Demand {
	each := max(1, t.IPv4PerInterface)
	interfaces := max(1, t.Interfaces)
	if s.MaxInterfaces > 0 {
		interfaces = min(interfaces, s.MaxInterfaces)
	}
	wanted := max(s.WarmAddresses, s.MinimumAddresses)
	switch {
	// Pods take nothing of the node's own subnet: its first interface has its
	// primary address alone.
	case s.IPv6, s.Elsewhere:
		return Demand{Own: 1, First: 1}
	// Only the Nitro hypervisor and bare metal have prefixes; elsewhere the
	// plugin falls back to single addresses.
	case s.Prefixes && (t.Hypervisor == "nitro" || t.Hypervisor == "" || t.BareMetal):
		blocks := s.WarmPrefixes
		if wanted > 0 {
			blocks = (wanted + prefix - 1) / prefix
		}
		return filled(blocks, prefix, each-1, interfaces)
	case wanted > 0:
		return filled(wanted, 1, each-1, interfaces)
	}
	d := Demand{Own: 1, First: each}
	d.Warm = each * min(s.WarmInterfaces, interfaces-1)
	return d
}

// filled is the demand of a node that takes a number of slots for pods, each
// of some addresses. Every interface has one address of its own beside them.
func filled(wanted, size, slots, interfaces int) Demand {
	first := min(wanted, slots)
	d := Demand{Own: 1, First: 1 + first*size}
	for wanted -= first; wanted > 0 && slots > 0 && interfaces > 1; interfaces-- {
		next := min(wanted, slots)
		d.Warm += 1 + next*size
		wanted -= next
	}
	return d
}
