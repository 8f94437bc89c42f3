package instance

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// groupLabels sets the labels of the node group; its instance has not joined.
func groupLabels(keys ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		snapshottest.Unjoin(s, snapshottest.Node)
		s.Nodegroups[0].Labels = map[string]string{}
		for _, k := range keys {
			s.Nodegroups[0].Labels[k] = "x"
		}
	}
}

func TestForbiddenNodeLabel(t *testing.T) {
	checktest.RunCases(t, ForbiddenNodeLabel(), forbiddenNodeLabelCases())
}

func forbiddenNodeLabelCases() []checktest.Case {
	const role = "node-role.kubernetes.io/worker"
	pass := []string{"pass prod [i-0node]"}
	inData := instead("eks.amazonaws.com/nodegroup=workers", role+"=x,eks.amazonaws.com/nodegroup=workers")
	noLabels := instead("--node-labels=eks.amazonaws.com/nodegroup=workers,eks.amazonaws.com/capacityType=ON_DEMAND", "--v=2")
	of := func(sure, resource string) []string {
		return []string{"fail" + sure + " " + resource + " [i-0node] [i-0node] kubelet refuses label " + role}
	}
	return []checktest.Case{
		{"usual labels", startWorld(groupLabels("team", "example.com/kubernetes.io", "topology.kubernetes.io/zone")), pass},
		{"Ready", startWorld(groupLabels(role), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"in the user data", startWorld(inData), of("", "lt-0a")},
		{"in the user data and the node group", startWorld(groupLabels(role), inData), of("", "workers")},
		{"in the node group, no labels in the user data", startWorld(groupLabels(role), noLabels), of("", "workers")},
		{"in the node group, user data unread", startWorld(groupLabels(role), checktest.Unread(snapshot.UserDataOf), checktest.Unread(snapshot.LaunchTemplates)), of("", "workers")},
		{"in the node group, other labels in the user data: may be newer", startWorld(groupLabels(role)), of(" (likely)", "workers")},
		{"in the node group, which has a Ready node", checktest.Change(startWorld(groupLabels(role), noLabels), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0second", snapshottest.Private, 0)
			snapshottest.Join(s, "i-0second")
		}), []string{"pass prod [i-0second]", of(" (likely)", "workers")[0]}},
		{"in the node group of an image of one's own: EKS labels the node later", startWorld(groupLabels(role), custom), pass},
		{"in bootstrap.sh", startWorld(al2Image, toldAs("#!/bin/bash\n/etc/eks/bootstrap.sh prod --kubelet-extra-args '--node-labels="+role+"=$(id)'")), of("", "lt-0a")},
		{"in Bottlerocket's settings", startWorld(selfManaged, toldAs("[settings.kubernetes.node-labels]\n\""+role+"\" = \"x\"\n")), of("", "lt-0a")},
		{"user data and template unread, labels fine", startWorld(groupLabels("team"), checktest.Unread(snapshot.UserDataOf), checktest.Unread(snapshot.LaunchTemplates)), []string{
			"unknown prod [i-0node] user data: denied",
		}},
		{"user data over budget, labels fine", startWorld(groupLabels("team"), toldAs(overBudget())), []string{
			"unknown prod [i-0node] user data: over budget: i-0node: the user data is over budget: reading it takes more than 524288 bytes unpacked",
		}},
		{"unread", startWorld(checktest.Unread(snapshot.Nodegroups)), []string{"unknown prod [] nodegroups: denied"}},
	}
}

func TestForbidden(t *testing.T) {
	labels := map[string]string{}
	for _, key := range []string{
		"team", "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool", "notkubernetes.io/x",
		"kubernetes.io/os", "beta.kubernetes.io/arch", "node.kubernetes.io/x", "a.node.kubernetes.io/x", "kubelet.kubernetes.io/x",
		"kubernetes.io/role", "node-role.kubernetes.io/worker", "app.kubernetes.io/name", "node-restriction.kubernetes.io/x", "k8s.io/x", "x.k8s.io/y", "kubernetes.io/instance-type",
	} {
		labels[key] = ""
	}
	want := []string{"app.kubernetes.io/name", "k8s.io/x", "kubernetes.io/instance-type", "kubernetes.io/role", "node-restriction.kubernetes.io/x", "node-role.kubernetes.io/worker", "x.k8s.io/y"}
	if diff := cmp.Diff(want, forbidden(labels)); diff != "" {
		t.Errorf("forbidden (-want +got):\n%s", diff)
	}
}
