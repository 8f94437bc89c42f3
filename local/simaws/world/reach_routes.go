package world

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// internetAddress stands for the services' public addresses.
func internetAddress() netip.Addr { return netip.AddrFrom4([4]byte{52, 94, 0, 1}) }

// internetPath follows the instance's route table to the internet.
func (w *World) internetPath(in *ec2types.Instance, service string) Path {
	table := w.tableFor(in)
	if table == nil {
		return Path{Service: service, Fault: PathNoRoute}
	}
	x := w.exit(table, 0)
	p := Path{Service: service, Via: x.via, Fault: x.fault}
	if p.Via == "" {
		p.Via = aws.ToString(table.RouteTableId)
	}
	if p.Fault == "" && x.needsIP && aws.ToString(in.PublicIpAddress) == "" {
		p.Fault = PathNoPublicIP
	}
	if p.Fault == "" {
		p.Fault = first(w.egressFault(in, nil), w.aclToInternet(in, x.nat))
	}
	return p
}

// exit is where a route table leads to the internet.
type exit struct {
	via   string // empty where the table is to blame
	fault PathFault
	// needsIP tells that an internet gateway is next.
	needsIP bool
	// nat is the NAT gateway that it leads through, and address what the
	// internet then sees.
	nat     *ec2types.NatGateway
	address string
}

// maxTables bounds a way through transit gateways and appliances.
const maxTables = 4

func (w *World) exit(table *ec2types.RouteTable, depth int) exit {
	r := winner(table, internetAddress())
	switch {
	case r == nil || depth > maxTables:
		return exit{fault: PathNoRoute}
	case r.State == ec2types.RouteStateBlackhole:
		return exit{fault: PathBlackhole}
	case r.NatGatewayId != nil:
		x := exit{via: *r.NatGatewayId, fault: w.natFault(*r.NatGatewayId), nat: w.natGateways.Get(*r.NatGatewayId)}
		if x.nat != nil && len(x.nat.NatGatewayAddresses) > 0 {
			x.address = aws.ToString(x.nat.NatGatewayAddresses[0].PublicIp)
		}
		return x
	case strings.HasPrefix(aws.ToString(r.GatewayId), "igw-"):
		x := exit{via: *r.GatewayId, needsIP: true}
		if !w.gatewayAttached(*r.GatewayId, aws.ToString(table.VpcId)) {
			x.fault = PathGatewayDetached
		}
		return x
	case r.NetworkInterfaceId != nil:
		return w.throughInstance(*r.NetworkInterfaceId, depth)
	case r.TransitGatewayId != nil:
		return w.throughTransit(table, *r.TransitGatewayId, depth)
	case r.VpcPeeringConnectionId != nil:
		return exit{fault: PathNoRoute} // peering never leads to the internet
	}
	return exit{fault: PathUnknownTarget}
}

func (w *World) natFault(id string) PathFault {
	n := w.natGateways.Get(id)
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
	if table := w.tableFor(in); table != nil {
		if x := w.exit(table, 0); x.address != "" {
			return x.address
		}
	}
	return aws.ToString(in.PublicIpAddress)
}

func (w *World) gatewayAttached(id, vpc string) bool {
	g := w.internetGateways.Get(id)
	return g != nil && slices.ContainsFunc(g.Attachments, func(a ec2types.InternetGatewayAttachment) bool {
		return aws.ToString(a.VpcId) == vpc && (a.State == "available" || a.State == ec2types.AttachmentStatusAttached)
	})
}

func (w *World) tableFor(in *ec2types.Instance) *ec2types.RouteTable {
	return w.tableOfSubnet(aws.ToString(in.SubnetId), aws.ToString(in.VpcId))
}

// tableOfSubnet is the table associated with a subnet, else the VPC's main.
func (w *World) tableOfSubnet(subnet, vpc string) *ec2types.RouteTable {
	var main *ec2types.RouteTable
	for _, t := range w.routeTables.All() {
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
