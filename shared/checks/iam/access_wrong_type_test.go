package iam

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// entryOf sets the type of the node role's access entry.
func entryOf(kind string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.AccessEntries = []snapshot.AccessEntry{{Principal: snapshottest.NodeRole, Type: kind, Username: "arn:aws:sts::123456789012:assumed-role/workers/{{SessionName}}"}}
	}
}

func windowsNode(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Windows = true }

func TestAccessWrongType(t *testing.T) {
	checktest.RunCases(t, AccessWrongType(), accessWrongTypeCases())
}

func accessWrongTypeCases() []checktest.Case {
	role := snapshottest.NodeRole
	pass := []string{"pass " + role + " [i-0node]"}
	fail := []string{"fail " + role + " [i-0node] [i-0node] access entry of workers is STANDARD, not EC2_LINUX"}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"EC2_LINUX", outsider(), pass},
		{"none: another's matter", outsider(noEntry), pass},
		{"STANDARD", outsider(entryOf("STANDARD")), fail},
		{"STANDARD comes before aws-auth", outsider(entryOf("STANDARD"), mapRolesTo(asNode(role))), fail},
		{"STANDARD, not asked", outsider(entryOf("STANDARD"), authMode("CONFIG_MAP"), mapRolesTo(asNode(role))), pass},
		{"STANDARD, and a comrade is Ready", outsider(entryOf("STANDARD"), readyComrade), []string{"fail (likely) " + fail[0][5:], "pass " + role + " [i-0ready]"}},
		{"STANDARD, all Ready", checktest.Change(snapshottest.PrivateWithNAT(), entryOf("STANDARD")), pass},
		{"HYBRID_LINUX", outsider(entryOf("HYBRID_LINUX")), []string{"fail " + role + " [i-0node] [i-0node] access entry of workers is HYBRID_LINUX, not EC2_LINUX"}},
		{"EC2 in Auto Mode", outsider(entryOf("EC2"), autoMode), pass},
		{"EC2 without Auto Mode", outsider(entryOf("EC2")), []string{"fail (likely) " + role + " [i-0node] [i-0node] access entry of workers is EC2, not EC2_LINUX"}},
		{"EC2_LINUX for Windows", outsider(entryOf("EC2_LINUX"), windowsNode), []string{"fail (possible) " + role + " [i-0node] [i-0node] access entry of workers is EC2_LINUX, not EC2_WINDOWS"}},
		{"EC2_WINDOWS for Windows", outsider(entryOf("EC2_WINDOWS"), windowsNode), pass},
		{"a type that nobody knows", outsider(entryOf("EC2_MAC")), []string{`unknown ` + role + ` [i-0node] access entries: not read: the access entry of ` + role + ` has the type "EC2_MAC", which is not known`}},
		{"not described", outsider(func(s *snapshot.Snapshot) { s.AccessEntries = nil }), []string{"unknown " + role + " [i-0node] access entries: not read: the access entry of " + role + " was not described"}},
		{"aws-auth unread: not needed", outsider(checktest.Unread(snapshot.AWSAuthMap)), pass},
		{"unread", outsider(checktest.Unread(snapshot.Access)), []string{"unknown prod [] access entries: denied"}},
	}
}

func TestAccessWrongTypeFix(t *testing.T) {
	got := checktest.Failed(t, AccessWrongType(), outsider(entryOf("STANDARD")))
	want := "aws eks delete-access-entry --region us-west-2 --cluster-name prod --principal-arn arn:aws:iam::123456789012:role/workers && " +
		"aws eks create-access-entry --region us-west-2 --cluster-name prod --principal-arn arn:aws:iam::123456789012:role/workers --type EC2_LINUX"
	if got.Fix.Command != want || got.Fix.Remedy != "" {
		t.Errorf("Fix = %+v, want %q and no remedy: that one only creates", got.Fix, want)
	}
}
