package worldgen

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// target sets where a route leads.
type target func(*ec2types.Route)

func local(r *ec2types.Route) { r.GatewayId = aws.String("local") }

func gatewayID(id string) target { return func(r *ec2types.Route) { r.GatewayId = &id } }

func natID(id string) target { return func(r *ec2types.Route) { r.NatGatewayId = &id } }

// route is a row for an IPv4 range.
func route(cidr string, to target) ec2types.Route {
	r := ec2types.Route{DestinationCidrBlock: &cidr, State: ec2types.RouteStateActive}
	to(&r)
	return r
}

// route6 is a row for an IPv6 range.
func route6(cidr string, to target) ec2types.Route {
	r := ec2types.Route{DestinationIpv6CidrBlock: &cidr, State: ec2types.RouteStateActive}
	to(&r)
	return r
}

// makeTables makes the route tables, and what their routes lead to.
func (w *World) makeTables() {
	outward := w.locals()
	if w.gateway != "" {
		outward = append(outward, route("0.0.0.0/0", gatewayID(w.gateway)))
		if w.six() {
			outward = append(outward, route6("::/0", gatewayID(w.gateway)))
		}
	}
	if !w.Shape.private() {
		if w.Shape.MainTable {
			w.Tables = []string{w.makeTable(w.vpc, true, nil, outward...)}
			return
		}
		w.makeTable(w.vpc, true, nil, w.locals()...)
		w.Tables = []string{w.makeTable(w.vpc, false, w.public, outward...)}
		w.makeTable(w.vpc, false, w.private, w.locals()...)
		return
	}
	w.makeTable(w.vpc, false, w.public, outward...)
	if w.Shape.MainTable {
		w.Tables = []string{w.makeTable(w.vpc, true, nil, w.inward(0)...)}
		return
	}
	w.makeTable(w.vpc, true, nil, w.locals()...)
	if w.Shape.Egress != NATPerZone {
		w.Tables = []string{w.makeTable(w.vpc, false, w.private, w.inward(0)...)}
		return
	}
	for i, subnet := range w.private {
		w.Tables = append(w.Tables, w.makeTable(w.vpc, false, []string{subnet}, w.inward(i)...))
	}
}

func (w *World) locals() []ec2types.Route {
	list := []ec2types.Route{route(w.range4.String(), local)}
	if w.six() {
		list = append(list, route6(w.range6.String(), local))
	}
	return list
}

func (w *World) makeTable(vpc string, main bool, subnets []string, routes ...ec2types.Route) string {
	t := ec2types.RouteTable{RouteTableId: aws.String(w.id("rtb")), VpcId: &vpc, Routes: slices.Clone(routes)}
	if main {
		t.Associations = append(t.Associations, ec2types.RouteTableAssociation{Main: aws.Bool(true)})
	}
	for _, s := range subnets {
		t.Associations = append(t.Associations, ec2types.RouteTableAssociation{SubnetId: aws.String(s)})
	}
	if w.Shape.Egress == SharedVPC && vpc == w.vpc {
		t.OwnerId = aws.String(landlord)
	}
	w.File.EC2.RouteTables = append(w.File.EC2.RouteTables, t)
	return *t.RouteTableId
}

// inward are the rows of a table of private subnets in the n-th zone.
func (w *World) inward(n int) []ec2types.Route {
	list := w.locals()
	switch w.Shape.Egress {
	case NATPerZone:
		list = append(list, route("0.0.0.0/0", natID(w.makeNAT(w.vpc, w.public[n]))))
	case OneNAT, Mixed:
		list = append(list, route("0.0.0.0/0", natID(w.makeNAT(w.vpc, w.public[0]))))
	case RegionalNAT:
		list = append(list, route("0.0.0.0/0", natID(w.makeRegionalNAT())))
	case Transit:
		list = append(list, route("0.0.0.0/0", w.makeTransit()))
	case NATInstance:
		list = append(list, route("0.0.0.0/0", w.makeNATInstance()))
	case SharedVPC:
		// It is the landlord's, and described to nobody else.
		list = append(list, route("0.0.0.0/0", natID(w.id("nat"))))
	}
	if w.six() {
		id := w.id("eigw")
		w.File.EC2.EgressOnlyInternetGateways = append(w.File.EC2.EgressOnlyInternetGateways, ec2types.EgressOnlyInternetGateway{
			EgressOnlyInternetGatewayId: &id,
			Attachments:                 []ec2types.InternetGatewayAttachment{{VpcId: &w.vpc, State: ec2types.AttachmentStatusAttached}},
		})
		list = append(list, route6("::/0", func(r *ec2types.Route) { r.EgressOnlyInternetGatewayId = &id }))
	}
	return list
}

func (w *World) makeNAT(vpc, subnet string) string {
	id := w.id("nat")
	w.nats = append(w.nats, id)
	w.File.EC2.NatGateways = append(w.File.EC2.NatGateways, ec2types.NatGateway{
		NatGatewayId: &id, VpcId: &vpc, SubnetId: &subnet, State: ec2types.NatGatewayStateAvailable, ConnectivityType: ec2types.ConnectivityTypePublic,
		NatGatewayAddresses: []ec2types.NatGatewayAddress{w.elastic()},
	})
	return id
}

// elastic is the address of the next NAT gateway.
func (w *World) elastic() ec2types.NatGatewayAddress {
	ip := fmt.Sprintf("203.0.113.%d", 10+len(w.nats))
	id := w.id("eipalloc")
	w.File.EC2.Addresses = append(w.File.EC2.Addresses, ec2types.Address{AllocationId: &id, PublicIp: &ip, Domain: ec2types.DomainTypeVpc})
	return ec2types.NatGatewayAddress{AllocationId: &id, PublicIp: &ip, IsPrimary: aws.Bool(true)}
}

// makeRegionalNAT makes a gateway that has no subnet but a table of its own.
func (w *World) makeRegionalNAT() string {
	id := w.id("nat")
	w.nats = append(w.nats, id)
	table := w.makeTable(w.vpc, false, nil, route(w.range4.String(), local), route("0.0.0.0/0", gatewayID(w.gateway)))
	w.File.EC2.NatGateways = append(w.File.EC2.NatGateways, ec2types.NatGateway{
		NatGatewayId: &id, VpcId: &w.vpc, State: ec2types.NatGatewayStateAvailable, ConnectivityType: ec2types.ConnectivityTypePublic,
		AvailabilityMode: ec2types.AvailabilityModeRegional, RouteTableId: &table,
	})
	g := &w.File.EC2.NatGateways[len(w.File.EC2.NatGateways)-1]
	for i, zone := range w.zones() {
		a := w.elastic()
		a.PublicIp = aws.String(fmt.Sprintf("203.0.113.%d", 40+i))
		a.AvailabilityZone, a.Status, a.IsPrimary = aws.String(zone), ec2types.NatGatewayAddressStatusSucceeded, nil
		w.File.EC2.Addresses[len(w.File.EC2.Addresses)-1].PublicIp = a.PublicIp
		g.NatGatewayAddresses = append(g.NatGatewayAddresses, a)
	}
	return id
}
