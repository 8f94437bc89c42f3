package iam

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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

func TestStsRegionDeactivated(t *testing.T) {
	checktest.RunCases(t, STSRegionDeactivated(), stsRegionDeactivatedCases())
}

func stsRegionDeactivatedCases() []checktest.Case {
	const host = "sts.us-west-2.amazonaws.com"
	pass := []string{"pass " + host + " [i-0node]"}
	fail := []string{"fail " + host + " [i-0node] [i-0node] STS is switched off in us-west-2"}
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
			"fail " + host + " [i-0node i-0second] [i-0node i-0second] STS is switched off in us-west-2",
		}},
		{"consoles unread", outsider(checktest.Unread(snapshot.Consoles)), []string{"unknown i-0node [i-0node] console output: denied"}},
		{"consoles unread, two nodes: one unknown", outsider(checktest.Unread(snapshot.Consoles), secondNode), []string{"unknown i-0node [i-0node i-0second] console output: denied"}},
		{"its console was denied", outsider(lackOf(snapshot.Consoles, snapshottest.Node, snapshot.Denied, "UnauthorizedOperation")), []string{"unknown i-0node [i-0node] console output: denied"}},
		{"unread", outsider(checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestSTSRegionDeactivatedShowsTheLine(t *testing.T) {
	got := checktest.Failed(t, STSRegionDeactivated(), outsider(consoleSays(disabledLine)))
	if got := checktest.Value(t, got, "console of i-0node"); !strings.HasPrefix(got, "kubelet: E1120") {
		t.Errorf("evidence %q", got)
	}
}
