package iam

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func noEntry(s *snapshot.Snapshot) { s.AccessEntries, s.Principals = nil, nil }

func authMode(mode string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Cluster.AuthMode = mode }
}

// mapRolesTo makes aws-auth hold mapRoles.
func mapRolesTo(entries ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.AWSAuth = &snapshot.AWSAuth{MapRoles: strings.Join(entries, "")} }
}

// asNode is an entry of mapRoles that makes nodes of a role.
func asNode(arn string) string {
	return mappedAs(arn, "system:node:{{EC2PrivateDNSName}}", "system:bootstrappers", "system:nodes")
}

func mappedAs(arn, user string, groups ...string) string {
	return fmt.Sprintf("- rolearn: %q\n  username: %q\n  groups: [%s]\n", arn, user, strings.Join(groups, ", "))
}

// withPath gives the node role a path.
func withPath(s *snapshot.Snapshot) {
	s.Profiles[0].Roles[0], s.Roles[0].ARN = pathRole, pathRole
	noEntry(s)
}

const pathRole = "arn:aws:iam::123456789012:role/team/a/workers"

func TestAccessMissing(t *testing.T) { checktest.RunCases(t, AccessMissing(), accessMissingCases()) }

func accessMissingCases() []checktest.Case {
	role := snapshottest.NodeRole
	pass := []string{"pass " + role + " [i-0node]"}
	fail := []string{"fail " + role + " [i-0node] [i-0node] prod does not admit the node role workers"}
	likely := []string{"fail (likely) " + role + " [i-0node] [i-0node] prod does not admit the node role workers"}
	const configMap, api = "CONFIG_MAP", "API"
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"an entry", outsider(), pass},
		{"an entry of a role with a path", outsider(withPath, func(s *snapshot.Snapshot) {
			s.AccessEntries = []snapshot.AccessEntry{{Principal: pathRole, Type: "EC2_LINUX"}}
		}), []string{"pass " + pathRole + " [i-0node]"}},
		{"neither (aioneks111)", outsider(noEntry), fail},
		{"no entry in the mode API", outsider(noEntry, authMode(api)), fail},
		{"no entry in the mode API, mapped in vain", outsider(noEntry, authMode(api), mapRolesTo(asNode(role))), fail},
		{"mapped", outsider(noEntry, mapRolesTo(asNode(role))), pass},
		{"mapped, in another case", outsider(noEntry, mapRolesTo(asNode(strings.ToUpper(role)))), pass},
		{"mapped, old cluster", outsider(noEntry, authMode(""), mapRolesTo(asNode(role))), pass},
		{"a role with a path, mapped without it", outsider(withPath, authMode(configMap), mapRolesTo(asNode("arn:aws:iam::123456789012:role/workers"))), []string{"pass " + pathRole + " [i-0node]"}},
		{"an entry that the mode does not ask", outsider(authMode(configMap)), fail},
		{"dropped from aws-auth (eks2289)", outsider(authMode(configMap), mapRolesTo(asNode("arn:aws:iam::123456789012:role/others"))), fail},
		{"no aws-auth at all", outsider(authMode(configMap)), fail},
		{"mapped without the group of nodes", outsider(authMode(configMap), mapRolesTo(mappedAs(role, "system:node:{{EC2PrivateDNSName}}", "system:bootstrappers"))), []string{
			"fail " + role + " [i-0node] [i-0node] workers is mapped without the group system:nodes",
		}},
		{"mapped without the group of bootstrappers", outsider(authMode(configMap), mapRolesTo(mappedAs(role, "system:node:{{EC2PrivateDNSName}}", "system:nodes"))), []string{
			"fail (possible) " + role + " [i-0node] [i-0node] workers is mapped without the group system:bootstrappers",
		}},
		{"mapped as the instance's id (karpenter-provider-aws 7508)", outsider(authMode(configMap), mapRolesTo(mappedAs(role, "system:node:{{SessionName}}", "system:bootstrappers", "system:nodes"))), []string{
			"fail (likely) " + role + " [i-0node] [i-0node] workers is mapped to a user that is not the node's name",
		}},
		{"mapped as somebody", outsider(authMode(configMap), mapRolesTo(mappedAs(role, "workers", "system:nodes"))), []string{
			`fail ` + role + ` [i-0node] [i-0node] workers is mapped as user "workers", which is no node`,
		}},
		{"in mapUsers, under rolearn", outsider(authMode(configMap), func(s *snapshot.Snapshot) { s.AWSAuth = &snapshot.AWSAuth{MapUsers: asNode(role)} }), fail},
		{"in mapUsers, under userarn", outsider(authMode(configMap), func(s *snapshot.Snapshot) {
			s.AWSAuth = &snapshot.AWSAuth{MapUsers: strings.ReplaceAll(asNode(role), "rolearn", "userarn")}
		}), []string{"fail (possible) " + role + " [i-0node] [i-0node] prod does not admit the node role workers"}},
		{"the entry is of another type", outsider(func(s *snapshot.Snapshot) { s.AccessEntries[0].Type = "STANDARD" }), fail},
		{"a comrade is Ready", outsider(noEntry, readyComrade), []string{likely[0], "pass " + role + " [i-0ready]"}},
		{"it still has time", outsider(noEntry, func(s *snapshot.Snapshot) { s.Launches[0].Due = s.Time.Add(time.Minute) }), likely},
		{"two nodes: one finding", outsider(noEntry, secondNode), []string{"fail " + role + " [i-0node i-0second] [i-0node i-0second] prod does not admit the node role workers"}},
		{"all Ready: not accused", checktest.Change(snapshottest.PrivateWithNAT(), noEntry), pass},
		{"a mode that nobody knows", outsider(authMode("PLUGIN")), []string{`unknown ` + role + ` [i-0node] cluster: not read: prod has the authentication mode "PLUGIN", which is not known`}},
		{"entries unread", outsider(checktest.Unread(snapshot.Access)), []string{"unknown " + role + " [i-0node] access entries: denied"}},
		{"entries unread, mapped: an entry would come first", outsider(checktest.Unread(snapshot.Access), mapRolesTo(asNode(role))), []string{"unknown " + role + " [i-0node] access entries: denied"}},
		{"entries unread, and not asked", outsider(checktest.Unread(snapshot.Access), authMode(configMap), mapRolesTo(asNode(role))), pass},
		{"the entry could not be described", outsider(func(s *snapshot.Snapshot) { s.AccessEntries = nil }), []string{
			"unknown " + role + " [i-0node] access entries: not read: the access entry of " + role + " was not described",
		}},
		{"the entry was denied", outsider(noEntry, lackOf(snapshot.Access, role, snapshot.Denied, "AccessDeniedException")), []string{"unknown " + role + " [i-0node] access entries: denied"}},
		{"the entry is gone", outsider(noEntry, lackOf(snapshot.Access, role, snapshot.Broken, "ResourceNotFoundException")), fail},
		{"aws-auth unread, an entry", outsider(checktest.Unread(snapshot.AWSAuthMap)), pass},
		{"aws-auth unread, no entry", outsider(noEntry, checktest.Unread(snapshot.AWSAuthMap)), []string{"unknown " + role + " [i-0node] aws-auth: denied"}},
		{"aws-auth unread, and not asked", outsider(noEntry, authMode(api), checktest.Unread(snapshot.AWSAuthMap)), fail},
		{"no role: another's matter", outsider(noEntry, noInstanceProfile), nil},
		{"unread", outsider(checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestAccessMissingWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, AccessMissing(), outsider(noEntry, authMode("API"), mapRolesTo(asNode(snapshottest.NodeRole))))
	if want := "aws eks create-access-entry --region us-west-2 --cluster-name prod --principal-arn arn:aws:iam::123456789012:role/workers --type EC2_LINUX"; got.Fix.Command != want || got.Fix.Remedy != "create-access-entry" {
		t.Errorf("Fix = %+v, want %q", got.Fix, want)
	}
	if want := "in the mode API nothing reads aws-auth"; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q lacks %q", got.Why, want)
	}

	got = checktest.Failed(t, AccessMissing(), outsider(noEntry, func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Windows = true }))
	if !strings.HasSuffix(got.Fix.Command, "--type EC2_WINDOWS") {
		t.Errorf("Command = %q, want the type of Windows", got.Fix.Command)
	}
	got = checktest.Failed(t, AccessMissing(), outsider(noEntry, autoMode))
	if want := "--type EC2 && aws eks associate-access-policy --region us-west-2 --cluster-name prod --principal-arn " + snapshottest.NodeRole +
		" --policy-arn arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy --access-scope type=cluster"; !strings.HasSuffix(got.Fix.Command, want) {
		t.Errorf("Command = %q, want the type of Auto Mode", got.Fix.Command)
	}

	got = checktest.Failed(t, AccessMissing(), outsider(authMode("CONFIG_MAP")))
	if !strings.HasPrefix(got.Fix.Command, "eksctl create iamidentitymapping --region us-west-2 --cluster prod") || got.Fix.Remedy != "" {
		t.Errorf("Fix = %+v, want a mapping and no remedy: the mode has no access entries", got.Fix)
	}
}
