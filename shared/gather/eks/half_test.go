package eks

import (
	"testing"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

func TestHollowAnswers(t *testing.T) {
	gathertest.Converts(t, nodegroup)
	gathertest.Converts(t, addon)
	gathertest.Converts(t, func(e ekstypes.AccessEntry) snapshot.AccessEntry { return accessEntry("p", e) })
	gathertest.Converts(t, func(c ekstypes.Cluster) snapshot.Cluster { out, _ := cluster(c); return out })
}

// TestEmptyCluster: an answer that says nothing is read as nothing.
func TestEmptyCluster(t *testing.T) {
	if _, err := cluster(ekstypes.Cluster{}); err != nil {
		t.Errorf("cluster: %v", err)
	}
}
