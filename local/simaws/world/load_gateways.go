package world

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/worldfile"
)

// loadGatewayInterfaces gives NAT gateways and interface endpoints the
// addresses that they hold in their subnets, unless the file lists them.
func (w *World) loadGatewayInterfaces(*worldfile.File) error {
	listed := map[string]bool{}
	for _, n := range w.file.EC2.NetworkInterfaces {
		listed[aws.ToString(n.NetworkInterfaceId)] = true
	}
	var errs []error
	for _, n := range w.natGateways.All() {
		id := aws.ToString(n.NatGatewayId)
		if n.AvailabilityMode == ec2types.AvailabilityModeRegional {
			continue // it stands in no subnet
		}
		if (n.State != ec2types.NatGatewayStateAvailable && n.State != ec2types.NatGatewayStatePending) || (len(n.NatGatewayAddresses) > 0 && listed[aws.ToString(n.NatGatewayAddresses[0].NetworkInterfaceId)]) {
			continue
		}
		errs = append(errs, w.natInterface(n, id))
	}
	for _, e := range w.endpoints.All() {
		if e.VpcEndpointType != ec2types.VpcEndpointTypeInterface || len(e.NetworkInterfaceIds) > 0 {
			continue
		}
		errs = append(errs, w.endpointInterfaces(e))
	}
	return errors.Join(errs...)
}

func (w *World) natInterface(n *ec2types.NatGateway, id string) error {
	if len(n.NatGatewayAddresses) == 0 {
		n.NatGatewayAddresses = []ec2types.NatGatewayAddress{{}}
	}
	a := &n.NatGatewayAddresses[0]
	eni, err := w.createInterface(interfaceSpec{subnet: aws.ToString(n.SubnetId), description: "Interface for NAT Gateway " + id, primary: aws.ToString(a.PrivateIp)})
	if err != nil {
		return fmt.Errorf("ec2.NatGateways %s: %w", id, err)
	}
	if a.NetworkInterfaceId != nil {
		w.renameInterface(eni, *a.NetworkInterfaceId)
	}
	eni.InterfaceType = ec2types.NetworkInterfaceTypeNatGateway
	w.serve(eni, "amazon-nat")
	a.NetworkInterfaceId, a.PrivateIp = eni.NetworkInterfaceId, eni.PrivateIpAddress
	or(&a.IsPrimary, true)
	orZero(&a.Status, ec2types.NatGatewayAddressStatusSucceeded)
	if n.ConnectivityType == ec2types.ConnectivityTypePublic {
		or(&a.PublicIp, w.nextPublicIP())
		or(&a.AllocationId, w.ids.EC2("eipalloc"))
		or(&a.AssociationId, w.ids.EC2("eipassoc"))
		eni.Association = &ec2types.NetworkInterfaceAssociation{
			AllocationId: a.AllocationId, AssociationId: a.AssociationId, IpOwnerId: aws.String(w.account),
			PublicIp: a.PublicIp, PublicDnsName: aws.String(w.publicName(*a.PublicIp)),
		}
	}
	if n.VpcId == nil {
		n.VpcId = eni.VpcId
	}
	return nil
}

func (w *World) endpointInterfaces(e *ec2types.VpcEndpoint) error {
	var errs []error
	for _, subnet := range e.SubnetIds {
		eni, err := w.createInterface(interfaceSpec{
			subnet: subnet, description: "VPC Endpoint Interface " + aws.ToString(e.VpcEndpointId), groups: securityGroupIDs(e.Groups),
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("ec2.VpcEndpoints %s: %w", aws.ToString(e.VpcEndpointId), err))
			continue
		}
		eni.InterfaceType = ec2types.NetworkInterfaceTypeVpcEndpoint
		w.serve(eni, "amazon-aws")
		e.NetworkInterfaceIds = append(e.NetworkInterfaceIds, *eni.NetworkInterfaceId)
	}
	for i := range e.Groups {
		if sg := w.securityGroups.Get(aws.ToString(e.Groups[i].GroupId)); sg != nil {
			e.Groups[i].GroupName = sg.GroupName
		}
	}
	return errors.Join(errs...)
}

// serve makes an interface one that a service of AWS holds.
func (w *World) serve(eni *ec2types.NetworkInterface, owner string) {
	eni.RequesterManaged = aws.Bool(true)
	eni.RequesterId = aws.String(w.account)
	eni.SourceDestCheck = aws.Bool(!strings.Contains(owner, "nat"))
	eni.Status = ec2types.NetworkInterfaceStatusInUse
	eni.Attachment = &ec2types.NetworkInterfaceAttachment{
		AttachmentId: aws.String(w.ids.EC2("ela-attach")), AttachTime: aws.Time(w.now), DeleteOnTermination: aws.Bool(false),
		DeviceIndex: aws.Int32(1), InstanceOwnerId: aws.String("amazon-aws"), Status: ec2types.AttachmentStatusAttached,
	}
}

func (w *World) renameInterface(eni *ec2types.NetworkInterface, id string) {
	w.interfaces.Remove(*eni.NetworkInterfaceId)
	eni.NetworkInterfaceId = aws.String(id)
	w.interfaces.Put(id, eni)
}
