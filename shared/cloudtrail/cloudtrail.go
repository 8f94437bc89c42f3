// Package cloudtrail makes the one call of AWS CloudTrail that Rollcall needs.
// It is a small part of what the SDK's client does, put together from the
// SDK's own parts, so that the call is retried, signed, counted and logged as
// all others are.
package cloudtrail

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

const (
	serviceID = "CloudTrail"
	signing   = "cloudtrail"
	operation = "LookupEvents"
	// target is the X-Amz-Target of the operation (API version 2013-11-01).
	target      = "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101." + operation
	contentType = "application/x-amz-json-1.1"
)

// Client calls CloudTrail.
type Client struct{ cfg aws.Config }

// New makes a client of what all AWS clients are made of.
func New(cfg aws.Config) *Client { return &Client{cfg: cfg} }

// Attribute is one attribute that events are looked up by.
type Attribute struct {
	Key   string `json:"AttributeKey"` // ResourceName, EventName
	Value string `json:"AttributeValue"`
}

// Input asks for the events of a time. CloudTrail takes one attribute a call.
type Input struct {
	Attribute Attribute
	// Start and End are inclusive, of whole seconds.
	Start, End time.Time
	// Most is how many events a page has, 1 to 50.
	Most int
	// Next is the page's token, of the page before.
	Next string
	// Region, if set, is another one than the client's.
	Region string
}

// Output is one page, the newest event first.
type Output struct {
	Events []Event `json:"Events"`
	Next   string  `json:"NextToken"`
}

// Event is one recorded call.
type Event struct {
	ID        string     `json:"EventId"`
	Name      string     `json:"EventName"`
	ReadOnly  string     `json:"ReadOnly"` // "true" or "false"
	Source    string     `json:"EventSource"`
	Resources []Resource `json:"Resources"`
	// Record is the whole record, JSON as text.
	Record string `json:"CloudTrailEvent"`
}

// Resource is one that CloudTrail names beside an event.
type Resource struct {
	Type string `json:"ResourceType"`
	Name string `json:"ResourceName"`
}

// LookupEvents gives one page of the account's management events of the last 90
// days. CloudTrail takes two calls a second for an account and region. It fails
// with *smithy.OperationError.
func (c *Client) LookupEvents(ctx context.Context, in *Input) (*Output, error) {
	region := in.Region
	if region == "" {
		region = c.cfg.Region
	}
	ctx = middleware.ClearStackValues(ctx)
	ctx = awsmiddleware.SetServiceID(ctx, serviceID)
	ctx = awsmiddleware.SetOperationName(ctx, operation)
	ctx = awsmiddleware.SetRegion(ctx, region)
	stack := middleware.NewStack(operation, smithyhttp.NewStackRequest)
	if err := c.assemble(stack, region); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", operation, err)
	}
	handler := middleware.DecorateHandler(smithyhttp.NewClientHandlerWithOptions(c.cfg.HTTPClient), stack)
	out, _, err := handler.Handle(ctx, in)
	if err != nil {
		return nil, &smithy.OperationError{ServiceID: serviceID, OperationName: operation, Err: err}
	}
	return out.(*Output), nil
}

// assemble puts the steps of a call in their order.
func (c *Client) assemble(stack *middleware.Stack, region string) error {
	retryer := func() aws.Retryer { return retry.NewStandard() }
	if c.cfg.Retryer != nil {
		retryer = c.cfg.Retryer
	}
	steps := []func(*middleware.Stack) error{
		func(s *middleware.Stack) error {
			return s.Serialize.Add(serializer{endpoint: c.endpoint(region)}, middleware.After)
		},
		awsmiddleware.AddRequestUserAgentMiddleware,
		func(s *middleware.Stack) error {
			return s.Finalize.Add(signer{credentials: c.cfg.Credentials, region: region}, middleware.After)
		},
		func(s *middleware.Stack) error {
			return retry.AddRetryMiddlewares(s, retry.AddRetryMiddlewaresOptions{Retryer: retryer()})
		},
		func(s *middleware.Stack) error { return s.Deserialize.Add(deserializer{}, middleware.After) },
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

// endpoint is where CloudTrail is: the one that the environment names, else
// the region's own.
func (c *Client) endpoint(region string) string {
	if c.cfg.BaseEndpoint != nil && *c.cfg.BaseEndpoint != "" {
		return strings.TrimRight(*c.cfg.BaseEndpoint, "/") + "/"
	}
	suffix := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		suffix = "amazonaws.com.cn"
	}
	return "https://" + signing + "." + region + "." + suffix + "/"
}

// body is the request as it goes over the wire.
func (in *Input) body() ([]byte, error) {
	wire := struct {
		Attributes []Attribute `json:"LookupAttributes,omitempty"`
		Start      int64       `json:"StartTime,omitempty"`
		End        int64       `json:"EndTime,omitempty"`
		Most       int         `json:"MaxResults,omitempty"`
		Next       string      `json:"NextToken,omitempty"`
	}{Most: in.Most, Next: in.Next}
	if in.Attribute != (Attribute{}) {
		wire.Attributes = []Attribute{in.Attribute}
	}
	if !in.Start.IsZero() {
		wire.Start = in.Start.Unix()
	}
	if !in.End.IsZero() {
		wire.End = in.End.Unix()
	}
	return json.Marshal(wire)
}
