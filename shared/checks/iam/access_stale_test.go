package iam

import (
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// recreated makes the node role again, an hour ago, of which the entry is older.
func recreated(s *snapshot.Snapshot) {
	s.AccessEntries[0].Created = s.Time.Add(-48 * time.Hour)
	s.AccessEntries[0].Modified = s.AccessEntries[0].Created
	s.Roles[0].Created = s.Time.Add(-time.Hour)
}

func TestAccessStale(t *testing.T) {
	role := snapshottest.NodeRole
	pass := []string{"pass " + role + " [i-0node]"}
	fail := "fail " + role + " [i-0node] [i-0node] the access entry of workers is of a deleted role"
	checktest.RunCases(t, AccessStale(), []checktest.Case{
		{"Ready", checktest.Change(snapshottest.PrivateWithNAT(), recreated), pass},
		{"the entry is newer", outsider(recreated, func(s *snapshot.Snapshot) { s.AccessEntries[0].Created = s.Roles[0].Created.Add(time.Second) }), pass},
		{"times are not told", outsider(), pass},
		{"made again", outsider(recreated), []string{fail}},
		{"made again, and the entry changed since", outsider(recreated, func(s *snapshot.Snapshot) { s.AccessEntries[0].Modified = s.Time }), []string{"fail (likely) " + fail[5:]}},
		{"made again, and mapped too", outsider(recreated, mapRolesTo(asNode(role))), []string{"fail (likely) " + fail[5:]}},
		{"made again, and a comrade is Ready", outsider(recreated, readyComrade), []string{"fail (likely) " + fail[5:], "pass " + role + " [i-0ready]"}},
		{"not asked", outsider(recreated, authMode("CONFIG_MAP")), pass},
		{"no entry", outsider(noEntry), pass},
		{"the role is gone", outsider(recreated, iamDeleted(snapshot.Roles, role)), pass},
		{"the role is unread", outsider(recreated, lackOf(snapshot.Roles, role, snapshot.Throttled, "Throttling")), []string{"unknown " + role + " [i-0node] iam roles: throttled"}},
		{"unread", outsider(checktest.Unread(snapshot.Access)), []string{"unknown prod [] access entries: denied"}},
	})
}
