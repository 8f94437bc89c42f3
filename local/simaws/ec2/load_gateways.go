package ec2

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/state"
)

// NATInterface makes the interface of a NAT gateway.
func NATInterface(w *state.State, n *ec2types.NatGateway, id string) error {
	if len(n.NatGatewayAddresses) == 0 {
		n.NatGatewayAddresses = []ec2types.NatGatewayAddress{{}}
	}
	a := &n.NatGatewayAddresses[0]
	eni, err := w.CreateInterface(state.InterfaceSpec{Subnet: aws.ToString(n.SubnetId), Description: "Interface for NAT Gateway " + id, Primary: aws.ToString(a.PrivateIp)})
	if err != nil {
		return fmt.Errorf("ec2.NatGateways %s: %w", id, err)
	}
	if a.NetworkInterfaceId != nil {
		renameInterface(w, eni, *a.NetworkInterfaceId)
	}
	eni.InterfaceType = ec2types.NetworkInterfaceTypeNatGateway
	serve(w, eni, "amazon-nat")
	a.NetworkInterfaceId, a.PrivateIp = eni.NetworkInterfaceId, eni.PrivateIpAddress
	defaults.Set(&a.IsPrimary, true)
	defaults.SetPlain(&a.Status, ec2types.NatGatewayAddressStatusSucceeded)
	if n.ConnectivityType == ec2types.ConnectivityTypePublic {
		defaults.Set(&a.PublicIp, w.NextPublicIP())
		defaults.Set(&a.AllocationId, w.IDs.EC2("eipalloc"))
		defaults.Set(&a.AssociationId, w.IDs.EC2("eipassoc"))
		eni.Association = &ec2types.NetworkInterfaceAssociation{
			AllocationId: a.AllocationId, AssociationId: a.AssociationId, IpOwnerId: aws.String(w.Account),
			PublicIp: a.PublicIp, PublicDnsName: aws.String(w.PublicName(*a.PublicIp)),
		}
	}
	if n.VpcId == nil {
		n.VpcId = eni.VpcId
	}
	return nil
}

// EndpointInterfaces makes the interfaces of an interface endpoint, one for each subnet.
func EndpointInterfaces(w *state.State, e *ec2types.VpcEndpoint) error {
	var errs []error
	for _, subnet := range e.SubnetIds {
		eni, err := w.CreateInterface(state.InterfaceSpec{
			Subnet: subnet, Description: "VPC Endpoint Interface " + aws.ToString(e.VpcEndpointId), Groups: state.SecurityGroupIDs(e.Groups),
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("ec2.VpcEndpoints %s: %w", aws.ToString(e.VpcEndpointId), err))
			continue
		}
		eni.InterfaceType = ec2types.NetworkInterfaceTypeVpcEndpoint
		serve(w, eni, "amazon-aws")
		e.NetworkInterfaceIds = append(e.NetworkInterfaceIds, *eni.NetworkInterfaceId)
	}
	for i := range e.Groups {
		if sg := w.SecurityGroups.Get(aws.ToString(e.Groups[i].GroupId)); sg != nil {
			e.Groups[i].GroupName = sg.GroupName
		}
	}
	return errors.Join(errs...)
}

// serve makes an interface one that a service of AWS holds.
func serve(w *state.State, eni *ec2types.NetworkInterface, owner string) {
	eni.RequesterManaged = aws.Bool(true)
	eni.RequesterId = aws.String(w.Account)
	eni.SourceDestCheck = aws.Bool(!strings.Contains(owner, "nat"))
	eni.Status = ec2types.NetworkInterfaceStatusInUse
	eni.Attachment = &ec2types.NetworkInterfaceAttachment{
		AttachmentId: aws.String(w.IDs.EC2("ela-attach")), AttachTime: aws.Time(w.Now), DeleteOnTermination: aws.Bool(false),
		DeviceIndex: aws.Int32(1), InstanceOwnerId: aws.String("amazon-aws"), Status: ec2types.AttachmentStatusAttached,
	}
}

func renameInterface(w *state.State, eni *ec2types.NetworkInterface, id string) {
	w.Interfaces.Remove(*eni.NetworkInterfaceId)
	eni.NetworkInterfaceId = aws.String(id)
	w.Interfaces.Put(id, eni)
}
