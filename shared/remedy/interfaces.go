package remedy

import (
	"context"
	"errors"
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

// Outcome is what came of a change.
type Outcome string

// The outcomes. All but Done and Uncertain are sure to have changed nothing.
const (
	Done      Outcome = "done"
	WouldDo   Outcome = "would do" // in a dry run
	InUse     Outcome = "in use"
	NotThere  Outcome = "not there"
	Throttled Outcome = "throttled"
	Denied    Outcome = "denied"
	Refused   Outcome = "refused" // for another reason: see Code
	// Uncertain: no answer came, or one that does not say whether it was done.
	Uncertain Outcome = "uncertain"
)

// Answer is EC2's answer to a change.
type Answer struct {
	Outcome Outcome
	// Request is EC2's request id; empty where no answer came.
	Request string
	// Code and Message are those of an error.
	Code, Message string
}

// Interfaces deletes network interfaces.
type Interfaces struct{ client InterfaceDeleter }

// NewInterfaces makes a deleter. Its client tries each call once: who calls
// keeps to EC2's pace, and must see each throttle.
func NewInterfaces(cfg aws.Config) Interfaces {
	return Interfaces{ec2.NewFromConfig(cfg, func(o *ec2.Options) { o.Retryer = aws.NopRetryer{} })}
}

// Delete deletes an interface, or, in a dry run, asks EC2 whether it would.
func (i Interfaces) Delete(ctx context.Context, id string, dryRun bool) Answer {
	in := &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String(id)}
	if dryRun {
		in.DryRun = aws.Bool(true)
	}
	out, err := i.client.DeleteNetworkInterface(ctx, in)
	if err == nil && out == nil {
		return Answer{Outcome: Uncertain, Message: "the answer holds nothing"}
	}
	if err == nil && dryRun {
		// EC2 answers a dry run with an error, always: what else was it?
		request, _ := awsmiddleware.GetRequestIDMetadata(out.ResultMetadata)
		return Answer{Outcome: Uncertain, Request: request, Message: "a dry run was answered as if it were none"}
	}
	if err == nil {
		request, _ := awsmiddleware.GetRequestIDMetadata(out.ResultMetadata)
		return Answer{Outcome: Done, Request: request}
	}
	return answerOf(err)
}

func answerOf(err error) Answer {
	a := Answer{Outcome: Uncertain, Message: "no answer"}
	var response interface{ ServiceRequestID() string }
	if errors.As(err, &response) {
		a.Request = response.ServiceRequestID()
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return a
	}
	// What EC2 appends to a refusal holds the caller's whole request.
	a.Code = api.ErrorCode()
	a.Message, _, _ = strings.Cut(api.ErrorMessage(), " Encoded authorization failure message:")
	a.Outcome = outcomeOf(a.Code, api.ErrorFault(), err)
	return a
}

// outcomeOf is what a code means (EC2, "Error codes for the Amazon EC2 API").
func outcomeOf(code string, fault smithy.ErrorFault, err error) Outcome {
	switch code {
	case "DryRunOperation":
		return WouldDo
	case "InvalidParameterValue", "InvalidNetworkInterface.InUse", "InvalidNetworkInterfaceID.InUse":
		// EC2 has no code of its own for an interface in use that is to be
		// deleted, and nothing else in the request can be a wrong value.
		return InUse
	case "InvalidNetworkInterfaceID.NotFound":
		return NotThere
	case "RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestThrottled", "RequestThrottledException",
		"TooManyRequestsException", "EC2ThrottledException", "SlowDown", "BandwidthLimitExceeded":
		return Throttled
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "UnrecognizedClientException",
		"InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException", "OptInRequired", "Blocked":
		return Denied
	case "InternalError", "InternalFailure", "Unavailable", "ServiceUnavailable", "RequestTimeout", "RequestExpired":
		return Uncertain
	}
	var status interface{ HTTPStatusCode() int }
	if fault == smithy.FaultServer || errors.As(err, &status) && status.HTTPStatusCode() >= 500 || code == "" || code == "UnknownError" {
		return Uncertain
	}
	return Refused
}
