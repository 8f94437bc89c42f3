package iam

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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
		{"no entry", AccessMissing(), refused(noClassEntry), fail("prod does not admit the node role gpu-nodes")},
		{"no entry, and the role is not known", AccessMissing(), refused(noClassEntry, classRoleUnread), fail("prod does not admit the node role gpu-nodes")},
		{"an entry", AccessMissing(), refused(), pass},
		{"an entry, and the class says nothing yet", AccessMissing(), refused(noClassEntry, classIs(func(c *snapshot.NodeClass) { c.Conditions = nil })), nil},
		{"refused a minute ago", AccessMissing(), refused(noClassEntry, func(s *snapshot.Snapshot) {
			is := s.AutoNodeClasses[0].Conditions["InstanceProfileReady"]
			is.Since = s.Time.Add(-time.Minute)
			s.AutoNodeClasses[0].Conditions["InstanceProfileReady"] = is
		}), nil},
		{"refused before it was changed", AccessMissing(), refused(noClassEntry, classIs(func(c *snapshot.NodeClass) { c.Generation = 2 })), nil},
		{"not refused", AccessMissing(), refused(noClassEntry, classIs(func(c *snapshot.NodeClass) {
			c.Conditions["InstanceProfileReady"] = snapshot.ObservedCondition{Condition: snapshot.Condition{Status: "True"}}
		})), well},
		{"named by no NodePool", AccessMissing(), refused(noClassEntry, func(s *snapshot.Snapshot) { s.NodePools[0].Deleting = true }), nil},
		{"being deleted", AccessMissing(), refused(noClassEntry, classIs(func(c *snapshot.NodeClass) { c.Deleting = true })), nil},
		{"unread", AccessMissing(), refused(checktest.Unread(snapshot.ClassAccess)), []string{"unknown gpu" + covers + " access of node classes: denied"}},
		{"its role is not known", AccessMissing(), refused(func(s *snapshot.Snapshot) {
			s.ClassRoles = nil
			s.Lack(snapshot.ClassAccess, "gpu", snapshot.Failure{Source: snapshot.ClassAccess, Reason: snapshot.Broken, Call: "iam:GetInstanceProfile"})
		}), []string{"unknown gpu" + covers + " access of node classes: broken"}},
		{"the NodeClasses are unread", AccessMissing(), refused(checktest.Unread(snapshot.AutoNodeClassesOf)), nil},

		{"STANDARD", AccessWrongType(), refused(entryType("STANDARD")), fail("access entry of gpu-nodes is STANDARD, not EC2")},
		{"EC2_LINUX", AccessWrongType(), refused(entryType("EC2_LINUX")), likely(fail("access entry of gpu-nodes is EC2_LINUX, not EC2"))},
		{"STANDARD, and the role is not known", AccessWrongType(), refused(entryType("STANDARD"), classRoleUnread), fail("access entry of gpu-nodes is STANDARD, not EC2")},
		{"EC2", AccessWrongType(), refused(), pass},
		{"no entry: another check's", AccessWrongType(), refused(noClassEntry), pass},
		{"an unknown type", AccessWrongType(), refused(entryType("EC2_MAC")), unknown(`access entries: not read: the access entry of ` + gpuRole + ` has the type "EC2_MAC", which is not known`)},

		{"without the policy", AccessPolicyMissing(), refused(classEntry(func(e *snapshot.AccessEntry) { e.Policies = nil })), fail("the access entry of gpu-nodes lacks AmazonEKSAutoNodePolicy")},
		{"the policy for a namespace", AccessPolicyMissing(), refused(classEntry(func(e *snapshot.AccessEntry) { e.Policies[0].Namespaces = []string{"ml"} })), fail("the access entry of gpu-nodes lacks AmazonEKSAutoNodePolicy")},
		{"with the policy", AccessPolicyMissing(), refused(), pass},
		{"the policies unread", AccessPolicyMissing(), refused(classPoliciesUnread), unknown("access of node classes: throttled")},
		{"STANDARD: another check's", AccessPolicyMissing(), refused(entryType("STANDARD")), pass},

		{"made again", AccessStale(), refused(classRecreated), fail("the access entry of gpu-nodes is of a deleted role")},
		{"made again, and the entry changed since", AccessStale(), refused(classRecreated, classEntry(func(e *snapshot.AccessEntry) { e.Modified = e.Modified.Add(47 * time.Hour) })), likely(fail("the access entry of gpu-nodes is of a deleted role"))},
		{"the entry is newer", AccessStale(), refused(), pass},
		{"made within the clocks' difference", AccessStale(), refused(func(s *snapshot.Snapshot) { s.ClassRoles[0].Created = s.Time.Add(-47*time.Hour + 30*time.Second) }), pass},
		{"the role is not known", AccessStale(), refused(classRoleUnread), unknown("access of node classes: throttled")},
		{"no entry to be stale", AccessStale(), refused(noClassEntry), pass},

		{"a path, and all else well", AccessWrongARN(), refused(classPath), []string{"fail (likely) " + path + covers + " [] the node role gpu-nodes has a path"}},
		{"a path, and the policies unread", AccessWrongARN(), refused(func(s *snapshot.Snapshot) {
			classPath(s)
			s.Lack(snapshot.ClassAccess, snapshot.AccessPoliciesOf(path), snapshot.Failure{Source: snapshot.ClassAccess, Reason: snapshot.Throttled, Call: "eks:ListAssociatedAccessPolicies"})
		}), []string{"unknown " + path + covers + " access of node classes: throttled"}},
		{"a path, and a wrong type", AccessWrongARN(), refused(classPath, entryType("STANDARD")), []string{"pass " + path + covers}},
		{"an entry of another path", AccessWrongARN(), refused(classEntry(func(e *snapshot.AccessEntry) { e.Principal = path })), fail("the access entry of gpu-nodes has another path")},
		{"no path", AccessWrongARN(), refused(), pass},
		{"whether it has one is not known", AccessWrongARN(), refused(classRoleUnread), unknown("access of node classes: throttled")},
		{"no entry at all", AccessWrongARN(), refused(noClassEntry), pass},
	} {
		got := checktest.Lines(check.Eval([]check.Check{tt.check.Sweeping()}, tt.world))
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s, %s:\n got %q\nwant %q", tt.check.ID, tt.name, got, tt.want)
		}
	}
}

// TestClassesBesideInstances: a look at launches judges both.
func TestClassesBesideInstances(t *testing.T) {
	got := checktest.Lines(check.Eval([]check.Check{AccessWrongType()}, refused(entryType("STANDARD"))))
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
	got := checktest.Failed(t, AccessMissing().Sweeping(), s)
	if want := gpuRole + ", the node role of NodeClass gpu and tpu, has no access entry in prod. EKS Auto Mode launches no node for NodePool ml and spare until prod admits the role."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if want := "aws eks create-access-entry --region us-west-2 --cluster-name prod --principal-arn " + gpuRole + " --type EC2 && aws eks associate-access-policy --region us-west-2 --cluster-name prod --principal-arn " + gpuRole +
		" --policy-arn arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy --access-scope type=cluster"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
}
