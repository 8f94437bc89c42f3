package spot

import (
	"fmt"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// remembered adds a launch of each of two types in each of two zones, every
// half hour for two days; as decides how each ends.
func remembered(as func(i int, p *snapshot.Past)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		i := 0
		for at := s.Time.Add(-48 * time.Hour); at.Before(s.Time); at = at.Add(30 * time.Minute) {
			for _, kind := range []string{"c5.large", "m5.large"} {
				for _, zone := range []string{"us-west-2a", "us-west-2b"} {
					p := snapshot.Past{
						ID: fmt.Sprintf("i-0past%d", i), Nodegroup: "workers", Group: "eks-workers", Type: kind, Zone: zone, Subnet: "subnet-" + zone[9:],
						Spot: true, Started: at, End: snapshot.Joined, Ready: at.Add(time.Minute),
					}
					as(i, &p)
					s.History = append(s.History, p)
					i++
				}
			}
		}
	}
}

func cameTo(p *snapshot.Past, end snapshot.End, cause checkid.ID) {
	p.End, p.Cause, p.Ready = end, cause, time.Time{}
}

// spotGroup makes the world's nodegroup one with Spot capacity.
func spotGroup(s *snapshot.Snapshot) { s.Nodegroups[0].Spot = true }

func healthySpot(as func(i int, p *snapshot.Past)) *snapshot.Snapshot {
	return checktest.Change(snapshottest.PrivateWithNAT(), remembered(as))
}
