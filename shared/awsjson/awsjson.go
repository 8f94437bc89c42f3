// Package awsjson makes calls of services that speak AWS's JSON protocols.
package awsjson

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/shared/awscall"
)

// Service is what is known of a service: the values are of its model in botocore.
type Service struct {
	// ID is the SDK's service id: "CloudWatch Logs".
	ID string
	// Name is its name in signatures and addresses: "logs".
	Name string
	// Target is the X-Amz-Target without the operation; a REST service has none.
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
	return c.make(ctx, operation, region, in, out, func(req *smithyhttp.Request, in any) (*smithyhttp.Request, error) {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		req.Method = "POST"
		req.Header.Set("Content-Type", "application/x-amz-json-"+cmp.Or(c.service.Version, "1.1"))
		req.Header.Set("X-Amz-Target", c.service.Target+operation)
		return req.SetStream(bytes.NewReader(body))
	})
}

// Get makes one call of a service with the REST protocol whose parameters, in, all stand
// in the query. It fails as Call does.
func (c *Client) Get(ctx context.Context, operation, path string, query url.Values, in, out any) error {
	return c.make(ctx, operation, "", in, out, func(req *smithyhttp.Request, _ any) (*smithyhttp.Request, error) {
		req.Method = "GET"
		req.URL = req.URL.JoinPath(path)
		req.URL.RawQuery = query.Encode()
		return req, nil
	})
}

func (c *Client) make(ctx context.Context, operation, region string, in, out any, write func(*smithyhttp.Request, any) (*smithyhttp.Request, error)) error {
	if region == "" {
		region = c.cfg.Region
	}
	return awscall.Make(ctx, c.cfg, awscall.Call{
		ID: c.service.ID, Name: c.service.Name, Operation: operation, Region: region, Out: out,
		Write: func(req *smithyhttp.Request, in any) (*smithyhttp.Request, error) {
			var err error
			if req.URL, err = req.URL.Parse(c.endpoint(region)); err != nil {
				return nil, err
			}
			return write(req, in)
		},
		Read: func(resp *smithyhttp.Response) (any, error) {
			body, err := io.ReadAll(io.LimitReader(resp.Body, c.service.MostBytes))
			if err != nil {
				return nil, err
			}
			return out, json.Unmarshal(body, out)
		},
		Refused: func(resp *smithyhttp.Response) error {
			body, err := io.ReadAll(io.LimitReader(resp.Body, c.service.MostBytes))
			if err != nil {
				return &smithy.DeserializationError{Err: err}
			}
			return Refusal(resp.Header.Get("X-Amzn-ErrorType"), resp.StatusCode, body)
		},
	}, in)
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

// Refusal is an error as JSON services write it: the code in a header or in
// "__type", with a namespace before it and an address after it.
func Refusal(header string, status int, body []byte) error {
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
