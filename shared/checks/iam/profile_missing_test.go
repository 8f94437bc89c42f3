package iam

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func noInstanceProfile(s *snapshot.Snapshot) {
	snapshottest.Instance(s, snapshottest.Node).Profile = ""
}

func TestProfileMissing(t *testing.T) { checktest.RunCases(t, ProfileMissing(), profileMissingCases()) }

func profileMissingCases() []checktest.Case {
	profile, role := snapshottest.ProfileARN, snapshottest.NodeRole
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"not joined, with a role", outsider(), []string{"pass prod [i-0node]"}},
		{"none", outsider(noInstanceProfile), []string{"fail lt-0a [i-0node] [i-0node] i-0node has no instance profile"}},
		{"none, without a launch template", outsider(noInstanceProfile, func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).Template = snapshot.TemplateRef{}
		}), []string{"fail i-0node [i-0node] [i-0node] i-0node has no instance profile"}},
		{"two of one template: one finding", outsider(noInstanceProfile, secondNode, func(s *snapshot.Snapshot) { snapshottest.Instance(s, "i-0second").Profile = "" }), []string{
			"fail lt-0a [i-0node i-0second] [i-0node i-0second] 2 instances have no instance profile",
		}},
		{"one of two", outsider(noInstanceProfile, secondNode), []string{
			"fail lt-0a [i-0node] [i-0node] i-0node has no instance profile", "pass prod [i-0second]",
		}},
		{"a Ready node is not accused", checktest.Change(snapshottest.PrivateWithNAT(), noInstanceProfile), []string{"pass prod [i-0node]"}},
		{"ended: EC2 forgets it", outsider(noInstanceProfile, func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }), nil},
		{"without a role", outsider(func(s *snapshot.Snapshot) { s.Profiles[0].Roles = nil }), []string{
			"fail " + profile + " [i-0node] [i-0node] instance profile eks-workers holds no role",
		}},
		{"deleted", outsider(iamDeleted(snapshot.Profiles, profile)), []string{
			"fail " + profile + " [i-0node] [i-0node] instance profile eks-workers was deleted",
		}},
		{"role deleted", outsider(iamDeleted(snapshot.Roles, role)), []string{
			"fail " + profile + " [i-0node] [i-0node] node role workers was deleted",
		}},
		{"role denied: the profile holds it", outsider(lackOf(snapshot.Roles, role, snapshot.Denied, "AccessDenied")), []string{"pass prod [i-0node]"}},
		{"profile denied", outsider(lackOf(snapshot.Profiles, profile, snapshot.Denied, "AccessDenied")), []string{"unknown i-0node [i-0node] instance profiles: denied"}},
		{"profile not listed", outsider(func(s *snapshot.Snapshot) { s.Profiles = nil }), []string{
			"unknown i-0node [i-0node] instance profiles: not read: " + profile + " is not among the instance profiles that were read",
		}},
		{"unread", outsider(checktest.Unread(snapshot.Profiles)), []string{"unknown prod [] instance profiles: denied"}},
	}
}

func secondNode(s *snapshot.Snapshot) {
	snapshottest.Launch(s, "i-0second", snapshottest.Private, 10*60e9)
}

func TestProfileMissingFix(t *testing.T) {
	got := checktest.Failed(t, ProfileMissing(), outsider(func(s *snapshot.Snapshot) { s.Profiles[0].Roles = nil }))
	if want := "aws iam add-role-to-instance-profile --region us-west-2 --instance-profile-name eks-workers --role-name '<node role>'"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
}
