package ec2

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/table"
)

// SearchTransitGatewayRoutes lists the routes of a transit gateway's route
// table. The call wants a filter.
func (s API) SearchTransitGatewayRoutes(in *ec2.SearchTransitGatewayRoutesInput) (*ec2.SearchTransitGatewayRoutesOutput, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.TransitGatewayRouteTableId)
	list, ok := s.w.TransitRoutes[id]
	if !ok {
		return nil, notFound("InvalidRouteTableID.NotFound", "transitGatewayRouteTable ID")([]string{id})
	}
	if len(in.Filters) == 0 {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter Filters")
	}
	found := table.New[ec2types.TransitGatewayRoute]()
	destination := func(v *ec2types.TransitGatewayRoute) *string {
		if v.DestinationCidrBlock != nil {
			return v.DestinationCidrBlock
		}
		return v.PrefixListId
	}
	for i := range list {
		found.Put(aws.ToString(destination(&list[i])), &list[i])
	}
	rows, next, err := table.Selection[ec2types.TransitGatewayRoute]{
		Table: found, ID: destination, Filters: in.Filters,
		Known: table.Filters[ec2types.TransitGatewayRoute]{
			"state":                    func(v *ec2types.TransitGatewayRoute) []string { return []string{string(v.State)} },
			"type":                     func(v *ec2types.TransitGatewayRoute) []string { return []string{string(v.Type)} },
			"route-search.exact-match": func(v *ec2types.TransitGatewayRoute) []string { return table.One(v.DestinationCidrBlock) },
			"prefix-list-id":           func(v *ec2types.TransitGatewayRoute) []string { return table.One(v.PrefixListId) },
			"attachment.resource-id": func(v *ec2types.TransitGatewayRoute) []string {
				return table.Each(v.TransitGatewayAttachments, func(a ec2types.TransitGatewayRouteAttachment) *string { return a.ResourceId })
			},
			"attachment.transit-gateway-attachment-id": func(v *ec2types.TransitGatewayRoute) []string {
				return table.Each(v.TransitGatewayAttachments, func(a ec2types.TransitGatewayRouteAttachment) *string {
					return a.TransitGatewayAttachmentId
				})
			},
		},
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage, Usual: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.SearchTransitGatewayRoutesOutput{Routes: deepcopy.Each(rows), NextToken: next, AdditionalRoutesAvailable: aws.Bool(next != nil)}, nil
}
