package iam

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

func TestCases(t *testing.T) {
	checktest.RunTable(t, Checks(), map[checkid.ID][]checktest.Case{
		checkid.IAMAccessDuplicateMapping: accessDuplicateMappingCases(),
		checkid.IAMAccessMissing:          accessMissingCases(),
		checkid.IAMAccessWrongARN:         accessWrongARNCases(),
		checkid.IAMAccessWrongType:        accessWrongTypeCases(),
		checkid.IAMAWSAuthInvalid:         awsAuthInvalidCases(),
		checkid.IAMCNIRolePolicies:        cniRolePoliciesCases(),
		checkid.IAMProfileMissing:         profileMissingCases(),
		checkid.IAMRolePolicies:           rolePoliciesCases(),
		checkid.IAMRoleTrust:              roleTrustCases(),
		checkid.IAMSTSEndpoint:            stsEndpointCases(),
		checkid.IAMSTSRegionDeactivated:   stsRegionDeactivatedCases(),
	})
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

func accessMissingCases() []checktest.Case {
	role := snapshottest.NodeRole
	pass := []string{"pass " + role + " [i-0node]"}
	fail := []string{"fail " + role + " [i-0node] [i-0node] prod rejects the node role workers"}
	likely := []string{"fail (likely) " + role + " [i-0node] [i-0node] prod rejects the node role workers"}
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
		}), []string{"fail (possible) " + role + " [i-0node] [i-0node] prod rejects the node role workers"}},
		{"the entry is of another type", outsider(func(s *snapshot.Snapshot) { s.AccessEntries[0].Type = "STANDARD" }), fail},
		{"a comrade is Ready", outsider(noEntry, readyComrade), []string{likely[0], "pass " + role + " [i-0ready]"}},
		{"it still has time", outsider(noEntry, func(s *snapshot.Snapshot) { s.Launches[0].Due = s.Time.Add(time.Minute) }), likely},
		{"two nodes: one finding", outsider(noEntry, secondNode), []string{"fail " + role + " [i-0node i-0second] [i-0node i-0second] prod rejects the node role workers"}},
		{"all Ready: not accused", checktest.Change(snapshottest.PrivateWithNAT(), noEntry), pass},
		{"a mode that nobody knows", outsider(authMode("PLUGIN")), []string{`unknown ` + role + ` [i-0node] cluster: not read: prod has the authentication mode "PLUGIN", which is unknown to Rollcall`}},
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
	got := checktest.Failed(t, checkOf(checkid.IAMAccessMissing), outsider(noEntry, authMode("API"), mapRolesTo(asNode(snapshottest.NodeRole))))
	if want := "aws eks create-access-entry --region us-west-2 --cluster-name prod --principal-arn arn:aws:iam::123456789012:role/workers --type EC2_LINUX"; got.Fix.Command != want || got.Fix.Remedy != "create-access-entry" {
		t.Errorf("Fix = %+v, want %q", got.Fix, want)
	}
	if want := "in the mode API nothing reads aws-auth"; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q lacks %q", got.Why, want)
	}

	got = checktest.Failed(t, checkOf(checkid.IAMAccessMissing), outsider(noEntry, func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Windows = true }))
	if !strings.HasSuffix(got.Fix.Command, "--type EC2_WINDOWS") {
		t.Errorf("Command = %q, want the type of Windows", got.Fix.Command)
	}
	got = checktest.Failed(t, checkOf(checkid.IAMAccessMissing), outsider(noEntry, autoMode))
	if want := "--type EC2 && aws eks associate-access-policy --region us-west-2 --cluster-name prod --principal-arn " + snapshottest.NodeRole +
		" --policy-arn arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy --access-scope type=cluster"; !strings.HasSuffix(got.Fix.Command, want) {
		t.Errorf("Command = %q, want the type of Auto Mode", got.Fix.Command)
	}

	got = checktest.Failed(t, checkOf(checkid.IAMAccessMissing), outsider(authMode("CONFIG_MAP")))
	if !strings.HasPrefix(got.Fix.Command, "eksctl create iamidentitymapping --region us-west-2 --cluster prod") || got.Fix.Remedy != "" {
		t.Errorf("Fix = %+v, want a mapping and no remedy: the mode has no access entries", got.Fix)
	}
}

func withPolicies(list ...snapshot.AccessPolicy) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.AccessEntries[0].Policies = list }
}

func policiesLack(reason snapshot.Reason, code string) func(*snapshot.Snapshot) {
	return lackOf(snapshot.Access, snapshot.AccessPoliciesOf(snapshottest.NodeRole), reason, code)
}

func TestAccessPolicyMissing(t *testing.T) {
	role := snapshottest.NodeRole
	auto := snapshot.AccessPolicy{ARN: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy"}
	inNamespace := auto
	inNamespace.Namespaces = []string{"ml"}
	pass := []string{"pass " + role + " [i-0node]"}
	fail := "fail " + role + " [i-0node] [i-0node] the access entry of workers lacks AmazonEKSAutoNodePolicy"
	checktest.RunCases(t, checkOf(checkid.IAMAccessPolicyMissing), []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"no node of Auto Mode", outsider(entryOf("EC2")), pass},
		{"another type", outsider(autoMode), pass},
		{"no entry", outsider(autoMode, noEntry), pass},
		{"without it", outsider(autoMode, entryOf("EC2"), withPolicies(snapshot.AccessPolicy{ARN: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"})), []string{fail}},
		{"for a namespace", outsider(autoMode, entryOf("EC2"), withPolicies(inNamespace)), []string{fail}},
		{"with it", outsider(autoMode, entryOf("EC2"), withPolicies(auto)), pass},
		{"not captured", outsider(autoMode, entryOf("EC2"), policiesLack(snapshot.NotRead, snapshot.NotCaptured)), nil},
		{"not known", outsider(autoMode, entryOf("EC2"), policiesLack(snapshot.Throttled, "Throttling")), []string{"unknown " + role + " [i-0node] access entries: throttled"}},
		{"unread", outsider(checktest.Unread(snapshot.Access)), []string{"unknown prod [] access entries: denied"}},
	})
}

// recreated makes the node role again, an hour ago, of which the entry is older.
func recreated(s *snapshot.Snapshot) {
	s.AccessEntries[0].Created = s.Time.Add(-48 * time.Hour)
	s.AccessEntries[0].Modified = s.AccessEntries[0].Created
	s.Roles[0].Created = s.Time.Add(-time.Hour)
}

func TestAccessStale(t *testing.T) {
	role := snapshottest.NodeRole
	pass := []string{"pass " + role + " [i-0node]"}
	fail := "fail " + role + " [i-0node] [i-0node] the access entry of workers belongs to a deleted role"
	checktest.RunCases(t, checkOf(checkid.IAMAccessStale), []checktest.Case{
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
	got := checktest.Failed(t, checkOf(checkid.IAMAccessWrongARN), outsider(withPath, authMode("CONFIG_MAP"), mapRolesTo(asNode(pathRole))))
	want := "mapRoles, entry 1: " + pathRole + ": it has the role's path, which the authenticator does not use: STS names roles without it. The role arn:aws:iam::123456789012:role/workers itself has no mapping in kube-system/aws-auth, so prod answers i-0node with 401 Unauthorized."
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if want := "--arn arn:aws:iam::123456789012:role/workers --username"; !strings.Contains(got.Fix.Command, want) {
		t.Errorf("Command = %q, want the ARN without its path", got.Fix.Command)
	}
}

// entryOf sets the type of the node role's access entry.
func entryOf(kind string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.AccessEntries = []snapshot.AccessEntry{{Principal: snapshottest.NodeRole, Type: kind, Username: "arn:aws:sts::123456789012:assumed-role/workers/{{SessionName}}"}}
	}
}

func windowsNode(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Windows = true }

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
		{"a type that nobody knows", outsider(entryOf("EC2_MAC")), []string{`unknown ` + role + ` [i-0node] access entries: not read: the access entry of ` + role + ` has the type "EC2_MAC", which is unknown to Rollcall`}},
		{"not described", outsider(func(s *snapshot.Snapshot) { s.AccessEntries = nil }), []string{"unknown " + role + " [i-0node] access entries: not read: the access entry of " + role + " was not described"}},
		{"aws-auth unread: not needed", outsider(checktest.Unread(snapshot.AWSAuthMap)), pass},
		{"unread", outsider(checktest.Unread(snapshot.Access)), []string{"unknown prod [] access entries: denied"}},
	}
}

func TestAccessWrongTypeFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.IAMAccessWrongType), outsider(entryOf("STANDARD")))
	want := "aws eks delete-access-entry --region us-west-2 --cluster-name prod --principal-arn arn:aws:iam::123456789012:role/workers && " +
		"aws eks create-access-entry --region us-west-2 --cluster-name prod --principal-arn arn:aws:iam::123456789012:role/workers --type EC2_LINUX"
	if got.Fix.Command != want || got.Fix.Remedy != "" {
		t.Errorf("Fix = %+v, want %q and no remedy: that one only creates", got.Fix, want)
	}
}

func awsAuthInvalidCases() []checktest.Case {
	role := snapshottest.NodeRole
	configMap := authMode("CONFIG_MAP")
	broken := mapRolesTo("- rolearn: x\n\tgroups: []\n")
	pass := []string{"pass kube-system/aws-auth [i-0node]"}
	fail := []string{"fail kube-system/aws-auth [i-0node] [i-0node] aws-auth of prod cannot be parsed"}
	return []checktest.Case{
		{"Ready, none", snapshottest.PrivateWithNAT(), pass},
		{"a list", outsider(configMap, mapRolesTo(asNode(role))), pass},
		{"empty", outsider(configMap, mapRolesTo()), pass},
		{"a tab", outsider(configMap, broken), fail},
		{"no list", outsider(configMap, mapRolesTo("rolearn: x\n")), fail},
		{"the role has an entry", outsider(broken), []string{"fail (advice) kube-system/aws-auth [prod] [] aws-auth of prod cannot be parsed", "pass kube-system/aws-auth [i-0node]"}},
		{"the role has no entry", outsider(noEntry, broken), fail},
		{"not asked", outsider(authMode("API"), broken), pass},
		{"all Ready, no way for others (roadmap1287)", checktest.Change(snapshottest.PrivateWithNAT(), configMap, broken), []string{
			"fail kube-system/aws-auth [prod] [] aws-auth of prod cannot be parsed", "pass kube-system/aws-auth [i-0node]",
		}},
		{"nobody is there yet (roadmap1287)", checktest.Change(snapshottest.PrivateWithNAT(), configMap, broken, func(s *snapshot.Snapshot) { s.Instances, s.Scope.Instances = nil, nil }), []string{
			"fail kube-system/aws-auth [prod] [] aws-auth of prod cannot be parsed",
		}},
		{"entries unread", outsider(checktest.Unread(snapshot.Access), broken), []string{
			"unknown " + role + " [i-0node] access entries: denied", "fail (advice) kube-system/aws-auth [prod] [] aws-auth of prod cannot be parsed",
		}},
		{"a mode that nobody knows", outsider(authMode("PLUGIN"), broken), []string{`unknown prod [prod] cluster: not read: prod has the authentication mode "PLUGIN", which is unknown to Rollcall`}},
		{"unread", outsider(checktest.Unread(snapshot.AWSAuthMap)), []string{"unknown prod [] aws-auth: denied"}},
	}
}

func TestAWSAuthInvalidSaysWhereItBreaks(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.IAMAWSAuthInvalid), outsider(authMode("CONFIG_MAP"), mapRolesTo("- rolearn: x\n\tgroups: []\n")))
	if !strings.Contains(got.Why, "prod cannot read mapRoles: yaml: line 2") {
		t.Errorf("Why = %q, want the line", got.Why)
	}
}

const gpuRole = "arn:aws:iam::123456789012:role/gpu-nodes"

// refused is a healthy world with a NodeClass of EKS Auto Mode, the role of which the cluster
// refuses; its access entry is as it should be.
func refused(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	is := func(status, reason string) snapshot.ObservedCondition {
		return snapshot.ObservedCondition{Condition: snapshot.Condition{Status: status, Reason: reason, Since: s.Time.Add(-20 * time.Minute)}, Generation: 1}
	}
	s.NodePools = []snapshot.NodePool{{Name: "ml", Class: snapshot.ClassRef{Group: snapshot.AutoModeGroup, Kind: "NodeClass", Name: "gpu"}}}
	s.AutoNodeClasses = []snapshot.NodeClass{{Name: "gpu", Generation: 1, Role: "gpu-nodes", Conditions: map[string]snapshot.ObservedCondition{
		"InstanceProfileReady": is("False", "UnauthorizedNodeRole"), "Ready": is("False", "UnhealthyDependents")}}}
	s.ClassRoles = []snapshot.ClassRole{{Classes: []string{"gpu"}, Name: "gpu-nodes", ARN: gpuRole, Created: s.Time.Add(-48 * time.Hour), Entries: []snapshot.AccessEntry{{
		Principal: gpuRole, Type: "EC2", Created: s.Time.Add(-47 * time.Hour), Modified: s.Time.Add(-47 * time.Hour), Policies: []snapshot.AccessPolicy{{ARN: "arn:aws:eks::aws:cluster-access-policy/" + autoNodePolicy}}}}}}
	return checktest.Change(s, changes...)
}

func classIs(change func(*snapshot.NodeClass)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { change(&s.AutoNodeClasses[0]) }
}

func classEntry(change func(*snapshot.AccessEntry)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { change(&s.ClassRoles[0].Entries[0]) }
}

func entryType(kind string) func(*snapshot.Snapshot) {
	return classEntry(func(e *snapshot.AccessEntry) { e.Type = kind })
}

func noClassEntry(s *snapshot.Snapshot) { s.ClassRoles[0].Entries = nil }

func classRoleUnread(s *snapshot.Snapshot) {
	s.ClassRoles[0].ARN, s.ClassRoles[0].Created = "", time.Time{}
	s.Lack(snapshot.ClassAccess, "gpu-nodes", snapshot.Failure{Source: snapshot.ClassAccess, Reason: snapshot.Throttled, Call: "iam:GetRole"})
}

func classPoliciesUnread(s *snapshot.Snapshot) {
	s.ClassRoles[0].Entries[0].Policies = nil
	s.Lack(snapshot.ClassAccess, snapshot.AccessPoliciesOf(gpuRole), snapshot.Failure{Source: snapshot.ClassAccess, Reason: snapshot.Throttled, Call: "eks:ListAssociatedAccessPolicies"})
}

func classPath(s *snapshot.Snapshot) {
	s.ClassRoles[0].ARN = "arn:aws:iam::123456789012:role/nodes/gpu-nodes"
	s.ClassRoles[0].Entries[0].Principal = s.ClassRoles[0].ARN
}

func classRecreated(s *snapshot.Snapshot) { s.ClassRoles[0].Created = s.Time.Add(-time.Hour) }

// TestRolesOfClasses: each check of access judges the node roles of refused NodeClasses in a
// sweep, for which it takes no instance.
func TestRolesOfClasses(t *testing.T) {
	const covers = " [nodeclass/gpu nodepool/ml]"
	fail := func(title string) []string {
		return []string{"fail " + gpuRole + covers + " [] " + title}
	}
	pass, well := []string{"pass " + gpuRole + covers}, []string{"pass prod" + covers}
	likely := func(lines []string) []string {
		return []string{strings.Replace(lines[0], "fail ", "fail (likely) ", 1)}
	}
	unknown := func(why string) []string { return []string{"unknown " + gpuRole + covers + " " + why} }
	const path = "arn:aws:iam::123456789012:role/nodes/gpu-nodes"
	for _, tt := range []struct {
		name  string
		check check.Check
		world *snapshot.Snapshot
		want  []string
	}{
		{"no entry", checkOf(checkid.IAMAccessMissing), refused(noClassEntry), fail("prod rejects the node role gpu-nodes")},
		{"no entry, and the role is not known", checkOf(checkid.IAMAccessMissing), refused(noClassEntry, classRoleUnread), fail("prod rejects the node role gpu-nodes")},
		{"an entry", checkOf(checkid.IAMAccessMissing), refused(), pass},
		{"an entry, and the class says nothing yet", checkOf(checkid.IAMAccessMissing), refused(noClassEntry, classIs(func(c *snapshot.NodeClass) { c.Conditions = nil })), nil},
		{"refused a minute ago", checkOf(checkid.IAMAccessMissing), refused(noClassEntry, func(s *snapshot.Snapshot) {
			is := s.AutoNodeClasses[0].Conditions["InstanceProfileReady"]
			is.Since = s.Time.Add(-time.Minute)
			s.AutoNodeClasses[0].Conditions["InstanceProfileReady"] = is
		}), nil},
		{"refused before it was changed", checkOf(checkid.IAMAccessMissing), refused(noClassEntry, classIs(func(c *snapshot.NodeClass) { c.Generation = 2 })), nil},
		{"not refused", checkOf(checkid.IAMAccessMissing), refused(noClassEntry, classIs(func(c *snapshot.NodeClass) {
			c.Conditions["InstanceProfileReady"] = snapshot.ObservedCondition{Condition: snapshot.Condition{Status: "True"}}
		})), well},
		{"named by no NodePool", checkOf(checkid.IAMAccessMissing), refused(noClassEntry, func(s *snapshot.Snapshot) { s.NodePools[0].Deleting = true }), nil},
		{"being deleted", checkOf(checkid.IAMAccessMissing), refused(noClassEntry, classIs(func(c *snapshot.NodeClass) { c.Deleting = true })), nil},
		{"unread", checkOf(checkid.IAMAccessMissing), refused(checktest.Unread(snapshot.ClassAccess)), []string{"unknown gpu" + covers + " access of node classes: denied"}},
		{"its role is not known", checkOf(checkid.IAMAccessMissing), refused(func(s *snapshot.Snapshot) {
			s.ClassRoles = nil
			s.Lack(snapshot.ClassAccess, "gpu", snapshot.Failure{Source: snapshot.ClassAccess, Reason: snapshot.Broken, Call: "iam:GetInstanceProfile"})
		}), []string{"unknown gpu" + covers + " access of node classes: broken"}},
		{"the NodeClasses are unread", checkOf(checkid.IAMAccessMissing), refused(checktest.Unread(snapshot.AutoNodeClassesOf)), nil},

		{"STANDARD", checkOf(checkid.IAMAccessWrongType), refused(entryType("STANDARD")), fail("access entry of gpu-nodes is STANDARD, not EC2")},
		{"EC2_LINUX", checkOf(checkid.IAMAccessWrongType), refused(entryType("EC2_LINUX")), likely(fail("access entry of gpu-nodes is EC2_LINUX, not EC2"))},
		{"STANDARD, and the role is not known", checkOf(checkid.IAMAccessWrongType), refused(entryType("STANDARD"), classRoleUnread), fail("access entry of gpu-nodes is STANDARD, not EC2")},
		{"EC2", checkOf(checkid.IAMAccessWrongType), refused(), pass},
		{"no entry: another check's", checkOf(checkid.IAMAccessWrongType), refused(noClassEntry), pass},
		{"an unknown type", checkOf(checkid.IAMAccessWrongType), refused(entryType("EC2_MAC")), unknown(`access entries: not read: the access entry of ` + gpuRole + ` has the type "EC2_MAC", which is unknown to Rollcall`)},

		{"without the policy", checkOf(checkid.IAMAccessPolicyMissing), refused(classEntry(func(e *snapshot.AccessEntry) { e.Policies = nil })), fail("the access entry of gpu-nodes lacks AmazonEKSAutoNodePolicy")},
		{"the policy for a namespace", checkOf(checkid.IAMAccessPolicyMissing), refused(classEntry(func(e *snapshot.AccessEntry) { e.Policies[0].Namespaces = []string{"ml"} })), fail("the access entry of gpu-nodes lacks AmazonEKSAutoNodePolicy")},
		{"with the policy", checkOf(checkid.IAMAccessPolicyMissing), refused(), pass},
		{"the policies unread", checkOf(checkid.IAMAccessPolicyMissing), refused(classPoliciesUnread), unknown("access of node classes: throttled")},
		{"STANDARD: another check's", checkOf(checkid.IAMAccessPolicyMissing), refused(entryType("STANDARD")), pass},

		{"made again", checkOf(checkid.IAMAccessStale), refused(classRecreated), fail("the access entry of gpu-nodes belongs to a deleted role")},
		{"made again, and the entry changed since", checkOf(checkid.IAMAccessStale), refused(classRecreated, classEntry(func(e *snapshot.AccessEntry) { e.Modified = e.Modified.Add(47 * time.Hour) })), likely(fail("the access entry of gpu-nodes belongs to a deleted role"))},
		{"the entry is newer", checkOf(checkid.IAMAccessStale), refused(), pass},
		{"made within the clocks' difference", checkOf(checkid.IAMAccessStale), refused(func(s *snapshot.Snapshot) { s.ClassRoles[0].Created = s.Time.Add(-47*time.Hour + 30*time.Second) }), pass},
		{"the role is not known", checkOf(checkid.IAMAccessStale), refused(classRoleUnread), unknown("access of node classes: throttled")},
		{"no entry to be stale", checkOf(checkid.IAMAccessStale), refused(noClassEntry), pass},

		{"a path, and all else well", checkOf(checkid.IAMAccessWrongARN), refused(classPath), []string{"fail (likely) " + path + covers + " [] the node role gpu-nodes has a path"}},
		{"a path, and the policies unread", checkOf(checkid.IAMAccessWrongARN), refused(func(s *snapshot.Snapshot) {
			classPath(s)
			s.Lack(snapshot.ClassAccess, snapshot.AccessPoliciesOf(path), snapshot.Failure{Source: snapshot.ClassAccess, Reason: snapshot.Throttled, Call: "eks:ListAssociatedAccessPolicies"})
		}), []string{"unknown " + path + covers + " access of node classes: throttled"}},
		{"a path, and a wrong type", checkOf(checkid.IAMAccessWrongARN), refused(classPath, entryType("STANDARD")), []string{"pass " + path + covers}},
		{"an entry of another path", checkOf(checkid.IAMAccessWrongARN), refused(classEntry(func(e *snapshot.AccessEntry) { e.Principal = path })), fail("the access entry of gpu-nodes has another path")},
		{"no path", checkOf(checkid.IAMAccessWrongARN), refused(), pass},
		{"whether it has one is not known", checkOf(checkid.IAMAccessWrongARN), refused(classRoleUnread), unknown("access of node classes: throttled")},
		{"no entry at all", checkOf(checkid.IAMAccessWrongARN), refused(noClassEntry), pass},
	} {
		got := checktest.Lines(check.Eval([]check.Check{tt.check.Sweeping()}, tt.world))
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s, %s:\n got %q\nwant %q", tt.check.ID, tt.name, got, tt.want)
		}
	}
}

// TestClassesBesideInstances: a look at launches judges both.
func TestClassesBesideInstances(t *testing.T) {
	got := checktest.Lines(check.Eval([]check.Check{checkOf(checkid.IAMAccessWrongType)}, refused(entryType("STANDARD"))))
	want := []string{"fail " + gpuRole + " [nodeclass/gpu nodepool/ml] [] access entry of gpu-nodes is STANDARD, not EC2", "pass " + snapshottest.NodeRole + " [i-0node]"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTwoClassesOfOneRole is one finding.
func TestTwoClassesOfOneRole(t *testing.T) {
	s := refused(noClassEntry)
	other := s.AutoNodeClasses[0]
	other.Name = "tpu"
	s.AutoNodeClasses = append(s.AutoNodeClasses, other)
	s.NodePools = append(s.NodePools, snapshot.NodePool{Name: "spare", Class: snapshot.ClassRef{Group: snapshot.AutoModeGroup, Name: "tpu"}})
	s.ClassRoles[0].Classes = []string{"gpu", "tpu"}
	got := checktest.Failed(t, checkOf(checkid.IAMAccessMissing).Sweeping(), s)
	expect.Equal(t, "Why", got.Why, gpuRole+", the node role of NodeClass gpu and tpu, has no access entry in prod. EKS Auto Mode launches no node for NodePool ml and spare until prod grants the role access.")
	if want := "aws eks create-access-entry --region us-west-2 --cluster-name prod --principal-arn " + gpuRole + " --type EC2 && aws eks associate-access-policy --region us-west-2 --cluster-name prod --principal-arn " + gpuRole +
		" --policy-arn arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy --access-scope type=cluster"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
}

const cniRole = "arn:aws:iam::123456789012:role/cni"

// ownRole gives aws-node a role of its own that may do what a statement says.
// It is the first of the roles.
func ownRole(actions string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.CNI.Role = cniRole
		s.Roles = append([]snapshot.Role{{ARN: cniRole, Name: "cni", Policies: []snapshot.Policy{
			{Name: "own", Document: `{"Statement":{"Effect":"Allow","Action":` + actions + `,"Resource":"*"}}`},
		}}}, s.Roles...)
	}
}

// podOf is the pod of aws-node on the node, made with credentials.
func podOf(c snapshot.PodCredentials) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Pods = []snapshot.Pod{{Namespace: "kube-system", Name: "aws-node-x7k2p", Node: s.Nodes[0].Name, Phase: "Running", Identity: c}}
	}
}

func cniImage(version string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.CNI.Image = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:" + version
	}
}

func cniRolePoliciesCases() []checktest.Case {
	node := snapshottest.NodeRole
	const all = `["ec2:AssignPrivateIpAddresses","ec2:AttachNetworkInterface","ec2:CreateNetworkInterface","ec2:Describe*","ec2:ModifyNetworkInterfaceAttribute","ec2:CreateTags"]`
	const old = `["ec2:AssignPrivateIpAddresses","ec2:*NetworkInterface*","ec2:DescribeInstances","ec2:DescribeTags","ec2:DescribeInstanceTypes","ec2:DescribeSubnets","ec2:CreateTags"]`
	const six = `["ec2:AssignIpv6Addresses","ec2:DescribeInstances","ec2:DescribeTags","ec2:DescribeNetworkInterfaces","ec2:DescribeInstanceTypes","ec2:CreateTags"]`
	const noTypes = `["ec2:AssignPrivateIpAddresses","ec2:*NetworkInterface*","ec2:DescribeInstances","ec2:DescribeTags","ec2:DescribeSubnets","ec2:DescribeSecurityGroups","ec2:CreateTags"]`
	ofType := func(name string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Type = name }
	}
	fail := func(role, title string) []string { return []string{"fail " + role + " [i-0node] [i-0node] " + title} }
	const nothing, groups = "aws-node lacks ec2:DescribeNetworkInterfaces and 1 more", "aws-node lacks ec2:DescribeSecurityGroups"
	ipv6 := func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }
	association := func(s *snapshot.Snapshot) {
		s.PodIdentities = []snapshot.PodIdentity{{Namespace: "default", ServiceAccount: "aws-node", Role: "x"}, {Namespace: "kube-system", ServiceAccount: "aws-node", Role: cniRole}}
	}
	const target, here, there = "arn:aws:iam::123456789012:role/cni-target", `{"Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/cni"},"Action":["sts:AssumeRole","sts:TagSession"],"Condition":{"StringEquals":{"sts:ExternalId":"x"}}}}`,
		`{"Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":["sts:AssumeRole","sts:TagSession"]}}`
	// chained gives aws-node a target role with a trust policy and actions, through the
	// role cni with others.
	chained := func(trust, first, then string, more ...func(*snapshot.PodIdentity)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			ownRole(first)(s)
			s.Roles = append(s.Roles, snapshot.Role{ARN: target, Name: "cni-target", Trust: trust, Policies: []snapshot.Policy{
				{Name: "own", Document: `{"Statement":{"Effect":"Allow","Action":` + then + `,"Resource":"*"}}`},
			}})
			s.PodIdentities = []snapshot.PodIdentity{{Namespace: "kube-system", ServiceAccount: "aws-node", Role: cniRole, Target: target, ExternalID: "x"}}
			for _, change := range more {
				change(&s.PodIdentities[0])
			}
		}
	}
	session := func(actions string) func(*snapshot.PodIdentity) {
		return func(a *snapshot.PodIdentity) {
			a.Untagged, a.Policy = true, `{"Statement":{"Effect":"Allow","Action":`+actions+`,"Resource":"*"}}`
		}
	}
	elsewhere := func(a *snapshot.PodIdentity) { a.Target = "arn:aws:iam::444455556666:role/cni-target" }
	const hops = `["sts:AssumeRole","sts:TagSession"]`
	noHop := "aws-node gets no credentials: cni cannot assume cni-target"
	return []checktest.Case{
		{"a target role that may", outsider(chained(here, hops, all)), []string{"pass " + target + " [i-0node]"}},
		{"a target role that may nothing", outsider(chained(here, hops, `"s3:*"`)), fail(target, nothing)},
		{"a target role that names the first one needs no grant", outsider(chained(here, `"s3:*"`, all)), []string{"pass " + target + " [i-0node]"}},
		{"a target role that names the account does", outsider(chained(there, `"s3:*"`, all)), fail(cniRole, noHop)},
		{"a target role that does not trust the first one", outsider(chained(`{"Statement":{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":"sts:*"}}`, hops, all)), fail(target, noHop)},
		{"a target role that wants another external id", outsider(chained(here, hops, all, func(a *snapshot.PodIdentity) { a.ExternalID = "y" })), fail(target, noHop)},
		{"a target role without sts:TagSession", outsider(chained(there, `"sts:AssumeRole"`, all)), fail(cniRole, noHop)},
		{"a target role without sts:TagSession, and without tags", outsider(chained(there, `"sts:AssumeRole"`, all, func(a *snapshot.PodIdentity) { a.Untagged = true })), []string{"pass " + target + " [i-0node]"}},
		{"a target role of another account", outsider(chained(here, hops, `"s3:*"`, elsewhere), lackOf(snapshot.Roles, "arn:aws:iam::444455556666:role/cni-target", snapshot.NotRead, "")), []string{
			"unknown arn:aws:iam::444455556666:role/cni-target [i-0node] iam roles: not read",
		}},
		{"a target role that was deleted", outsider(chained(here, hops, all), iamDeleted(snapshot.Roles, target)), fail(target, "aws-node's role cni-target was deleted")},
		{"the role before a target role was deleted", outsider(chained(here, hops, all), func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Roles, cniRole, snapshot.Failure{Source: snapshot.Roles, Code: check.NoSuchEntity})
		}), fail(cniRole, "aws-node's role cni was deleted")},
		{"a session policy that allows too", outsider(chained(here, hops, all, session(`"ec2:*"`))), []string{"pass " + target + " [i-0node]"}},
		{"a session policy that allows less", outsider(chained(here, hops, all, session(`"ec2:Describe*"`))), fail(target, "aws-node lacks ec2:AssignPrivateIpAddresses")},
		{"a session policy on the association's own role", outsider(ownRole(all), association, func(s *snapshot.Snapshot) { session(`"ec2:Describe*"`)(&s.PodIdentities[1]) }), fail(cniRole, "aws-node lacks ec2:AssignPrivateIpAddresses")},
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass " + node + " [i-0node]"}},
		{"the node's role may", outsider(), []string{"pass " + node + " [i-0node]"}},
		{"the node's role may not", outsider(detachPolicy("AmazonEKS_CNI_Policy")), fail(node, nothing)},
		{"its own role may", outsider(ownRole(all)), []string{"pass " + cniRole + " [i-0node]"}},
		{"its own role may nothing", outsider(ownRole(`"s3:*"`)), fail(cniRole, nothing)},
		{"its own role may nothing, all are Ready", checktest.Change(snapshottest.PrivateWithNAT(), ownRole(`"s3:*"`)), []string{"pass " + cniRole + " [i-0node]"}},
		{"its role by Pod Identity comes first", outsider(ownRole(`"s3:*"`), association, func(s *snapshot.Snapshot) { s.CNI.Role = node }), fail(cniRole, nothing)},
		{"its role is newer than the pod, and the node's may not", outsider(detachPolicy("AmazonEKS_CNI_Policy"), ownRole(all), checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{Told: true})), fail(node, nothing)},
		{"its role is newer than the pod, and may nothing; the node's may", outsider(ownRole(`"s3:*"`), checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{Told: true})), []string{"pass " + node + " [i-0node]"}},
		{"the pod has the role", outsider(ownRole(`"s3:*"`), checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{Told: true, Role: cniRole})), fail(cniRole, nothing)},
		{"the association is newer than the pod", outsider(detachPolicy("AmazonEKS_CNI_Policy"), ownRole(all), association, checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{Told: true})), fail(node, nothing)},
		{"the pod has the association's", outsider(ownRole(`"s3:*"`), association, checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{Told: true, ByAssociation: true})), fail(cniRole, nothing)},
		{"the pod does not tell", outsider(ownRole(`"s3:*"`), checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{})), fail(cniRole, nothing)},
		{"its role by the add-on", outsider(ownRole(`"s3:*"`), func(s *snapshot.Snapshot) { s.CNI.Role, s.Addons[2].Role = "", cniRole }), fail(cniRole, nothing)},
		{"a newer plugin on an old policy (tfiam647)", outsider(ownRole(old), cniImage("v1.22.1-eksbuild.2")), fail(cniRole, groups)},
		{"an older plugin on an old policy", outsider(ownRole(old), cniImage("v1.21.2-eksbuild.2")), []string{"pass " + cniRole + " [i-0node]"}},
		{"a plugin that took it back", outsider(ownRole(old), cniImage("v1.22.2-eksbuild.1")), []string{"pass " + cniRole + " [i-0node]"}},
		{"a newer plugin that does not look for groups", outsider(ownRole(old), cniImage("v1.22.1-eksbuild.2"), func(s *snapshot.Snapshot) { s.CNI.Env["ENABLE_SUBNET_DISCOVERY"] = "false" }), []string{"pass " + cniRole + " [i-0node]"}},
		{"IPv6 on the IPv4 policy", outsider(ipv6), fail(node, "aws-node lacks ec2:AssignIpv6Addresses")},
		{"IPv6 on its own policy", outsider(ipv6, ownRole(`["ec2:AssignIpv6Addresses","ec2:Describe*","ec2:CreateTags"]`)), []string{"pass " + cniRole + " [i-0node]"}},
		{"IPv6, a newer plugin on an older policy (eksctl8835)", outsider(ipv6, ownRole(six), cniImage("v1.22.2-eksbuild.1")), fail(cniRole, "aws-node lacks ec2:DescribeSubnets")},
		{"IPv6, an older plugin on an older policy", outsider(ipv6, ownRole(six), cniImage("v1.21.2-eksbuild.2")), []string{"pass " + cniRole + " [i-0node]"}},
		{"IPv6, a newer plugin that does not look for subnets (karpenter9608)", outsider(ipv6, ownRole(six), cniImage("v1.22.2-eksbuild.1"), func(s *snapshot.Snapshot) { s.CNI.Env["ENABLE_SUBNET_DISCOVERY"] = "false" }), []string{
			"pass " + cniRole + " [i-0node]",
		}},
		{"only what it needs to start", outsider(ownRole(`["ec2:AssignPrivateIpAddresses","ec2:Describe*"]`)), []string{
			"fail (possible) " + cniRole + " [i-0node] [i-0node] aws-node lacks ec2:AttachNetworkInterface and 3 more",
		}},
		{"a type that its version does not know, and may not ask about", outsider(ownRole(noTypes), cniImage("v1.20.4-eksbuild.1"), ofType("c9g.large")), fail(cniRole, "aws-node lacks ec2:DescribeInstanceTypes")},
		{"a type that its version does not know, and may ask about", outsider(ownRole(all), cniImage("v1.20.4-eksbuild.1"), ofType("c9g.large")), []string{"pass " + cniRole + " [i-0node]"}},
		{"a type that its version knows", outsider(ownRole(noTypes), cniImage("v1.23.0-eksbuild.1"), ofType("c9g.large")), []string{"pass " + cniRole + " [i-0node]"}},
		{"a type that some version came to know", outsider(ownRole(noTypes), cniImage("v1.21.0-eksbuild.1"), ofType("c8a.large")), []string{
			"unknown " + cniRole + " [i-0node] aws-node: not read: whether v1.21.0 knows c8a.large without querying EC2 is not in the data, which goes up to v1.23.2 of 2026-09-29",
		}},
		{"a version that is not understood", outsider(ownRole(noTypes), cniImage("latest")), []string{
			"unknown " + cniRole + " [i-0node] aws-node: broken: the version in the image \"602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:latest\" cannot be parsed: whether it knows m5.large without querying EC2 is unknown",
		}},
		{"a version that is not understood, and may ask", outsider(ownRole(all), cniImage("latest")), []string{"pass " + cniRole + " [i-0node]"}},
		{"its own role was deleted", outsider(ownRole(all), iamDeleted(snapshot.Roles, cniRole)), fail(cniRole, "aws-node's role cni was deleted")},
		{"its own role was deleted, as far as can be told", outsider(ownRole(all), iamDeleted(snapshot.Roles, cniRole), checktest.Unread(snapshot.PodIdentities)), []string{
			"fail (likely) " + cniRole + " [i-0node] [i-0node] aws-node's role cni was deleted",
		}},
		{"the node's role was deleted: another's matter", outsider(iamDeleted(snapshot.Roles, node)), nil},
		{"its own role denied", outsider(ownRole(all), lackOf(snapshot.Roles, cniRole, snapshot.Denied, "AccessDenied")), []string{"unknown " + cniRole + " [i-0node] iam roles: denied"}},
		{"may nothing, associations unread", outsider(ownRole(`"s3:*"`), checktest.Unread(snapshot.PodIdentities)), []string{"fail (likely) " + cniRole + " [i-0node] [i-0node] " + nothing}},
		{"may, associations unread", outsider(ownRole(all), checktest.Unread(snapshot.PodIdentities)), []string{"unknown " + cniRole + " [i-0node] pod identity associations: denied"}},
		{"with a condition", outsider(ownRole(`"s3:*"`), inlinePolicy(`{"Effect":"Allow","Action":"ec2:*","Resource":"*","Condition":{"StringEquals":{"aws:SourceVpc":"vpc-0a"}}}`)), []string{
			"unknown " + cniRole + " [i-0node] iam roles: not read: whether cni is allowed to ec2:DescribeNetworkInterfaces depends on condition StringEquals aws:SourceVpc: statement 1 of own iam roles: not read: whether cni is allowed to ec2:AssignPrivateIpAddresses depends on condition StringEquals aws:SourceVpc: statement 1 of own",
		}},
		{"a policy that is not understood", outsider(ownRole(`3`)), []string{
			"unknown " + cniRole + " [i-0node] iam roles: broken: policy own of " + cniRole + " cannot be parsed: parse a policy: json: cannot unmarshal number into Go struct field .Statement.Action of type string",
		}},
		{"another network plugin", outsider(detachPolicy("AmazonEKS_CNI_Policy"), func(s *snapshot.Snapshot) { s.CNI = nil }), []string{"pass " + node + " [i-0node]"}},
		{"Auto Mode", outsider(detachPolicy("AmazonEKS_CNI_Policy"), autoMode), []string{"pass " + node + " [i-0node]"}},
		{"unread", outsider(checktest.Unread(snapshot.AWSNode)), []string{"unknown prod [] aws-node: denied"}},
	}
}

func TestCNIRolePoliciesWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.IAMCNIRolePolicies), outsider(ownRole(`"s3:*"`)))
	if want := "aws-node uses " + cniRole + " (annotation eks.amazonaws.com/role-arn of kube-system/aws-node), which lacks ec2:DescribeNetworkInterfaces and ec2:AssignPrivateIpAddresses: no policy of the role grants it."; !strings.HasPrefix(got.Why, want) {
		t.Errorf("Why = %q, want it to begin with %q", got.Why, want)
	}
	expect.Equal(t, "Command", got.Fix.Command, "aws iam attach-role-policy --region us-west-2 --role-name cni --policy-arn arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy")
}

// TestCNITypesWords holds that the date and the source of the data are shown.
func TestCNITypesWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.IAMCNIRolePolicies), outsider(ownRole(`["ec2:AssignPrivateIpAddresses","ec2:*NetworkInterface*","ec2:CreateTags"]`), cniImage("v1.20.4-eksbuild.1"), func(s *snapshot.Snapshot) {
		snapshottest.Instance(s, snapshottest.Node).Type = "c9g.large"
	}))
	if !strings.HasSuffix(got.Why, " v1.20.4 of the plugin does not know c9g.large without querying EC2.") || got.Confidence != "" && got.Confidence != "certain" {
		t.Errorf("%s: %s", got.Confidence, got.Why)
	}
	var told []string
	for _, e := range got.Evidence {
		told = append(told, e.What+": "+e.Value)
	}
	want := "Not in the table of v1.20.4: c9g.large\nTables of instance types: pkg/vpc/vpc_ip_resource_limit.go of github.com/aws/amazon-vpc-cni-k8s, up to v1.23.2 of 2026-09-29"
	if all := strings.Join(told, "\n"); !strings.Contains(all, want) {
		t.Errorf("evidence\n%s\nwant in it\n%s", all, want)
	}
}

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
	return lackOf(source, key, snapshot.Broken, check.NoSuchEntity)
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

func noInstanceProfile(s *snapshot.Snapshot) {
	snapshottest.Instance(s, snapshottest.Node).Profile = ""
}

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
			"fail " + profile + " [i-0node] [i-0node] instance profile eks-workers has no role",
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
	got := checktest.Failed(t, checkOf(checkid.IAMProfileMissing), outsider(func(s *snapshot.Snapshot) { s.Profiles[0].Roles = nil }))
	expect.Equal(t, "Command", got.Fix.Command, "aws iam add-role-to-instance-profile --region us-west-2 --instance-profile-name eks-workers --role-name '<node role>'")
}

// detachPolicy takes a managed policy off the node role.
func detachPolicy(name string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Roles[0].Policies = slices.DeleteFunc(slices.Clone(s.Roles[0].Policies), func(p snapshot.Policy) bool { return p.Name == name })
	}
}

// inlinePolicy adds an inline policy with one statement to the first role.
func inlinePolicy(statement string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Roles[0].Policies = append(slices.Clone(s.Roles[0].Policies), snapshot.Policy{Name: "own", Document: `{"Statement":` + statement + `}`})
	}
}

// withBoundary gives the node role a permissions boundary.
func withBoundary(statement string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Roles[0].Boundary = &snapshot.Policy{Name: "limit", Document: `{"Statement":` + statement + `}`}
	}
}

func rolePoliciesCases() []checktest.Case {
	role := snapshottest.NodeRole
	pass := []string{"pass " + role + " [i-0node]"}
	fail := func(title string) []string { return []string{"fail " + role + " [i-0node] [i-0node] " + title} }
	const worker, registry, cni = "AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryReadOnly", "AmazonEKS_CNI_Policy"
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"all three", outsider(), pass},
		{"Ready without any: not accused", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Roles[0].Policies = nil }), pass},
		{"no worker policy: the CNI's names instances too", outsider(detachPolicy(worker)), pass},
		{"neither", outsider(detachPolicy(worker), detachPolicy(cni)), fail("workers lacks ec2:DescribeInstances and 2 more")},
		{"no ECR", outsider(detachPolicy(registry)), fail("workers lacks ecr:GetAuthorizationToken and 2 more")},
		{"pull only", outsider(detachPolicy(registry), inlinePolicy(`{"Effect":"Allow","Action":["ecr:GetAuth*","ecr:BatchGetImage","ecr:GetDownloadUrlForLayer"],"Resource":"*"}`)), pass},
		{"the right repositories only", outsider(detachPolicy(registry), inlinePolicy(`[{"Effect":"Allow","Action":"ecr:GetAuthorizationToken","Resource":"*"},{"Effect":"Allow","Action":"ecr:*","Resource":"arn:aws:ecr:*:602401143452:repository/*"}]`)), pass},
		{"other repositories only", outsider(detachPolicy(registry), inlinePolicy(`[{"Effect":"Allow","Action":"ecr:GetAuthorizationToken","Resource":"*"},{"Effect":"Allow","Action":"ecr:*","Resource":"arn:aws:ecr:*:123456789012:repository/*"}]`)), fail("workers lacks ecr:BatchGetImage and 1 more")},
		{"no ECR, and the images are elsewhere", outsider(detachPolicy(registry), func(s *snapshot.Snapshot) { s.CNI.Image = "registry.example.com/amazon-k8s-cni:v1.20.4" }), pass},
		{"no CNI policy, no role of its own (karp1185)", outsider(detachPolicy(cni)), fail("workers lacks ec2:DescribeNetworkInterfaces and 1 more")},
		{"the same, Pod Identity not read", outsider(detachPolicy(cni), checktest.Unread(snapshot.PodIdentities)), fail("workers lacks ec2:DescribeNetworkInterfaces and 1 more")},
		{"no CNI policy, aws-node has its own role", outsider(detachPolicy(cni), func(s *snapshot.Snapshot) { s.CNI.Role = "arn:aws:iam::123456789012:role/cni" }), pass},
		{"no CNI policy, and no aws-node", outsider(detachPolicy(cni), func(s *snapshot.Snapshot) { s.CNI = nil }), pass},
		{"no CNI policy, and whose it is cannot be told", outsider(detachPolicy(cni), checktest.Unread(snapshot.AWSNode)), []string{"unknown " + role + " [i-0node] aws-node: denied"}},
		{"whose it is cannot be told, and need not", outsider(checktest.Unread(snapshot.AWSNode)), pass},
		{"Auto Mode needs ECR only", outsider(detachPolicy(worker), detachPolicy(cni), autoMode), pass},
		{"denied", outsider(inlinePolicy(`{"Sid":"Lock","Effect":"Deny","Action":"ec2:Describe*","Resource":"*"}`)), fail("workers lacks ec2:DescribeInstances and 1 more")},
		{"denied elsewhere", outsider(inlinePolicy(`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringNotEquals":{"aws:RequestedRegion":["us-west-2","us-east-1"]}}}`)), pass},
		{"denied here", outsider(inlinePolicy(`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringNotEquals":{"aws:RequestedRegion":["eu-west-1"]}}}`)), fail("workers lacks ec2:DescribeInstances and 5 more")},
		{"perhaps denied", outsider(inlinePolicy(`{"Effect":"Deny","Action":"ec2:DescribeInstances","Resource":"*","Condition":{"StringNotEquals":{"aws:SourceVpc":"vpc-1"}}}`)), []string{
			"unknown " + role + " [i-0node] iam roles: not read: whether workers is allowed to ec2:DescribeInstances depends on condition StringNotEquals aws:SourceVpc: statement 1 of own",
		}},
		{"a boundary that grants less", outsider(withBoundary(`{"Effect":"Allow","Action":["ec2:*"],"Resource":"*"}`)), fail("workers lacks ecr:GetAuthorizationToken and 2 more")},
		{"a policy that is not understood", outsider(func(s *snapshot.Snapshot) { s.Roles[0].Policies[1].Document = "" }), []string{
			"unknown " + role + " [i-0node] iam roles: broken: policy AmazonEC2ContainerRegistryReadOnly of " + role + " cannot be parsed: parse a policy: unexpected end of JSON input",
		}},
		{"a policy that could not be read", outsider(func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Roles, s.Roles[0].Policies[1].ARN, snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.Denied, Call: "iam:GetPolicyVersion"})
		}), []string{"unknown " + role + " [i-0node] iam roles: denied"}},
		{"AL2 that asks for the cluster", outsider(detachPolicy(worker), startedBy("/etc/eks/bootstrap.sh prod")), fail("workers lacks eks:DescribeCluster")},
		{"AL2 that is told of the cluster", outsider(detachPolicy(worker), startedBy("/etc/eks/bootstrap.sh prod --apiserver-endpoint https://x --b64-cluster-ca y")), pass},
		{"a comrade is Ready", outsider(detachPolicy(registry), readyComrade), append(fail("workers lacks ecr:GetAuthorizationToken and 2 more"), "pass "+role+" [i-0ready]")},
		{"role deleted: another's matter", outsider(iamDeleted(snapshot.Roles, role)), nil},
		{"role denied", outsider(lackOf(snapshot.Roles, role, snapshot.Denied, "AccessDenied")), []string{"unknown " + role + " [i-0node] iam roles: denied"}},
		{"profile denied, but the node group tells the role", outsider(lackOf(snapshot.Profiles, snapshottest.ProfileARN, snapshot.Denied, "AccessDenied")), pass},
		{"profile denied, no node group", outsider(lackOf(snapshot.Profiles, snapshottest.ProfileARN, snapshot.Denied, "AccessDenied"), func(s *snapshot.Snapshot) { s.Nodegroups = nil }), []string{"unknown i-0node [i-0node] instance profiles: denied"}},
		{"unread", outsider(checktest.Unread(snapshot.Roles)), []string{"unknown prod [] iam roles: denied"}},
	}
}

func autoMode(s *snapshot.Snapshot) {
	s.Cluster.AutoMode = true
	snapshottest.Instance(s, snapshottest.Node).Tags = nil
}

func startedBy(text string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.UserData[0].Data = []byte("#!/bin/bash\n" + text) }
}

func TestRolePoliciesWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.IAMRolePolicies), outsider(detachPolicy("AmazonEKS_CNI_Policy"), detachPolicy("AmazonEC2ContainerRegistryReadOnly")))
	want := "aws iam attach-role-policy --region us-west-2 --role-name workers --policy-arn arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly && " +
		"aws iam attach-role-policy --region us-west-2 --role-name workers --policy-arn arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"
	if got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if !strings.Contains(got.Why, "no policy of the role grants it. aws-node has no role of its own") {
		t.Errorf("Why = %q", got.Why)
	}
	expect.Equal(t, "policies", checktest.Value(t, got, "Policies of workers"), "AmazonEKSWorkerNodePolicy")

	got = checktest.Failed(t, checkOf(checkid.IAMRolePolicies), outsider(inlinePolicy(`{"Sid":"Lock","Effect":"Deny","Action":"ecr:*","Resource":"*"}`)))
	if !strings.Contains(got.Why, "Lock of own denies it") || got.Fix.Command != "" || !strings.HasPrefix(got.Fix.Text, "Change own") {
		t.Errorf("Why = %q, Fix = %+v", got.Why, got.Fix)
	}
}

func trustPolicy(document string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Roles[0].Trust = document }
}

func roleTrustCases() []checktest.Case {
	role := snapshottest.NodeRole
	fail := []string{"fail " + role + " [i-0node] [i-0node] workers does not trust EC2"}
	pass := []string{"pass " + role + " [i-0node]"}
	other := `{"Statement":{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":"sts:AssumeRole"}}`
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"trusts EC2", outsider(), pass},
		{"trusts EC2 among others, URL-encoded", outsider(trustPolicy("%7B%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Principal%22%3A%7B%22Service%22%3A%5B%22eks.amazonaws.com%22%2C%22ec2.amazonaws.com%22%5D%7D%2C%22Action%22%3A%5B%22sts%3AAssumeRole%22%2C%22sts%3ATagSession%22%5D%7D%5D%7D")), pass},
		{"trusts EKS instead", outsider(trustPolicy(other)), fail},
		{"another action", outsider(trustPolicy(strings.Replace(snapshottest.EC2Trust, "sts:AssumeRole", "sts:TagSession", 1))), fail},
		{"denied", outsider(trustPolicy(`{"Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"*"},{"Effect":"Deny","Principal":"*","Action":"sts:AssumeRole"}]}`)), fail},
		{"China's name in China", outsider(trustPolicy(strings.Replace(snapshottest.EC2Trust, "ec2.amazonaws.com", "ec2.amazonaws.com.cn", 1)), func(s *snapshot.Snapshot) { s.Partition = "aws-cn" }), pass},
		{"China's name elsewhere", outsider(trustPolicy(strings.Replace(snapshottest.EC2Trust, "ec2.amazonaws.com", "ec2.amazonaws.com.cn", 1))), fail},
		{"with a condition", outsider(trustPolicy(`{"Statement":{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"aws:SourceAccount":"1"}}}}`)), []string{
			"unknown " + role + " [i-0node] iam roles: not read: the trust policy of " + role + " depends on condition StringEquals aws:SourceAccount: statement 1",
		}},
		{"noise", outsider(trustPolicy("<html>")), []string{
			"unknown " + role + " [i-0node] iam roles: broken: the trust policy of " + role + " cannot be parsed: parse a policy: invalid character '<' looking for beginning of value",
		}},
		{"a comrade is Ready", outsider(trustPolicy(other), readyComrade), []string{fail[0], "pass " + role + " [i-0ready]"}},
		{"two nodes: one finding", outsider(trustPolicy(other), secondNode), []string{"fail " + role + " [i-0node i-0second] [i-0node i-0second] workers does not trust EC2"}},
		{"role deleted: another's matter", outsider(iamDeleted(snapshot.Roles, role)), nil},
		{"role denied", outsider(lackOf(snapshot.Roles, role, snapshot.Denied, "AccessDenied")), []string{"unknown " + role + " [i-0node] iam roles: denied"}},
		{"unread", outsider(checktest.Unread(snapshot.Roles)), []string{"unknown prod [] iam roles: denied"}},
	}
}

func TestRoleTrustFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.IAMRoleTrust), outsider(trustPolicy(`{"Statement":{"Effect":"Allow","Principal":"*","Action":"s3:*"}}`)))
	if !strings.HasPrefix(got.Fix.Command, "aws iam update-assume-role-policy --region us-west-2 --role-name workers --policy-document '{") {
		t.Errorf("Command = %q", got.Fix.Command)
	}
}

// closedVPC has no internet, and its node did not join.
func closedVPC(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.EndpointsOnly()
	snapshottest.Unjoin(s, snapshottest.Node)
	return checktest.Change(s, changes...)
}

func legacySTS(s *snapshot.Snapshot) { s.CNI.Env["AWS_STS_REGIONAL_ENDPOINTS"] = "legacy" }

func cniHasRole(s *snapshot.Snapshot) { s.CNI.Role = cniRole }

func stsEndpointCases() []checktest.Case {
	role := snapshottest.NodeRole
	pass := []string{"pass " + role + " [i-0node]"}
	global := []string{"fail kube-system/aws-node [i-0node] [i-0node] aws-node calls sts.amazonaws.com, which vpc-0a cannot reach"}
	old := func(s *snapshot.Snapshot) { s.Cluster.Version = "1.19" }
	const timeout = `caused by: Post "https://sts.amazonaws.com/": dial tcp 52.94.241.129:443: i/o timeout`
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"Ready, closed VPC, global name", checktest.Change(snapshottest.EndpointsOnly(), cniHasRole, legacySTS), pass},
		{"nothing tells it", closedVPC(cniHasRole), pass},
		{"closed VPC, global name (cni647)", closedVPC(cniHasRole, legacySTS), global},
		{"closed VPC, old cluster, not set", closedVPC(cniHasRole, old), global},
		{"closed VPC, old cluster, regional", closedVPC(cniHasRole, old, func(s *snapshot.Snapshot) { s.CNI.Env["AWS_STS_REGIONAL_ENDPOINTS"] = "regional" }), pass},
		{"the node's own role needs no STS", closedVPC(legacySTS), pass},
		{"nor does Pod Identity", closedVPC(cniHasRole, legacySTS, func(s *snapshot.Snapshot) {
			s.PodIdentities = []snapshot.PodIdentity{{Namespace: "kube-system", ServiceAccount: "aws-node", Role: "x"}}
		}), pass},
		{"a NAT gateway leads to the global name", outsider(cniHasRole, legacySTS), pass},
		{"no STS endpoint: endpoint/missing says so", closedVPC(cniHasRole, legacySTS, func(s *snapshot.Snapshot) {
			s.Endpoints = slices.DeleteFunc(s.Endpoints, func(e snapshot.Endpoint) bool { return e.ID == "vpce-0sts" })
		}), pass},
		{"the console tells it, global", outsider(consoleSays(timeout)), []string{"fail sts.amazonaws.com [i-0node] [i-0node] sts.amazonaws.com cannot be reached"}},
		{"aws-node tells it, regional", outsider(notReadyWith("Post https://sts.us-west-2.amazonaws.com/: dial tcp: lookup sts.us-west-2.amazonaws.com: no such host")), []string{
			"fail sts.us-west-2.amazonaws.com [i-0node] [i-0node] sts.us-west-2.amazonaws.com cannot be reached",
		}},
		{"another host is not it", outsider(consoleSays("dial tcp: lookup bursts.amazonaws.com: no such host")), pass},
		{"the console names STS, and no fault", outsider(consoleSays("using https://sts.us-west-2.amazonaws.com/")), pass},
		{"admitted, and refused (eksctl2558)", outsider(consoleSays("Failed to list *v1.Service: Unauthorized")), []string{
			"fail (possible) " + role + " [i-0node] [i-0node] workers has access, and its token is rejected",
		}},
		{"not admitted, and refused: no wonder", outsider(noEntry, consoleSays("Failed to list *v1.Service: Unauthorized")), pass},
		{"EC2 refuses an action, not the token", outsider(consoleSays("UnauthorizedOperation: You are not authorized to perform this operation.")), pass},
		{"a node that has registered had a good token", outsider(notReadyWith("Failed to list *v1.Service: Unauthorized")), pass},
		{"two nodes: one finding", closedVPC(cniHasRole, legacySTS, secondNode), []string{"fail kube-system/aws-node [i-0node i-0second] [i-0node i-0second] aws-node calls sts.amazonaws.com, which vpc-0a cannot reach"}},
		{"aws-node unread", closedVPC(checktest.Unread(snapshot.AWSNode)), []string{"unknown " + role + " [i-0node] aws-node: denied"}},
		{"pods unread", outsider(checktest.Unread(snapshot.Pods)), []string{"unknown " + role + " [i-0node] pods: denied"}},
		{"unread", outsider(checktest.Unread(snapshot.Consoles)), []string{"unknown prod [] console output: denied"}},
	}
}

func TestNamesHost(t *testing.T) {
	for line, want := range map[string]bool{
		"https://sts.amazonaws.com/":               true,
		"sts.amazonaws.com":                        true,
		"xsts.amazonaws.com and sts.amazonaws.com": true,
		"vpce.sts.amazonaws.com":                   false,
		"sts.amazonaws.com.cn":                     false,
		"sts.us-west-2.amazonaws.com":              false,
		"":                                         false,
	} {
		expect.Equal(t, fmt.Sprintf("namesHost(%q)", line), namesHost(line, "sts.amazonaws.com"), want)
	}
}

const disabledLine = "kubelet: E1120 RegionDisabledException: STS is not activated in this region for account:123456789012."

func consoleSays(text string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Consoles = append(s.Consoles, snapshot.Console{Instance: snapshottest.Node, Text: "boot\n" + text + "\nlogin:\n"})
	}
}

// notReadyWith is a node that registered, whose aws-node says something.
func notReadyWith(message string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		snapshottest.Join(s, snapshottest.Node)
		s.Nodes[0].Ready.Status = "False"
		s.Pods[0].Containers[0] = snapshot.Container{Name: "aws-node", State: "waiting", LastMessage: message}
	}
}

func stsRegionDeactivatedCases() []checktest.Case {
	const host = "sts.us-west-2.amazonaws.com"
	pass := []string{"pass " + host + " [i-0node]"}
	fail := []string{"fail " + host + " [i-0node] [i-0node] STS is deactivated in us-west-2"}
	ours := func(s *snapshot.Snapshot) {
		s.Failures[snapshot.Nodes] = snapshot.Failure{Source: snapshot.Nodes, Reason: snapshot.Denied, Call: "sts:GetCallerIdentity", Code: "RegionDisabledException"}
	}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"nothing tells it", outsider(consoleSays("all is well")), pass},
		{"the console tells it (eksctl7931)", outsider(consoleSays(disabledLine)), fail},
		{"the console tells it without the code", outsider(consoleSays("error: STS is not activated in this region for account:1")), fail},
		{"aws-node tells it", outsider(notReadyWith("operation error STS: AssumeRoleWithWebIdentity, RegionDisabledException")), fail},
		{"our own call tells it", outsider(ours), fail},
		{"an item of ours tells it", outsider(lackOf(snapshot.Roles, "x", snapshot.Denied, "RegionDisabledException")), fail},
		{"EKS tells it", outsider(func(s *snapshot.Snapshot) {
			s.Nodegroups[0].Issues = []snapshot.Issue{{Code: "StsRegionalEndpointDisabled", Message: "…"}}
		}), fail},
		{"our own call tells it, but all are Ready", checktest.Change(snapshottest.PrivateWithNAT(), ours), pass},
		{"one console tells it, the other's does not", outsider(consoleSays(disabledLine), secondNode, func(s *snapshot.Snapshot) {
			s.Consoles = append(s.Consoles, snapshot.Console{Instance: "i-0second", Text: "boot\n"})
		}), []string{fail[0], "pass " + host + " [i-0second]"}},
		{"one console tells it, the other's is not in the sample", outsider(consoleSays(disabledLine), secondNode), []string{
			"fail " + host + " [i-0node i-0second] [i-0node i-0second] STS is deactivated in us-west-2",
		}},
		{"consoles unread", outsider(checktest.Unread(snapshot.Consoles)), []string{"unknown i-0node [i-0node] console output: denied"}},
		{"consoles unread, two nodes: one unknown", outsider(checktest.Unread(snapshot.Consoles), secondNode), []string{"unknown i-0node [i-0node i-0second] console output: denied"}},
		{"its console was denied", outsider(lackOf(snapshot.Consoles, snapshottest.Node, snapshot.Denied, "UnauthorizedOperation")), []string{"unknown i-0node [i-0node] console output: denied"}},
		{"unread", outsider(checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestSTSRegionDeactivatedShowsTheLine(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.IAMSTSRegionDeactivated), outsider(consoleSays(disabledLine)))
	if got := checktest.Value(t, got, "console of i-0node"); !strings.HasPrefix(got, "kubelet: E1120") {
		t.Errorf("evidence %q", got)
	}
}
