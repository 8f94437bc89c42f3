package iam

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestAwsAuthInvalid(t *testing.T) { checktest.RunCases(t, AWSAuthInvalid(), awsAuthInvalidCases()) }

func awsAuthInvalidCases() []checktest.Case {
	role := snapshottest.NodeRole
	configMap := authMode("CONFIG_MAP")
	broken := mapRolesTo("- rolearn: x\n\tgroups: []\n")
	pass := []string{"pass kube-system/aws-auth [i-0node]"}
	fail := []string{"fail kube-system/aws-auth [i-0node] [i-0node] aws-auth of prod cannot be read"}
	return []checktest.Case{
		{"Ready, none", snapshottest.PrivateWithNAT(), pass},
		{"a list", outsider(configMap, mapRolesTo(asNode(role))), pass},
		{"empty", outsider(configMap, mapRolesTo()), pass},
		{"a tab", outsider(configMap, broken), fail},
		{"no list", outsider(configMap, mapRolesTo("rolearn: x\n")), fail},
		{"the role has an entry", outsider(broken), []string{"fail (advice) kube-system/aws-auth [prod] [] aws-auth of prod cannot be read", "pass kube-system/aws-auth [i-0node]"}},
		{"the role has no entry", outsider(noEntry, broken), fail},
		{"not asked", outsider(authMode("API"), broken), pass},
		{"all Ready, no way for others (roadmap1287)", checktest.Change(snapshottest.PrivateWithNAT(), configMap, broken), []string{
			"fail kube-system/aws-auth [prod] [] aws-auth of prod cannot be read", "pass kube-system/aws-auth [i-0node]",
		}},
		{"nobody is there yet (roadmap1287)", checktest.Change(snapshottest.PrivateWithNAT(), configMap, broken, func(s *snapshot.Snapshot) { s.Instances, s.Scope.Instances = nil, nil }), []string{
			"fail kube-system/aws-auth [prod] [] aws-auth of prod cannot be read",
		}},
		{"entries unread", outsider(checktest.Unread(snapshot.Access), broken), []string{
			"unknown " + role + " [i-0node] access entries: denied", "fail (advice) kube-system/aws-auth [prod] [] aws-auth of prod cannot be read",
		}},
		{"a mode that nobody knows", outsider(authMode("PLUGIN"), broken), []string{`unknown prod [prod] cluster: not read: prod has the authentication mode "PLUGIN", which is not known`}},
		{"unread", outsider(checktest.Unread(snapshot.AWSAuthMap)), []string{"unknown prod [] aws-auth: denied"}},
	}
}

func TestAWSAuthInvalidSaysWhereItBreaks(t *testing.T) {
	got := checktest.Failed(t, AWSAuthInvalid(), outsider(authMode("CONFIG_MAP"), mapRolesTo("- rolearn: x\n\tgroups: []\n")))
	if !strings.Contains(got.Why, "prod cannot read mapRoles: yaml: line 2") {
		t.Errorf("Why = %q, want the line", got.Why)
	}
}
