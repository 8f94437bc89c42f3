package launch

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// TestCapacityReservationStands: EC2 says the same of a reservation that is full, over
// or another type's; what it is tells which.
func TestCapacityReservationStands(t *testing.T) {
	const text = "The requested reservation does not have sufficient compatible and available capacity for this request. Launching EC2 instance failed."
	world := func(r snapshot.CapacityReservation, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		s := checktest.Attempted(text)
		s.LaunchTemplates = []snapshot.LaunchTemplate{{ID: "lt-0workers", Version: "3", Type: "p5.48xlarge", Reservation: "cr-0a"}}
		s.Groups[0].Template = snapshot.TemplateRef{ID: "lt-0workers", Version: "3"}
		r.ID = "cr-0a"
		s.CapacityReservations = []snapshot.CapacityReservation{r}
		return checktest.Change(s, changes...)
	}
	ours := func(state string, total, free int) snapshot.CapacityReservation {
		return snapshot.CapacityReservation{State: state, Type: "p5.48xlarge", Zone: snapshottest.Zone, Total: total, Free: free}
	}
	other := func(change func(*snapshot.CapacityReservation)) snapshot.CapacityReservation {
		r := ours("active", 16, 4)
		change(&r)
		return r
	}
	const head, plain = "workers cannot launch: ", "its capacity reservation does not take it"
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		title string
		says  string
	}{
		"used up":   {world(ours("active", 16, 0)), "its capacity reservation is used up: all 16 are taken", "active; 0 of 16 free, of p5.48xlarge in us-west-2a"},
		"over":      {world(ours("expired", 16, 0)), "its capacity reservation is over", "expired; 0 of 16 free, of p5.48xlarge in us-west-2a"},
		"cancelled": {world(ours("cancelled", 0, 0)), "its capacity reservation is over", "cancelled; 0 of 0 free, of p5.48xlarge in us-west-2a"},
		"a block of later": {world(snapshot.CapacityReservation{State: "scheduled", Type: "p5.48xlarge", Zone: snapshottest.Zone, Total: 16, Block: true,
			Start: time.Date(2026, 11, 21, 11, 30, 0, 0, time.UTC), End: time.Date(2026, 11, 22, 11, 30, 0, 0, time.UTC)}),
			"its capacity reservation is not active yet", "a capacity block, scheduled; 0 of 16 free, of p5.48xlarge in us-west-2a, from 2026-11-21 11:30, until 2026-11-22 11:30"},
		"being paid":      {world(ours("payment-pending", 16, 0)), "its capacity reservation is not active yet", "payment-pending; 0 of 16 free, of p5.48xlarge in us-west-2a"},
		"unsupported":     {world(ours("unsupported", 16, 0)), "its capacity reservation is unsupported", "unsupported; 0 of 16 free, of p5.48xlarge in us-west-2a"},
		"of another type": {world(other(func(r *snapshot.CapacityReservation) { r.Type = "p4d.24xlarge" })), "its capacity reservation is for p4d.24xlarge, not p5.48xlarge", "active; 4 of 16 free, of p4d.24xlarge in us-west-2a"},
		"in another zone": {world(other(func(r *snapshot.CapacityReservation) { r.Zone = "us-west-2z" })), "its capacity reservation is in us-west-2z, where the group has no s…", "active; 4 of 16 free, of p5.48xlarge in us-west-2z"},
		"its zone, where a subnet of the group is not known": {world(other(func(r *snapshot.CapacityReservation) { r.Zone = "us-west-2z" }), func(s *snapshot.Snapshot) {
			s.Groups[0].Subnets = append(s.Groups[0].Subnets, "subnet-0gone")
		}), plain, "active; 4 of 16 free, of p5.48xlarge in us-west-2z"},
		"it has room":               {world(ours("active", 16, 4)), plain, "active; 4 of 16 free, of p5.48xlarge in us-west-2a"},
		"it is not there":           {world(ours("active", 16, 4), func(s *snapshot.Snapshot) { s.CapacityReservations = nil }), "its capacity reservation is not there", "is not among those that EC2 lists here"},
		"nobody could look":         {world(ours("active", 16, 4), checktest.Unread(snapshot.CapacityReservations)), plain, "not read: test:Read capacity reservations denied"},
		"the template names none":   {world(ours("expired", 16, 0), func(s *snapshot.Snapshot) { s.LaunchTemplates[0].Reservation = "" }), plain, ""},
		"the template was not read": {world(ours("expired", 16, 0), checktest.Unread(snapshot.LaunchTemplates)), plain, ""},
	} {
		r := checktest.Failed(t, CapacityReservation(), tt.world)
		got := strings.Join(evidenceOf(r, "Capacity reservation cr-0a"), "; and ")
		if r.Title != head+tt.title && !strings.HasPrefix(head+tt.title, strings.TrimSuffix(r.Title, "…")) || got != tt.says {
			t.Errorf("%s: %q, %q; want %q, %q", name, r.Title, got, head+tt.title, tt.says)
		}
	}
}
