package worldgen

import (
	"strconv"

	"rollcall/shared/checkid"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// deny is an entry that stands before all others.
func deny(number int32, egress bool, from, to int32, cidr string) ec2types.NetworkAclEntry {
	e := allow(number, egress, protocolTCP, from, to, cidr)
	e.RuleAction = ec2types.RuleActionDeny
	return e
}

// shut denies ports in one direction in every family that the VPC has.
func (w *World) shut(acl *ec2types.NetworkAcl, egress bool, from, to int32) {
	acl.Entries = append(acl.Entries, deny(50, egress, from, to, "0.0.0.0/0"))
	if w.six() {
		acl.Entries = append(acl.Entries, six(deny(50, egress, from, to, "0.0.0.0/0"), 51, "::/0"))
	}
}

// gatewayACL gives the public subnets a network ACL of their own.
func (w *World) gatewayACL() *ec2types.NetworkAcl {
	id := w.id("acl")
	old := w.acl()
	acl := ec2types.NetworkAcl{NetworkAclId: &id, VpcId: &w.vpc, IsDefault: aws.Bool(false), Entries: append([]ec2types.NetworkAclEntry{}, old.Entries...)}
	public := map[string]bool{}
	for n, s := range w.public {
		public[s] = true
		acl.Associations = append(acl.Associations, ec2types.NetworkAclAssociation{NetworkAclAssociationId: aws.String("aclassoc-0ab" + strconv.Itoa(n)), NetworkAclId: &id, SubnetId: aws.String(s)})
	}
	old.Associations = without(old.Associations, func(a ec2types.NetworkAclAssociation) bool { return public[*a.SubnetId] })
	w.File.EC2.NetworkAcls = append(w.File.EC2.NetworkAcls, acl)
	return &w.File.EC2.NetworkAcls[len(w.File.EC2.NetworkAcls)-1]
}

func filterFaults() []Fault {
	outward := func(w *World) bool { return w.Shape.byInternet() && w.Shape.Egress != SharedVPC }
	inside := func(w *World) bool { return w.Shape.inside() }
	own := func(w *World) bool { return w.Shape.Groups != ClusterGroup }
	return []Fault{
		{Name: "nodes' group lets nothing out", Check: checkid.SGNodeEgress, applies: always, breaks: func(w *World) {
			w.securityGroup(w.nodeGroup).IpPermissionsEgress = nil
		}},
		{Name: "nodes' group lets out into the VPC only", Check: checkid.SGNodeEgress, applies: outward, breaks: func(w *World) {
			w.securityGroup(w.nodeGroup).IpPermissionsEgress = w.within("-1", 0, 0)
		}},
		{Name: "nodes' group lets out other ports only", Check: checkid.SGNodeEgress, applies: always, breaks: func(w *World) {
			w.securityGroup(w.nodeGroup).IpPermissionsEgress = append(w.anywhere("tcp", 80, 80), w.anywhere("udp", 53, 53)...)
		}},
		{Name: "cluster's group admits itself only", Check: checkid.SGClusterIngress, applies: both(inside, own), breaks: func(w *World) {
			w.securityGroup(w.clusterGroup).IpPermissions = []ec2types.IpPermission{permitGroup("-1", 0, 0, w.clusterGroup)}
		}},
		{Name: "cluster's group admits nothing", Check: checkid.SGClusterIngress, applies: inside, breaks: func(w *World) {
			w.securityGroup(w.clusterGroup).IpPermissions = nil
		}},
		{Name: "ACL denies 443 out", Check: checkid.NACLEgress, applies: always, breaks: func(w *World) { w.shut(w.acl(), true, 443, 443) }},
		{Name: "ACL denies the answers", Check: checkid.NACLReturn, applies: always, breaks: func(w *World) { w.shut(w.acl(), false, 1024, 65535) }},
		{Name: "ACL of the NAT gateway's subnet denies 443 out", Check: checkid.NACLEgress, applies: both(not(inIPv6), zonal()), breaks: func(w *World) { w.shut(w.gatewayACL(), true, 443, 443) }},
		{Name: "ACL of the NAT gateway's subnet denies the answers", Check: checkid.NACLReturn, applies: both(not(inIPv6), zonal()), breaks: func(w *World) { w.shut(w.gatewayACL(), false, 1024, 65535) }},
	}
}

func nameFaults() []Fault {
	private := func(w *World) bool { return w.Shape.inside() || w.Shape.endpoints() }
	set := func(key string, list ...string) func(*World) {
		return func(w *World) {
			d := w.dhcp()
			d.DhcpConfigurations = without(d.DhcpConfigurations, func(c ec2types.DhcpConfiguration) bool { return *c.Key == key })
			if len(list) > 0 {
				d.DhcpConfigurations = append(d.DhcpConfigurations, ec2types.DhcpConfiguration{Key: &key, Values: values(list)})
			}
		}
	}
	return []Fault{
		{Name: "DNS support off", Check: checkid.DNSSupportOff, applies: always, breaks: func(w *World) {
			a := w.File.EC2.VpcAttributes[w.vpc]
			a.EnableDnsSupport = aws.Bool(false)
			w.File.EC2.VpcAttributes[w.vpc] = a
		}},
		{Name: "DNS hostnames off", Check: checkid.DNSHostnamesOff, applies: private, breaks: func(w *World) {
			a := w.File.EC2.VpcAttributes[w.vpc]
			a.EnableDnsHostnames = aws.Bool(false)
			w.File.EC2.VpcAttributes[w.vpc] = a
		}},
		{Name: "no domain name", Check: checkid.DNSDHCPOptions, applies: always, breaks: set("domain-name")},
		{Name: "two domain names", Check: checkid.DNSDHCPOptions, applies: always, breaks: set("domain-name", "us-west-2.compute.internal corp.example.com")},
		{Name: "name servers of one's own", Check: checkid.DNSDHCPOptions, applies: private, breaks: func(w *World) {
			// In the VPC, where the shapes' filters let 53 through.
			set("domain-name-servers", address(*w.subnet(w.private[0]).CidrBlock, 53), address(*w.subnet(w.private[1]).CidrBlock, 53))(w)
		}},
		{Name: "a long domain name", Check: checkid.DNSDHCPOptions, applies: always, breaks: set("domain-name", "a-rather-long-name-of-a-department.of-a-large-company.example.com")},
	}
}
