package world

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// PathFault is why a node cannot reach a service it needs to join. The world
// judges by its own short rule, apart from the checks that the stage tests.
type PathFault string

const (
	// PathNoRoute: no route leads there.
	PathNoRoute PathFault = "no-route"
	// PathBlackhole: the winning route's target is gone.
	PathBlackhole PathFault = "blackhole"
	// PathNATUnusable: the NAT gateway is not an available public one.
	PathNATUnusable PathFault = "nat-unusable"
	// PathNATNoInternet: the NAT gateway's own subnet has no way out.
	PathNATNoInternet PathFault = "nat-no-internet"
	// PathNoPublicIP: an internet gateway, and no public address.
	PathNoPublicIP PathFault = "no-public-ip"
	// PathGatewayDetached: the internet gateway is not attached to this VPC.
	PathGatewayDetached PathFault = "gateway-detached"
	// PathUnknownTarget: the rule does not follow this kind of target.
	PathUnknownTarget PathFault = "unknown-target"
	// PathEndpointState: the winning endpoint is not available.
	PathEndpointState PathFault = "endpoint-not-available"
	// PathEndpointClosed: the endpoint's security groups refuse the node.
	PathEndpointClosed PathFault = "endpoint-security-group"
	// PathEgressClosed: the node's security groups let nothing out to 443.
	PathEgressClosed PathFault = "egress-security-group"
	// PathAPIClosed: the cluster's security groups refuse the node.
	PathAPIClosed PathFault = "cluster-security-group"
	// PathAPIPublicCIDRs: the public endpoint does not admit the address that
	// the node leaves from.
	PathAPIPublicCIDRs PathFault = "api-public-cidrs"
	// PathACL: a network ACL on the way denies 443, or the answers.
	PathACL PathFault = "network-acl"
	// PathNoNames: the VPC's resolver is off, and there is no other.
	PathNoNames PathFault = "no-names"
	// PathNATInstance: the instance that should forward does not, or may not.
	PathNATInstance PathFault = "nat-instance"
	// PathNoIPv6: an IPv6 cluster's subnet has no IPv6 range or way out.
	PathNoIPv6 PathFault = "no-ipv6"
	// PathPolicy: the endpoint's policy does not allow what nodes do.
	PathPolicy PathFault = "endpoint-policy"
	// PathNoAccess: the cluster does not know the node's role.
	PathNoAccess PathFault = "no-access-entry"
)

// Path is how a node reaches one service.
type Path struct {
	// Service is "api", "ec2", "ecr.api", "ecr.dkr", "s3", "sts" or "access".
	Service string
	// Via is the resource that carries the path, or at which it ends.
	Via string
	// Fault is empty where the path works.
	Fault PathFault
}

// Paths is how an instance reaches what it needs to become a node of its
// cluster, in a fixed order. It is empty for an instance without a cluster.
func (w *World) Paths(instance string) []Path {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.paths(instance)
}

func (w *World) paths(instance string) []Path {
	in := w.instances.Get(instance)
	name := w.clusterOf(instance)
	if in == nil || name == "" {
		return nil
	}
	out := []Path{w.apiPath(in, name)}
	for _, service := range []string{"ec2", "ecr.api", "ecr.dkr", "sts", "s3"} {
		out = append(out, w.servicePath(in, service))
	}
	if w.nameless(in) {
		for i := range out {
			out[i] = Path{Service: out[i].Service, Via: aws.ToString(in.VpcId), Fault: PathNoNames}
		}
	}
	return append(out, w.accessPath(in, name))
}

// broken is the first path that does not work, if any.
func broken(paths []Path) (Path, bool) {
	for _, p := range paths {
		if p.Fault != "" {
			return p, true
		}
	}
	return Path{}, false
}

// servicePath: an interface endpoint with private DNS takes the name, S3's
// gateway endpoint takes the route, and what is left goes to the internet.
func (w *World) servicePath(in *ec2types.Instance, service string) Path {
	name := "com.amazonaws." + w.region + "." + service
	for _, e := range w.endpoints.All() {
		if aws.ToString(e.VpcId) != aws.ToString(in.VpcId) || aws.ToString(e.ServiceName) != name {
			continue
		}
		id := aws.ToString(e.VpcEndpointId)
		if e.VpcEndpointType == ec2types.VpcEndpointTypeGateway {
			table := w.tableFor(in)
			if table != nil && slices.Contains(e.RouteTableIds, aws.ToString(table.RouteTableId)) {
				return Path{Service: service, Via: id, Fault: first(policyFault(e, service), w.egressFault(in, nil), w.aclToInternet(in, nil))}
			}
			continue
		}
		if !aws.ToBool(e.PrivateDnsEnabled) {
			continue
		}
		p := Path{Service: service, Via: id}
		switch {
		case !strings.EqualFold(string(e.State), string(ec2types.StateAvailable)):
			p.Fault = PathEndpointState
		case !w.admits(securityGroupIDs(e.Groups), in):
			p.Fault = PathEndpointClosed
		default:
			p.Fault = first(policyFault(e, service), w.egressFault(in, securityGroupIDs(e.Groups)), w.aclInside(in, e.SubnetIds))
		}
		return p
	}
	return w.internetPath(in, service)
}

// apiPath: the private endpoint takes the name inside the cluster's VPC.
func (w *World) apiPath(in *ec2types.Instance, name string) Path {
	c := w.clusters.Get(name)
	if c == nil || c.ResourcesVpcConfig == nil {
		return Path{Service: "api", Fault: PathNoRoute}
	}
	v := c.ResourcesVpcConfig
	if n := c.KubernetesNetworkConfig; n != nil && n.IpFamily == ekstypes.IpFamilyIpv6 && !w.leavesBySix(in) {
		return Path{Service: "api", Via: aws.ToString(in.SubnetId), Fault: PathNoIPv6}
	}
	if v.EndpointPrivateAccess && aws.ToString(v.VpcId) == aws.ToString(in.VpcId) {
		groups := append([]string{aws.ToString(v.ClusterSecurityGroupId)}, v.SecurityGroupIds...)
		p := Path{Service: "api", Via: name}
		if !w.admits(groups, in) {
			p.Fault = PathAPIClosed
		} else {
			p.Fault = first(w.egressFault(in, groups), w.aclInside(in, v.SubnetIds))
		}
		return p
	}
	if !v.EndpointPublicAccess {
		return w.abroad(in, name, v)
	}
	p := w.internetPath(in, "api")
	if p.Fault == "" && len(v.PublicAccessCidrs) > 0 && !anyContains(v.PublicAccessCidrs, w.leavesFrom(in)) {
		p.Fault = PathAPIPublicCIDRs
	}
	return p
}

// first is the first fault that there is.
func first(faults ...PathFault) PathFault {
	for _, f := range faults {
		if f != "" {
			return f
		}
	}
	return ""
}
