package detect

import (
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// Observe puts together what report needs to know of a cluster. Its id is of
// this look: a message that the queue delivers twice is noticed by it, a
// second look at the same launches is not mistaken for the first.
func Observe(by string, s *snapshot.Snapshot, d diagnose.Diagnosis, launches []report.Launch) report.Observation {
	return report.Observation{
		Format: report.Format, ID: strings.Join([]string{by, s.Cluster.Name, s.Time.Format(time.RFC3339Nano)}, "/"), By: by, At: s.Time,
		Account: s.Account, Region: s.Region, Partition: s.Partition, Cluster: s.Cluster.Name,
		Diagnosis: d, Launches: launches, Facts: Facts(s), Blind: Blind(s),
		Read: slices.Sorted(maps.Keys(s.Read)), Absent: absent(s),
		Tags: tags(s, d, launches), Capacity: capacity(s, d, launches),
	}
}

// absent are the subnets of the scope that EC2 no longer has: what an incident
// is about may have been deleted. A subnet that could not be read is not absent.
func absent(s *snapshot.Snapshot) []string {
	if !s.Read[snapshot.Subnets] {
		return nil
	}
	var gone []string
	for _, id := range s.Scope.Subnets {
		if !slices.ContainsFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == id }) {
			gone = append(gone, id)
		}
	}
	return gone
}
