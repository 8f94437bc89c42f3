package gather

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

func TestHollowAnswers(t *testing.T) {
	gathertest.Converts(t, instance)
	gathertest.Converts(t, instanceType)
	gathertest.Converts(t, instanceStatus)
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
	gathertest.Converts(t, image)
	gathertest.Converts(t, launchTemplate)
	gathertest.Converts(t, func(v types.SubnetCidrReservation) snapshot.Reservation { return reservation("subnet-a", v) })
}

// TestUnknownValues holds that values newer than this code are not taken for
// good ones.
func TestUnknownValues(t *testing.T) {
	if got := attachment(types.TransitGatewayAttachment{Association: &types.TransitGatewayAttachmentAssociation{State: "a state to come", TransitGatewayRouteTableId: ptr("tgw-rtb-1")}}); got.Table != "" {
		t.Errorf("a table that may not be in use: %q", got.Table)
	}
	if aclEntry(types.NetworkAclEntry{RuleAction: "an action to come"}).Allow {
		t.Error("an unknown action of a network ACL allows")
	}
	if got := endpoint(types.VpcEndpoint{State: "A state to come"}); got.State == "available" {
		t.Errorf("endpoint in state %q", got.State)
	}
}

func ptr[T any](v T) *T { return &v }

// TestInstanceOfParts holds what an instance's interfaces and options tell.
func TestInstanceOfParts(t *testing.T) {
	nic := func(id string, card, device int32, ipv6 string) types.InstanceNetworkInterface {
		return types.InstanceNetworkInterface{NetworkInterfaceId: ptr(id), Attachment: &types.InstanceNetworkInterfaceAttachment{NetworkCardIndex: ptr(card), DeviceIndex: ptr(device)},
			Ipv6Addresses: []types.InstanceIpv6Address{{Ipv6Address: ptr(ipv6)}}}
	}
	adapter := func(n types.InstanceNetworkInterface, kind string, groups ...string) types.InstanceNetworkInterface {
		n.InterfaceType = ptr(kind)
		for _, id := range groups {
			n.Groups = append(n.Groups, types.GroupIdentifier{GroupId: ptr(id)})
		}
		return n
	}
	got := instance(types.Instance{
		NetworkInterfaces: []types.InstanceNetworkInterface{adapter(nic("eni-3", 1, 1, ""), "efa-only", "sg-2", "sg-1"), nic("eni-2", 0, 1, "2001:db8::2"), adapter(nic("eni-1", 0, 0, "2001:db8::1"), "efa", "sg-1"), adapter(nic("eni-4", 2, 1, ""), "interface", "sg-1")},
		Ipv6Address:       ptr("2001:db8::1"), SourceDestCheck: ptr(true), Platform: "windows", StateTransitionReason: ptr("Server.InternalError"),
		MetadataOptions: &types.InstanceMetadataOptionsResponse{HttpEndpoint: "disabled", HttpPutResponseHopLimit: ptr(int32(2)), HttpTokens: "required"},
		Tags:            []types.Tag{{Key: ptr("aws:ec2launchtemplate:id"), Value: ptr("lt-1")}, {Key: ptr("aws:ec2launchtemplate:version"), Value: ptr("7")}},
	})
	same(t, "interfaces", got.Interfaces, []string{"eni-1", "eni-2", "eni-3", "eni-4"})
	same(t, "adapters", got.EFAs, []snapshot.EFA{{ID: "eni-1", Groups: []string{"sg-1"}}, {ID: "eni-3", Groups: []string{"sg-1", "sg-2"}}})
	same(t, "template", got.Template, snapshot.TemplateRef{ID: "lt-1", Version: "7"})
	same(t, "metadata", got.Metadata, snapshot.Metadata{Endpoint: "disabled", HopLimit: 2, Tokens: "required"})
	if len(got.IPv6) != 2 || !got.Windows || !got.SourceCheck || got.Transition != "Server.InternalError" {
		t.Errorf("instance %+v", got)
	}
	if card := instanceType(types.InstanceTypeInfo{NetworkInfo: &types.NetworkInfo{MaximumNetworkInterfaces: ptr(int32(60)), DefaultNetworkCardIndex: ptr(int32(0)),
		NetworkCards: []types.NetworkCardInfo{{NetworkCardIndex: ptr(int32(0)), MaximumNetworkInterfaces: ptr(int32(15))}, {NetworkCardIndex: ptr(int32(1)), MaximumNetworkInterfaces: ptr(int32(45))}}}}); card.Interfaces != 15 {
		t.Errorf("%d interfaces, want the 15 of the default card", card.Interfaces)
	}
}
