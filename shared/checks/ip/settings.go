package ip

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/network/address"
	"rollcall/shared/snapshot"
)

// podNetwork is how nodes of a cluster take addresses, as far as it is known.
type podNetwork struct {
	address.Settings
	// read tells that aws-node was looked at: otherwise these are its defaults.
	read bool
	// foreign tells that there is no aws-node: another plugin gives pods their
	// addresses, and only a node's own is known of.
	foreign bool
}

func podNetworkOf(s *facts.View) podNetwork {
	p := podNetwork{Settings: address.SettingsOf(s.CNI), read: s.Has(snapshot.AWSNode)}
	switch {
	case s.Cluster.IPv6:
		p.IPv6 = true
	case p.read && s.CNI == nil:
		p.Settings, p.foreign = address.OwnOnly(), true
	}
	// A card with an EFA-only interface and no other is not the plugin's (amazon-vpc-cni-k8s,
	// README, ENABLE_MULTI_NIC), and of which kind an adapter is is not read.
	p.Cards = p.Cards && !slices.ContainsFunc(s.Instances, func(i snapshot.Instance) bool { return len(i.EFAs) > 0 })
	return p
}

// words are the settings that count.
func (p podNetwork) words() string {
	switch {
	case p.foreign:
		return "no aws-node: another plugin gives pods their addresses"
	case !p.read && !p.IPv6:
		return "not read: the plugin's defaults are taken"
	}
	return SettingsWords(p.Settings)
}

// SettingsWords are the settings that decide how many addresses a node takes.
func SettingsWords(st address.Settings) string {
	switch {
	case st.IPv6:
		return "pods have IPv6 addresses"
	case st.Elsewhere:
		return "custom networking: pods have addresses in other subnets"
	case st.Prefixes:
		return fmt.Sprintf("prefix delegation, WARM_PREFIX_TARGET=%d, WARM_IP_TARGET=%d, MINIMUM_IP_TARGET=%d", st.WarmPrefixes, st.WarmAddresses, st.MinimumAddresses)
	case st.WarmAddresses > 0 || st.MinimumAddresses > 0:
		return fmt.Sprintf("WARM_IP_TARGET=%d, MINIMUM_IP_TARGET=%d", st.WarmAddresses, st.MinimumAddresses)
	}
	return fmt.Sprintf("WARM_ENI_TARGET=%d", st.WarmInterfaces)
}

// notReadyIn are the scope's instances in some subnets that registered and are
// not Ready, and the Ready nodes whose pods get no address.
func notReadyIn(c *routes.Scope, subnets ...string) []string {
	registered := map[string]bool{}
	for _, n := range c.S.Nodes {
		registered[n.Instance] = true
	}
	var ids []string
	for _, subnet := range subnets {
		for _, i := range c.Here[subnet] {
			if registered[i.ID] {
				ids = append(ids, i.ID)
			}
		}
	}
	for _, i := range c.S.Starving() {
		if slices.Contains(subnets, i.Subnet) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}
