package awscall

import (
	"context"

	"rollcall/shared/remedy/call"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// RouteCreator adds routes to route tables.
type RouteCreator interface {
	CreateRoute(context.Context, *ec2.CreateRouteInput, ...func(*ec2.Options)) (*ec2.CreateRouteOutput, error)
}

var _ RouteCreator = (*ec2.Client)(nil)

// Routes adds routes.
type Routes struct{ client RouteCreator }

// NewRoutes makes one whose client tries each call once.
func NewRoutes(cfg aws.Config) Routes {
	return Routes{ec2.NewFromConfig(cfg, func(o *ec2.Options) { o.Retryer = once() })}
}

// CreateRoute adds a route. EC2 refuses another route for the same destination
// (RouteAlreadyExists); it never replaces one.
func (r Routes) CreateRoute(ctx context.Context, table, destination, nat string) call.Answer {
	out, err := r.client.CreateRoute(ctx, &ec2.CreateRouteInput{
		RouteTableId: aws.String(table), DestinationCidrBlock: aws.String(destination), NatGatewayId: aws.String(nat),
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil || !aws.ToBool(out.Return):
		return empty()
	}
	return answered(out.ResultMetadata)
}
