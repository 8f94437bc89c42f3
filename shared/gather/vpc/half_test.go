package vpc

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

func TestHollowAnswersOfVPC(t *testing.T) {
	gathertest.Converts(t, subnet)
	gathertest.Converts(t, vpcOf)
	gathertest.Converts(t, routeTable)
	gathertest.Converts(t, natGateway)
	gathertest.Converts(t, internetGateway)
	gathertest.Converts(t, egressOnly)
	gathertest.Converts(t, endpoint)
	gathertest.Converts(t, securityGroup)
	gathertest.Converts(t, networkACL)
	gathertest.Converts(t, dhcpOptions)
	gathertest.Converts(t, peering)
	gathertest.Converts(t, attachment)
	gathertest.Converts(t, func(r types.TransitGatewayRoute) snapshot.TransitRoute { return transitRoute("t", r) })
	gathertest.Converts(t, networkInterface)
	gathertest.Converts(t, func(v types.SubnetCidrReservation) snapshot.Reservation { return reservation("subnet-a", v) })
}

// TestUnknownValues holds that values newer than this code are not taken for
// good ones.
func TestUnknownValues(t *testing.T) {
	if got := attachment(types.TransitGatewayAttachment{Association: &types.TransitGatewayAttachmentAssociation{State: "a state to come", TransitGatewayRouteTableId: new("tgw-rtb-1")}}); got.Table != "" {
		t.Errorf("a table that may not be in use: %q", got.Table)
	}
	if aclEntry(types.NetworkAclEntry{RuleAction: "an action to come"}).Allow {
		t.Error("an unknown action of a network ACL allows")
	}
	if got := endpoint(types.VpcEndpoint{State: "A state to come"}); got.State == "available" {
		t.Errorf("endpoint in state %q", got.State)
	}
}
