package iam

import (
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/facts"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// outsider is a healthy world whose node did not join, with changes.
func outsider(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	return checktest.Change(checktest.Missed(), changes...)
}

// readyComrade is a Ready node of the same group.
func readyComrade(s *snapshot.Snapshot) {
	snapshottest.Launch(s, "i-0ready", snapshottest.Private, 0)
	snapshottest.Join(s, "i-0ready")
}

// iamDeleted makes an item of a source one that IAM no longer has.
func iamDeleted(source snapshot.Source, key string) func(*snapshot.Snapshot) {
	return lackOf(source, key, snapshot.Broken, facts.NoSuchEntity)
}

func lackOf(source snapshot.Source, key string, reason snapshot.Reason, code string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Lack(source, key, snapshot.Failure{Source: source, Reason: reason, Call: "iam:Get", Code: code})
		switch source {
		case snapshot.Profiles:
			s.Profiles = nil
		case snapshot.Roles:
			s.Roles = nil
		}
	}
}
