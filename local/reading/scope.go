package reading

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"rollcall/local/capture"
	"rollcall/shared/evidence"
)

// scoped refuses what was not asked for when the capture was taken: that it is not in
// there does not say that there was none.
func (a Account) scoped(o Open) Open {
	if a.scope == nil {
		return o
	}
	o.AWS.APIOptions = append(slices.Clone(o.AWS.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RollcallScope",
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				call := strings.ToLower(strings.ReplaceAll(awsmiddleware.GetServiceID(ctx), " ", "")) + ":" + awsmiddleware.GetOperationName(ctx)
				if code, message := a.refusal(evidence.File(call, in.Parameters)); code != "" {
					return middleware.InitializeOutput{}, middleware.Metadata{}, &smithy.GenericAPIError{Code: code, Message: message}
				}
				return next.HandleInitialize(ctx, in)
			}), middleware.After)
	})
	ways := o.Endpoints
	o.Endpoints = func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
		endpoint, ca, via, ok = ways(cluster)
		return endpoint, ca, asked{a, cluster, via}, ok
	}
	return o
}

// refusal is the code with which a question is refused, "" where it is not.
func (a Account) refusal(file string, q evidence.Question) (code, message string) {
	if file == "" {
		return "", ""
	}
	refused, covered := a.scope.Find(file, q)
	switch {
	case !covered:
		return capture.NotCaptured, fmt.Sprintf("%s.json: this was not asked for when it was kept: %v", file, q)
	case refused != nil:
		return refused.Code, refused.Message
	}
	return "", ""
}

// asked is the way to a cluster's API.
type asked struct {
	account Account
	cluster string
	via     http.RoundTripper
}

// RoundTrip gives an answer to what was asked for, and refuses the rest as an API server
// would.
func (a asked) RoundTrip(req *http.Request) (*http.Response, error) {
	code, message := a.account.refusal(evidence.KubernetesFile(a.cluster, req.URL.Path, req.URL.Query()))
	if code == "" {
		return a.via.RoundTrip(req)
	}
	status := http.StatusNotImplemented
	if code == "Forbidden" {
		status = http.StatusForbidden
	}
	body, err := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": code, "message": message, "code": status})
	if err != nil {
		return nil, fmt.Errorf("refuse %s: %w", req.URL.Path, err)
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}
