package remedytest

import (
	"time"

	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy/action"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// Stuck is an instance that did not join.
const Stuck = "i-0stuck"

// Missed adds it to a world whose node did.
func Missed(s *snapshot.Snapshot) {
	snapshottest.Launch(s, Stuck, snapshottest.Private, 20*time.Minute)
}

// LaunchOf is its launch, as the incident has it.
func LaunchOf(s *snapshot.Snapshot, standing outcome.LaunchStatus) []outcome.Launch {
	return []outcome.Launch{{Instance: Stuck, Started: s.Time.Add(-20 * time.Minute), Status: standing}}
}

// Member changes it as its group has it.
func Member(change func(*snapshot.GroupInstance)) Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) { change(&s.Groups[0].Instances[1]) }
}

// Instance changes it as EC2 has it.
func Instance(change func(*snapshot.Instance)) Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) { change(snapshottest.Instance(s, Stuck)) }
}

// Suspended suspends a process of the group.
func Suspended(process string) Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) {
		s.Groups[0].Suspended = []snapshot.Suspended{{Process: process}}
	}
}
