package remedy

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/shared/plan"
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

// Add adds the route. EC2 refuses another route for the same destination
// (RouteAlreadyExists); it never replaces one.
func (r Routes) Add(ctx context.Context, p plan.Route) Answer {
	out, err := r.client.CreateRoute(ctx, &ec2.CreateRouteInput{
		RouteTableId: aws.String(p.Table), DestinationCidrBlock: aws.String(p.Destination), NatGatewayId: aws.String(p.NAT),
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil || !aws.ToBool(out.Return):
		return empty()
	}
	return answered(out.ResultMetadata)
}
