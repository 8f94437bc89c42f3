package worldgen

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// allow is an entry that lets a range of ports through; "-1" is all protocols.
func allow(number int32, egress bool, protocol int, from, to int32, cidr string) ec2types.NetworkAclEntry {
	e := ec2types.NetworkAclEntry{
		RuleNumber: &number, Egress: &egress, Protocol: aws.String(strconv.Itoa(protocol)), RuleAction: ec2types.RuleActionAllow, CidrBlock: &cidr,
	}
	if protocol > 0 {
		e.PortRange = &ec2types.PortRange{From: &from, To: &to}
	}
	return e
}

// six is an entry's twin for IPv6.
func six(e ec2types.NetworkAclEntry, number int32, cidr string) ec2types.NetworkAclEntry {
	e.RuleNumber, e.CidrBlock, e.Ipv6CidrBlock = &number, nil, &cidr
	return e
}

// the protocol number of TCP.
const protocolTCP = 6

// makeACL makes the network ACLs: EC2's own, or one that lets through what
// nodes need and little else.
func (w *World) makeACL() {
	for _, v := range w.File.EC2.Vpcs {
		var subnets []string
		for _, s := range w.File.EC2.Subnets {
			if *s.VpcId == *v.VpcId {
				subnets = append(subnets, *s.SubnetId)
			}
		}
		own := w.Shape.ACL && *v.VpcId == w.vpc
		entries := []ec2types.NetworkAclEntry{allow(100, false, -1, 0, 0, "0.0.0.0/0"), allow(100, true, -1, 0, 0, "0.0.0.0/0")}
		if own {
			entries = w.narrow()
		}
		if w.six() && *v.VpcId == w.vpc {
			for _, e := range entries {
				cidr := "::/0"
				if *e.CidrBlock != "0.0.0.0/0" {
					cidr = w.range6.String()
				}
				entries = append(entries, six(e, *e.RuleNumber+1, cidr))
			}
		}
		last := allow(32767, false, -1, 0, 0, "0.0.0.0/0")
		last.RuleAction = ec2types.RuleActionDeny
		out := last
		out.Egress = aws.Bool(true)
		acl := ec2types.NetworkAcl{NetworkAclId: aws.String(w.id("acl")), VpcId: v.VpcId, IsDefault: aws.Bool(!own), Entries: append(entries, last, out)}
		for _, s := range subnets {
			acl.Associations = append(acl.Associations, ec2types.NetworkAclAssociation{NetworkAclAssociationId: aws.String(w.id("aclassoc")), NetworkAclId: acl.NetworkAclId, SubnetId: aws.String(s)})
		}
		w.File.EC2.NetworkAcls = append(w.File.EC2.NetworkAcls, acl)
	}
}

// narrow are entries under which nodes join: the VPC's own traffic, HTTPS out,
// and the answers to it.
func (w *World) narrow() []ec2types.NetworkAclEntry {
	return []ec2types.NetworkAclEntry{
		allow(100, false, -1, 0, 0, w.range4.String()),
		allow(110, false, protocolTCP, 1024, 65535, "0.0.0.0/0"),
		allow(100, true, -1, 0, 0, w.range4.String()),
		allow(110, true, protocolTCP, 443, 443, "0.0.0.0/0"),
		// Answers of a NAT gateway's subnet back to what it serves.
		allow(120, true, protocolTCP, 1024, 65535, "0.0.0.0/0"),
	}
}
