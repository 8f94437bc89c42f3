package iam

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestAccessDuplicateMapping(t *testing.T) {
	checktest.RunCases(t, AccessDuplicateMapping(), accessDuplicateMappingCases())
}

func accessDuplicateMappingCases() []checktest.Case {
	role := snapshottest.NodeRole
	configMap := authMode("CONFIG_MAP")
	twice := mapRolesTo(asNode(role), mappedAs(role, "test", "system:masters"))
	pass := []string{"pass " + role + " [i-0node]"}
	fail := []string{"fail " + role + " [i-0node] [i-0node] workers is mapped to 2 different users"}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"mapped once", outsider(configMap, mapRolesTo(asNode(role))), pass},
		{"mapped twice alike", outsider(configMap, mapRolesTo(asNode(role), asNode(role))), pass},
		{"mapped twice", outsider(configMap, twice), fail},
		{"mapped twice, and Ready (ami610): advice", checktest.Change(snapshottest.PrivateWithNAT(), configMap, twice), []string{
			"fail (advice) " + role + " [i-0node] [] workers is mapped to 2 different users",
		}},
		{"mapped twice beside an entry, which comes first", outsider(twice), pass},
		{"mapped, and a STANDARD entry", outsider(entryOf("STANDARD"), mapRolesTo(asNode(role))), fail},
		{"mapped as nobody, and an entry of nodes", outsider(mapRolesTo(mappedAs(role, "test", "system:masters"))), pass},
		{"not asked", outsider(authMode("API"), twice), pass},
		{"mapped once, entries unread", outsider(checktest.Unread(snapshot.Access), mapRolesTo(asNode(role))), []string{"unknown " + role + " [i-0node] access entries: denied"}},
		{"unread", outsider(checktest.Unread(snapshot.AWSAuthMap)), []string{"unknown prod [] aws-auth: denied"}},
	}
}
