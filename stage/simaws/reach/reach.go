// Package reach is the simulated account's own rule of whether a node reaches
// what it needs: routes, gateways, security groups, network ACLs, endpoints and
// the cluster's access. It is short, and apart from the checks that the stage
// tests.
package reach

import (
	"encoding/json"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/stage/simaws/state"
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
		return crossVPC(w, in, name, v)
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

// throughInstance is the way through a NAT instance.
func throughInstance(w *state.State, eni string, depth int) exit {
	x := exit{via: eni, fault: NATInstance}
	e := w.Interfaces.Get(eni)
	if e == nil || e.Attachment == nil || aws.ToBool(e.SourceDestCheck) {
		return x
	}
	in := w.Instances.Get(aws.ToString(e.Attachment.InstanceId))
	if in == nil || in.State == nil || in.State.Name != ec2types.InstanceStateNameRunning {
		return x
	}
	next := exitFrom(w, tableOfSubnet(w, aws.ToString(e.SubnetId), aws.ToString(e.VpcId)), aws.ToString(e.SubnetId), depth+1)
	if next.fault != "" {
		return next
	}
	if next.needsIP {
		if e.Association == nil {
			return x
		}
		next.needsIP, next.address = false, aws.ToString(e.Association.PublicIp)
	}
	next.via = eni
	return next
}

// throughTransit is the way through a transit gateway: the VPC's attachment,
// the table that it uses, and the table of a subnet in which the attachment
// stands that this one leads to.
func throughTransit(w *state.State, table *ec2types.RouteTable, gateway string, depth int) exit {
	from := transitOf(w, gateway, aws.ToString(table.VpcId))
	if from == nil || from.Association == nil {
		return exit{via: gateway, fault: UnknownTarget}
	}
	id := aws.ToString(from.Association.TransitGatewayRouteTableId)
	r := transitWinner(w.TransitRoutes[id], internetAddress())
	switch {
	case r == nil || len(r.TransitGatewayAttachments) == 0:
		return exit{via: id, fault: NoRoute}
	case r.State == ec2types.TransitGatewayRouteStateBlackhole:
		return exit{via: id, fault: Blackhole}
	}
	to := w.TransitAttachments.Get(aws.ToString(r.TransitGatewayAttachments[0].TransitGatewayAttachmentId))
	if to == nil || to.Association == nil {
		return exit{via: id, fault: UnknownTarget}
	}
	far := aws.ToString(to.ResourceId)
	next := exitFrom(w, tableOfSubnet(w, transitSubnet(w, far), far), transitSubnet(w, far), depth+1)
	switch {
	case next.fault == "" && next.needsIP:
		// An internet gateway translates its own VPC's interfaces only.
		return exit{via: next.via, fault: NoRoute}
	case next.fault == "" && next.nat != nil && !translates(from) && !translates(to) && !answers(w, next.nat, gateway, aws.ToString(table.VpcId)):
		return exit{via: next.via, fault: NoRoute}
	}
	return next
}

// translates says whether the transit gateway translates source addresses on an
// attachment: answers then go to the translated ones.
func translates(a *ec2types.TransitGatewayAttachment) bool {
	return a.NatGatewaySupport == ec2types.TransitGatewayAttachmentNatGatewaySupportStateEnabled
}

// transitOf is the attachment of a VPC to a transit gateway.
func transitOf(w *state.State, gateway, vpc string) *ec2types.TransitGatewayAttachment {
	for _, a := range w.TransitAttachments.All() {
		if aws.ToString(a.TransitGatewayId) == gateway && aws.ToString(a.ResourceId) == vpc && a.State == ec2types.TransitGatewayAttachmentStateAvailable {
			return a
		}
	}
	return nil
}

// transitSubnet is a subnet in which a transit gateway has an interface.
func transitSubnet(w *state.State, vpc string) string {
	for _, e := range w.Interfaces.All() {
		if aws.ToString(e.VpcId) == vpc && e.InterfaceType == ec2types.NetworkInterfaceTypeTransitGateway {
			return aws.ToString(e.SubnetId)
		}
	}
	return ""
}

// answers says whether the table of a NAT gateway's subnet leads back to a VPC
// through the transit gateway.
func answers(w *state.State, nat *ec2types.NatGateway, gateway, vpc string) bool {
	v := w.Vpcs.Get(vpc)
	p, err := netip.ParsePrefix(aws.ToString(v.CidrBlock))
	if err != nil {
		return false
	}
	r := winner(tableOfSubnet(w, aws.ToString(nat.SubnetId), aws.ToString(nat.VpcId)), p.Addr())
	return r != nil && aws.ToString(r.TransitGatewayId) == gateway && r.State != ec2types.RouteStateBlackhole
}

// crossVPC is the way to the private endpoint of a cluster in another VPC.
func crossVPC(w *state.State, in *ec2types.Instance, name string, v *ekstypes.VpcConfigResponse) Path {
	p := Path{Service: "api", Via: name, Fault: NoRoute}
	home := aws.ToString(v.VpcId)
	if !v.EndpointPrivateAccess || home == aws.ToString(in.VpcId) || w.Vpcs.Get(home) == nil || len(v.SubnetIds) == 0 {
		return p
	}
	there := w.Subnets.Get(v.SubnetIds[0])
	if there == nil || !joins(w, in, tableFor(w, in), aws.ToString(there.CidrBlock), home) {
		return p
	}
	back := tableOfSubnet(w, v.SubnetIds[0], home)
	if !joins(w, in, back, aws.ToString(in.PrivateIpAddress)+"/32", aws.ToString(in.VpcId)) {
		return p
	}
	p.Fault = ""
	groups := append([]string{aws.ToString(v.ClusterSecurityGroupId)}, v.SecurityGroupIds...)
	if !admits(w, groups, in) {
		p.Fault = APIClosed
		return p
	}
	p.Fault = first(egressFault(w, in, groups), aclInside(w, in, v.SubnetIds))
	return p
}

// joins says whether a table leads to a range of another VPC.
func joins(w *state.State, in *ec2types.Instance, table *ec2types.RouteTable, cidr, vpc string) bool {
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return false
	}
	r := winner(table, p.Addr())
	if r == nil || r.State == ec2types.RouteStateBlackhole {
		return false
	}
	if r.TransitGatewayId != nil {
		from := transitOf(w, *r.TransitGatewayId, aws.ToString(table.VpcId))
		if from == nil || from.Association == nil {
			return false
		}
		row := transitWinner(w.TransitRoutes[aws.ToString(from.Association.TransitGatewayRouteTableId)], p.Addr())
		return row != nil && len(row.TransitGatewayAttachments) > 0 && aws.ToString(row.TransitGatewayAttachments[0].ResourceId) == vpc
	}
	c := w.Peerings.Get(aws.ToString(r.VpcPeeringConnectionId))
	if c == nil || c.Status == nil || c.Status.Code != ec2types.VpcPeeringConnectionStateReasonCodeActive {
		return false
	}
	ends := []*ec2types.VpcPeeringConnectionVpcInfo{c.RequesterVpcInfo, c.AccepterVpcInfo}
	return slices.ContainsFunc(ends, func(e *ec2types.VpcPeeringConnectionVpcInfo) bool { return e != nil && aws.ToString(e.VpcId) == vpc })
}

// leavesBySix says whether the subnet has an IPv6 range and a way out for it.
func leavesBySix(w *state.State, in *ec2types.Instance) bool {
	s := w.Subnets.Get(aws.ToString(in.SubnetId))
	table := tableFor(w, in)
	mode := blockMode(w, aws.ToString(in.SubnetId), aws.ToString(in.VpcId))
	return s != nil && table != nil && len(s.Ipv6CidrBlockAssociationSet) > 0 && slices.ContainsFunc(table.Routes, func(r ec2types.Route) bool {
		return aws.ToString(r.DestinationIpv6CidrBlock) == "::/0" && r.State == ec2types.RouteStateActive &&
			(r.EgressOnlyInternetGatewayId != nil && mode != ec2types.BlockPublicAccessModeBlockBidirectional || r.GatewayId != nil && mode == ec2types.BlockPublicAccessModeOff)
	})
}

func transitWinner(rows []ec2types.TransitGatewayRoute, to netip.Addr) *ec2types.TransitGatewayRoute {
	var best *ec2types.TransitGatewayRoute
	bits := -1
	for i := range rows {
		p, err := netip.ParsePrefix(aws.ToString(rows[i].DestinationCidrBlock))
		if err == nil && p.Contains(to) && p.Bits() > bits {
			best, bits = &rows[i], p.Bits()
		}
	}
	return best
}

// The ports that answers go to: one of those that Linux chooses from, and one
// that only a NAT gateway does.
const (
	LinuxPort = 40000
	natPort   = 2048
)

// aclFault says whether one of the questions put to network ACLs is denied.
func aclFault(open ...bool) Fault {
	for _, ok := range open {
		if !ok {
			return ACL
		}
	}
	return ""
}

// aclToInternet judges the node's subnet and that of the NAT gateway, if any.
func aclToInternet(w *state.State, in *ec2types.Instance, nat *ec2types.NatGateway) Fault {
	here, out := aws.ToString(in.SubnetId), internetAddress()
	node, err := netip.ParseAddr(aws.ToString(in.PrivateIpAddress))
	if err != nil {
		return ""
	}
	if nat == nil || aws.ToString(nat.SubnetId) == "" || aws.ToString(nat.SubnetId) == here {
		return aclFault(passes(w, here, true, out, httpsPort), passes(w, here, false, out, LinuxPort))
	}
	there := aws.ToString(nat.SubnetId)
	return aclFault(
		passes(w, here, true, out, httpsPort), passes(w, there, false, node, httpsPort), passes(w, there, true, out, httpsPort),
		passes(w, there, false, out, natPort), passes(w, there, true, node, LinuxPort), passes(w, here, false, out, LinuxPort),
	)
}

// aclInside judges the way to something with an interface in each of some
// subnets. One that answers is enough.
func aclInside(w *state.State, in *ec2types.Instance, subnets []string) Fault {
	here := aws.ToString(in.SubnetId)
	node, err := netip.ParseAddr(aws.ToString(in.PrivateIpAddress))
	fault := Fault("")
	for _, there := range subnets {
		s := w.Subnets.Get(there)
		if s == nil || err != nil || there == here {
			return ""
		}
		p, err := netip.ParsePrefix(aws.ToString(s.CidrBlock))
		if err != nil {
			return ""
		}
		far := p.Addr().Next()
		fault = aclFault(
			passes(w, here, true, far, httpsPort), passes(w, there, false, node, httpsPort),
			passes(w, there, true, node, LinuxPort), passes(w, here, false, far, LinuxPort),
		)
		if fault == "" {
			return ""
		}
	}
	return fault
}

// passes asks the network ACL of a subnet: the matching rule with the lowest
// number decides. A subnet without one in the world is open.
func passes(w *state.State, subnet string, egress bool, remote netip.Addr, port int32) bool {
	var best *ec2types.NetworkAclEntry
	found := false
	for _, acl := range w.NetworkACLs.All() {
		for _, a := range acl.Associations {
			if aws.ToString(a.SubnetId) != subnet {
				continue
			}
			found = true
			for i := range acl.Entries {
				e := &acl.Entries[i]
				if aws.ToBool(e.Egress) == egress && about(e, remote, port) && (best == nil || aws.ToInt32(e.RuleNumber) < aws.ToInt32(best.RuleNumber)) {
					best = e
				}
			}
		}
	}
	return !found || best != nil && best.RuleAction == ec2types.RuleActionAllow
}

func about(e *ec2types.NetworkAclEntry, remote netip.Addr, port int32) bool {
	if !anyContains([]string{aws.ToString(e.CidrBlock)}, remote.String()) {
		return false
	}
	switch aws.ToString(e.Protocol) {
	case "-1":
		return true
	case "6", "tcp":
		return e.PortRange == nil || aws.ToInt32(e.PortRange.From) <= port && port <= aws.ToInt32(e.PortRange.To)
	}
	return false
}

// nameless says whether nothing answers for names: Amazon's resolver is off in
// the VPC, and its DHCP options name no other.
func nameless(w *state.State, in *ec2types.Instance) bool {
	vpc := w.Vpcs.Get(aws.ToString(in.VpcId))
	a, set := w.VPCAttributes[aws.ToString(in.VpcId)]
	if vpc != nil && set && a.EnableDnsHostnames != nil && !*a.EnableDnsHostnames && privateNames(w, in) {
		return true // private names need both attributes (EKS user guide, "Cluster private endpoint")
	}
	if vpc == nil || !set || a.EnableDnsSupport == nil || *a.EnableDnsSupport {
		return false
	}
	options := w.DhcpOptions.Get(aws.ToString(vpc.DhcpOptionsId))
	if options == nil {
		return true
	}
	for _, o := range options.DhcpConfigurations {
		if aws.ToString(o.Key) != "domain-name-servers" {
			continue
		}
		for _, v := range o.Values {
			if !ofAmazon(vpc, aws.ToString(v.Value)) {
				return false
			}
		}
	}
	return true
}

// ofAmazon tells the names of Amazon's resolver: 169.254.169.253 and the VPC's
// second address are the same one (VPC user guide, "Amazon DNS server").
func ofAmazon(vpc *ec2types.Vpc, server string) bool {
	p, err := netip.ParsePrefix(aws.ToString(vpc.CidrBlock))
	return server == "AmazonProvidedDNS" || server == "169.254.169.253" || err == nil && server == p.Addr().Next().Next().String()
}

// privateNames reports whether nodes of an instance's cluster call something by a name
// that only the VPC knows.
func privateNames(w *state.State, in *ec2types.Instance) bool {
	c := w.Clusters.Get(w.ClusterOf(aws.ToString(in.InstanceId)))
	if c == nil || c.ResourcesVpcConfig == nil || aws.ToString(c.ResourcesVpcConfig.VpcId) != aws.ToString(in.VpcId) {
		return false
	}
	return c.ResourcesVpcConfig.EndpointPrivateAccess || slices.ContainsFunc(w.Endpoints.All(), func(e *ec2types.VpcEndpoint) bool {
		return aws.ToString(e.VpcId) == aws.ToString(in.VpcId) && aws.ToBool(e.PrivateDnsEnabled)
	})
}

// policyFault asks an endpoint's policy for the one action that stands for a
// service. Conditions are not looked at.
func policyFault(e *ec2types.VpcEndpoint, service string) Fault {
	action := map[string]string{"ec2": "ec2:DescribeInstances", "ecr.api": "ecr:GetAuthorizationToken", "ecr.dkr": "ecr:BatchGetImage", "s3": "s3:GetObject"}[service]
	var policy struct {
		Statement []struct {
			Effect    string
			Principal any
			Action    any
			Resource  any
		}
	}
	if action == "" || json.Unmarshal([]byte(aws.ToString(e.PolicyDocument)), &policy) != nil {
		return ""
	}
	allowed := false
	for _, s := range policy.Statement {
		if ofOthers(s.Principal) || !matches(s.Action, action) || service == "s3" && !matches(s.Resource, "starport-layer-bucket") {
			continue
		}
		if s.Effect == "Deny" {
			return Policy
		}
		allowed = true
	}
	if !allowed {
		return Policy
	}
	return ""
}

// ofOthers tells a statement that names some roles or users, of which none is a
// whole account: nodes' roles are not among those that these worlds name.
func ofOthers(principal any) bool {
	named, ok := principal.(map[string]any)
	if !ok {
		return false
	}
	list, ok := named["AWS"].([]any)
	if !ok {
		list = []any{named["AWS"]}
	}
	return !slices.ContainsFunc(list, func(v any) bool {
		text, ok := v.(string)
		return !ok || text == "*" || strings.HasSuffix(text, ":root") || !strings.Contains(text, ":iam:")
	})
}

// matches says whether a string or one of a list is a pattern for a text; a
// bucket's ARN matches by the text that it holds.
func matches(patterns any, text string) bool {
	switch p := patterns.(type) {
	case string:
		ok, _ := path.Match(strings.ToLower(p), strings.ToLower(text))
		return ok || strings.HasPrefix(p, "arn:") && strings.Contains(p, text)
	case []any:
		for _, one := range p {
			if matches(one, text) {
				return true
			}
		}
	}
	return false
}

// httpsPort is the only port that joining needs.
const httpsPort = 443

// admits says whether any of the groups lets 443 in from the instance.
func admits(w *state.State, groups []string, in *ec2types.Instance) bool {
	for _, id := range groups {
		sg := w.SecurityGroups.Get(id)
		if sg != nil && slices.ContainsFunc(sg.IpPermissions, func(p ec2types.IpPermission) bool {
			return coversHTTPS(p) && (anyContains(ranges(w, p), aws.ToString(in.PrivateIpAddress)) || pairsWith(p, state.InstanceGroups(in)))
		}) {
			return true
		}
	}
	return false
}

// egressFault says whether the instance's groups let 443 out: to the groups
// given, or else to the internet.
func egressFault(w *state.State, in *ec2types.Instance, to []string) Fault {
	for _, id := range state.InstanceGroups(in) {
		sg := w.SecurityGroups.Get(id)
		if sg == nil {
			continue
		}
		for _, p := range sg.IpPermissionsEgress {
			if !coversHTTPS(p) {
				continue
			}
			// A path inside the VPC stays in its address ranges; whether a
			// range covers the very endpoint is finer than this rule.
			inside := to != nil && (len(p.IpRanges) > 0 || len(p.PrefixListIds) > 0 || pairsWith(p, to))
			outside := to == nil && (anyContains(ranges(w, p), internetAddress().String()) || unlisted(w, p))
			if inside || outside {
				return ""
			}
		}
	}
	return EgressClosed
}

func coversHTTPS(p ec2types.IpPermission) bool {
	switch aws.ToString(p.IpProtocol) {
	case "-1":
		return true
	case "tcp", "6":
		return aws.ToInt32(p.FromPort) <= httpsPort && aws.ToInt32(p.ToPort) >= httpsPort
	}
	return false
}

// ranges are a rule's, those of its prefix lists among them.
func ranges(w *state.State, p ec2types.IpPermission) []string {
	out := make([]string, 0, len(p.IpRanges))
	for _, r := range p.IpRanges {
		out = append(out, aws.ToString(r.CidrIp))
	}
	for _, l := range p.PrefixListIds {
		for _, e := range w.PrefixListEntries[aws.ToString(l.PrefixListId)] {
			out = append(out, aws.ToString(e.Cidr))
		}
	}
	return out
}

// unlisted reports whether a rule has a prefix list whose entries the world does not
// say, such as AWS's own.
func unlisted(w *state.State, p ec2types.IpPermission) bool {
	return slices.ContainsFunc(p.PrefixListIds, func(l ec2types.PrefixListId) bool {
		_, known := w.PrefixListEntries[aws.ToString(l.PrefixListId)]
		return !known
	})
}

func pairsWith(p ec2types.IpPermission, groups []string) bool {
	return slices.ContainsFunc(p.UserIdGroupPairs, func(u ec2types.UserIdGroupPair) bool {
		return slices.Contains(groups, aws.ToString(u.GroupId))
	})
}

// accessPath says whether the cluster knows the node's role. Without access
// entries in the world the question is left open and answered yes, since the
// role may be mapped in aws-auth.
func accessPath(w *state.State, in *ec2types.Instance, name string) Path {
	p := Path{Service: "access", Via: nodeRole(w, in)}
	listed := false
	for _, e := range w.AccessEntries.All() {
		if aws.ToString(e.ClusterName) != name {
			continue
		}
		listed = true
		if aws.ToString(e.PrincipalArn) == p.Via && w.Admits(e) && slices.Contains([]string{"EC2_LINUX", "EC2_WINDOWS", "EC2"}, aws.ToString(e.Type)) {
			return p
		}
	}
	if listed && p.Via != "" {
		p.Fault = NoAccess
	}
	return p
}

// nodeRole is the ARN of the role that an instance acts in.
func nodeRole(w *state.State, in *ec2types.Instance) string {
	if in.IamInstanceProfile != nil {
		if profile := w.ProfileNamed("", aws.ToString(in.IamInstanceProfile.Arn)); profile != nil && len(profile.Roles) > 0 {
			return aws.ToString(profile.Roles[0].Arn)
		}
	}
	if ng := w.NodegroupOf(aws.ToString(in.InstanceId)); ng != nil {
		return aws.ToString(ng.NodeRole)
	}
	return ""
}

// internetAddress stands for the services' public addresses.
func internetAddress() netip.Addr { return netip.AddrFrom4([4]byte{52, 94, 0, 1}) }

// internetPath follows the instance's route table to the internet.
func internetPath(w *state.State, in *ec2types.Instance, service string) Path {
	table := tableFor(w, in)
	if table == nil {
		return Path{Service: service, Fault: NoRoute}
	}
	x := exitFrom(w, table, aws.ToString(in.SubnetId), 0)
	p := Path{Service: service, Via: x.via, Fault: x.fault}
	if p.Via == "" {
		p.Via = aws.ToString(table.RouteTableId)
	}
	if p.Fault == "" && x.needsIP && aws.ToString(in.PublicIpAddress) == "" {
		p.Fault = NoPublicIP
	}
	if p.Fault == "" {
		p.Fault = first(egressFault(w, in, nil), aclToInternet(w, in, x.nat))
	}
	return p
}

// exit is where a route table leads to the internet.
type exit struct {
	via   string // empty where the table is to blame
	fault Fault
	// needsIP is set where an internet gateway is next.
	needsIP bool
	// nat is the NAT gateway that it leads through, and address what the
	// internet then sees.
	nat     *ec2types.NatGateway
	address string
}

// maxTables bounds a way through transit gateways and appliances.
const maxTables = 4

func exitFrom(w *state.State, table *ec2types.RouteTable, subnet string, depth int) exit {
	r := winner(table, internetAddress())
	switch {
	case r == nil || depth > maxTables:
		return exit{fault: NoRoute}
	case r.State == ec2types.RouteStateBlackhole:
		return exit{fault: Blackhole}
	case r.NatGatewayId != nil:
		x := exit{via: *r.NatGatewayId, fault: natFault(w, *r.NatGatewayId), nat: w.NATGateways.Get(*r.NatGatewayId)}
		if x.nat != nil {
			x.address = natAddress(x.nat, w.Subnets.Get(subnet))
		}
		return x
	case strings.HasPrefix(aws.ToString(r.GatewayId), "igw-"):
		x := exit{via: *r.GatewayId, needsIP: true}
		if !GatewayAttached(w, *r.GatewayId, aws.ToString(table.VpcId)) {
			x.fault = GatewayDetached
		} else if blockMode(w, subnet, aws.ToString(table.VpcId)) != ec2types.BlockPublicAccessModeOff {
			x.fault = PublicAccessBlocked
		}
		return x
	case r.NetworkInterfaceId != nil:
		return throughInstance(w, *r.NetworkInterfaceId, depth)
	case r.TransitGatewayId != nil:
		return throughTransit(w, table, *r.TransitGatewayId, depth)
	case r.VpcPeeringConnectionId != nil:
		return exit{fault: NoRoute} // peering never leads to the internet
	}
	return exit{fault: UnknownTarget}
}

// natAddress is the address that a NAT gateway gives to what comes from a subnet. A
// regional gateway has addresses for each zone, and serves a zone without one from
// another (VPC user guide, "Regional NAT gateways for automatic multi-AZ expansion").
func natAddress(n *ec2types.NatGateway, from *ec2types.Subnet) string {
	address := ""
	for _, a := range n.NatGatewayAddresses {
		switch {
		case a.PublicIp == nil || a.Status != "" && a.Status != ec2types.NatGatewayAddressStatusSucceeded:
		case from != nil && a.AvailabilityZone != nil && *a.AvailabilityZone == aws.ToString(from.AvailabilityZone):
			return *a.PublicIp
		case address == "":
			address = *a.PublicIp
		}
	}
	return address
}

// blockMode is what VPC Block Public Access does in a subnet, else in the VPC. A NAT
// gateway and an egress-only gateway pass block-ingress (VPC user guide, "VPC BPA
// basics").
func blockMode(w *state.State, subnet, vpc string) ec2types.BlockPublicAccessMode {
	var states *ec2types.BlockPublicAccessStates
	if v := w.Vpcs.Get(vpc); v != nil {
		states = v.BlockPublicAccessStates
	}
	if s := w.Subnets.Get(subnet); s != nil {
		states = s.BlockPublicAccessStates
	}
	if states == nil {
		return ec2types.BlockPublicAccessModeOff
	}
	return states.InternetGatewayBlockMode
}

func natFault(w *state.State, id string) Fault {
	n := w.NATGateways.Get(id)
	if n == nil || n.State != ec2types.NatGatewayStateAvailable || n.ConnectivityType == ec2types.ConnectivityTypePrivate {
		return NATUnusable
	}
	table := tableOfSubnet(w, aws.ToString(n.SubnetId), aws.ToString(n.VpcId))
	if n.AvailabilityMode == ec2types.AvailabilityModeRegional { // it has no subnet, and a table of its own
		table = w.RouteTables.Get(aws.ToString(n.RouteTableId))
	}
	r := winner(table, internetAddress())
	if r == nil || r.State == ec2types.RouteStateBlackhole || !strings.HasPrefix(aws.ToString(r.GatewayId), "igw-") ||
		!GatewayAttached(w, *r.GatewayId, aws.ToString(n.VpcId)) {
		return NATNoInternet
	}
	if blockMode(w, aws.ToString(n.SubnetId), aws.ToString(n.VpcId)) == ec2types.BlockPublicAccessModeBlockBidirectional {
		return PublicAccessBlocked
	}
	return ""
}

// leavesFrom is the address that the internet sees.
func leavesFrom(w *state.State, in *ec2types.Instance) string {
	if table := tableFor(w, in); table != nil {
		if x := exitFrom(w, table, aws.ToString(in.SubnetId), 0); x.address != "" {
			return x.address
		}
	}
	return aws.ToString(in.PublicIpAddress)
}

// GatewayAttached reports whether an internet gateway is attached to a VPC.
func GatewayAttached(w *state.State, id, vpc string) bool {
	g := w.InternetGateways.Get(id)
	return g != nil && slices.ContainsFunc(g.Attachments, func(a ec2types.InternetGatewayAttachment) bool {
		return aws.ToString(a.VpcId) == vpc && (a.State == "available" || a.State == ec2types.AttachmentStatusAttached)
	})
}

func tableFor(w *state.State, in *ec2types.Instance) *ec2types.RouteTable {
	return tableOfSubnet(w, aws.ToString(in.SubnetId), aws.ToString(in.VpcId))
}

// tableOfSubnet is the table associated with a subnet, else the VPC's main.
func tableOfSubnet(w *state.State, subnet, vpc string) *ec2types.RouteTable {
	var main *ec2types.RouteTable
	for _, t := range w.RouteTables.All() {
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
		if err == nil && r.State != ec2types.RouteStateFiltered && p.Contains(to) && (p.Bits() > bits || p.Bits() == bits && propagated(best) && !propagated(r)) {
			best, bits = r, p.Bits()
		}
	}
	return best
}

// propagated rows lose to a static one of the same length (VPC user guide, "Route
// priority"); a VPC Route Server's are such.
func propagated(r *ec2types.Route) bool {
	return r.Origin == ec2types.RouteOriginEnableVgwRoutePropagation || r.Origin == ec2types.RouteOriginAdvertisement
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
