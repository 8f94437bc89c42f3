// Package reach is the simulated account's own rule of whether a node reaches
// what it needs: routes, gateways, security groups, network ACLs, endpoints and
// the cluster's access. It is short, and apart from the checks that the stage
// tests.
package reach

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/state"
)

// Fault is why a node cannot reach a service it needs to join. The world
// judges by its own short rule, apart from the checks that the stage tests.
type Fault string

const (
	// NoRoute: no route leads there.
	NoRoute Fault = "no-route"
	// Blackhole: the winning route's target is gone.
	Blackhole Fault = "blackhole"
	// NATUnusable: the NAT gateway is not an available public one.
	NATUnusable Fault = "nat-unusable"
	// NATNoInternet: the NAT gateway's own subnet has no route to the internet.
	NATNoInternet Fault = "nat-no-internet"
	// NoPublicIP: an internet gateway, and no public address.
	NoPublicIP Fault = "no-public-ip"
	// GatewayDetached: the internet gateway is not attached to this VPC.
	GatewayDetached Fault = "gateway-detached"
	// PublicAccessBlocked: VPC Block Public Access drops what a gateway would carry.
	PublicAccessBlocked Fault = "public-access-blocked"
	// UnknownTarget: the rule does not follow this kind of target.
	UnknownTarget Fault = "unknown-target"
	// EndpointState: the winning endpoint is not available.
	EndpointState Fault = "endpoint-not-available"
	// EndpointClosed: the endpoint's security groups refuse the node.
	EndpointClosed Fault = "endpoint-security-group"
	// EgressClosed: the node's security groups let nothing out to 443.
	EgressClosed Fault = "egress-security-group"
	// APIClosed: the cluster's security groups refuse the node.
	APIClosed Fault = "cluster-security-group"
	// APIPublicCIDRs: the public endpoint does not admit the address that
	// the node leaves from.
	APIPublicCIDRs Fault = "api-public-cidrs"
	// ACL: a network ACL on the way denies 443, or the answers.
	ACL Fault = "network-acl"
	// NoNames: the VPC's resolver is off, and there is no other.
	NoNames Fault = "no-names"
	// NATInstance: the instance that should forward does not, or may not.
	NATInstance Fault = "nat-instance"
	// NoIPv6: an IPv6 cluster's subnet has no IPv6 range or way out.
	NoIPv6 Fault = "no-ipv6"
	// Policy: the endpoint's policy does not allow what nodes do.
	Policy Fault = "endpoint-policy"
	// NoAccess: the cluster does not know the node's role.
	NoAccess Fault = "no-access-entry"
)

// Path is how a node reaches one service.
type Path struct {
	// Service is "api", "ec2", "ecr.api", "ecr.dkr", "s3", "sts" or "access".
	Service string
	// Via is the resource that carries the path, or at which it ends.
	Via string
	// Fault is empty where the path works.
	Fault Fault
}

// Paths is how an instance reaches what it needs to become a node of its
// cluster, in a fixed order. It is empty for an instance without a cluster.
func Paths(w *state.State, instance string) []Path {
	in := w.Instances.Get(instance)
	name := w.ClusterOf(instance)
	if in == nil || name == "" {
		return nil
	}
	out := []Path{apiPath(w, in, name)}
	for _, service := range []string{"ec2", "ecr.api", "ecr.dkr", "sts", "s3"} {
		out = append(out, servicePath(w, in, service))
	}
	for i, p := range out {
		private := strings.HasPrefix(p.Via, "vpce-") && p.Service != "s3" || p.Service == "api" && p.Via == name
		if p.Fault == "" && unresolved(w, in, p.Service, private) {
			out[i].Fault = NoNames
		}
	}
	if nameless(w, in) {
		for i := range out {
			out[i] = Path{Service: out[i].Service, Via: aws.ToString(in.VpcId), Fault: NoNames}
		}
	}
	return append(out, accessPath(w, in, name))
}

// Broken is the first path that does not work, if any.
func Broken(paths []Path) (Path, bool) {
	for _, p := range paths {
		if p.Fault != "" {
			return p, true
		}
	}
	return Path{}, false
}

// servicePath: an interface endpoint with private DNS takes the name, S3's
// gateway endpoint takes the route, and what is left goes to the internet.
func servicePath(w *state.State, in *ec2types.Instance, service string) Path {
	name := "com.amazonaws." + w.Region + "." + service
	for _, e := range w.Endpoints.All() {
		if aws.ToString(e.VpcId) != aws.ToString(in.VpcId) || aws.ToString(e.ServiceName) != name {
			continue
		}
		id := aws.ToString(e.VpcEndpointId)
		if e.VpcEndpointType == ec2types.VpcEndpointTypeGateway {
			table := tableFor(w, in)
			if table != nil && slices.Contains(e.RouteTableIds, aws.ToString(table.RouteTableId)) {
				return Path{Service: service, Via: id, Fault: first(policyFault(e, service), egressFault(w, in, nil), aclToInternet(w, in, nil))}
			}
			continue
		}
		if !aws.ToBool(e.PrivateDnsEnabled) {
			continue
		}
		p := Path{Service: service, Via: id}
		switch {
		case !strings.EqualFold(string(e.State), string(ec2types.StateAvailable)):
			p.Fault = EndpointState
		case !admits(w, state.SecurityGroupIDs(e.Groups), in):
			p.Fault = EndpointClosed
		default:
			p.Fault = first(policyFault(e, service), egressFault(w, in, state.SecurityGroupIDs(e.Groups)), aclInside(w, in, e.SubnetIds))
		}
		return p
	}
	return internetPath(w, in, service)
}

// apiPath: the private endpoint takes the name inside the cluster's VPC.
func apiPath(w *state.State, in *ec2types.Instance, name string) Path {
	c := w.Clusters.Get(name)
	if c == nil || c.ResourcesVpcConfig == nil {
		return Path{Service: "api", Fault: NoRoute}
	}
	v := c.ResourcesVpcConfig
	if n := c.KubernetesNetworkConfig; n != nil && n.IpFamily == ekstypes.IpFamilyIpv6 && !leavesBySix(w, in) {
		return Path{Service: "api", Via: aws.ToString(in.SubnetId), Fault: NoIPv6}
	}
	if v.EndpointPrivateAccess && aws.ToString(v.VpcId) == aws.ToString(in.VpcId) {
		groups := append([]string{aws.ToString(v.ClusterSecurityGroupId)}, v.SecurityGroupIds...)
		p := Path{Service: "api", Via: name}
		if !admits(w, groups, in) {
			p.Fault = APIClosed
		} else {
			p.Fault = first(egressFault(w, in, groups), aclInside(w, in, v.SubnetIds))
		}
		return p
	}
	if !v.EndpointPublicAccess {
		return abroad(w, in, name, v)
	}
	p := internetPath(w, in, "api")
	if p.Fault == "" && len(v.PublicAccessCidrs) > 0 && !anyContains(v.PublicAccessCidrs, leavesFrom(w, in)) {
		p.Fault = APIPublicCIDRs
	}
	return p
}

// first is the first fault that there is.
func first(faults ...Fault) Fault {
	for _, f := range faults {
		if f != "" {
			return f
		}
	}
	return ""
}
