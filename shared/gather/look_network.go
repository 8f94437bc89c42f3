package gather

import (
	"context"

	"rollcall/shared/snapshot"
)

// network is how a source of the VPC is read; nil for other sources.
func (l *look) network(source snapshot.Source) func(context.Context) (store, error) {
	switch source {
	case snapshot.Subnets:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readSubnets(ctx, l.vpcs)
			return keep(list, err, func(x snapshot.Subnet) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Subnet { return &s.Subnets })
		}
	case snapshot.VPCs:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readVPCs(ctx, l.vpcs)
			return keep(list, err, func(x snapshot.VPC) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.VPC { return &s.VPCs })
		}
	case snapshot.RouteTables:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readRouteTables(ctx, l.vpcs)
			return keep(list, err, func(x snapshot.RouteTable) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.RouteTable { return &s.RouteTables })
		}
	case snapshot.NATGateways:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readNATGateways(ctx, l.vpcs)
			return keep(list, err, func(x snapshot.NATGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.NATGateway { return &s.NATGateways })
		}
	case snapshot.InternetGateways:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readInternetGateways(ctx)
			return keep(list, err, func(x snapshot.InternetGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.InternetGateway { return &s.InternetGateways })
		}
	case snapshot.EgressOnly:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readEgressOnly(ctx)
			return keep(list, err, func(x snapshot.EgressOnlyGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.EgressOnlyGateway { return &s.EgressOnly })
		}
	case snapshot.Endpoints:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readEndpoints(ctx, l.vpcs)
			return keep(list, err, func(x snapshot.Endpoint) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Endpoint { return &s.Endpoints })
		}
	}
	return l.aroundNetwork(source)
}

// aroundNetwork is how the sources are read that say what passes on the way,
// what names lead to, and what lies beyond the VPC.
func (l *look) aroundNetwork(source snapshot.Source) func(context.Context) (store, error) {
	switch source {
	case snapshot.SecurityGroups:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readSecurityGroups(ctx, l.vpcs)
			return keep(list, err, func(x snapshot.SecurityGroup) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.SecurityGroup { return &s.SecurityGroups })
		}
	case snapshot.NetworkACLs:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readNetworkACLs(ctx, l.vpcs)
			return keep(list, err, func(x snapshot.NetworkACL) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.NetworkACL { return &s.NetworkACLs })
		}
	case snapshot.VPCDNS:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readVPCDNS(ctx, l.vpcs)
			return keep(list, err, func(x snapshot.VPCAttributes) string { return x.VPC }, func(s *snapshot.Snapshot) *[]snapshot.VPCAttributes { return &s.VPCAttributes })
		}
	case snapshot.DHCP:
		return l.dhcp
	case snapshot.PrefixListEntries:
		return l.prefixLists
	case snapshot.Peerings:
		return l.peerings
	case snapshot.TransitGateways:
		return l.transit
	case snapshot.Interfaces:
		return l.interfaces
	case snapshot.CIDRsKept:
		return l.reservations
	case snapshot.Usage:
		return l.usage
	case snapshot.Unattached:
		return l.unattached
	}
	return nil
}
