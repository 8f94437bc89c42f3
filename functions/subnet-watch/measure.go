package main

import (
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/ipam"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
)

// measure writes the metrics of each subnet: what could not be read is left
// out, so that a hole in the curve is no zero.
func (h handler) measure(s *snapshot.Snapshot, subnets []string) {
	if !s.Has(snapshot.Subnets) {
		return
	}
	leaked, known := checks.Leaked(s)
	for _, n := range s.Subnets {
		if !slices.Contains(subnets, n.ID) {
			continue
		}
		dims := []run.Dimension{{Name: "cluster", Value: s.Cluster.Name}, {Name: "subnet", Value: n.ID}}
		// EC2's own count is what it launches by.
		h.gauge("FreeAddresses", "Count", float64(n.Free), dims...)
		if i := slices.IndexFunc(s.Uses, func(u snapshot.Use) bool { return u.Subnet == n.ID }); i >= 0 && s.Has(snapshot.Usage) {
			h.gauge("FreeBlocks", "Count", float64(s.Uses[i].Blocks), dims...)
		}
		if known {
			h.gauge("LeakedAddresses", "Count", float64(leaked[n.ID]), dims...)
		}
		if left, falls := ipam.Forecast(of(s, n.ID), 0, s.Time).Left(s.Time); falls {
			h.gauge("RunwayHours", "None", left.Hours(), dims...)
		}
	}
}
