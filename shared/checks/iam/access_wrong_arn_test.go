package iam

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestAccessWrongARN(t *testing.T) { checktest.RunCases(t, AccessWrongARN(), accessWrongARNCases()) }

func accessWrongARNCases() []checktest.Case {
	role := snapshottest.NodeRole
	configMap := authMode("CONFIG_MAP")
	pass := []string{"pass " + role + " [i-0node]"}
	fail := []string{"fail " + role + " [i-0node] [i-0node] workers is mapped by an ARN that does not match"}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"an entry", outsider(), pass},
		{"nothing", outsider(noEntry), pass},
		{"the instance profile's ARN", outsider(configMap, mapRolesTo(asNode(snapshottest.ProfileARN))), fail},
		{"the ARN of a profile with the role's name", outsider(configMap, mapRolesTo(asNode("arn:aws:iam::123456789012:instance-profile/workers"))), fail},
		{"a session's ARN", outsider(configMap, mapRolesTo(asNode("arn:aws:sts::123456789012:assumed-role/workers/i-0node"))), fail},
		{"with the path (roadmap926, eks893)", outsider(withPath, configMap, mapRolesTo(asNode(pathRole))), []string{
			"fail " + pathRole + " [i-0node] [i-0node] workers is mapped by an ARN that does not match",
		}},
		{"with the path, and without it", outsider(withPath, configMap, mapRolesTo(asNode(pathRole), asNode("arn:aws:iam::123456789012:role/workers"))), []string{"pass " + pathRole + " [i-0node]"}},
		{"with a path that the role has not", outsider(configMap, mapRolesTo(asNode("arn:aws:iam::123456789012:role/team/workers"))), fail},
		{"with a space", outsider(configMap, mapRolesTo(asNode(role+" "))), fail},
		{"of another partition", outsider(configMap, mapRolesTo(asNode(strings.Replace(role, "arn:aws:", "arn:aws-cn:", 1)))), fail},
		{"under a user's key", outsider(configMap, mapRolesTo(strings.ReplaceAll(asNode(role), "rolearn", "userarn"))), fail},
		{"the same name in another account is another role", outsider(configMap, mapRolesTo(asNode("arn:aws:iam::999999999999:role/workers"))), pass},
		{"another role's profile", outsider(configMap, mapRolesTo(asNode("arn:aws:iam::123456789012:instance-profile/others"))), pass},
		{"an access entry with another path", outsider(noEntry, func(s *snapshot.Snapshot) { s.Principals = []string{"arn:aws:iam::123456789012:role/team/workers"} }), fail},
		{"a wrong mapping beside a right entry", outsider(mapRolesTo(asNode(snapshottest.ProfileARN))), pass},
		{"not asked", outsider(noEntry, authMode("API"), mapRolesTo(asNode(snapshottest.ProfileARN))), pass},
		{"a wrong mapping, entries unread", outsider(checktest.Unread(snapshot.Access), mapRolesTo(asNode(snapshottest.ProfileARN))), []string{"unknown " + role + " [i-0node] access entries: denied"}},
		{"a comrade is Ready", outsider(configMap, mapRolesTo(asNode(snapshottest.ProfileARN)), readyComrade), []string{
			"fail (likely) " + role + " [i-0node] [i-0node] workers is mapped by an ARN that does not match", "pass " + role + " [i-0ready]",
		}},
		{"unread", outsider(checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestAccessWrongARNWords(t *testing.T) {
	got := checktest.Failed(t, AccessWrongARN(), outsider(withPath, authMode("CONFIG_MAP"), mapRolesTo(asNode(pathRole))))
	want := "mapRoles, entry 1: " + pathRole + ": it has the role's path, which the authenticator does not know: STS names roles without it. The role arn:aws:iam::123456789012:role/workers itself has no mapping in kube-system/aws-auth, so prod answers i-0node with 401 Unauthorized."
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if want := "--arn arn:aws:iam::123456789012:role/workers --username"; !strings.Contains(got.Fix.Command, want) {
		t.Errorf("Command = %q, want the ARN without its path", got.Fix.Command)
	}
}
