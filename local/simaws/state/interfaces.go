package state

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/addresses"
)

// InterfaceSpec is what a new network interface is made of.
type InterfaceSpec struct {
	Subnet      string
	Description string
	Groups      []string
	Tags        []ec2types.Tag
	Primary     string // an address that was asked for, or empty
	Secondary   int
	Prefixes    int
	// Kind is the interface's type; empty is the usual one.
	Kind ec2types.NetworkInterfaceType
}

// CreateInterface makes an interface and takes its addresses, all or none.
func (w *State) CreateInterface(spec InterfaceSpec) (*ec2types.NetworkInterface, error) {
	subnet := w.Subnets.Get(spec.Subnet)
	if subnet == nil {
		return nil, wire.Errorf("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", spec.Subnet)
	}
	if spec.Secondary < 0 || spec.Prefixes < 0 {
		return nil, wire.Errorf("InvalidParameterValue", "A number of addresses must not be negative.")
	}
	p := w.Pools[spec.Subnet]
	want := 1 + spec.Secondary
	if want+spec.Prefixes*addresses.PrefixSize > p.Free() {
		return nil, ErrSubnetFull()
	}
	var addrs []netip.Addr
	if spec.Primary != "" {
		a, err := netip.ParseAddr(spec.Primary)
		if err != nil {
			return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter privateIpAddress is invalid.", spec.Primary)
		}
		if err := p.Take(a); err != nil {
			return nil, wire.Errorf("InvalidIPAddress.InUse", "Address %s is in use.", a)
		}
		addrs = append(addrs, a)
	}
	rest, ok := p.Allocate(want - len(addrs))
	if !ok {
		for _, a := range addrs {
			p.Release(a)
		}
		return nil, ErrSubnetFull()
	}
	addrs = append(addrs, rest...)
	blocks, ok := p.AllocatePrefixes(spec.Prefixes)
	if !ok {
		for _, a := range addrs {
			p.Release(a)
		}
		return nil, wire.Errorf("InsufficientCidrBlocks", "The specified subnet does not have enough free cidr blocks to satisfy the request.")
	}
	eni := &ec2types.NetworkInterface{
		NetworkInterfaceId: aws.String(w.IDs.EC2("eni")),
		AvailabilityZone:   subnet.AvailabilityZone,
		AvailabilityZoneId: subnet.AvailabilityZoneId,
		Description:        aws.String(spec.Description),
		Groups:             w.GroupIdentifiers(spec.Groups),
		InterfaceType:      cmp.Or(spec.Kind, ec2types.NetworkInterfaceTypeInterface),
		MacAddress:         aws.String(w.IDs.MAC()),
		OwnerId:            aws.String(w.Account),
		PrivateDnsName:     aws.String(w.PrivateName(addrs[0].String())),
		PrivateIpAddress:   aws.String(addrs[0].String()),
		RequesterManaged:   aws.Bool(false),
		SourceDestCheck:    aws.Bool(true),
		Status:             ec2types.NetworkInterfaceStatusAvailable,
		SubnetId:           subnet.SubnetId,
		TagSet:             spec.Tags,
		VpcId:              subnet.VpcId,
	}
	w.AddAddresses(eni, addrs, blocks)
	w.Interfaces.Put(*eni.NetworkInterfaceId, eni)
	return eni, nil
}

// ErrSubnetFull is EC2's answer where a subnet has no address left.
func ErrSubnetFull() *wire.Error {
	return wire.Errorf("InsufficientFreeAddressesInSubnet", "The specified subnet does not have enough free addresses to satisfy the request.")
}

// AddAddresses lists addresses on an interface; its first is the primary one.
func (w *State) AddAddresses(eni *ec2types.NetworkInterface, addrs []netip.Addr, blocks []netip.Prefix) {
	for _, a := range addrs {
		eni.PrivateIpAddresses = append(eni.PrivateIpAddresses, ec2types.NetworkInterfacePrivateIpAddress{
			Primary:          aws.Bool(len(eni.PrivateIpAddresses) == 0),
			PrivateDnsName:   aws.String(w.PrivateName(a.String())),
			PrivateIpAddress: aws.String(a.String()),
		})
	}
	for _, b := range blocks {
		eni.Ipv4Prefixes = append(eni.Ipv4Prefixes, ec2types.Ipv4PrefixSpecification{Ipv4Prefix: aws.String(b.String())})
	}
}

// PrivateName is the DNS name that EC2 gives an address.
func (w *State) PrivateName(addr string) string {
	dashed := "ip-" + strings.ReplaceAll(addr, ".", "-")
	if w.Region == "us-east-1" {
		return dashed + ".ec2.internal"
	}
	return dashed + "." + w.Region + ".compute.internal"
}

// GroupIdentifiers are security groups by id, with the names of those that are there.
func (w *State) GroupIdentifiers(groups []string) []ec2types.GroupIdentifier {
	out := make([]ec2types.GroupIdentifier, 0, len(groups))
	for _, id := range groups {
		g := ec2types.GroupIdentifier{GroupId: aws.String(id)}
		if sg := w.SecurityGroups.Get(id); sg != nil {
			g.GroupName = sg.GroupName
		}
		out = append(out, g)
	}
	return out
}

// Attach puts an interface on an instance.
func (w *State) Attach(eni *ec2types.NetworkInterface, instance string, index int32, deleteOnTermination bool) {
	eni.Status = ec2types.NetworkInterfaceStatusInUse
	eni.Attachment = &ec2types.NetworkInterfaceAttachment{
		AttachTime:          aws.Time(w.Now),
		AttachmentId:        aws.String(w.IDs.EC2("eni-attach")),
		DeleteOnTermination: aws.Bool(deleteOnTermination),
		DeviceIndex:         aws.Int32(index),
		InstanceId:          aws.String(instance),
		InstanceOwnerId:     aws.String(w.Account),
		NetworkCardIndex:    aws.Int32(0),
		Status:              ec2types.AttachmentStatusAttached,
	}
	w.Attached[instance] = append(w.Attached[instance], *eni.NetworkInterfaceId)
}

// Detach leaves an interface available.
func (w *State) Detach(eni *ec2types.NetworkInterface) {
	if eni.Attachment == nil {
		return
	}
	id := aws.ToString(eni.Attachment.InstanceId)
	w.Attached[id] = slices.DeleteFunc(w.Attached[id], func(s string) bool { return s == *eni.NetworkInterfaceId })
	eni.Attachment = nil
	eni.Status = ec2types.NetworkInterfaceStatusAvailable
}

// DropInterface deletes an interface, gives its addresses back and turns the
// routes to it to blackhole.
func (w *State) DropInterface(eni *ec2types.NetworkInterface) {
	w.Detach(eni)
	id := *eni.NetworkInterfaceId
	p := w.Pools[aws.ToString(eni.SubnetId)]
	for _, a := range eni.PrivateIpAddresses {
		w.ReleaseAddress(p, aws.ToString(a.PrivateIpAddress))
	}
	for _, b := range eni.Ipv4Prefixes {
		if block, err := netip.ParsePrefix(aws.ToString(b.Ipv4Prefix)); err == nil && p != nil {
			p.ReleaseBlock(block)
		}
	}
	w.Interfaces.Remove(id)
	w.Blackhole(func(r *ec2types.Route) bool { return aws.ToString(r.NetworkInterfaceId) == id })
}

// ReleaseAddress gives an address back to its pool, if there is one.
func (w *State) ReleaseAddress(p *addresses.Pool, addr string) {
	if a, err := netip.ParseAddr(addr); err == nil && p != nil {
		p.Release(a)
	}
}

// InterfacesOf are the interfaces on an instance, the primary one first.
func (w *State) InterfacesOf(instance string) []*ec2types.NetworkInterface {
	var out []*ec2types.NetworkInterface
	for _, id := range w.Attached[instance] {
		if eni := w.Interfaces.Get(id); eni != nil {
			out = append(out, eni)
		}
	}
	slices.SortStableFunc(out, func(a, b *ec2types.NetworkInterface) int {
		return int(aws.ToInt32(a.Attachment.DeviceIndex) - aws.ToInt32(b.Attachment.DeviceIndex))
	})
	return out
}

// NextPublicIP makes up a public address out of a block kept for examples.
func (w *State) NextPublicIP() string {
	w.publicIPs++
	return fmt.Sprintf("198.51.%d.%d", 100+w.publicIPs/250, 1+w.publicIPs%250)
}

// PublicName is the DNS name that EC2 gives a public address.
func (w *State) PublicName(addr string) string {
	dashed := "ec2-" + strings.ReplaceAll(addr, ".", "-")
	if w.Region == "us-east-1" {
		return dashed + ".compute-1.amazonaws.com"
	}
	return dashed + "." + w.Region + ".compute.amazonaws.com"
}
