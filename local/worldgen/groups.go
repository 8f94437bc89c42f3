package worldgen

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// permit is a rule for an IPv4 range.
func permit(protocol string, from, to int32, cidr string) ec2types.IpPermission {
	p := ports(protocol, from, to)
	p.IpRanges = []ec2types.IpRange{{CidrIp: &cidr}}
	return p
}

// permit6 is a rule for an IPv6 range.
func permit6(protocol string, from, to int32, cidr string) ec2types.IpPermission {
	p := ports(protocol, from, to)
	p.Ipv6Ranges = []ec2types.Ipv6Range{{CidrIpv6: &cidr}}
	return p
}

// permitGroup is a rule for another group.
func permitGroup(protocol string, from, to int32, group string) ec2types.IpPermission {
	p := ports(protocol, from, to)
	p.UserIdGroupPairs = []ec2types.UserIdGroupPair{{GroupId: &group}}
	return p
}

// permitList is a rule for a prefix list.
func permitList(protocol string, from, to int32, list string) ec2types.IpPermission {
	p := ports(protocol, from, to)
	p.PrefixListIds = []ec2types.PrefixListId{{PrefixListId: &list}}
	return p
}

func ports(protocol string, from, to int32) ec2types.IpPermission {
	p := ec2types.IpPermission{IpProtocol: &protocol}
	if protocol != "-1" {
		p.FromPort, p.ToPort = &from, &to
	}
	return p
}

// makeGroups makes the cluster's security group, and the nodes' in the shape's
// style.
func (w *World) makeGroups() {
	w.clusterGroup = w.id("sg")
	w.nodeGroup = w.clusterGroup
	c := ec2types.SecurityGroup{
		GroupId: &w.clusterGroup, VpcId: &w.vpc, GroupName: aws.String("eks-cluster-sg-" + cluster + "-1234567890"), Description: aws.String("EKS created security group"),
		IpPermissions:       []ec2types.IpPermission{permitGroup("-1", 0, 0, w.clusterGroup)},
		IpPermissionsEgress: w.anywhere("-1", 0, 0),
	}
	if w.Shape.Groups != ClusterGroup {
		w.nodeGroup = w.id("sg")
		n := ec2types.SecurityGroup{
			GroupId: &w.nodeGroup, VpcId: &w.vpc, GroupName: aws.String("nodes"), Description: aws.String("Nodes"),
			IpPermissions: []ec2types.IpPermission{permitGroup("-1", 0, 0, w.nodeGroup)},
		}
		switch w.Shape.Groups {
		case OwnGroup:
			n.IpPermissions = append(n.IpPermissions, permitGroup("tcp", 1025, 65535, w.clusterGroup), permitGroup("tcp", 443, 443, w.clusterGroup))
			n.IpPermissionsEgress = w.anywhere("-1", 0, 0)
			c.IpPermissions = append(c.IpPermissions, permitGroup("tcp", 443, 443, w.nodeGroup))
		case RangeGroup:
			n.IpPermissions = append(n.IpPermissions, w.within("tcp", 10250, 10250)...)
			n.IpPermissionsEgress = append(w.within("-1", 0, 0), w.anywhere("tcp", 443, 443)...)
			c.IpPermissions = append(c.IpPermissions, w.within("tcp", 443, 443)...)
		case ListGroup:
			inside := w.makeList("vpc", w.range4.String())
			n.IpPermissions = append(n.IpPermissions, permitList("tcp", 10250, 10250, inside))
			n.IpPermissionsEgress = []ec2types.IpPermission{permitList("-1", 0, 0, inside), permitList("tcp", 443, 443, w.makeList("world", "0.0.0.0/1", "128.0.0.0/1"))}
			c.IpPermissions = append(c.IpPermissions, permitList("tcp", 443, 443, inside))
			if w.six() {
				n.IpPermissions = append(n.IpPermissions, permit6("tcp", 10250, 10250, w.range6.String()))
				n.IpPermissionsEgress = append(n.IpPermissionsEgress, permit6("-1", 0, 0, "::/0"))
				c.IpPermissions = append(c.IpPermissions, permit6("tcp", 443, 443, w.range6.String()))
			}
		}
		w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, n)
	}
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, c)
}

// anywhere and within are rules for everything, and for the VPC, in the
// families that the VPC has.
func (w *World) anywhere(protocol string, from, to int32) []ec2types.IpPermission {
	list := []ec2types.IpPermission{permit(protocol, from, to, "0.0.0.0/0")}
	if w.six() {
		list = append(list, permit6(protocol, from, to, "::/0"))
	}
	return list
}

func (w *World) within(protocol string, from, to int32) []ec2types.IpPermission {
	list := []ec2types.IpPermission{permit(protocol, from, to, w.range4.String())}
	if w.six() {
		list = append(list, permit6(protocol, from, to, w.range6.String()))
	}
	return list
}

// makeList makes a prefix list of one's own.
func (w *World) makeList(name string, cidrs ...string) string {
	id := w.id("pl")
	w.File.EC2.ManagedPrefixLists = append(w.File.EC2.ManagedPrefixLists, ec2types.ManagedPrefixList{
		PrefixListId: &id, PrefixListName: &name, AddressFamily: aws.String("IPv4"), State: ec2types.PrefixListStateCreateComplete, OwnerId: aws.String(account),
	})
	for _, c := range cidrs {
		w.File.EC2.PrefixListEntries[id] = append(w.File.EC2.PrefixListEntries[id], ec2types.PrefixListEntry{Cidr: aws.String(c)})
	}
	return id
}
