package world

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

// SearchTransitGatewayRoutes lists the routes of a transit gateway's route
// table. The call wants a filter.
func (s EC2) SearchTransitGatewayRoutes(in *ec2.SearchTransitGatewayRoutesInput) (*ec2.SearchTransitGatewayRoutesOutput, error) {
	defer s.w.enter()()
	id := aws.ToString(in.TransitGatewayRouteTableId)
	list, ok := s.w.transitRoutes[id]
	if !ok {
		return nil, notFound("InvalidRouteTableID.NotFound", "transitGatewayRouteTable ID")([]string{id})
	}
	if len(in.Filters) == 0 {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter Filters")
	}
	table := newTable[ec2types.TransitGatewayRoute]()
	destination := func(v *ec2types.TransitGatewayRoute) *string {
		if v.DestinationCidrBlock != nil {
			return v.DestinationCidrBlock
		}
		return v.PrefixListId
	}
	for i := range list {
		table.put(aws.ToString(destination(&list[i])), &list[i])
	}
	rows, next, err := selection[ec2types.TransitGatewayRoute]{
		table: table, id: destination, filters: in.Filters,
		known: filters[ec2types.TransitGatewayRoute]{
			"state":                    func(v *ec2types.TransitGatewayRoute) []string { return []string{string(v.State)} },
			"type":                     func(v *ec2types.TransitGatewayRoute) []string { return []string{string(v.Type)} },
			"route-search.exact-match": func(v *ec2types.TransitGatewayRoute) []string { return one(v.DestinationCidrBlock) },
			"prefix-list-id":           func(v *ec2types.TransitGatewayRoute) []string { return one(v.PrefixListId) },
			"attachment.resource-id": func(v *ec2types.TransitGatewayRoute) []string {
				return each(v.TransitGatewayAttachments, func(a ec2types.TransitGatewayRouteAttachment) *string { return a.ResourceId })
			},
			"attachment.transit-gateway-attachment-id": func(v *ec2types.TransitGatewayRoute) []string {
				return each(v.TransitGatewayAttachments, func(a ec2types.TransitGatewayRouteAttachment) *string {
					return a.TransitGatewayAttachmentId
				})
			},
		},
		size: in.MaxResults, token: in.NextToken, min: ec2MinPage, max: ec2MaxPage, usual: ec2MaxPage,
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.SearchTransitGatewayRoutesOutput{Routes: clones(rows), NextToken: next, AdditionalRoutesAvailable: aws.Bool(next != nil)}, nil
}
