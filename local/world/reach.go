package world

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
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
	in := w.instances.get(instance)
	name := w.clusterOf(instance)
	if in == nil || name == "" {
		return nil
	}
	out := []Path{w.apiPath(in, name)}
	for _, service := range []string{"ec2", "ecr.api", "ecr.dkr", "sts", "s3"} {
		out = append(out, w.servicePath(in, service))
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
	for _, e := range w.endpoints.all() {
		if aws.ToString(e.VpcId) != aws.ToString(in.VpcId) || aws.ToString(e.ServiceName) != name {
			continue
		}
		id := aws.ToString(e.VpcEndpointId)
		if e.VpcEndpointType == ec2types.VpcEndpointTypeGateway {
			table := w.tableFor(in)
			if table != nil && slices.Contains(e.RouteTableIds, aws.ToString(table.RouteTableId)) {
				return Path{Service: service, Via: id, Fault: w.egressFault(in, nil)}
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
			p.Fault = w.egressFault(in, securityGroupIDs(e.Groups))
		}
		return p
	}
	return w.internetPath(in, service)
}

// apiPath: the private endpoint takes the name inside the cluster's VPC.
func (w *World) apiPath(in *ec2types.Instance, name string) Path {
	c := w.clusters.get(name)
	if c == nil || c.ResourcesVpcConfig == nil {
		return Path{Service: "api", Fault: PathNoRoute}
	}
	v := c.ResourcesVpcConfig
	if v.EndpointPrivateAccess && aws.ToString(v.VpcId) == aws.ToString(in.VpcId) {
		groups := append([]string{aws.ToString(v.ClusterSecurityGroupId)}, v.SecurityGroupIds...)
		p := Path{Service: "api", Via: name}
		if !w.admits(groups, in) {
			p.Fault = PathAPIClosed
		} else {
			p.Fault = w.egressFault(in, groups)
		}
		return p
	}
	if !v.EndpointPublicAccess {
		return Path{Service: "api", Via: name, Fault: PathNoRoute}
	}
	p := w.internetPath(in, "api")
	if p.Fault == "" && len(v.PublicAccessCidrs) > 0 && !anyContains(v.PublicAccessCidrs, w.leavesFrom(in)) {
		p.Fault = PathAPIPublicCIDRs
	}
	return p
}

// internetAddress stands for the services' public addresses.
func internetAddress() netip.Addr { return netip.AddrFrom4([4]byte{52, 94, 0, 1}) }

func (w *World) internetPath(in *ec2types.Instance, service string) Path {
	r, table := w.routeFor(in)
	p := Path{Service: service, Via: table}
	switch {
	case r == nil:
		p.Fault = PathNoRoute
	case r.State == ec2types.RouteStateBlackhole:
		p.Fault = PathBlackhole
	case r.NatGatewayId != nil:
		p.Via = *r.NatGatewayId
		p.Fault = w.natFault(*r.NatGatewayId)
	case strings.HasPrefix(aws.ToString(r.GatewayId), "igw-"):
		p.Via = *r.GatewayId
		switch {
		case !w.gatewayAttached(*r.GatewayId, aws.ToString(in.VpcId)):
			p.Fault = PathGatewayDetached
		case aws.ToString(in.PublicIpAddress) == "":
			p.Fault = PathNoPublicIP
		}
	default:
		p.Fault = PathUnknownTarget
	}
	if p.Fault == "" {
		p.Fault = w.egressFault(in, nil)
	}
	return p
}

func (w *World) natFault(id string) PathFault {
	n := w.natGateways.get(id)
	if n == nil || n.State != ec2types.NatGatewayStateAvailable || n.ConnectivityType == ec2types.ConnectivityTypePrivate {
		return PathNATUnusable
	}
	table := w.tableOfSubnet(aws.ToString(n.SubnetId), aws.ToString(n.VpcId))
	r := winner(table, internetAddress())
	if r == nil || r.State == ec2types.RouteStateBlackhole || !strings.HasPrefix(aws.ToString(r.GatewayId), "igw-") ||
		!w.gatewayAttached(*r.GatewayId, aws.ToString(n.VpcId)) {
		return PathNATNoInternet
	}
	return ""
}

// leavesFrom is the address that the internet sees.
func (w *World) leavesFrom(in *ec2types.Instance) string {
	r, _ := w.routeFor(in)
	if r == nil || r.NatGatewayId == nil {
		return aws.ToString(in.PublicIpAddress)
	}
	if n := w.natGateways.get(*r.NatGatewayId); n != nil && len(n.NatGatewayAddresses) > 0 {
		return aws.ToString(n.NatGatewayAddresses[0].PublicIp)
	}
	return ""
}

func (w *World) gatewayAttached(id, vpc string) bool {
	g := w.internetGateways.get(id)
	return g != nil && slices.ContainsFunc(g.Attachments, func(a ec2types.InternetGatewayAttachment) bool {
		return aws.ToString(a.VpcId) == vpc && (a.State == "available" || a.State == ec2types.AttachmentStatusAttached)
	})
}

func (w *World) routeFor(in *ec2types.Instance) (*ec2types.Route, string) {
	table := w.tableFor(in)
	if table == nil {
		return nil, ""
	}
	return winner(table, internetAddress()), aws.ToString(table.RouteTableId)
}

func (w *World) tableFor(in *ec2types.Instance) *ec2types.RouteTable {
	return w.tableOfSubnet(aws.ToString(in.SubnetId), aws.ToString(in.VpcId))
}

// tableOfSubnet is the table associated with a subnet, else the VPC's main.
func (w *World) tableOfSubnet(subnet, vpc string) *ec2types.RouteTable {
	var main *ec2types.RouteTable
	for _, t := range w.routeTables.all() {
		for _, a := range t.Associations {
			if aws.ToString(a.SubnetId) == subnet && subnet != "" {
				return t
			}
			if aws.ToBool(a.Main) && aws.ToString(t.VpcId) == vpc {
				main = t
			}
		}
	}
	return main
}

// winner is the route with the longest prefix for an address.
func winner(t *ec2types.RouteTable, to netip.Addr) *ec2types.Route {
	if t == nil {
		return nil
	}
	var best *ec2types.Route
	bits := -1
	for i := range t.Routes {
		r := &t.Routes[i]
		p, err := netip.ParsePrefix(aws.ToString(r.DestinationCidrBlock))
		if err == nil && p.Contains(to) && p.Bits() > bits {
			best, bits = r, p.Bits()
		}
	}
	return best
}

func anyContains(cidrs []string, addr string) bool {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(cidrs, func(c string) bool {
		p, err := netip.ParsePrefix(c)
		return err == nil && p.Contains(a)
	})
}
