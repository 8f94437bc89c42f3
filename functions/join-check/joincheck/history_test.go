package joincheck

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// Ready nodes are compared with what failed, recorded or not; what has a record
// counts once, as it is recorded.
func TestReadyNodesAreCompared(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	launched := func(id string, ago time.Duration) snapshot.Instance {
		return snapshot.Instance{ID: id, Type: "m5.large", AMI: "ami-1", Launched: at.Add(-ago), Tags: map[string]string{"karpenter.sh/nodepool": "general"}}
	}
	node := func(id, ready string) snapshot.Node {
		return snapshot.Node{Instance: id, Ready: snapshot.Condition{Status: ready}}
	}
	s := &snapshot.Snapshot{
		Time: at,
		Instances: []snapshot.Instance{
			launched("i-joined", time.Hour), launched("i-recorded", 2*time.Hour), launched("i-unready", time.Hour), launched("i-none", time.Hour), launched("i-old", 169*time.Hour),
		},
		Nodes: []snapshot.Node{node("i-joined", "True"), node("i-recorded", "True"), node("i-unready", "False"), node("i-old", "True")},
	}
	recorded := snapshot.Past{ID: "i-recorded", Started: at.Add(-2 * time.Hour), End: snapshot.NotJoined}
	later := snapshot.Past{ID: "i-later", Started: at.Add(-time.Minute), End: snapshot.Joined}
	got := withJoined([]snapshot.Past{recorded, later}, joinedLaunches(s))
	want := []snapshot.Past{
		recorded,
		{ID: "i-joined", Nodegroup: "general", Type: "m5.large", AMI: "ami-1", Started: at.Add(-time.Hour), End: snapshot.Joined},
		later,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
