package instance

import (
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestOlderThanCluster(t *testing.T) {
	checktest.RunCases(t, OlderThanCluster(), olderThanClusterCases())
}

func olderThanClusterCases() []checktest.Case {
	pass := []string{"pass prod [i-0node]"}
	fail := []string{"fail lt-0a [i-0node] [i-0node] i-0node launched before cluster prod was ready"}
	young := func(s *snapshot.Snapshot) {
		snapshottest.Unjoin(s, snapshottest.Node)
		s.Cluster.Created = s.Time.Add(-5 * time.Minute)
	}
	return []checktest.Case{
		{"Ready", startWorld(selfManaged), pass},
		{"younger", startWorld(selfManaged, toldAs("")), pass},
		{"older", startWorld(selfManaged, young), fail},
		{"older, managed", startWorld(young), pass},
		{"the cluster is being made", startWorld(selfManaged, toldAs(""), func(s *snapshot.Snapshot) { s.Cluster.Status = "CREATING" }), fail},
		{"not said", startWorld(selfManaged, toldAs(""), func(s *snapshot.Snapshot) { s.Cluster.Created = time.Time{} }), []string{
			"unknown prod [i-0node] cluster: not read: when the cluster was created, or the instance was launched, is not said",
		}},
		{"unread", startWorld(selfManaged, checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}
