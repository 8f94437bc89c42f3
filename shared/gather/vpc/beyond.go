package vpc

import (
	"context"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// readBeyond reads how further VPCs route, of the sources that were read of the
// cluster's own. What cannot be read is noted by VPC: the cluster's own
// network is known all the same.
func readBeyond(ctx context.Context, api Transit, v *source.View, vpcs []string) source.Store {
	var (
		further []snapshot.Subnet
		tables  []snapshot.RouteTable
		nats    []snapshot.NATGateway
		acls    []snapshot.NetworkACL
		lacks   = map[snapshot.Source]map[string]snapshot.Failure{}
	)
	for _, vpc := range vpcs {
		add := func(of source.Source, err error) {
			if err != nil {
				if lacks[of.Name] == nil {
					lacks[of.Name] = map[string]snapshot.Failure{}
				}
				lacks[of.Name][vpc] = *of.Failure(err)
			}
		}
		if v.Snapshot.Has(snapshot.Subnets) {
			list, err := readSubnets(ctx, api, []string{vpc})
			add(subnets(nil), err)
			further = append(further, list...)
		}
		list, err := readRouteTables(ctx, api, []string{vpc})
		add(routeTables(nil), err)
		tables = append(tables, list...)
		if v.Snapshot.Has(snapshot.NATGateways) {
			list, err := readNATGateways(ctx, api, []string{vpc})
			add(natGateways(nil), err)
			nats = append(nats, list...)
		}
		if v.Snapshot.Has(snapshot.NetworkACLs) {
			list, err := readNetworkACLs(ctx, api, []string{vpc})
			add(networkACLs(nil), err)
			acls = append(acls, list...)
		}
	}
	return func(s *snapshot.Snapshot) {
		s.Subnets = source.Unique(append(s.Subnets, further...), func(x snapshot.Subnet) string { return x.ID })
		s.RouteTables = source.Unique(append(s.RouteTables, tables...), func(x snapshot.RouteTable) string { return x.ID })
		s.NATGateways = source.Unique(append(s.NATGateways, nats...), func(x snapshot.NATGateway) string { return x.ID })
		s.NetworkACLs = source.Unique(append(s.NetworkACLs, acls...), func(x snapshot.NetworkACL) string { return x.ID })
		for name, list := range lacks {
			source.LackAll(s, name, list)
		}
	}
}
