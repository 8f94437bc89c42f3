package reach

import (
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/state"
)

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

// abroad is the way to the private endpoint of a cluster in another VPC.
func abroad(w *state.State, in *ec2types.Instance, name string, v *ekstypes.VpcConfigResponse) Path {
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
