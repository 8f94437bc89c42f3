package world

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

// interfaceSpec is what a new network interface is made of.
type interfaceSpec struct {
	subnet      string
	description string
	groups      []string
	tags        []ec2types.Tag
	primary     string // an address that was asked for, or empty
	secondary   int
	prefixes    int
	// kind is the interface's type; empty is the usual one.
	kind ec2types.NetworkInterfaceType
}

// createInterface makes an interface and takes its addresses, all or none.
func (w *World) createInterface(spec interfaceSpec) (*ec2types.NetworkInterface, error) {
	subnet := w.subnets.Get(spec.subnet)
	if subnet == nil {
		return nil, wire.Errorf("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", spec.subnet)
	}
	if spec.secondary < 0 || spec.prefixes < 0 {
		return nil, wire.Errorf("InvalidParameterValue", "A number of addresses must not be negative.")
	}
	p := w.pools[spec.subnet]
	want := 1 + spec.secondary
	if want+spec.prefixes*addresses.PrefixSize > p.Free() {
		return nil, errSubnetFull()
	}
	var addrs []netip.Addr
	if spec.primary != "" {
		a, err := netip.ParseAddr(spec.primary)
		if err != nil {
			return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter privateIpAddress is invalid.", spec.primary)
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
		return nil, errSubnetFull()
	}
	addrs = append(addrs, rest...)
	blocks, ok := p.AllocatePrefixes(spec.prefixes)
	if !ok {
		for _, a := range addrs {
			p.Release(a)
		}
		return nil, wire.Errorf("InsufficientCidrBlocks", "The specified subnet does not have enough free cidr blocks to satisfy the request.")
	}
	eni := &ec2types.NetworkInterface{
		NetworkInterfaceId: aws.String(w.ids.EC2("eni")),
		AvailabilityZone:   subnet.AvailabilityZone,
		AvailabilityZoneId: subnet.AvailabilityZoneId,
		Description:        aws.String(spec.description),
		Groups:             w.groupIdentifiers(spec.groups),
		InterfaceType:      cmp.Or(spec.kind, ec2types.NetworkInterfaceTypeInterface),
		MacAddress:         aws.String(w.ids.MAC()),
		OwnerId:            aws.String(w.account),
		PrivateDnsName:     aws.String(w.privateName(addrs[0].String())),
		PrivateIpAddress:   aws.String(addrs[0].String()),
		RequesterManaged:   aws.Bool(false),
		SourceDestCheck:    aws.Bool(true),
		Status:             ec2types.NetworkInterfaceStatusAvailable,
		SubnetId:           subnet.SubnetId,
		TagSet:             spec.tags,
		VpcId:              subnet.VpcId,
	}
	w.addAddresses(eni, addrs, blocks)
	w.interfaces.Put(*eni.NetworkInterfaceId, eni)
	return eni, nil
}

func errSubnetFull() *wire.Error {
	return wire.Errorf("InsufficientFreeAddressesInSubnet", "The specified subnet does not have enough free addresses to satisfy the request.")
}

// addAddresses lists addresses on an interface; its first is the primary one.
func (w *World) addAddresses(eni *ec2types.NetworkInterface, addrs []netip.Addr, blocks []netip.Prefix) {
	for _, a := range addrs {
		eni.PrivateIpAddresses = append(eni.PrivateIpAddresses, ec2types.NetworkInterfacePrivateIpAddress{
			Primary:          aws.Bool(len(eni.PrivateIpAddresses) == 0),
			PrivateDnsName:   aws.String(w.privateName(a.String())),
			PrivateIpAddress: aws.String(a.String()),
		})
	}
	for _, b := range blocks {
		eni.Ipv4Prefixes = append(eni.Ipv4Prefixes, ec2types.Ipv4PrefixSpecification{Ipv4Prefix: aws.String(b.String())})
	}
}

// privateName is the DNS name that EC2 gives an address.
func (w *World) privateName(addr string) string {
	dashed := "ip-" + strings.ReplaceAll(addr, ".", "-")
	if w.region == "us-east-1" {
		return dashed + ".ec2.internal"
	}
	return dashed + "." + w.region + ".compute.internal"
}

func (w *World) groupIdentifiers(groups []string) []ec2types.GroupIdentifier {
	out := make([]ec2types.GroupIdentifier, 0, len(groups))
	for _, id := range groups {
		g := ec2types.GroupIdentifier{GroupId: aws.String(id)}
		if sg := w.securityGroups.Get(id); sg != nil {
			g.GroupName = sg.GroupName
		}
		out = append(out, g)
	}
	return out
}

// attach puts an interface on an instance.
func (w *World) attach(eni *ec2types.NetworkInterface, instance string, index int32, deleteOnTermination bool) {
	eni.Status = ec2types.NetworkInterfaceStatusInUse
	eni.Attachment = &ec2types.NetworkInterfaceAttachment{
		AttachTime:          aws.Time(w.now),
		AttachmentId:        aws.String(w.ids.EC2("eni-attach")),
		DeleteOnTermination: aws.Bool(deleteOnTermination),
		DeviceIndex:         aws.Int32(index),
		InstanceId:          aws.String(instance),
		InstanceOwnerId:     aws.String(w.account),
		NetworkCardIndex:    aws.Int32(0),
		Status:              ec2types.AttachmentStatusAttached,
	}
	w.attached[instance] = append(w.attached[instance], *eni.NetworkInterfaceId)
}

// detach leaves an interface available.
func (w *World) detach(eni *ec2types.NetworkInterface) {
	if eni.Attachment == nil {
		return
	}
	id := aws.ToString(eni.Attachment.InstanceId)
	w.attached[id] = slices.DeleteFunc(w.attached[id], func(s string) bool { return s == *eni.NetworkInterfaceId })
	eni.Attachment = nil
	eni.Status = ec2types.NetworkInterfaceStatusAvailable
}

// dropInterface deletes an interface, gives its addresses back and turns the
// routes to it to blackhole.
func (w *World) dropInterface(eni *ec2types.NetworkInterface) {
	w.detach(eni)
	id := *eni.NetworkInterfaceId
	p := w.pools[aws.ToString(eni.SubnetId)]
	for _, a := range eni.PrivateIpAddresses {
		w.releaseAddress(p, aws.ToString(a.PrivateIpAddress))
	}
	for _, b := range eni.Ipv4Prefixes {
		if block, err := netip.ParsePrefix(aws.ToString(b.Ipv4Prefix)); err == nil && p != nil {
			p.ReleaseBlock(block)
		}
	}
	w.interfaces.Remove(id)
	w.blackhole(func(r *ec2types.Route) bool { return aws.ToString(r.NetworkInterfaceId) == id })
}

func (w *World) releaseAddress(p *addresses.Pool, addr string) {
	if a, err := netip.ParseAddr(addr); err == nil && p != nil {
		p.Release(a)
	}
}

// interfacesOf are the interfaces on an instance, the primary one first.
func (w *World) interfacesOf(instance string) []*ec2types.NetworkInterface {
	var out []*ec2types.NetworkInterface
	for _, id := range w.attached[instance] {
		if eni := w.interfaces.Get(id); eni != nil {
			out = append(out, eni)
		}
	}
	slices.SortStableFunc(out, func(a, b *ec2types.NetworkInterface) int {
		return int(aws.ToInt32(a.Attachment.DeviceIndex) - aws.ToInt32(b.Attachment.DeviceIndex))
	})
	return out
}

// nextPublicIP makes up a public address out of a block kept for examples.
func (w *World) nextPublicIP() string {
	w.publicIPs++
	return fmt.Sprintf("198.51.%d.%d", 100+w.publicIPs/250, 1+w.publicIPs%250)
}

func (w *World) publicName(addr string) string {
	dashed := "ec2-" + strings.ReplaceAll(addr, ".", "-")
	if w.region == "us-east-1" {
		return dashed + ".compute-1.amazonaws.com"
	}
	return dashed + "." + w.region + ".compute.amazonaws.com"
}
