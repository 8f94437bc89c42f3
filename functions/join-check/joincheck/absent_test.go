package joincheck

import (
	"slices"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// A group that is gone is absent for every incident that says why it could not
// launch; a subnet is for others to miss.
func TestAbsentGroups(t *testing.T) {
	s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Groups: true}, Groups: []snapshot.Group{{Name: "eks-here"}}}
	for check, want := range map[checks.ID][]string{
		"launch/subnet-full": {"eks-gone"}, "ip/leaked-interfaces": {"eks-gone"}, "spot/burst-exceeds-subnet": {"eks-gone"}, "ip/subnet-exhausted": nil,
	} {
		covers := []string{"eks-here", "eks-gone"}
		if check != "launch/subnet-full" {
			covers = append(covers, "subnet-0123")
		}
		r := roll{sweep: true, incidents: []incident.Incident{{Key: report.Key{Check: check}, Covers: covers}}}
		if got := absent(s, r); !slices.Equal(got, want) {
			t.Errorf("%s: absent %q, want %q", check, got, want)
		}
	}
}
