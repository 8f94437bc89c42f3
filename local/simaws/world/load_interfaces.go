package world

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/worldfile"
)

// loadInterfaces keeps the interfaces that the file lists, by themselves or
// inside an instance, and takes their addresses.
func (w *World) loadInterfaces(f *worldfile.File) error {
	list := slices.Clone(f.EC2.NetworkInterfaces)
	listed := map[string]bool{}
	for _, n := range list {
		listed[aws.ToString(n.NetworkInterfaceId)] = true
	}
	for _, in := range w.instances.All() {
		for _, n := range in.NetworkInterfaces {
			if !listed[aws.ToString(n.NetworkInterfaceId)] {
				list = append(list, interfaceOfInstance(in, n))
			}
		}
		in.NetworkInterfaces = nil
	}
	if err := fill(w.interfaces, list, "ec2.NetworkInterfaces", func(v *ec2types.NetworkInterface) *string { return v.NetworkInterfaceId }); err != nil {
		return err
	}
	var errs []error
	for _, eni := range w.interfaces.All() {
		if err := w.completeInterface(eni); err != nil {
			errs = append(errs, fmt.Errorf("ec2.NetworkInterfaces %s: %w", *eni.NetworkInterfaceId, err))
		}
	}
	return errors.Join(errs...)
}

func (w *World) completeInterface(eni *ec2types.NetworkInterface) error {
	s := w.subnets.Get(aws.ToString(eni.SubnetId))
	if s == nil {
		return fmt.Errorf("subnet %q is not in the world", aws.ToString(eni.SubnetId))
	}
	p := w.pools[*s.SubnetId]
	or(&eni.VpcId, aws.ToString(s.VpcId))
	or(&eni.AvailabilityZone, aws.ToString(s.AvailabilityZone))
	or(&eni.OwnerId, w.account)
	or(&eni.Description, "")
	or(&eni.RequesterManaged, false)
	or(&eni.SourceDestCheck, true)
	or(&eni.MacAddress, w.ids.MAC())
	orZero(&eni.InterfaceType, ec2types.NetworkInterfaceTypeInterface)
	if len(eni.PrivateIpAddresses) == 0 && eni.PrivateIpAddress != nil {
		eni.PrivateIpAddresses = []ec2types.NetworkInterfacePrivateIpAddress{{Primary: aws.Bool(true), PrivateIpAddress: eni.PrivateIpAddress}}
	}
	for i := range eni.PrivateIpAddresses {
		a, err := netip.ParseAddr(aws.ToString(eni.PrivateIpAddresses[i].PrivateIpAddress))
		if err != nil {
			return err
		}
		if err := p.Take(a); err != nil {
			return err
		}
		or(&eni.PrivateIpAddresses[i].Primary, i == 0)
		or(&eni.PrivateIpAddresses[i].PrivateDnsName, w.privateName(a.String()))
	}
	for _, b := range eni.Ipv4Prefixes {
		block, err := netip.ParsePrefix(aws.ToString(b.Ipv4Prefix))
		if err != nil || block.Bits() != 28 || !p.Prefix.Contains(block.Addr()) {
			return fmt.Errorf("prefix %q is not a /28 of the subnet", aws.ToString(b.Ipv4Prefix))
		}
		p.TakeBlock(block.Masked())
	}
	if len(eni.PrivateIpAddresses) == 0 {
		addrs, ok := p.Allocate(1)
		if !ok {
			return errSubnetFull()
		}
		w.addAddresses(eni, addrs, nil)
	}
	eni.PrivateIpAddress = eni.PrivateIpAddresses[0].PrivateIpAddress
	or(&eni.PrivateDnsName, w.privateName(*eni.PrivateIpAddress))
	if a := eni.Attachment; a != nil {
		orZero(&eni.Status, ec2types.NetworkInterfaceStatusInUse)
		orZero(&a.Status, ec2types.AttachmentStatusAttached)
		or(&a.DeviceIndex, 0)
		or(&a.DeleteOnTermination, *a.DeviceIndex == 0)
		if id := aws.ToString(a.InstanceId); id != "" {
			w.attached[id] = append(w.attached[id], *eni.NetworkInterfaceId)
		}
	}
	orZero(&eni.Status, ec2types.NetworkInterfaceStatusAvailable)
	return nil
}

func interfaceOfInstance(in *ec2types.Instance, n ec2types.InstanceNetworkInterface) ec2types.NetworkInterface {
	out := ec2types.NetworkInterface{
		NetworkInterfaceId: n.NetworkInterfaceId, Description: n.Description, Groups: n.Groups, MacAddress: n.MacAddress,
		OwnerId: n.OwnerId, PrivateDnsName: n.PrivateDnsName, PrivateIpAddress: n.PrivateIpAddress, SourceDestCheck: n.SourceDestCheck,
		Status: n.Status, SubnetId: n.SubnetId, VpcId: n.VpcId, InterfaceType: ec2types.NetworkInterfaceType(aws.ToString(n.InterfaceType)),
	}
	if out.SubnetId == nil {
		out.SubnetId = in.SubnetId
	}
	for _, a := range n.PrivateIpAddresses {
		out.PrivateIpAddresses = append(out.PrivateIpAddresses, ec2types.NetworkInterfacePrivateIpAddress{Primary: a.Primary, PrivateDnsName: a.PrivateDnsName, PrivateIpAddress: a.PrivateIpAddress})
	}
	for _, b := range n.Ipv4Prefixes {
		out.Ipv4Prefixes = append(out.Ipv4Prefixes, ec2types.Ipv4PrefixSpecification{Ipv4Prefix: b.Ipv4Prefix})
	}
	out.Attachment = &ec2types.NetworkInterfaceAttachment{InstanceId: in.InstanceId, DeviceIndex: aws.Int32(0)}
	if a := n.Attachment; a != nil {
		out.Attachment = &ec2types.NetworkInterfaceAttachment{
			InstanceId: in.InstanceId, AttachTime: a.AttachTime, AttachmentId: a.AttachmentId, DeleteOnTermination: a.DeleteOnTermination,
			DeviceIndex: a.DeviceIndex, NetworkCardIndex: a.NetworkCardIndex, Status: a.Status,
		}
	}
	return out
}

// loadFreeAddresses makes stated counts of free addresses true.
func (w *World) loadFreeAddresses(*worldfile.File) error {
	var errs []error
	for _, s := range w.subnets.All() {
		if s.AvailableIpAddressCount == nil {
			continue
		}
		if err := w.pools[*s.SubnetId].State(int(*s.AvailableIpAddressCount)); err != nil {
			errs = append(errs, fmt.Errorf("ec2.Subnets %s: %w", *s.SubnetId, err))
		}
	}
	return errors.Join(errs...)
}
