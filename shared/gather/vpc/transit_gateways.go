package vpc

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Transit describes transit gateways as the owner of an attachment sees them,
// and the VPCs behind them.
type Transit interface {
	ec2.DescribeTransitGatewayAttachmentsAPIClient
	ec2.SearchTransitGatewayRoutesAPIClient
	ec2.DescribeSubnetsAPIClient
	ec2.DescribeRouteTablesAPIClient
	ec2.DescribeNatGatewaysAPIClient
	ec2.DescribeNetworkAclsAPIClient
}

// transitGateways are what lies behind the transit gateways that routes lead
// to, and the VPCs of this account through which they reach the internet.
func transitGateways(api Transit) source.Source {
	return source.Source{
		Name:  snapshot.TransitGateways,
		Needs: []snapshot.Source{snapshot.RouteTables},
		After: []snapshot.Source{
			snapshot.Subnets, // of further VPCs that is read which was read of the cluster's own
			snapshot.NATGateways,
			snapshot.NetworkACLs,
		},
		Calls: []source.Call{
			{Action: "ec2:DescribeTransitGatewayAttachments"},
			{Action: "ec2:SearchTransitGatewayRoutes", Resources: []string{"arn:${Partition}:ec2:${Region}:${Account}:transit-gateway-route-table/*"}},
		},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readTransit(ctx, api, v)
		},
	}
}

// MaxFurther bounds the VPCs behind a transit gateway that are looked into:
// traffic to the internet leaves by one, or by one for each zone.
const MaxFurther = 3

func readTransit(ctx context.Context, api Transit, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.RouteTables) {
		return nil, v.Unread(snapshot.RouteTables)
	}
	gateways := targets(v.Snapshot, snapshot.ToTransitGateway)
	if len(gateways) == 0 {
		return source.Nothing, nil
	}
	attachments, owners, err := readAttachments(ctx, api, gateways)
	if err != nil {
		return nil, err
	}
	own := tablesOf(attachments, v.VPCs)
	routes, lacks, err := readTables(ctx, api, v, own, owners)
	if err != nil {
		return nil, err
	}
	far := exits(attachments, routes, v.Account, v.VPCs)
	// Answers take the tables of the VPCs through which requests leave.
	back := slices.DeleteFunc(tablesOf(attachments, far), func(id string) bool { return slices.Contains(own, id) })
	answers, more, _ := readTables(ctx, api, v, back, owners) // what failed is in more
	maps.Copy(lacks, more)
	beyond := readBeyond(ctx, api, v, far)
	return func(s *snapshot.Snapshot) {
		s.Attachments = attachments
		s.TransitRoutes = append(routes, answers...)
		source.LackAll(s, snapshot.TransitGateways, lacks)
		beyond(s)
	}, nil
}

// readTables reads the routes of transit gateways' tables, and why some
// were not. The error is about the last one that is there and was not read.
func readTables(ctx context.Context, api Transit, v *source.View, tables []string, owners map[string]string) ([]snapshot.TransitRoute, map[string]snapshot.Failure, error) {
	lacks := map[string]snapshot.Failure{}
	var failed error
	var routes []snapshot.TransitRoute
	for _, table := range tables {
		if owner := owners[table]; owner != "" && v.Account != "" && owner != v.Account {
			lacks[table] = snapshot.Failure{
				Source: snapshot.TransitGateways, Reason: snapshot.NotRead, Call: "ec2:SearchTransitGatewayRoutes",
				Message: "the transit gateway belongs to account " + owner + ", which alone can read its route tables",
			}
			continue
		}
		list, err := readTransitRoutes(ctx, api, table)
		routes = append(routes, list...)
		if err != nil {
			lacks[table] = *v.Source.Failure(err)
			if !source.Gone(err) {
				failed = err
			}
		}
	}
	return routes, lacks, failed
}

// readAttachments reads the attachments of transit gateways, and which account
// owns the route table of each.
func readAttachments(ctx context.Context, api ec2.DescribeTransitGatewayAttachmentsAPIClient, gateways []string) ([]snapshot.Attachment, map[string]string, error) {
	owners := map[string]string{}
	p := ec2.NewDescribeTransitGatewayAttachmentsPaginator(api, &ec2.DescribeTransitGatewayAttachmentsInput{Filters: ec2api.AnyOf("transit-gateway-id", gateways)})
	list, err := ec2api.Pages(ctx, "transit gateway attachments", p.HasMorePages, p.NextPage, func(out *ec2.DescribeTransitGatewayAttachmentsOutput) []snapshot.Attachment {
		return source.Each(out.TransitGatewayAttachments, func(a types.TransitGatewayAttachment) snapshot.Attachment {
			converted := attachment(a)
			if converted.Table != "" {
				owners[converted.Table] = aws.ToString(a.TransitGatewayOwnerId)
			}
			return converted
		})
	})
	if err != nil {
		return nil, nil, err
	}
	return source.Unique(list, func(a snapshot.Attachment) string { return a.ID }), owners, nil
}

// readTransitRoutes reads a transit gateway's route table. The call wants at
// least one filter; both states together are all routes.
func readTransitRoutes(ctx context.Context, api ec2.SearchTransitGatewayRoutesAPIClient, table string) ([]snapshot.TransitRoute, error) {
	var list []snapshot.TransitRoute
	p := ec2.NewSearchTransitGatewayRoutesPaginator(api, &ec2.SearchTransitGatewayRoutesInput{
		TransitGatewayRouteTableId: aws.String(table), Filters: ec2api.AnyOf("state", []string{"active", "blackhole"}),
	})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("search the routes of %s: %w", table, err)
		}
		// Without a token there is no next page to ask for: a table of more
		// than a thousand routes is then not known in full.
		if aws.ToBool(page.AdditionalRoutesAvailable) && aws.ToString(page.NextToken) == "" {
			return nil, fmt.Errorf("search the routes of %s: %w", table, source.ErrTooMany)
		}
		for _, route := range page.Routes {
			list = append(list, transitRoute(table, route))
		}
	}
	return list, nil
}

func attachment(a types.TransitGatewayAttachment) snapshot.Attachment {
	out := snapshot.Attachment{
		ID:       aws.ToString(a.TransitGatewayAttachmentId),
		Gateway:  aws.ToString(a.TransitGatewayId),
		Kind:     string(a.ResourceType),
		Resource: aws.ToString(a.ResourceId),
		Owner:    aws.ToString(a.ResourceOwnerId),
		State:    string(a.State),
		// Only the gateway's owner sees it (EC2 API, TransitGatewayAttachment,
		// natGatewaySupport). While it is switched on or off it may do either.
		Translates: a.NatGatewaySupport != "" && a.NatGatewaySupport != types.TransitGatewayAttachmentNatGatewaySupportStateDisabled,
	}
	if n := a.Association; n != nil && (n.State == "" || n.State == types.TransitGatewayAssociationStateAssociated || n.State == types.TransitGatewayAssociationStateAssociating) {
		out.Table = aws.ToString(n.TransitGatewayRouteTableId)
	}
	return out
}

func transitRoute(table string, r types.TransitGatewayRoute) snapshot.TransitRoute {
	out := snapshot.TransitRoute{Table: table, Destination: source.Prefix(r.DestinationCidrBlock), State: string(r.State)}
	for _, a := range r.TransitGatewayAttachments {
		out.Attachments = append(out.Attachments, aws.ToString(a.TransitGatewayAttachmentId))
		out.Resources = append(out.Resources, aws.ToString(a.ResourceId))
	}
	return out
}

// tablesOf are the transit gateway route tables that VPCs' attachments use.
func tablesOf(list []snapshot.Attachment, vpcs []string) []string {
	var ids []string
	for _, a := range list {
		if slices.Contains(vpcs, a.Resource) {
			ids = append(ids, a.Table)
		}
	}
	return source.Distinct(ids)
}

// exits are the account's other VPCs to which default routes lead.
func exits(attachments []snapshot.Attachment, routes []snapshot.TransitRoute, account string, vpcs []string) []string {
	var ids []string
	for _, r := range routes {
		if !r.Destination.IsValid() || r.Destination.Bits() > 0 || r.State != "active" {
			continue
		}
		for _, id := range r.Attachments {
			i := slices.IndexFunc(attachments, func(a snapshot.Attachment) bool { return a.ID == id })
			if i < 0 {
				continue // of an account that this one may not see
			}
			if a := attachments[i]; a.Kind == string(types.TransitGatewayAttachmentResourceTypeVpc) && a.Owner == account && !slices.Contains(vpcs, a.Resource) {
				ids = append(ids, a.Resource)
			}
		}
	}
	ids = source.Distinct(ids)
	return ids[:min(len(ids), MaxFurther)]
}
