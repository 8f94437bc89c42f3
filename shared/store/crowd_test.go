package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// The record of a burst of any size can be written, and counts them all.
func TestIncidentOfACrowd(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, n := range []int{1000, 5000} {
		inc := incidentOf("node/not-registered", fmt.Sprintf("workers-%d", n))
		inc.Covers, inc.Verdicts = nil, nil
		for i := range n {
			id := fmt.Sprintf("i-%017x", i)
			inc.Covers = append(inc.Covers, id)
			inc.Verdicts = append(inc.Verdicts, incident.Verdict{Of: id, Found: incident.Failing, At: start})
			if i >= incident.MaxLaunches {
				inc.More = append(inc.More, id)
				continue
			}
			inc.Launches = append(inc.Launches, report.Launch{
				Instance: id, Nodegroup: "workers", Group: strings.Repeat("g", 100), Subnet: "subnet-0123456789abcdef0", Zone: "us-west-2a", Type: "m5.24xlarge",
				Started: start, Status: report.Gone, Ended: start, EndedWhy: strings.Repeat("why", 300),
			})
		}
		inc.Cause.Covers, inc.Affected = inc.Covers, n
		saved, err := s.SaveIncident(t.Context(), inc)
		if err != nil {
			t.Fatalf("%d launches: %v", n, err)
		}
		got, err := s.Incidents(t.Context(), "prod")
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(got, func(other incident.Incident) bool { return other.Key == inc.Key })
		if i < 0 || got[i].Affected != n || len(got[i].Verdicts) != n {
			t.Fatalf("%d launches: read back %d of them", n, len(got[i].Verdicts))
		}
		if diff := cmp.Diff(saved, got[i]); diff != "" {
			t.Errorf("%d launches (-saved +read):\n%.2000s", n, diff)
		}
	}
}
