package awscall

import (
	"context"
	"errors"

	"rollcall/shared/remedy/call"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"
)

// InterfaceDeleter deletes network interfaces.
type InterfaceDeleter interface {
	DeleteNetworkInterface(context.Context, *ec2.DeleteNetworkInterfaceInput, ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error)
}

var _ InterfaceDeleter = (*ec2.Client)(nil)

// Interfaces deletes network interfaces.
type Interfaces struct{ client InterfaceDeleter }

// NewInterfaces makes a deleter. Its client tries each call once: who calls
// keeps to EC2's pace, and must see each throttle.
func NewInterfaces(cfg aws.Config) Interfaces {
	return Interfaces{ec2.NewFromConfig(cfg, func(o *ec2.Options) { o.Retryer = aws.NopRetryer{} })}
}

// DeleteNetworkInterface deletes an interface, or, in a dry run, asks EC2 whether it would.
func (i Interfaces) DeleteNetworkInterface(ctx context.Context, id string, dryRun bool) call.Answer {
	in := &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String(id)}
	if dryRun {
		in.DryRun = aws.Bool(true)
	}
	out, err := i.client.DeleteNetworkInterface(ctx, in)
	if err == nil && out == nil {
		return call.Answer{Outcome: call.Uncertain, Message: "the answer holds nothing"}
	}
	if err == nil && dryRun {
		// EC2 answers a dry run with an error, always: what else was it?
		request, _ := awsmiddleware.GetRequestIDMetadata(out.ResultMetadata)
		return call.Answer{Outcome: call.Uncertain, Request: request, Message: "a dry run was answered as if it were none"}
	}
	if err == nil {
		request, _ := awsmiddleware.GetRequestIDMetadata(out.ResultMetadata)
		return call.Answer{Outcome: call.Done, Request: request}
	}
	return answerOf(err)
}

func answerOf(err error) call.Answer {
	a := call.Answer{Outcome: call.Uncertain, Message: "no answer"}
	var response interface{ ServiceRequestID() string }
	if errors.As(err, &response) {
		a.Request = response.ServiceRequestID()
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		if unassumed(err) {
			a.Outcome = call.NoRole
		}
		return a
	}
	// What EC2 appends to a refusal holds the caller's whole request.
	a.Code = api.ErrorCode()
	a.Message, _, _ = strings.Cut(api.ErrorMessage(), " Encoded authorization failure message:")
	if a.Outcome = outcomeOf(a.Code, api.ErrorFault(), err); unassumed(err) {
		a.Outcome = call.NoRole
	}
	return a
}

// unassumed tells that a call was never sent, for want of the role in which it is made: of
// calls one within the other, the inner one asks for the role (a client asks for its
// credentials while it signs).
func unassumed(err error) bool {
	var op *smithy.OperationError
	for depth, inner := 0, err; errors.As(inner, &op); depth, inner = depth+1, op.Err {
		if depth > 0 && op.Service() == "STS" && op.Operation() == "AssumeRole" {
			return true
		}
	}
	return false
}

// outcomeOf is what a code means (EC2, "Error codes for the Amazon EC2 API").
func outcomeOf(code string, fault smithy.ErrorFault, err error) call.Outcome {
	switch code {
	case "DryRunOperation":
		return call.WouldDo
	case "InvalidParameterValue", "InvalidNetworkInterface.InUse":
		// EC2 has no code of its own for an interface in use that is to be
		// deleted, and nothing else in the request can be a wrong value.
		return call.InUse
	case "InvalidNetworkInterfaceID.NotFound":
		return call.NotThere
	case "RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestThrottled", "RequestThrottledException",
		"TooManyRequestsException", "EC2ThrottledException", "SlowDown", "BandwidthLimitExceeded":
		return call.Throttled
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "UnrecognizedClientException",
		"InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException", "OptInRequired", "Blocked":
		return call.Denied
	case "InternalError", "InternalFailure", "Unavailable", "ServiceUnavailable", "RequestTimeout", "RequestExpired":
		return call.Uncertain
	}
	var status interface{ HTTPStatusCode() int }
	if fault == smithy.FaultServer || errors.As(err, &status) && status.HTTPStatusCode() >= 500 || code == "" || code == "UnknownError" {
		return call.Uncertain
	}
	return call.Refused
}
