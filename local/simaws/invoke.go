package simaws

import (
	"context"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"rollcall/local/platform/wire"
)

// Invoke runs a function that has been found, for who may invoke it. There is none of an ARN
// where known is false. From another account its own policy must let the caller in.
type Invoke func(ctx context.Context, function string, caller wire.Principal, event []byte) (out *lambda.InvokeOutput, known, allowed bool, err error)

// mostPayload is what Lambda takes and gives of a synchronous invocation (Lambda, "Quotas":
// 6 MB each; its error names 6291456 and 6291556 bytes).
const mostPayload = 6291456

// invoke is Lambda's answer to an invocation (Lambda API reference, Invoke). Whether the
// caller's own policies allow it was asked before.
func (c *Cloud) invoke(ctx context.Context, call *wire.Call, in *lambda.InvokeInput) (*lambda.InvokeOutput, error) {
	if len(in.Payload) > mostPayload {
		return nil, &wire.Error{Code: "RequestTooLargeException", Status: http.StatusRequestEntityTooLarge, Message: "Request must be smaller than 6291456 bytes for the InvokeFunction operation"}
	}
	arn := FunctionARN(aws.ToString(in.FunctionName), c.cfg.Region, c.cfg.Account)
	out, known, allowed, err := c.cfg.Invoke(ctx, arn, call.Principal, in.Payload)
	switch {
	case err != nil:
		return nil, err
	case !strings.Contains(arn, ":"+call.Principal.Account+":") && !(known && allowed):
		// Of another account nobody is told what is there.
		return nil, &wire.Error{Code: "AccessDeniedException", Status: http.StatusForbidden,
			Message: "User: " + call.Principal.ARN + " is not authorized to perform: lambda:InvokeFunction on resource: " + arn + " because no resource-based policy allows the lambda:InvokeFunction action"}
	case !known:
		return nil, &wire.Error{Code: "ResourceNotFoundException", Status: http.StatusNotFound, Message: "Function not found: " + arn}
	}
	out.StatusCode = http.StatusOK
	return out, nil
}

// FunctionARN is the ARN of a function that is named so in an account and region: a caller
// may write the name or the whole ARN (Lambda API reference, Invoke, FunctionName).
func FunctionARN(name, region, account string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return "arn:aws:lambda:" + region + ":" + account + ":function:" + name
}
