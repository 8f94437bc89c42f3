package awscall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var errTransport = errors.New("the request is not one of HTTP")

// ErrNoCredentials is that nobody says who calls.
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
