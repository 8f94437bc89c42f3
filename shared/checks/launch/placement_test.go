package launch

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// What the group launches into is named, and why it does not take the launch.
func TestPlacementIsNamed(t *testing.T) {
	const (
		burst  = "Cluster placement groups are not supported by the 't3.medium' instance type. Specify a supported instance type or change the placement group strategy, and try again. Launching EC2 instance failed."
		spread = "You've reached the limit of instances in this spread placement group. A spread placement group can have up to seven instances per Availability Zone. Launching EC2 instance failed."
		zone   = "The placement group 'hpc' is in use in another availability zone: null. Launching EC2 instance failed."
		host   = "You cannot launch an instance with a tenancy of ''host'' into a placement group. Either remove the placement group from the request, or specify a different tenancy. Launching EC2 instance failed."
		plain  = "its placement does not take it"
	)
	in := func(p snapshot.PlacementGroup, n int, changes ...func(*snapshot.Snapshot)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Groups[0].PlacementGroup = "hpc"
			if p.Strategy != "" {
				p.ID, p.Name, p.State = "pg-0a", "hpc", cmp.Or(p.State, "available")
				s.PlacementGroups = append(s.PlacementGroups, p)
			}
			for i := range n {
				id := fmt.Sprintf("i-0pg%d", i)
				snapshottest.Launch(s, id, snapshottest.Public, 2*time.Hour)
				in := snapshottest.Instance(s, id)
				in.Zone, in.PlacementGroup = "us-west-2b", "hpc"
			}
			checktest.Change(s, changes...)
		}
	}
	for name, tt := range map[string]struct {
		text, headline, evidence string
		world                    func(*snapshot.Snapshot)
	}{
		"a burstable type":         {burst, "its cluster placement group does not take t3.medium", "cluster, available", in(snapshot.PlacementGroup{Strategy: "cluster"}, 0)},
		"a spread that is full":    {spread, "its spread placement group has its 7 instances in us-west-2b", "spread, available; instances of this cluster: 7 in us-west-2b", in(snapshot.PlacementGroup{Strategy: "spread", Level: "rack"}, 7)},
		"a spread of others":       {spread, plain, "spread, available", in(snapshot.PlacementGroup{Strategy: "spread", Level: "rack"}, 0)},
		"a cluster elsewhere":      {zone, "its cluster placement group is in us-west-2b", "cluster, available; instances of this cluster: 1 in us-west-2b", in(snapshot.PlacementGroup{Strategy: "cluster"}, 1)},
		"partitions":               {"The placement group hpc takes no more. Launching EC2 instance failed.", plain, "partition, available, 3 partitions", in(snapshot.PlacementGroup{Strategy: "partition", Partitions: 3}, 0)},
		"being deleted":            {zone, "its placement group is deleting", "cluster, deleting", in(snapshot.PlacementGroup{Strategy: "cluster", State: "deleting"}, 0)},
		"gone":                     {"InvalidPlacementGroup.Unknown: The Placement Group 'hpc' is unknown.", "its placement group is not there", "is not among those that EC2 lists here", in(snapshot.PlacementGroup{}, 0)},
		"not read":                 {zone, plain, "not read: test:Read placement groups denied", in(snapshot.PlacementGroup{}, 0, checktest.Unread(snapshot.PlacementGroups))},
		"a tenancy, no group":      {host, plain, "", func(*snapshot.Snapshot) {}},
		"a group that names none ": {burst, plain, "", func(*snapshot.Snapshot) {}},
	} {
		r := checktest.Failed(t, checkOf(checkid.LaunchPlacement), checktest.Change(checktest.Attempted(tt.text), tt.world))
		if want := phrase.Title("workers cannot launch: %s", tt.headline); r.Title != want {
			t.Errorf("%s: %q, want %q", name, r.Title, want)
		}
		if got := strings.Join(evidenceOf(r, "Placement group hpc"), "; "); got != tt.evidence {
			t.Errorf("%s: %q, want %q", name, got, tt.evidence)
		}
	}
}
