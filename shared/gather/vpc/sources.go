// Package vpc reads what the network of a cluster is made of: subnets, routes, gateways,
// endpoints, filters, interfaces and who holds addresses.
package vpc

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/shared/gather/source"
)

// Sources are what is read of a VPC. They are read only where one is known.
func Sources(e *ec2.Client, names Resolver, profiles Profiles, zones HostedZones, counted *tally) []source.Source {
	list := []source.Source{
		subnets(e), vpcs(e), publicAccess(e), routeTables(e), natGateways(e), internetGateways(e), egressOnlyGateways(e), endpoints(e),
		securityGroups(e), groupAssociations(e), networkACLs(e), vpcAttributes(e), dhcp(e), prefixLists(e), peerings(e), transitGateways(e), interfaces(e),
		dnsProfiles(profiles), resolverRules(names), privateZones(zones), dnsFirewall(names), reservations(e), usage(e, counted), unattached(e, counted), trunks(e, counted),
	}
	for n := range list {
		list[n].Read = inVPC(list[n].Read)
	}
	return append(list, creators(e, counted))
}

// inVPC reads only where a VPC is known.
func inVPC(read source.Read) source.Read {
	return func(ctx context.Context, v *source.View) (source.Store, error) {
		if len(v.VPCs) == 0 {
			return nil, source.ErrNoVPC
		}
		return read(ctx, v)
	}
}
