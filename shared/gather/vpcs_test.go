package gather

import (
	"testing"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

func TestVPCsOfALook(t *testing.T) {
	nodes := func(vpcs ...string) *snapshot.Snapshot {
		s := &snapshot.Snapshot{Cluster: snapshot.Cluster{VPC: "vpc-0a"}}
		for i, vpc := range vpcs {
			id := "i-" + string(rune('a'+i))
			s.Instances = append(s.Instances, snapshot.Instance{ID: id, VPC: vpc})
			s.Scope.Instances = append(s.Scope.Instances, id)
		}
		return s
	}
	gathertest.Same(t, "nodes of the cluster's VPC", vpcsOf(nodes("vpc-0a", "", "vpc-0a"), Query{}), []string{"vpc-0a"})
	gathertest.Same(t, "nodes of another VPC", vpcsOf(nodes("vpc-0b", "vpc-0a", "vpc-0b"), Query{}), []string{"vpc-0a", "vpc-0b"})
	gathertest.Same(t, "no more than can be looked into", vpcsOf(nodes("vpc-0b", "vpc-0c", "vpc-0d", "vpc-0e"), Query{}), []string{"vpc-0a", "vpc-0b", "vpc-0c", "vpc-0d"})
	strangers := nodes("vpc-0b")
	strangers.Scope.Instances = nil
	gathertest.Same(t, "instances beside the scope", vpcsOf(strangers, Query{}), []string{"vpc-0a"})
	blind := nodes("vpc-0b")
	blind.Cluster.VPC = ""
	gathertest.Same(t, "the cluster could not be read", vpcsOf(blind, Query{VPC: "vpc-0q"}), []string{"vpc-0q", "vpc-0b"})
	gathertest.Same(t, "no VPC is known", vpcsOf(blind, Query{}), []string(nil))
}
