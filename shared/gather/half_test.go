package gather

import (
	"reflect"
	"testing"

	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// hollow fills a value as an answer could be that says as little as possible:
// each list holds one such item, each pointer to a struct leads to one, and
// each plain field is nil or empty.
func hollow(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				hollow(v.Field(i), depth-1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		hollow(v.Index(0), depth-1)
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Struct && v.Type().Elem().PkgPath() != "time" {
			v.Set(reflect.New(v.Type().Elem()))
			hollow(v.Elem(), depth-1)
		}
	}
}

// converts holds that a conversion takes an empty answer, and answers whose
// parts are empty at each depth.
func converts[A, B any](t *testing.T, convert func(A) B) {
	t.Helper()
	for depth := range 7 {
		var a A
		hollow(reflect.ValueOf(&a).Elem(), depth)
		convert(a) // must not panic
	}
}

func TestHollowAnswers(t *testing.T) {
	converts(t, instance)
	converts(t, instanceType)
	converts(t, instanceStatus)
	converts(t, subnet)
	converts(t, vpcOf)
	converts(t, routeTable)
	converts(t, natGateway)
	converts(t, internetGateway)
	converts(t, egressOnly)
	converts(t, endpoint)
	converts(t, securityGroup)
	converts(t, networkACL)
	converts(t, dhcpOptions)
	converts(t, peering)
	converts(t, attachment)
	converts(t, func(r types.TransitGatewayRoute) snapshot.TransitRoute { return transitRoute("t", r) })
	converts(t, networkInterface)
	converts(t, image)
	converts(t, launchTemplate)
	converts(t, group)
	converts(t, activity)
	converts(t, nodegroup)
	converts(t, addon)
	converts(t, profile)
	converts(t, func(e ekstypes.AccessEntry) snapshot.AccessEntry { return accessEntry("p", e) })
	converts(t, func(c ekstypes.Cluster) snapshot.Cluster { out, _ := cluster(c); return out })
	converts(t, func(r iamtypes.Role) string { text, _ := document(r.AssumeRolePolicyDocument); return text })
	converts(t, node)
	converts(t, pod)
	converts(t, csr)
	converts(t, nodeEvent)
	converts(t, eniConfig)
	converts(t, func(v types.SubnetCidrReservation) snapshot.Reservation { return reservation("subnet-a", v) })
	converts(t, func(d kube.DaemonSet) snapshot.CNI { return cni(d, nil) })
	converts(t, func(a kube.ServiceAccount) snapshot.CNI { return cni(kube.DaemonSet{}, &a) })
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
	if got := group(astypes.AutoScalingGroup{LaunchTemplate: &astypes.LaunchTemplateSpecification{LaunchTemplateId: ptr("lt-1")}}); got.Template.Version != "$Default" {
		t.Errorf("template %+v of a group that names no version", got.Template)
	}
}

func ptr[T any](v T) *T { return &v }

// TestInstanceOfParts holds what an instance's interfaces and options tell.
func TestInstanceOfParts(t *testing.T) {
	nic := func(id string, card, device int32, ipv6 string) types.InstanceNetworkInterface {
		return types.InstanceNetworkInterface{NetworkInterfaceId: ptr(id), Attachment: &types.InstanceNetworkInterfaceAttachment{NetworkCardIndex: ptr(card), DeviceIndex: ptr(device)},
			Ipv6Addresses: []types.InstanceIpv6Address{{Ipv6Address: ptr(ipv6)}}}
	}
	got := instance(types.Instance{
		NetworkInterfaces: []types.InstanceNetworkInterface{nic("eni-3", 1, 1, ""), nic("eni-2", 0, 1, "2001:db8::2"), nic("eni-1", 0, 0, "2001:db8::1")},
		Ipv6Address:       ptr("2001:db8::1"), SourceDestCheck: ptr(true), Platform: "windows", StateTransitionReason: ptr("Server.InternalError"),
		MetadataOptions: &types.InstanceMetadataOptionsResponse{HttpEndpoint: "disabled", HttpPutResponseHopLimit: ptr(int32(2)), HttpTokens: "required"},
		Tags:            []types.Tag{{Key: ptr("aws:ec2launchtemplate:id"), Value: ptr("lt-1")}, {Key: ptr("aws:ec2launchtemplate:version"), Value: ptr("7")}},
	})
	same(t, "interfaces", got.Interfaces, []string{"eni-1", "eni-2", "eni-3"})
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
