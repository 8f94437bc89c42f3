package take

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/shared/capture/filename"
	"rollcall/shared/cloudtrail"
	"rollcall/shared/gather/ec2api"
)

// pageSize is EC2's largest page of most lists. A list that is asked for in pages draws
// on the larger request bucket.
func pageSize() *int32 { return aws.Int32(1000) }

// account takes what is the same for all clusters of the account and region.
func (t *taker) account(ctx context.Context) (found region) {
	take := func(name string, ask func(context.Context) (map[string]any, error)) func() {
		return func() { t.take(ctx, name, ask) }
	}
	t.parallel(
		take("ec2-get-allowed-images-settings", asks(t, "ec2", t.ec2.GetAllowedImagesSettings, &ec2.GetAllowedImagesSettingsInput{})),
		take("ec2-get-instance-metadata-defaults", asks(t, "ec2", t.ec2.GetInstanceMetadataDefaults, &ec2.GetInstanceMetadataDefaultsInput{})),
		take("ec2-get-managed-resource-visibility", asks(t, "ec2", t.ec2.GetManagedResourceVisibility, &ec2.GetManagedResourceVisibilityInput{})),
		// Which types each zone has at all: for what is only planned (rollcall preflight).
		take("ec2-describe-instance-type-offerings", asks(t, "ec2", t.ec2.DescribeInstanceTypeOfferings,
			&ec2.DescribeInstanceTypeOfferingsInput{LocationType: types.LocationTypeAvailabilityZone, MaxResults: pageSize()})),
		take("ec2-describe-internet-gateways", asks(t, "ec2", t.ec2.DescribeInternetGateways, &ec2.DescribeInternetGatewaysInput{MaxResults: pageSize()})),
		take("ec2-describe-egress-only-internet-gateways", asks(t, "ec2", t.ec2.DescribeEgressOnlyInternetGateways, &ec2.DescribeEgressOnlyInternetGatewaysInput{})),
		take("ec2-describe-vpc-block-public-access-options", asks(t, "ec2", t.ec2.DescribeVpcBlockPublicAccessOptions, &ec2.DescribeVpcBlockPublicAccessOptionsInput{})),
		take("ec2-describe-vpc-block-public-access-exclusions", asks(t, "ec2", t.ec2.DescribeVpcBlockPublicAccessExclusions, &ec2.DescribeVpcBlockPublicAccessExclusionsInput{MaxResults: pageSize()})),
		take("ec2-describe-security-group-vpc-associations", asks(t, "ec2", t.ec2.DescribeSecurityGroupVpcAssociations, &ec2.DescribeSecurityGroupVpcAssociationsInput{MaxResults: pageSize()})),
		take("ec2-describe-dhcp-options", asks(t, "ec2", t.ec2.DescribeDhcpOptions, &ec2.DescribeDhcpOptionsInput{MaxResults: pageSize()})),
		take("ec2-describe-managed-prefix-lists", asks(t, "ec2", t.ec2.DescribeManagedPrefixLists, &ec2.DescribeManagedPrefixListsInput{})),
		func() {
			found.peerings = t.take(ctx, "ec2-describe-vpc-peering-connections", asks(t, "ec2", t.ec2.DescribeVpcPeeringConnections, &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: pageSize()}))
		},
		take("ec2-describe-availability-zones", asks(t, "ec2", t.ec2.DescribeAvailabilityZones, &ec2.DescribeAvailabilityZonesInput{})),
		take("ec2-describe-volumes", asks(t, "ec2", t.ec2.DescribeVolumes, &ec2.DescribeVolumesInput{MaxResults: pageSize()})),
		take("ec2-describe-instance-status", asks(t, "ec2", t.ec2.DescribeInstanceStatus,
			&ec2.DescribeInstanceStatusInput{IncludeAllInstances: aws.Bool(true), MaxResults: pageSize()})),
		take("ec2-describe-capacity-reservations", asks(t, "ec2", t.ec2.DescribeCapacityReservations, &ec2.DescribeCapacityReservationsInput{})),
		take("ec2-describe-instance-image-metadata", asks(t, "ec2", t.ec2.DescribeInstanceImageMetadata, &ec2.DescribeInstanceImageMetadataInput{MaxResults: pageSize()})),
		take("ec2-describe-placement-groups", asks(t, "ec2", t.ec2.DescribePlacementGroups, &ec2.DescribePlacementGroupsInput{})),
		func() {
			found.groups = t.take(ctx, "autoscaling-describe-auto-scaling-groups", asks(t, "autoscaling", t.autoscaling.DescribeAutoScalingGroups,
				&autoscaling.DescribeAutoScalingGroupsInput{MaxRecords: aws.Int32(100)}))
		},
		func() { found.attachments = t.transitRoutes(ctx) },
		func() { t.resolver(ctx) },
		func() { t.zonalShifts(ctx) },
	)
	return found
}

// transitRoutes takes what transit gateways have, and gives their attachments.
func (t *taker) transitRoutes(ctx context.Context) (attachments map[string]any) {
	var tables map[string]any
	t.parallel(
		func() {
			attachments = t.take(ctx, "ec2-describe-transit-gateway-attachments", asks(t, "ec2", t.ec2.DescribeTransitGatewayAttachments, &ec2.DescribeTransitGatewayAttachmentsInput{MaxResults: pageSize()}))
		},
		func() {
			tables = t.take(ctx, "ec2-describe-transit-gateway-route-tables",
				asks(t, "ec2", t.ec2.DescribeTransitGatewayRouteTables, &ec2.DescribeTransitGatewayRouteTablesInput{MaxResults: pageSize()}))
		},
	)
	ids := slices.Concat(picksOf(tables, "TransitGatewayRouteTables[].TransitGatewayRouteTableId"), picksOf(attachments, "TransitGatewayAttachments[].Association.TransitGatewayRouteTableId"))
	list(t, sorted(ids), func(_ int, id string) {
		t.take(ctx, filename.Of("ec2-search-transit-gateway-routes", id), asks(t, "ec2", t.ec2.SearchTransitGatewayRoutes, &ec2.SearchTransitGatewayRoutesInput{
			TransitGatewayRouteTableId: aws.String(id), Filters: ec2api.AnyOf("state", []string{"active", "blackhole"}),
		}))
	})
	return attachments
}

// Refused calls for instances count for an hour (the contract of captures).
const (
	trailSpan  = time.Hour
	trailPage  = 50 // LookupEvents, MaxResults
	trailPages = 6
)

// trail takes the calls for instances that CloudTrail recorded: a refused one leaves
// nothing else behind.
func (t *taker) trail(ctx context.Context) {
	for _, name := range []string{"CreateFleet", "RunInstances"} {
		file := filename.Of("cloudtrail-lookup-events", name)
		t.take(ctx, file, func(ctx context.Context) (map[string]any, error) { return t.lookup(ctx, file, name) })
	}
}

// lookup is what CloudTrail has of a call, newest first.
func (t *taker) lookup(ctx context.Context, file, name string) (map[string]any, error) {
	// What of an event is a time.
	type events struct {
		Events []struct{ EventTime *time.Time }
	}
	var body []byte
	client := t.trails(func(b []byte) { body = b })
	in := cloudtrail.Input{
		Attribute: cloudtrail.Attribute{Key: "EventName", Value: name},
		Start:     t.options.Now.Add(-trailSpan), End: t.options.Now, Most: trailPage,
	}
	var all map[string]any
	for n := 1; ; n++ {
		leave, err := t.limits.enter(ctx, "cloudtrail", "")
		if err != nil {
			return nil, err
		}
		out, err := client.LookupEvents(ctx, &in)
		leave()
		t.count(func() { t.state.Calls++ })
		if err != nil {
			return nil, err
		}
		page, err := wire.PrintedJSON(reflect.TypeFor[events](), body)
		if err != nil {
			return nil, err
		}
		all = joined(all, page)
		switch {
		case out.Next == "":
			return all, nil
		case out.Next == in.Next:
			return nil, errHalf
		case n == trailPages:
			t.leave(file, "calls of the last hour that are older than the newest %d", trailPage*trailPages)
			return all, nil
		}
		in.Next = out.Next
	}
}

// network takes what is in the VPCs of the clusters and their nodes, and in those that
// packets pass on their way; where no VPC is known, in all of them.
func (t *taker) network(ctx context.Context, found *region) {
	found.vpcs = t.scope(found)
	var in []types.Filter
	if len(found.vpcs) > 0 {
		in = ec2api.AnyOf("vpc-id", found.vpcs)
	}
	lists := make([][]string, 2)
	t.parallel(
		func() { t.subnets(ctx, in) },
		func() {
			t.take(ctx, "ec2-describe-vpcs", asks(t, "ec2", t.ec2.DescribeVpcs, &ec2.DescribeVpcsInput{Filters: in, MaxResults: pageSize()}))
		},
		func() {
			tree := t.take(ctx, "ec2-describe-route-tables", asks(t, "ec2", t.ec2.DescribeRouteTables, &ec2.DescribeRouteTablesInput{Filters: in}))
			lists[0] = picksOf(tree, "RouteTables[].Routes[].DestinationPrefixListId")
		},
		func() {
			tree := t.take(ctx, "ec2-describe-security-groups", asks(t, "ec2", t.ec2.DescribeSecurityGroups, &ec2.DescribeSecurityGroupsInput{Filters: in, MaxResults: pageSize()}))
			lists[1] = slices.Concat(picksOf(tree, "SecurityGroups[].IpPermissions[].PrefixListIds[].PrefixListId"), picksOf(tree, "SecurityGroups[].IpPermissionsEgress[].PrefixListIds[].PrefixListId"))
		},
		func() {
			t.take(ctx, "ec2-describe-vpc-endpoints", asks(t, "ec2", t.ec2.DescribeVpcEndpoints, &ec2.DescribeVpcEndpointsInput{Filters: in, MaxResults: pageSize()}))
		},
		func() {
			t.take(ctx, "ec2-describe-network-acls", asks(t, "ec2", t.ec2.DescribeNetworkAcls, &ec2.DescribeNetworkAclsInput{Filters: in, MaxResults: pageSize()}))
		},
		func() {
			t.take(ctx, "ec2-describe-nat-gateways", asks(t, "ec2", t.ec2.DescribeNatGateways, &ec2.DescribeNatGatewaysInput{Filter: in, MaxResults: pageSize()}))
		},
		func() {
			t.take(ctx, "ec2-describe-network-interfaces", asks(t, "ec2", t.ec2.DescribeNetworkInterfaces, &ec2.DescribeNetworkInterfacesInput{Filters: in, MaxResults: pageSize()}))
		},
		func() { found.instances = t.allInstances(ctx, in, found.nodes) },
		func() { t.attributes(ctx, found.vpcs) },
		func() { t.zones(ctx, found.vpcs) },
	)
	found.lists = sorted(slices.Concat(lists...))
}

func (t *taker) subnets(ctx context.Context, in []types.Filter) {
	tree := t.take(ctx, "ec2-describe-subnets", asks(t, "ec2", t.ec2.DescribeSubnets, &ec2.DescribeSubnetsInput{Filters: in, MaxResults: pageSize()}))
	if in == nil {
		return // of subnets of other people's VPCs nothing more is asked
	}
	list(t, picksOf(tree, "Subnets[].SubnetId"), func(_ int, id string) {
		t.take(ctx, filename.Of("ec2-get-subnet-cidr-reservations", id), asks(t, "ec2", t.ec2.GetSubnetCidrReservations, &ec2.GetSubnetCidrReservationsInput{SubnetId: aws.String(id)}))
	})
}

func (t *taker) attributes(ctx context.Context, vpcs []string) {
	list(t, vpcs, func(_ int, vpc string) {
		for _, name := range []types.VpcAttributeName{types.VpcAttributeNameEnableDnsSupport, types.VpcAttributeNameEnableDnsHostnames} {
			t.take(ctx, filename.Of("ec2-describe-vpc-attribute", vpc, string(name)),
				asks(t, "ec2", t.ec2.DescribeVpcAttribute, &ec2.DescribeVpcAttributeInput{VpcId: aws.String(vpc), Attribute: name}))
		}
	})
}
