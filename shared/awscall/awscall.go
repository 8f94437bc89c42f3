// Package awscall makes a call of an AWS service of which Rollcall needs a call or few: a
// small part of what the SDK's clients do, put together from the SDK's own parts, so that
// the calls are retried, signed, counted and logged as all others are.
package awscall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
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
	// Out is what Read fills.
	Out any
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
	out, _, err := handler.Handle(ctx, in)
	if recorded, is := out.(Recorded); is && err == nil {
		err = json.Unmarshal(recorded, c.Out)
	}
	if err != nil {
		return &smithy.OperationError{ServiceID: c.ID, OperationName: c.Operation, Err: err}
	}
	return nil
}

// Recorded is an answer that middleware gives in place of the service's: JSON, as the AWS CLI
// prints it.
type Recorded []byte

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

var errTransport = errors.New("the request is not one of HTTP")

// ErrNoCredentials: the request has no credentials.
var ErrNoCredentials = errors.New("there are no credentials to sign with")

// serializer writes the request.
type serializer struct {
	write func(*smithyhttp.Request, any) (*smithyhttp.Request, error)
}

func (serializer) ID() string { return "OperationSerializer" }

func (s serializer) HandleSerialize(ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler) (middleware.SerializeOutput, middleware.Metadata, error) {
	var out middleware.SerializeOutput
	var meta middleware.Metadata
	req, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return out, meta, &smithy.SerializationError{Err: errTransport}
	}
	req, err := s.write(req, in.Parameters)
	if err != nil {
		return out, meta, &smithy.SerializationError{Err: err}
	}
	in.Request = req
	return next.HandleSerialize(ctx, in)
}

// signer signs each attempt anew.
type signer struct {
	credentials aws.CredentialsProvider
	call        Call
}

func (signer) ID() string { return "Signing" }

func (s signer) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
	var out middleware.FinalizeOutput
	var meta middleware.Metadata
	req, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return out, meta, errTransport
	}
	if s.credentials == nil {
		return out, meta, ErrNoCredentials
	}
	credentials, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return out, meta, fmt.Errorf("get the credentials: %w", err)
	}
	hash := sha256.New()
	if body := req.GetStream(); body != nil {
		if _, err := io.Copy(hash, body); err != nil {
			return out, meta, fmt.Errorf("hash the request: %w", err)
		}
		if err := req.RewindStream(); err != nil {
			return out, meta, err
		}
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if s.call.PlainPath {
		req.Header.Set("X-Amz-Content-Sha256", sum)
	}
	plain := func(o *v4.SignerOptions) { o.DisableURIPathEscaping = s.call.PlainPath }
	if err := v4.NewSigner().SignHTTP(ctx, credentials, req.Request, sum, s.call.Name, s.call.Region, time.Now(), plain); err != nil {
		return out, meta, fmt.Errorf("sign the request: %w", err)
	}
	return next.HandleFinalize(ctx, in)
}

// deserializer reads the answer.
type deserializer struct{ call Call }

func (deserializer) ID() string { return "OperationDeserializer" }

func (d deserializer) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, meta, err := next.HandleDeserialize(ctx, in)
	if err != nil {
		return out, meta, err
	}
	resp, ok := out.RawResponse.(*smithyhttp.Response)
	if !ok {
		return out, meta, &smithy.DeserializationError{Err: errTransport}
	}
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		err = d.call.Refused(resp)
	} else if out.Result, err = d.call.Read(resp); err != nil {
		err = &smithy.DeserializationError{Err: err}
	}
	// What could not be closed is read.
	_ = resp.Body.Close()
	return out, meta, err
}
