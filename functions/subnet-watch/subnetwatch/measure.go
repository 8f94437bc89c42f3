package subnetwatch

import (
	"cmp"
	"math"
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/lambda"
	"rollcall/shared/network/address"
	"rollcall/shared/overview"

	"rollcall/shared/snapshot"
)

// measure writes the metrics of a cluster's subnets: for the cluster the worst of
// them, and for each subnet only where the operator asks for it, because each
// metric of each subnet is paid for. What could not be read is left out, so that
// a hole in the curve is no zero; addresses that were left behind are told where
// there are some.
func (h handler) measure(s *snapshot.Snapshot, subnets []string) {
	if !s.Has(snapshot.Subnets) {
		return
	}
	cluster := lambda.Dimension{Name: "cluster", Value: s.Cluster.Name}
	leaked, known := checks.Leaked(s)
	least, total, shortest, found := math.Inf(1), 0, math.Inf(1), false
	var first overview.Subnet
	for _, n := range s.Subnets {
		if !slices.Contains(subnets, n.ID) {
			continue
		}
		left, falls := address.Forecast(of(s, n.ID), 0, s.Time).Left(s.Time)
		this := overview.Subnet{ID: n.ID, Zone: n.Zone, Free: n.Free, Total: address.Usable(n.CIDR), At: s.Time}
		if falls {
			shortest = min(shortest, left.Hours())
			this.Empty = s.Time.Add(left).UTC().Truncate(time.Minute)
		}
		if !found || this.Sooner(first) {
			first = this
		}
		found = true
		least = min(least, float64(n.Free))
		total += leaked[n.ID]
		if !h.bySubnet {
			continue
		}
		dims := []lambda.Dimension{cluster, {Name: "subnet", Value: n.ID}}
		// EC2's own count is what it launches by.
		h.gauge("FreeAddresses", "Count", float64(n.Free), dims...)
		if i := slices.IndexFunc(s.Uses, func(u snapshot.Use) bool { return u.Subnet == n.ID }); i >= 0 && s.Has(snapshot.Usage) {
			h.gauge("FreeBlocks", "Count", float64(s.Uses[i].Blocks), dims...)
		}
		if known {
			h.gauge("LeakedAddresses", "Count", float64(leaked[n.ID]), dims...)
		}
		if falls {
			h.gauge("RunwayHours", "None", left.Hours(), dims...)
		}
	}
	if !found {
		return
	}
	if h.soonest != nil {
		h.soonest(first)
	}
	h.logWorst(s, subnets)
	h.gauge("FreeAddresses", "Count", least, cluster)
	if known && total > 0 {
		h.gauge("LeakedAddresses", "Count", float64(total), cluster)
	}
	if !math.IsInf(shortest, 1) {
		h.gauge("RunwayHours", "None", shortest, cluster)
	}
}

// worst is how many subnets of a cluster are logged at each look, those with the fewest
// free addresses: a line costs next to nothing where a metric costs $0.30 a month.
const worst = 3

// logWorst logs them, for the dashboard (infra, dashboard).
func (h handler) logWorst(s *snapshot.Snapshot, subnets []string) {
	mine := slices.DeleteFunc(slices.Clone(s.Subnets), func(n snapshot.Subnet) bool { return !slices.Contains(subnets, n.ID) })
	slices.SortFunc(mine, func(a, b snapshot.Subnet) int { return cmp.Or(cmp.Compare(a.Free, b.Free), cmp.Compare(a.ID, b.ID)) })
	for _, n := range mine[:min(len(mine), worst)] {
		h.Log.Info("addresses left", "cluster", s.Cluster.Name, "subnet", n.ID, "free", n.Free, "zone", n.Zone, "range", n.CIDR)
	}
}
