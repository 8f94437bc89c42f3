package iam

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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
	checktest.RunCases(t, AccessPolicyMissing(), []checktest.Case{
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
