package worldgen

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/worldfile"
)

// find is a pointer into a list. What is asked for by a fault is there, or the
// fault does not apply: everything else is a mistake of this package.
func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

func (w *World) table(id string) *ec2types.RouteTable {
	return find(w.File.EC2.RouteTables, func(t *ec2types.RouteTable) bool { return *t.RouteTableId == id })
}

func (w *World) subnet(id string) *ec2types.Subnet {
	return find(w.File.EC2.Subnets, func(s *ec2types.Subnet) bool { return *s.SubnetId == id })
}

func (w *World) instance(id string) *ec2types.Instance {
	return find(w.File.EC2.Instances, func(i *ec2types.Instance) bool { return *i.InstanceId == id })
}

func (w *World) securityGroup(id string) *ec2types.SecurityGroup {
	return find(w.File.EC2.SecurityGroups, func(g *ec2types.SecurityGroup) bool { return *g.GroupId == id })
}

func (w *World) nat(id string) *ec2types.NatGateway {
	return find(w.File.EC2.NatGateways, func(n *ec2types.NatGateway) bool { return *n.NatGatewayId == id })
}

func (w *World) acl() *ec2types.NetworkAcl {
	return find(w.File.EC2.NetworkAcls, func(a *ec2types.NetworkAcl) bool { return *a.VpcId == w.vpc })
}

func (w *World) vpcFile() *ec2types.Vpc {
	return find(w.File.EC2.Vpcs, func(v *ec2types.Vpc) bool { return *v.VpcId == w.vpc })
}

func (w *World) dhcp() *ec2types.DhcpOptions {
	id := *w.vpcFile().DhcpOptionsId
	return find(w.File.EC2.DhcpOptions, func(d *ec2types.DhcpOptions) bool { return *d.DhcpOptionsId == id })
}

func (w *World) vpcEndpoint(service string) *ec2types.VpcEndpoint {
	return find(w.File.EC2.VpcEndpoints, func(e *ec2types.VpcEndpoint) bool { return strings.HasSuffix(*e.ServiceName, "."+service) })
}

func (w *World) eks() *ekstypes.Cluster { return &w.File.EKS.Clusters[0] }

func (w *World) addon(name string) *ekstypes.Addon {
	return find(w.File.EKS.Addons, func(a *ekstypes.Addon) bool { return *a.AddonName == name })
}

func (w *World) roleNamed(name string) *worldfile.RoleFile {
	return find(w.File.IAM.Roles, func(r *worldfile.RoleFile) bool { return *r.RoleName == name })
}

func (w *World) entry() *ekstypes.AccessEntry {
	return find(w.File.EKS.AccessEntries, func(e *ekstypes.AccessEntry) bool { return *e.PrincipalArn == w.role })
}

func (w *World) scalingGroup() *astypes.AutoScalingGroup {
	return find(w.File.AutoScaling.AutoScalingGroups, func(g *astypes.AutoScalingGroup) bool { return *g.AutoScalingGroupName == w.group })
}

func (w *World) templateVersion() *ec2types.LaunchTemplateVersion {
	return find(w.File.EC2.LaunchTemplateVersions, func(v *ec2types.LaunchTemplateVersion) bool { return *v.LaunchTemplateId == w.template })
}

func (w *World) imageOf() *ec2types.Image {
	return find(w.File.EC2.Images, func(i *ec2types.Image) bool { return *i.ImageId == w.image })
}

// defaultRoute is the way out of a route table.
func defaultRoute(t *ec2types.RouteTable) *ec2types.Route {
	return find(t.Routes, func(r *ec2types.Route) bool { return aws.ToString(r.DestinationCidrBlock) == "0.0.0.0/0" })
}

// young runs over the young instances.
func (w *World) young(do func(*ec2types.Instance)) {
	for _, id := range w.Young {
		do(w.instance(id))
	}
}

// setUserData gives the young instances, and the template that made them, user
// data.
func (w *World) setUserData(data string) {
	for _, id := range w.Young {
		w.File.EC2.UserData[id] = data
	}
	if w.template != "" {
		w.templateVersion().LaunchTemplateData.UserData = &data
	}
}

// eachTable runs over the route tables that are in force for the nodes.
func (w *World) eachTable(do func(*ec2types.RouteTable)) {
	for _, id := range w.Tables {
		do(w.table(id))
	}
}

func without[T any](list []T, is func(T) bool) []T { return slices.DeleteFunc(list, is) }
