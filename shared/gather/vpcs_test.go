package gather

import (
	"testing"

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
	same(t, "nodes of the cluster's VPC", vpcsOf(nodes("vpc-0a", "", "vpc-0a"), Query{}), []string{"vpc-0a"})
	same(t, "nodes of another VPC", vpcsOf(nodes("vpc-0b", "vpc-0a", "vpc-0b"), Query{}), []string{"vpc-0a", "vpc-0b"})
	same(t, "no more than can be looked into", vpcsOf(nodes("vpc-0b", "vpc-0c", "vpc-0d", "vpc-0e"), Query{}), []string{"vpc-0a", "vpc-0b", "vpc-0c", "vpc-0d"})
	strangers := nodes("vpc-0b")
	strangers.Scope.Instances = nil
	same(t, "instances beside the scope", vpcsOf(strangers, Query{}), []string{"vpc-0a"})
	blind := nodes("vpc-0b")
	blind.Cluster.VPC = ""
	same(t, "the cluster could not be read", vpcsOf(blind, Query{VPC: "vpc-0q"}), []string{"vpc-0q", "vpc-0b"})
	same(t, "no VPC is known", vpcsOf(blind, Query{}), []string(nil))
}

func TestVPCsWithATransitGateway(t *testing.T) {
	s := &snapshot.Snapshot{
		Subnets: []snapshot.Subnet{{ID: "subnet-0a", VPC: "vpc-0a"}},
		Attachments: []snapshot.Attachment{
			{ID: "tgw-attach-01", Kind: "vpc", Resource: "vpc-0a"},
			{ID: "tgw-attach-02", Kind: "vpc", Resource: "vpc-0far"},
			{ID: "tgw-attach-03", Kind: "vpn", Resource: "vpn-0a"},
		},
	}
	same(t, "those whose subnets were read", attachedVPCs(s), []string{"vpc-0a"})
}
