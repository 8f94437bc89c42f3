package awsjson

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var (
	errTransport     = errors.New("the request is not one of HTTP")
	errNoCredentials = errors.New("there are no credentials to sign with")
)

// serializer writes the request.
type serializer struct{ endpoint, target, contentType string }

func (serializer) ID() string { return "OperationSerializer" }

func (s serializer) HandleSerialize(ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler) (middleware.SerializeOutput, middleware.Metadata, error) {
	var out middleware.SerializeOutput
	var meta middleware.Metadata
	req, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return out, meta, &smithy.SerializationError{Err: errTransport}
	}
	body, err := json.Marshal(in.Parameters)
	if err != nil {
		return out, meta, &smithy.SerializationError{Err: err}
	}
	if req.URL, err = req.URL.Parse(s.endpoint); err != nil {
		return out, meta, &smithy.SerializationError{Err: err}
	}
	req.Method = "POST"
	req.Header.Set("Content-Type", s.contentType)
	req.Header.Set("X-Amz-Target", s.target)
	if req, err = req.SetStream(bytes.NewReader(body)); err != nil {
		return out, meta, &smithy.SerializationError{Err: err}
	}
	in.Request = req
	return next.HandleSerialize(ctx, in)
}

// signer signs each attempt anew.
type signer struct {
	credentials  aws.CredentialsProvider
	name, region string
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
		return out, meta, errNoCredentials
	}
	credentials, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return out, meta, fmt.Errorf("get the credentials: %w", err)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, req.GetStream()); err != nil {
		return out, meta, fmt.Errorf("hash the request: %w", err)
	}
	if err := req.RewindStream(); err != nil {
		return out, meta, err
	}
	if err := v4.NewSigner().SignHTTP(ctx, credentials, req.Request, hex.EncodeToString(hash.Sum(nil)), s.name, s.region, time.Now()); err != nil {
		return out, meta, fmt.Errorf("sign the request: %w", err)
	}
	return next.HandleFinalize(ctx, in)
}

// deserializer reads the answer into out.
type deserializer struct {
	out  any
	most int64
}

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
	body, err := io.ReadAll(io.LimitReader(resp.Body, d.most))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return out, meta, &smithy.DeserializationError{Err: err}
	}
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		return out, meta, refusal(resp.Header.Get("X-Amzn-ErrorType"), resp.StatusCode, body)
	}
	if err := json.Unmarshal(body, d.out); err != nil {
		return out, meta, &smithy.DeserializationError{Err: err}
	}
	out.Result = d.out
	return out, meta, nil
}

// refusal is an error as JSON services write it: the code in a header or in
// "__type", with a namespace before it and an address after it.
func refusal(header string, status int, body []byte) error {
	var said struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
		Other   string `json:"Message"`
	}
	if json.Unmarshal(body, &said) != nil {
		said.Type = ""
	}
	code := header
	if code == "" {
		code = said.Type
	}
	code, _, _ = strings.Cut(code, ":")
	if i := strings.LastIndex(code, "#"); i >= 0 {
		code = code[i+1:]
	}
	if code == "" {
		code = "UnknownError"
	}
	e := &smithy.GenericAPIError{Code: code, Message: said.Message, Fault: smithy.FaultClient}
	if e.Message == "" {
		e.Message = said.Other
	}
	if status >= 500 {
		e.Fault = smithy.FaultServer
	}
	return e
}
