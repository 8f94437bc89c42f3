package gather

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

// Transit describes transit gateways as the owner of an attachment sees them.
type Transit interface {
	DescribeTransitGatewayAttachments(context.Context, *ec2.DescribeTransitGatewayAttachmentsInput, ...func(*ec2.Options)) (*ec2.DescribeTransitGatewayAttachmentsOutput, error)
	SearchTransitGatewayRoutes(context.Context, *ec2.SearchTransitGatewayRoutesInput, ...func(*ec2.Options)) (*ec2.SearchTransitGatewayRoutesOutput, error)
}

// maxFurther bounds the VPCs behind a transit gateway that are looked into:
// traffic to the internet leaves by one, or by one for each zone.
const maxFurther = 3

// transit reads what lies behind the transit gateways that routes lead to, and
// the VPCs of this account through which they reach the internet.
func (l *look) transit(ctx context.Context) (store, error) {
	if !l.s.Has(snapshot.RouteTables) {
		return nil, unread(snapshot.RouteTables)
	}
	gateways := targets(l.s, snapshot.ToTransitGateway)
	if len(gateways) == 0 {
		return func(*snapshot.Snapshot) {}, nil
	}
	attachments, owners, err := l.r.readAttachments(ctx, gateways)
	if err != nil {
		return nil, err
	}
	own := tablesOf(attachments, l.vpcs)
	routes, lacks, err := l.transitRoutes(ctx, own, owners)
	if err != nil {
		return nil, err
	}
	far := exits(attachments, routes, l.q.Account, l.vpcs)
	// Answers take the tables of the VPCs through which requests leave.
	back := slices.DeleteFunc(tablesOf(attachments, far), func(id string) bool { return slices.Contains(own, id) })
	answers, more, _ := l.transitRoutes(ctx, back, owners) // what failed is in more
	maps.Copy(lacks, more)
	beyond := l.beyond(ctx, far)
	return func(s *snapshot.Snapshot) {
		s.Attachments = attachments
		s.TransitRoutes = append(routes, answers...)
		lackAll(s, snapshot.TransitGateways, lacks)
		beyond(s)
	}, nil
}

// transitRoutes reads the routes of transit gateways' tables, and why some
// were not. The error is about the last one that is there and was not read.
func (l *look) transitRoutes(ctx context.Context, tables []string, owners map[string]string) ([]snapshot.TransitRoute, map[string]snapshot.Failure, error) {
	lacks := map[string]snapshot.Failure{}
	var failed error
	var routes []snapshot.TransitRoute
	for _, table := range tables {
		if owner := owners[table]; owner != "" && l.q.Account != "" && owner != l.q.Account {
			lacks[table] = snapshot.Failure{
				Source: snapshot.TransitGateways, Reason: snapshot.NotRead, Call: "ec2:SearchTransitGatewayRoutes",
				Message: "the transit gateway belongs to account " + owner + ", which alone can read its route tables",
			}
			continue
		}
		list, err := l.r.readTransitRoutes(ctx, table)
		routes = append(routes, list...)
		if err != nil {
			lacks[table] = *failure(snapshot.TransitGateways, call(snapshot.TransitGateways), err)
			if !gone(err) {
				failed = err
			}
		}
	}
	return routes, lacks, failed
}

// readAttachments reads the attachments of transit gateways, and which account
// owns the route table of each.
func (r *Reader) readAttachments(ctx context.Context, gateways []string) ([]snapshot.Attachment, map[string]string, error) {
	owners := map[string]string{}
	p := ec2.NewDescribeTransitGatewayAttachmentsPaginator(r.transit, &ec2.DescribeTransitGatewayAttachmentsInput{Filters: anyOf("transit-gateway-id", gateways)})
	list, err := pages(ctx, "transit gateway attachments", p.HasMorePages, p.NextPage, func(out *ec2.DescribeTransitGatewayAttachmentsOutput) []snapshot.Attachment {
		return each(out.TransitGatewayAttachments, func(a types.TransitGatewayAttachment) snapshot.Attachment {
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
	return unique(list, func(a snapshot.Attachment) string { return a.ID }), owners, nil
}

// readTransitRoutes reads a transit gateway's route table. The call wants at
// least one filter; both states together are all routes.
func (r *Reader) readTransitRoutes(ctx context.Context, table string) ([]snapshot.TransitRoute, error) {
	var list []snapshot.TransitRoute
	p := ec2.NewSearchTransitGatewayRoutesPaginator(r.transit, &ec2.SearchTransitGatewayRoutesInput{
		TransitGatewayRouteTableId: aws.String(table), Filters: anyOf("state", []string{"active", "blackhole"}),
	})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("search the routes of %s: %w", table, err)
		}
		// Without a token there is no next page to ask for: a table of more
		// than a thousand routes is then not known in full.
		if aws.ToBool(page.AdditionalRoutesAvailable) && aws.ToString(page.NextToken) == "" {
			return nil, fmt.Errorf("search the routes of %s: %w", table, errTooMany)
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
	}
	if n := a.Association; n != nil && (n.State == "" || n.State == types.TransitGatewayAssociationStateAssociated || n.State == types.TransitGatewayAssociationStateAssociating) {
		out.Table = aws.ToString(n.TransitGatewayRouteTableId)
	}
	return out
}

func transitRoute(table string, r types.TransitGatewayRoute) snapshot.TransitRoute {
	out := snapshot.TransitRoute{Table: table, Destination: prefix(r.DestinationCidrBlock), State: string(r.State)}
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
	return distinct(ids)
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
	ids = distinct(ids)
	return ids[:min(len(ids), maxFurther)]
}
