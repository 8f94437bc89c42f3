package vpc

import (
	"testing"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

func TestVPCsWithATransitGateway(t *testing.T) {
	s := &snapshot.Snapshot{
		Subnets: []snapshot.Subnet{{ID: "subnet-0a", VPC: "vpc-0a"}},
		Attachments: []snapshot.Attachment{
			{ID: "tgw-attach-01", Kind: "vpc", Resource: "vpc-0a"},
			{ID: "tgw-attach-02", Kind: "vpc", Resource: "vpc-0far"},
			{ID: "tgw-attach-03", Kind: "vpn", Resource: "vpn-0a"},
		},
	}
	gathertest.Same(t, "those whose subnets were read", attachedVPCs(s), []string{"vpc-0a"})
}
