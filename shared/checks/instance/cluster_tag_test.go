package instance

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func untagged(s *snapshot.Snapshot) {
	selfManaged(s)
	snapshottest.Unjoin(s, snapshottest.Node)
	delete(s.Instances[0].Tags, "kubernetes.io/cluster/prod")
}

func TestClusterTag(t *testing.T) { checktest.RunCases(t, ClusterTag(), clusterTagCases()) }

func clusterTagCases() []checktest.Case {
	pass := []string{"pass prod [i-0node]"}
	return []checktest.Case{
		{"Ready", startWorld(untagged, func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"tagged", startWorld(selfManaged, toldAs("")), pass},
		{"managed, not tagged yet", startWorld(toldAs(""), func(s *snapshot.Snapshot) { delete(s.Instances[0].Tags, "kubernetes.io/cluster/prod") }), pass},
		{"untagged", startWorld(untagged), []string{"fail eks-workers [i-0node] [i-0node] i-0node has no tag of cluster prod"}},
		{"untagged, without a group", startWorld(untagged, func(s *snapshot.Snapshot) { delete(s.Instances[0].Tags, "aws:autoscaling:groupName") }), []string{
			"fail i-0node [i-0node] [i-0node] i-0node has no tag of cluster prod",
		}},
		{"ended, its tags gone", startWorld(untagged, func(s *snapshot.Snapshot) { s.Instances[0].State, s.Instances[0].Tags = "terminated", nil }), []string{
			"unknown prod [i-0node] instances: not read: EC2 takes the tags off instances that have ended",
		}},
		{"unread", startWorld(untagged, checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}
