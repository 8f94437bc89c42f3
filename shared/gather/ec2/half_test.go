package ec2

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
	gathertest.Converts(t, image)
	gathertest.Converts(t, launchTemplate)
}

// TestInstanceOfParts holds what an instance's interfaces and options tell.
func TestInstanceOfParts(t *testing.T) {
	nic := func(id string, card, device int32, ipv6 string) types.InstanceNetworkInterface {
		return types.InstanceNetworkInterface{NetworkInterfaceId: new(id), Attachment: &types.InstanceNetworkInterfaceAttachment{NetworkCardIndex: new(card), DeviceIndex: new(device)},
			Ipv6Addresses: []types.InstanceIpv6Address{{Ipv6Address: new(ipv6)}}}
	}
	adapter := func(n types.InstanceNetworkInterface, kind string, groups ...string) types.InstanceNetworkInterface {
		n.InterfaceType = new(kind)
		for _, id := range groups {
			n.Groups = append(n.Groups, types.GroupIdentifier{GroupId: new(id)})
		}
		return n
	}
	got := instance(types.Instance{
		NetworkInterfaces: []types.InstanceNetworkInterface{adapter(nic("eni-3", 1, 1, ""), "efa-only", "sg-2", "sg-1"), nic("eni-2", 0, 1, "2001:db8::2"), adapter(nic("eni-1", 0, 0, "2001:db8::1"), "efa", "sg-1"), adapter(nic("eni-4", 2, 1, ""), "interface", "sg-1")},
		Ipv6Address:       new("2001:db8::1"), SourceDestCheck: new(true), Platform: "windows", StateTransitionReason: new("Server.InternalError"),
		MetadataOptions: &types.InstanceMetadataOptionsResponse{HttpEndpoint: "disabled", HttpPutResponseHopLimit: new(int32(2)), HttpTokens: "required"},
		Tags:            []types.Tag{{Key: new("aws:ec2launchtemplate:id"), Value: new("lt-1")}, {Key: new("aws:ec2launchtemplate:version"), Value: new("7")}},
	})
	gathertest.Same(t, "interfaces", got.Interfaces, []string{"eni-1", "eni-2", "eni-3", "eni-4"})
	gathertest.Same(t, "adapters", got.EFAs, []snapshot.EFA{{ID: "eni-1", Groups: []string{"sg-1"}}, {ID: "eni-3", Groups: []string{"sg-1", "sg-2"}}})
	gathertest.Same(t, "template", got.Template, snapshot.TemplateRef{ID: "lt-1", Version: "7"})
	gathertest.Same(t, "metadata", got.Metadata, snapshot.Metadata{Endpoint: "disabled", HopLimit: 2, Tokens: "required"})
	if len(got.IPv6) != 2 || !got.Windows || !got.SourceCheck || got.Transition != "Server.InternalError" {
		t.Errorf("instance %+v", got)
	}
	if card := instanceType(types.InstanceTypeInfo{NetworkInfo: &types.NetworkInfo{MaximumNetworkInterfaces: new(int32(60)), DefaultNetworkCardIndex: new(int32(0)),
		NetworkCards: []types.NetworkCardInfo{{NetworkCardIndex: new(int32(0)), MaximumNetworkInterfaces: new(int32(15))}, {NetworkCardIndex: new(int32(1)), MaximumNetworkInterfaces: new(int32(45))}}}}); card.Interfaces != 15 {
		t.Errorf("%d interfaces, want the 15 of the default card", card.Interfaces)
	}
}

// An instance whose type EC2 left out does not keep the others' from being read.
func TestTypesOfHalfAnInstance(t *testing.T) {
	got := typesOf([]snapshot.Instance{{ID: "i-1"}, {ID: "i-2", Type: "m5.large"}, {ID: "i-3", Type: "m5.large"}}, []snapshot.Group{{Types: []string{"c5.large"}}})
	if len(got) != 1 || got[0] != "m5.large" {
		t.Errorf("types are %q, want m5.large alone", got)
	}
	if got := typesOf(nil, []snapshot.Group{{Types: []string{"m5.large", "c5.large"}}, {Types: []string{"c5.large"}}}); len(got) != 2 {
		t.Errorf("types are %q, want the two of the groups", got)
	}
}
