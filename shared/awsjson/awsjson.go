// Package awsjson makes calls of services that speak AWS's JSON protocols, for
// those of which Rollcall needs a call or few: a small part of what the SDK's
// clients do, put together from the SDK's own parts, so that the calls are retried,
// signed, counted and logged as all others are.
package awsjson

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// Service is what is known of a service: the values are of its model in botocore.
type Service struct {
	// ID is the SDK's service id: "CloudWatch Logs".
	ID string
	// Name is its name in signatures and addresses: "logs".
	Name string
	// Target is the X-Amz-Target without the operation.
	Target string
	// Version is of the JSON protocol; empty is 1.1.
	Version string
	// MostBytes bounds what is read of an answer.
	MostBytes int64
}

// Client calls a service.
type Client struct {
	cfg     aws.Config
	service Service
}

// New makes a client of what all AWS clients are made of.
func New(cfg aws.Config, service Service) *Client { return &Client{cfg: cfg, service: service} }

// Call makes one call: in is written as JSON, and the answer is read into out. The
// region is the client's where it is empty. It fails with *smithy.OperationError.
func (c *Client) Call(ctx context.Context, operation, region string, in, out any) error {
	if region == "" {
		region = c.cfg.Region
	}
	ctx = middleware.ClearStackValues(ctx)
	ctx = awsmiddleware.SetServiceID(ctx, c.service.ID)
	ctx = awsmiddleware.SetOperationName(ctx, operation)
	ctx = awsmiddleware.SetRegion(ctx, region)
	stack := middleware.NewStack(operation, smithyhttp.NewStackRequest)
	if err := c.assemble(stack, operation, region, out); err != nil {
		return fmt.Errorf("prepare %s: %w", operation, err)
	}
	handler := middleware.DecorateHandler(smithyhttp.NewClientHandlerWithOptions(c.cfg.HTTPClient), stack)
	if _, _, err := handler.Handle(ctx, in); err != nil {
		return &smithy.OperationError{ServiceID: c.service.ID, OperationName: operation, Err: err}
	}
	return nil
}

// assemble puts the steps of a call in their order.
func (c *Client) assemble(stack *middleware.Stack, operation, region string, out any) error {
	retryer := func() aws.Retryer { return retry.NewStandard() }
	if c.cfg.Retryer != nil {
		retryer = c.cfg.Retryer
	}
	steps := []func(*middleware.Stack) error{
		func(s *middleware.Stack) error {
			return s.Serialize.Add(serializer{endpoint: c.endpoint(region), target: c.service.Target + operation, contentType: "application/x-amz-json-" + cmp.Or(c.service.Version, "1.1")}, middleware.After)
		},
		awsmiddleware.AddRequestUserAgentMiddleware,
		func(s *middleware.Stack) error {
			return s.Finalize.Add(signer{credentials: c.cfg.Credentials, name: c.service.Name, region: region}, middleware.After)
		},
		func(s *middleware.Stack) error {
			return retry.AddRetryMiddlewares(s, retry.AddRetryMiddlewaresOptions{Retryer: retryer()})
		},
		func(s *middleware.Stack) error {
			return s.Deserialize.Add(deserializer{out: out, most: c.service.MostBytes}, middleware.After)
		},
		awsmiddleware.AddRequestIDRetrieverMiddleware,
		awshttp.AddResponseErrorMiddleware,
	}
	if c.cfg.AppID != "" {
		steps = append(steps, awsmiddleware.AddSDKAgentKey(awsmiddleware.ApplicationIdentifier, c.cfg.AppID))
	}
	for _, add := range append(steps, c.cfg.APIOptions...) {
		if err := add(stack); err != nil {
			return err
		}
	}
	return nil
}

// endpoint is where the service is: the one that the environment names, else
// the region's own.
func (c *Client) endpoint(region string) string {
	if c.cfg.BaseEndpoint != nil && *c.cfg.BaseEndpoint != "" {
		return strings.TrimRight(*c.cfg.BaseEndpoint, "/") + "/"
	}
	suffix := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		suffix = "amazonaws.com.cn"
	}
	return "https://" + c.service.Name + "." + region + "." + suffix + "/"
}
