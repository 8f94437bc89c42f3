package instance

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// imageNamed renames the worlds' image.
func imageNamed(name string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Images[0].Name = name }
}

func TestVersionSkew(t *testing.T) { checktest.RunCases(t, VersionSkew(), versionSkewCases()) }

func versionSkewCases() []checktest.Case {
	newer := "amazon-eks-node-al2023-x86_64-standard-1.36-v20261201"
	older := "bottlerocket-aws-k8s-1.31-x86_64-v1.26.1-943d9a41"
	custom := func(s *snapshot.Snapshot) { s.Images[0].Name, s.Nodegroups[0].AMIType = "golden-7", "CUSTOM" }
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready, whatever its version", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Nodes[0].Kubelet = "v1.20.0" }), []string{"pass prod [i-0node]"}},
		{"the same version", checktest.Missed(), []string{"pass prod [i-0node]"}},
		{"an image of Auto Mode", checktest.Change(checktest.Missed(), imageNamed("eks-auto-standard"), ofAutoMode), []string{"pass prod [i-0node]"}},
		{"three older", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.32-v1")), []string{"pass prod [i-0node]"}},
		{"newer by one, as after a rollback of the control plane", checktest.Change(checktest.Missed(), imageNamed(newer)), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36 beside control plane 1.35"}},
		{"newer by two", checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.37-v1")), []string{"fail workers [i-0node] [i-0node] i-0node: kubelet 1.37 beside control plane 1.35"}},
		{"four older", checktest.Change(checktest.Missed(), imageNamed(older)), []string{"fail workers [i-0node] [i-0node] i-0node: kubelet 1.31 beside control plane 1.35"}},
		{"newer, not due", checktest.Change(checktest.Missed(), imageNamed(newer), checktest.NotDueYet), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36 beside control plane 1.35"}},
		{"newer, by the name of somebody's image", checktest.Change(checktest.Missed(), imageNamed(newer), func(s *snapshot.Snapshot) { s.Images[0].OwnerAlias = "" }), []string{
			"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36 beside control plane 1.35",
		}},
		{"the node's own word counts first", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), func(s *snapshot.Snapshot) { s.Nodes[0].Kubelet = "v1.31.2-eks-94953ac" }), []string{
			"fail workers [i-0node] [i-0node] i-0node: kubelet 1.31 beside control plane 1.35",
		}},
		{"two of a group", checktest.Change(checktest.Missed(), imageNamed(older), checktest.LaunchedToo("i-0second", 10*time.Minute)), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances: kubelet 1.31 beside control plane 1.35",
		}},
		{"a name without a version in a managed group", checktest.Change(checktest.Missed(), imageNamed("golden-7")), []string{"pass prod [i-0node]"}},
		{"nothing tells", checktest.Change(checktest.Missed(), custom), []string{
			"unknown prod [i-0node] images: not read: neither a node nor the image's name tells the kubelet's version of i-0node",
		}},
		{"no image is left", checktest.Change(checktest.Missed(), custom, func(s *snapshot.Snapshot) { s.Images = nil }), []string{
			"unknown prod [i-0node] images: not read: neither a node nor the image's name tells the kubelet's version of i-0node",
		}},
		{"newer, as a Ready node is: the control plane was rolled back", checktest.Change(checktest.Missed(), imageNamed(newer), func(s *snapshot.Snapshot) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "old", Kubelet: "v1.36.0-eks-1", Ready: snapshot.Condition{Status: "True"}})
		}), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: kubelet 1.36 beside control plane 1.35"}},
		{"nothing tells, not due", checktest.Change(checktest.Missed(), custom, checktest.NotDueYet), nil},
		{"a cluster version that nobody knows", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Cluster.Version = "two" }), []string{
			`unknown prod [prod] cluster: broken: the version "two" of the cluster is not understood`,
		}},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Images)), []string{"unknown prod [] images: denied"}},
	}
}

func TestVersionSkewFix(t *testing.T) {
	got := checktest.Failed(t, VersionSkew(), checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.31-v1")))
	if want := "aws eks update-nodegroup-version --region us-west-2 --cluster-name prod --nodegroup-name workers --kubernetes-version 1.35"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	got = checktest.Failed(t, VersionSkew(), checktest.Change(checktest.Missed(), imageNamed("amazon-eks-node-al2023-x86_64-standard-1.36-v1")))
	if got.Fix.Command != "" || !strings.Contains(got.Fix.Text, "upgrade the control plane") {
		t.Errorf("Fix = %+v, want no command: a nodegroup cannot go back", got.Fix)
	}
}
