// Package awscall makes a call of an AWS service of which Rollcall needs a call or few: a
// small part of what the SDK's clients do, put together from the SDK's own parts, so that
// the calls are retried, signed, counted and logged as all others are.
package awscall

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// Call is one call.
type Call struct {
	// ID is the SDK's id of the service, "CloudWatch Logs", and Name its name in
	// signatures: "logs".
	ID, Name          string
	Operation, Region string
	// Write makes the request of the call's parameters: method, address, headers, body.
	Write func(req *smithyhttp.Request, in any) (*smithyhttp.Request, error)
	// Read reads an answer that is a success, and Refused is what another one says.
	Read    func(*smithyhttp.Response) (out any, err error)
	Refused func(*smithyhttp.Response) error
	// PlainPath signs the path as it is: S3 alone does not want it escaped once more, and
	// wants the hash of the body in a header (S3 API reference, "Signature Calculations
	// for the Authorization Header").
	PlainPath bool
}

// Make makes a call. It fails with *smithy.OperationError.
func Make(ctx context.Context, cfg aws.Config, c Call, in any) error {
	ctx = middleware.ClearStackValues(ctx)
	ctx = awsmiddleware.SetServiceID(ctx, c.ID)
	ctx = awsmiddleware.SetOperationName(ctx, c.Operation)
	ctx = awsmiddleware.SetRegion(ctx, c.Region)
	stack := middleware.NewStack(c.Operation, smithyhttp.NewStackRequest)
	if err := assemble(stack, cfg, c); err != nil {
		return fmt.Errorf("prepare %s: %w", c.Operation, err)
	}
	client := cfg.HTTPClient
	if client == nil { // the SDK's own, as its clients take it
		client = awshttp.NewBuildableClient()
	}
	handler := middleware.DecorateHandler(smithyhttp.NewClientHandlerWithOptions(client), stack)
	if _, _, err := handler.Handle(ctx, in); err != nil {
		return &smithy.OperationError{ServiceID: c.ID, OperationName: c.Operation, Err: err}
	}
	return nil
}

// assemble puts the steps of a call in their order.
func assemble(stack *middleware.Stack, cfg aws.Config, c Call) error {
	retryer := func() aws.Retryer { return retry.NewStandard() }
	if cfg.Retryer != nil {
		retryer = cfg.Retryer
	}
	steps := []func(*middleware.Stack) error{
		func(s *middleware.Stack) error { return s.Serialize.Add(serializer{c.Write}, middleware.After) },
		awsmiddleware.AddRequestUserAgentMiddleware,
		func(s *middleware.Stack) error { return s.Finalize.Add(signer{cfg.Credentials, c}, middleware.After) },
		func(s *middleware.Stack) error {
			return retry.AddRetryMiddlewares(s, retry.AddRetryMiddlewaresOptions{Retryer: retryer()})
		},
		func(s *middleware.Stack) error { return s.Deserialize.Add(deserializer{c}, middleware.After) },
		awsmiddleware.AddRequestIDRetrieverMiddleware,
		awshttp.AddResponseErrorMiddleware,
	}
	if cfg.AppID != "" {
		steps = append(steps, awsmiddleware.AddSDKAgentKey(awsmiddleware.ApplicationIdentifier, cfg.AppID))
	}
	for _, add := range append(steps, cfg.APIOptions...) {
		if err := add(stack); err != nil {
			return err
		}
	}
	return nil
}
