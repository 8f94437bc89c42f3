package worldgen

import (
	"fmt"
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/worldfile"
)

// zones are the zones of a shape.
func (w *World) zones() []string {
	return []string{"us-west-2a", "us-west-2b", "us-west-2c"}[:w.Shape.Zones]
}

// makeNetwork makes the VPC with its subnets, gateways and route tables.
func (w *World) makeNetwork() {
	w.vpc = w.id("vpc")
	w.makeVPC(w.vpc, w.range4.String())
	for i, zone := range w.zones() {
		w.public = append(w.public, w.makeSubnet(w.vpc, zone, i, true))
	}
	for i, zone := range w.zones() {
		w.private = append(w.private, w.makeSubnet(w.vpc, zone, 4+i, false))
	}
	w.Subnets = w.private
	if !w.Shape.private() {
		w.Subnets = w.public
	}
	if w.Shape.Egress != EndpointsOnly && w.Shape.Egress != Transit && w.Shape.Egress != SharedVPC {
		w.gateway = w.makeGateway(w.vpc)
	}
	w.makeTables()
	if w.Shape.Neighbour {
		w.makeUnusedNetwork()
	}
}

func (w *World) makeVPC(id, cidr string) {
	e := &w.File.EC2
	v := ec2types.Vpc{
		VpcId: &id, CidrBlock: &cidr, DhcpOptionsId: aws.String(w.makeDHCP()),
		CidrBlockAssociationSet: []ec2types.VpcCidrBlockAssociation{{
			AssociationId: aws.String(w.id("vpc-cidr-assoc")), CidrBlock: &cidr,
			CidrBlockState: &ec2types.VpcCidrBlockState{State: ec2types.VpcCidrBlockStateCodeAssociated},
		}},
	}
	if w.six() && id == w.vpc {
		v.Ipv6CidrBlockAssociationSet = []ec2types.VpcIpv6CidrBlockAssociation{{
			AssociationId: aws.String(w.id("vpc-cidr-assoc")), Ipv6CidrBlock: aws.String(w.range6.String()),
			Ipv6CidrBlockState: &ec2types.VpcCidrBlockState{State: ec2types.VpcCidrBlockStateCodeAssociated},
		}}
	}
	if w.Shape.Egress == SharedVPC {
		v.OwnerId = aws.String(landlord)
	}
	e.Vpcs = append(e.Vpcs, v)
	e.VpcAttributes[id] = worldfile.VpcAttributes{EnableDnsSupport: aws.Bool(true), EnableDnsHostnames: aws.Bool(true)}
}

// six tells that the subnets have IPv6 too.
func (w *World) six() bool { return w.Shape.IPv6 || w.Shape.DualStack }

// makeDHCP makes one of the sets of DHCP options that work.
func (w *World) makeDHCP() string {
	set := func(names, servers []string) string {
		id := w.id("dopt")
		w.File.EC2.DhcpOptions = append(w.File.EC2.DhcpOptions, ec2types.DhcpOptions{DhcpOptionsId: &id, DhcpConfigurations: []ec2types.DhcpConfiguration{
			{Key: aws.String("domain-name"), Values: values(names)}, {Key: aws.String("domain-name-servers"), Values: values(servers)},
		}})
		return id
	}
	switch w.Shape.DHCP {
	case 1:
		return set([]string{"corp.example.com"}, []string{"AmazonProvidedDNS"})
	case 2: // the resolver by its address in the VPC, base plus two
		return set([]string{region + ".compute.internal"}, []string{address(w.range4.String(), 2)})
	case 3:
		return set([]string{region + ".compute.internal"}, []string{"169.254.169.253"})
	}
	return set([]string{region + ".compute.internal"}, []string{"AmazonProvidedDNS"})
}

func values(list []string) []ec2types.AttributeValue {
	var out []ec2types.AttributeValue
	for _, v := range list {
		out = append(out, ec2types.AttributeValue{Value: aws.String(v)})
	}
	return out
}

// makeSubnet makes the n-th /20 of the VPC's range.
func (w *World) makeSubnet(vpc, zone string, n int, public bool) string {
	base := w.range4.Addr().As4()
	if vpc != w.vpc {
		base = [4]byte{10, 250, 0, 0}
	}
	base[2] = byte(16 * n)
	s := ec2types.Subnet{
		SubnetId: aws.String(w.id("subnet")), VpcId: &vpc, AvailabilityZone: &zone,
		CidrBlock: aws.String(netip.PrefixFrom(netip.AddrFrom4(base), 20).String()),
		Tags:      []ec2types.Tag{tag("Name", fmt.Sprintf("%s %s %s", vpc, map[bool]string{true: "public", false: "private"}[public], zone))},
	}
	if public && w.Shape.Egress == Public {
		s.MapPublicIpOnLaunch = aws.Bool(true)
	}
	if w.six() && vpc == w.vpc {
		b := w.range6.Addr().As16()
		b[7] = byte(n)
		s.Ipv6CidrBlockAssociationSet = []ec2types.SubnetIpv6CidrBlockAssociation{{
			AssociationId: aws.String(w.id("subnet-cidr-assoc")), Ipv6CidrBlock: aws.String(netip.PrefixFrom(netip.AddrFrom16(b), 64).String()),
			Ipv6CidrBlockState: &ec2types.SubnetCidrBlockState{State: ec2types.SubnetCidrBlockStateCodeAssociated},
		}}
		s.AssignIpv6AddressOnCreation = aws.Bool(true)
	}
	if w.Shape.Egress == SharedVPC {
		s.OwnerId = aws.String(landlord)
		s.SubnetArn = aws.String("arn:aws:ec2:" + region + ":" + landlord + ":subnet/" + *s.SubnetId)
	}
	w.File.EC2.Subnets = append(w.File.EC2.Subnets, s)
	return *s.SubnetId
}

func (w *World) makeGateway(vpc string) string {
	id := w.id("igw")
	w.File.EC2.InternetGateways = append(w.File.EC2.InternetGateways, ec2types.InternetGateway{
		InternetGatewayId: &id, Attachments: []ec2types.InternetGatewayAttachment{{VpcId: &vpc, State: "available"}},
	})
	return id
}

// makeUnusedNetwork makes a VPC beside the cluster's, with which it has
// nothing to do.
func (w *World) makeUnusedNetwork() {
	id := w.id("vpc")
	dhcp := w.Shape.DHCP
	w.Shape.DHCP = 0
	w.makeVPC(id, "10.250.0.0/16")
	w.Shape.DHCP = dhcp
	subnet := w.makeSubnet(id, "us-west-2a", 0, false)
	w.makeTable(id, false, []string{subnet}, route("10.250.0.0/16", local))
}

func tag(key, value string) ec2types.Tag {
	return ec2types.Tag{Key: aws.String(key), Value: aws.String(value)}
}
