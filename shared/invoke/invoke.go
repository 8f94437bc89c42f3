// Package invoke makes the one call of AWS Lambda that Rollcall needs: a function that is
// invoked, and whose answer is waited for. The SDK's client would make each function that
// reads in clusters larger by more than this is long.
package invoke

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/shared/awscall"
	"rollcall/shared/awsjson"
)

// Client calls Lambda.
type Client struct{ cfg aws.Config }

// New makes a client of what all AWS clients are made of.
func New(cfg aws.Config) *Client {
	cfg = cfg.Copy()
	// Who waits for an answer has others to wait for: once more, and not five times.
	cfg.Retryer = func() aws.Retryer { return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 2 }) }
	return &Client{cfg}
}

// ErrNone is that there is no such function.
var ErrNone = errors.New("there is no such function")

// FunctionError is a function that ended without an answer: it ran out of time or memory, or
// panicked (Lambda API reference, Invoke, X-Amz-Function-Error).
type FunctionError struct{ Function, Message string }

func (e *FunctionError) Error() string { return fmt.Sprintf("%s failed: %s", e.Function, e.Message) }

// Input is what is asked of Lambda.
type Input struct{ Function string }

// mostAnswer is a little more than Lambda answers ("Quotas": 6 MB).
const mostAnswer = 7 << 20

// Invoke invokes a function and gives its answer. The error is ErrNone, *FunctionError or
// *smithy.OperationError.
func (c *Client) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	var answer []byte
	err := awscall.Make(ctx, c.cfg, awscall.Call{
		ID: "Lambda", Name: "lambda", Operation: "Invoke", Region: c.cfg.Region,
		// Lambda API reference, Invoke: "POST /2015-03-31/functions/FunctionName/invocations".
		Write: func(req *smithyhttp.Request, _ any) (*smithyhttp.Request, error) {
			var err error
			if req.URL, err = url.Parse(c.host() + "/2015-03-31/functions/" + url.PathEscape(function) + "/invocations"); err != nil {
				return nil, err
			}
			req.Method = "POST"
			req.Header.Set("Content-Type", "application/octet-stream")
			req.Header.Set("X-Amz-Invocation-Type", "RequestResponse")
			return req.SetStream(bytes.NewReader(payload))
		},
		Read: func(resp *smithyhttp.Response) (any, error) {
			body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
			answer = body
			if err == nil && resp.Header.Get("X-Amz-Function-Error") != "" {
				var said struct {
					ErrorMessage string `json:"errorMessage"`
				}
				if json.Unmarshal(body, &said) != nil || said.ErrorMessage == "" {
					said.ErrorMessage = "without a word"
				}
				err = &FunctionError{function, said.ErrorMessage}
			}
			return nil, err
		},
		Refused: func(resp *smithyhttp.Response) error {
			body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
			if err != nil {
				return &smithy.DeserializationError{Err: err}
			}
			return awsjson.Refusal(resp.Header.Get("X-Amzn-ErrorType"), resp.StatusCode, body)
		},
	}, &Input{function})
	var api smithy.APIError
	failed := new(FunctionError)
	switch {
	case errors.As(err, &failed):
		return nil, failed
	case errors.As(err, &api) && api.ErrorCode() == "ResourceNotFoundException":
		return nil, ErrNone
	case err != nil:
		return nil, err
	}
	return answer, nil
}

// host is where Lambda is: what the environment names, else the region's own.
func (c *Client) host() string {
	if c.cfg.BaseEndpoint != nil && *c.cfg.BaseEndpoint != "" {
		return strings.TrimRight(*c.cfg.BaseEndpoint, "/")
	}
	suffix := "amazonaws.com"
	if strings.HasPrefix(c.cfg.Region, "cn-") {
		suffix = "amazonaws.com.cn"
	}
	return "https://lambda." + c.cfg.Region + "." + suffix
}
