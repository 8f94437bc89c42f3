package reach

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/state"
)

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
	// needsIP tells that an internet gateway is next.
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

// GatewayAttached tells that an internet gateway is attached to a VPC.
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
