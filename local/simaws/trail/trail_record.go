package trail

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/cloudtrail"
	"rollcall/local/simaws/state"
)

// globalRegion is where calls to IAM are recorded.
const globalRegion = "us-east-1"

func trailRecord(w *state.State, c Call) *cloudtrail.Record {
	service, name, _ := strings.Cut(c.Operation, ":")
	r := &cloudtrail.Record{
		EventVersion: "1.11", UserIdentity: cloudtrail.Identity(w.Account, c.CallerARN, c.AccessKeyID, c.InvokedBy).FederatedBy(c.Federated), EventTime: w.Now.UTC().Format(time.RFC3339),
		EventSource: service + ".amazonaws.com", EventName: name, AWSRegion: w.Region,
		SourceIPAddress: cmp.Or(c.InvokedBy, c.SourceIP, "203.0.113.10"), UserAgent: cmp.Or(c.InvokedBy, c.UserAgent, "aws-cli/2.31"),
		RequestID: cmp.Or(c.RequestID, w.TrailIDs.UUID()), EventID: w.TrailIDs.UUID(),
		EventType: "AwsApiCall", ManagementEvent: true, RecipientAccountID: w.Account, EventCategory: "Management",
	}
	if service == "iam" {
		r.AWSRegion = globalRegion
	}
	if c.Input != nil {
		r.RequestParameters = cloudtrail.ParametersOf(service, c.Input)
	}
	if c.Parameters != nil {
		r.RequestParameters = c.Parameters
	}
	if c.Err != nil {
		r.ErrorCode, r.ErrorMessage = "InternalFailure", "An internal failure occurred."
		var e *wire.Error
		if errors.As(c.Err, &e) {
			r.ErrorCode, r.ErrorMessage = e.Code, e.Message
		}
		switch {
		case r.ErrorCode == "AccessDeniedException":
			r.ErrorCode = "AccessDenied" // CloudTrail's word for it
		case service == "ec2" && e != nil && e.Status >= 500:
			r.ErrorCode = "Server." + r.ErrorCode
		case service == "ec2":
			r.ErrorCode = "Client." + r.ErrorCode // as EC2's own services name it
		}
		return r
	}
	if c.Response != nil {
		r.ResponseElements = c.Response
	}
	if c.Output != nil {
		if out := cloudtrail.AnswerOf(service, c.Output, r.RequestID); len(out) > 0 || service == "eks" {
			r.ResponseElements = out
		}
	}
	return r
}
