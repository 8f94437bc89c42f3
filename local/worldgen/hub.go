package worldgen

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// hub is the range of the VPC through which a transit gateway leads out.
const hub = "10.250.0.0/16"

// makeTransit makes a transit gateway with an egress VPC behind it, all of the
// same account, and leads to it.
func (w *World) makeTransit() target {
	gateway := w.id("tgw")
	w.egressVPC = w.id("vpc")
	w.makeVPC(w.egressVPC, hub)
	public := w.makeSubnet(w.egressVPC, "us-west-2a", 0, true)
	inner := w.makeSubnet(w.egressVPC, "us-west-2a", 1, false)
	out := w.makeGateway(w.egressVPC)
	back := route(w.range4.String(), transitID(gateway))
	w.makeTable(w.egressVPC, true, nil, route(hub, local))
	w.makeTable(w.egressVPC, false, []string{public}, route(hub, local), back, route("0.0.0.0/0", gatewayID(out)))
	nat := w.makeNAT(w.egressVPC, public)
	w.makeTable(w.egressVPC, false, []string{inner}, route(hub, local), back, route("0.0.0.0/0", natID(nat)))
	spoke, hubTable := w.id("tgw-rtb"), w.id("tgw-rtb")
	own := w.attach(gateway, w.vpc, spoke, w.private[0])
	egress := w.attach(gateway, w.egressVPC, hubTable, inner)
	w.File.EC2.TransitGatewayRoutes = map[string][]ec2types.TransitGatewayRoute{
		spoke:    {transitRoute("0.0.0.0/0", egress, w.egressVPC)},
		hubTable: {transitRoute(w.range4.String(), own, w.vpc)},
	}
	return transitID(gateway)
}

func transitID(id string) target { return func(r *ec2types.Route) { r.TransitGatewayId = &id } }

func transitRoute(cidr, attachment, vpc string) ec2types.TransitGatewayRoute {
	return ec2types.TransitGatewayRoute{DestinationCidrBlock: &cidr, TransitGatewayAttachments: []ec2types.TransitGatewayRouteAttachment{
		{TransitGatewayAttachmentId: &attachment, ResourceId: &vpc, ResourceType: ec2types.TransitGatewayAttachmentResourceTypeVpc},
	}}
}

// attach attaches a VPC, with its interface in a subnet.
func (w *World) attach(gateway, vpc, table, subnet string) string {
	id := w.id("tgw-attach")
	w.File.EC2.TransitGatewayAttachments = append(w.File.EC2.TransitGatewayAttachments, ec2types.TransitGatewayAttachment{
		TransitGatewayAttachmentId: &id, TransitGatewayId: &gateway, ResourceId: &vpc, ResourceType: ec2types.TransitGatewayAttachmentResourceTypeVpc,
		Association: &ec2types.TransitGatewayAttachmentAssociation{TransitGatewayRouteTableId: &table, State: ec2types.TransitGatewayAssociationStateAssociated},
	})
	w.File.EC2.NetworkInterfaces = append(w.File.EC2.NetworkInterfaces, ec2types.NetworkInterface{
		NetworkInterfaceId: aws.String(w.id("eni")), SubnetId: &subnet, Description: aws.String("Network Interface for Transit Gateway Attachment " + id),
		InterfaceType: ec2types.NetworkInterfaceTypeTransitGateway, RequesterManaged: aws.Bool(true), Status: ec2types.NetworkInterfaceStatusInUse,
	})
	return id
}

// natInstance is the public address of the instance that translates.
const natInstance = "203.0.113.99"

// makeNATInstance makes an instance that forwards, and leads to its interface.
func (w *World) makeNATInstance() target {
	id, eni, group := w.id("i"), w.id("eni"), w.id("sg")
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, ec2types.SecurityGroup{
		GroupId: &group, VpcId: &w.vpc, GroupName: aws.String("nat"), Description: aws.String("From the VPC"),
		IpPermissions:       []ec2types.IpPermission{permit("-1", 0, 0, w.range4.String())},
		IpPermissionsEgress: []ec2types.IpPermission{permit("-1", 0, 0, "0.0.0.0/0")},
	})
	w.File.EC2.Instances = append(w.File.EC2.Instances, ec2types.Instance{
		InstanceId: &id, InstanceType: ec2types.InstanceTypeT3Micro, SubnetId: &w.public[0], LaunchTime: aws.Time(w.now().Add(-40 * 24 * time.Hour)),
		PublicIpAddress: aws.String(natInstance), SourceDestCheck: aws.Bool(false), Tags: []ec2types.Tag{tag("Name", "nat")},
	})
	w.File.EC2.NetworkInterfaces = append(w.File.EC2.NetworkInterfaces, ec2types.NetworkInterface{
		NetworkInterfaceId: &eni, SubnetId: &w.public[0], SourceDestCheck: aws.Bool(false), Groups: []ec2types.GroupIdentifier{{GroupId: &group}},
		Attachment:  &ec2types.NetworkInterfaceAttachment{InstanceId: &id, DeviceIndex: aws.Int32(0)},
		Association: &ec2types.NetworkInterfaceAssociation{PublicIp: aws.String(natInstance)},
	})
	return func(r *ec2types.Route) {
		r.NetworkInterfaceId, r.InstanceId, r.InstanceOwnerId = &eni, &id, aws.String(account)
	}
}
