package world

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// loadInterfaces keeps the interfaces that the file lists, by themselves or
// inside an instance, and takes their addresses.
func loadInterfaces(w *state.State, f *worldfile.File) error {
	list := slices.Clone(f.EC2.NetworkInterfaces)
	listed := map[string]bool{}
	for _, n := range list {
		listed[aws.ToString(n.NetworkInterfaceId)] = true
	}
	for _, in := range w.Instances.All() {
		for _, n := range in.NetworkInterfaces {
			if !listed[aws.ToString(n.NetworkInterfaceId)] {
				list = append(list, interfaceOfInstance(in, n))
			}
		}
		in.NetworkInterfaces = nil
	}
	if err := fill(w.Interfaces, list, "ec2.NetworkInterfaces", func(v *ec2types.NetworkInterface) *string { return v.NetworkInterfaceId }); err != nil {
		return err
	}
	var errs []error
	for _, eni := range w.Interfaces.All() {
		if err := completeInterface(w, eni); err != nil {
			errs = append(errs, fmt.Errorf("ec2.NetworkInterfaces %s: %w", *eni.NetworkInterfaceId, err))
		}
	}
	return errors.Join(errs...)
}

func completeInterface(w *state.State, eni *ec2types.NetworkInterface) error {
	s := w.Subnets.Get(aws.ToString(eni.SubnetId))
	if s == nil {
		return fmt.Errorf("subnet %q is not in the world", aws.ToString(eni.SubnetId))
	}
	p := w.Pools[*s.SubnetId]
	defaults.Set(&eni.VpcId, aws.ToString(s.VpcId))
	defaults.Set(&eni.AvailabilityZone, aws.ToString(s.AvailabilityZone))
	defaults.Set(&eni.OwnerId, w.Account)
	defaults.Set(&eni.Description, "")
	defaults.Set(&eni.RequesterManaged, false)
	defaults.Set(&eni.SourceDestCheck, true)
	defaults.Set(&eni.MacAddress, w.IDs.MAC())
	defaults.SetPlain(&eni.InterfaceType, ec2types.NetworkInterfaceTypeInterface)
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
		defaults.Set(&eni.PrivateIpAddresses[i].Primary, i == 0)
		defaults.Set(&eni.PrivateIpAddresses[i].PrivateDnsName, w.PrivateName(a.String()))
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
			return state.ErrSubnetFull()
		}
		w.AddAddresses(eni, addrs, nil)
	}
	eni.PrivateIpAddress = eni.PrivateIpAddresses[0].PrivateIpAddress
	defaults.Set(&eni.PrivateDnsName, w.PrivateName(*eni.PrivateIpAddress))
	if a := eni.Attachment; a != nil {
		defaults.SetPlain(&eni.Status, ec2types.NetworkInterfaceStatusInUse)
		defaults.SetPlain(&a.Status, ec2types.AttachmentStatusAttached)
		defaults.Set(&a.DeviceIndex, 0)
		defaults.Set(&a.DeleteOnTermination, *a.DeviceIndex == 0)
		if id := aws.ToString(a.InstanceId); id != "" {
			w.Attached[id] = append(w.Attached[id], *eni.NetworkInterfaceId)
		}
	}
	defaults.SetPlain(&eni.Status, ec2types.NetworkInterfaceStatusAvailable)
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
func loadFreeAddresses(w *state.State, _ *worldfile.File) error {
	var errs []error
	for _, s := range w.Subnets.All() {
		if s.AvailableIpAddressCount == nil {
			continue
		}
		if err := w.Pools[*s.SubnetId].State(int(*s.AvailableIpAddressCount)); err != nil {
			errs = append(errs, fmt.Errorf("ec2.Subnets %s: %w", *s.SubnetId, err))
		}
	}
	return errors.Join(errs...)
}
