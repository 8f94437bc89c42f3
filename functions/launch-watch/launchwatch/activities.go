package launchwatch

import (
	"cmp"

	"rollcall/shared/event"
	"rollcall/shared/snapshot"
)

// activityOf is what an event tells of a failed launch, as Auto Scaling would list
// it. The list lags behind the event, and may not be ours to read.
func activityOf(t event.Trigger) snapshot.Activity {
	return snapshot.Activity{
		ID: t.Activity, Group: t.Group, Status: "Failed", Message: t.Message, Cause: t.Cause,
		About: "Launching a new EC2 instance", Started: t.Time, Ended: t.Time, Subnet: t.Subnet, Zone: t.Zone, Instance: t.Instance,
	}
}

// addActivities adds what the events told to what was read. Where the activities could
// not be read, each group lacks the rest of its own: what the events say is
// certain all the same.
func addActivities(s *snapshot.Snapshot, told []snapshot.Activity) {
	if len(told) == 0 {
		return
	}
	if !s.Has(snapshot.Activities) {
		for _, g := range s.Groups {
			s.Lack(snapshot.Activities, g.Name, s.Why(snapshot.Activities))
		}
		delete(s.Failures, snapshot.Activities)
		s.Read[snapshot.Activities] = true
	}
	read := map[string]bool{}
	for _, a := range s.Activities {
		read[cmp.Or(a.ID, a.Instance)] = true
	}
	for _, a := range told {
		if !read[cmp.Or(a.ID, a.Instance)] {
			s.Activities = append(s.Activities, a)
		}
	}
}
