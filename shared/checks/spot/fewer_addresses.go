package spot

import (
	"slices"
	"strconv"

	"rollcall/shared/network/address"
	"rollcall/shared/node/spot"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// The addresses that a node takes at start in place of whole interfaces: enough for the
// pods that it starts with, which is what MINIMUM_IP_TARGET is for, and a few in reserve
// (amazon-vpc-cni-k8s, docs/eni-and-ip-target.md).
const (
	mostAtStart  = 20
	leastAtStart = 5
	inReserve    = 2
)

// fewer is the command with which the same burst would have fitted into what the subnet
// had; empty where no setting does that, or where the settings or types were not read.
// It changes the reserve of every node: a larger subnet stays the better answer.
func (b *burstLook) fewer(burst spot.Burst) string {
	if b.s.CNI == nil || b.settings.IPv6 || b.settings.Elsewhere || b.settings.Prefixes {
		return ""
	}
	for atStart := mostAtStart; atStart >= leastAtStart; atStart-- {
		s := b.settings
		s.WarmAddresses, s.MinimumAddresses = inReserve, atStart
		if demand, known := b.demand(burst, s); known && demand <= burst.Had {
			return shell.Command("kubectl", "-n", "kube-system", "set", "env", "daemonset", "aws-node",
				"MINIMUM_IP_TARGET="+strconv.Itoa(atStart), "WARM_IP_TARGET="+strconv.Itoa(inReserve))
		}
	}
	return ""
}

// demand is what a burst's nodes take at start with other settings.
func (b *burstLook) demand(burst spot.Burst, s address.Settings) (total int, known bool) {
	for _, term := range burst.Terms {
		i := slices.IndexFunc(b.s.InstanceTypes, func(t snapshot.InstanceType) bool { return t.Name == term.Type })
		if i < 0 {
			return 0, false
		}
		total += term.Count * s.AtStart(b.s.InstanceTypes[i]).Total()
	}
	return total, len(burst.Terms) > 0
}
