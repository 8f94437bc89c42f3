package wire

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
)

func TestFaults(t *testing.T) {
	const arn = "arn:aws:sts::123456789012:assumed-role/launch-watch/launch-watch"
	denied := func(action string) string {
		return "User: " + arn + " is not authorized to perform: " + action + " because no identity-based policy allows the " + action + " action"
	}
	tests := map[string]map[Fault]answerOf{
		"ec2": {
			Denied:    {"UnauthorizedOperation", "You are not authorized to perform this operation. " + denied("ec2:DescribeRouteTables"), 403},
			Throttled: {"RequestLimitExceeded", "Request limit exceeded.", 503},
			Broken:    {"InternalError", "An internal error has occurred", 500},
		},
		"autoscaling": {
			Denied:    {"AccessDenied", denied("autoscaling:SetDesiredCapacity"), 403},
			Throttled: {"Throttling", "Rate exceeded", 400},
			Broken:    {"InternalFailure", "An internal failure occurred.", 500},
		},
		"iam": {
			Denied:    {"AccessDenied", denied("iam:GetRole"), 403},
			Throttled: {"Throttling", "Rate exceeded", 400},
			Broken:    {"ServiceFailure", "The request processing has failed because of an unknown error.", 500},
		},
		"sts": {
			Denied:    {"AccessDenied", denied("sts:GetCallerIdentity"), 403},
			Throttled: {"Throttling", "Rate exceeded", 400},
			Broken:    {"InternalFailure", "An internal failure occurred.", 500},
		},
		"eks": {
			Denied:    {"AccessDeniedException", denied("eks:DescribeCluster"), 403},
			Throttled: {"ThrottlingException", "Rate exceeded", 429},
			Broken:    {"ServerException", "Internal server error", 500},
		},
		"sqs": {
			Denied:    {"AccessDeniedException", denied("sqs:DeleteMessage"), 403},
			Throttled: {"ThrottlingException", "Rate exceeded", 400},
			Broken:    {"InternalFailure", "The request has failed due to an internal error.", 500},
		},
		"secretsmanager": {
			Denied:    {"AccessDeniedException", denied("secretsmanager:GetSecretValue"), 400},
			Throttled: {"ThrottlingException", "Rate exceeded", 400},
			Broken:    {"InternalServiceError", "An error occurred on the server side.", 500},
		},
		"eventbridge": {
			Denied:    {"AccessDeniedException", denied("events:PutEvents"), 400},
			Throttled: {"ThrottlingException", "Rate exceeded", 400},
			Broken:    {"InternalException", "An internal error occurred.", 500},
		},
		"dynamodb": {
			Denied:    {"AccessDeniedException", denied("dynamodb:DescribeTable"), 400},
			Throttled: {"ThrottlingException", "Rate exceeded", 400},
			Broken:    {"InternalServerError", "The request processing has failed because of an unknown error.", 500},
		},
	}
	var fault Fault
	s, cfg := serve(t, Config{
		Faults:     FaultFunc(func(context.Context, *Call) error { return fault }),
		Principals: func(string) (Principal, bool) { return Principal{Name: "launch-watch", ARN: arn}, true },
	})
	callers := failing(s, cfg, errors.New("not reached"))
	for service, call := range callers {
		for _, fault = range []Fault{Denied, Throttled, Broken} {
			t.Run(service+"/"+fault.Error(), func(t *testing.T) {
				if diff := cmp.Diff(decoded(t, call(t.Context())), tests[service][fault]); diff != "" {
					t.Errorf("(-got +want):\n%s", diff)
				}
			})
		}
		fault = Reset
		t.Run(service+"/"+fault.Error(), func(t *testing.T) {
			err := call(t.Context())
			var api smithy.APIError
			if err == nil || errors.As(err, &api) {
				t.Errorf("error = %v, want one without an answer", err)
			}
			if c := s.Calls()[len(s.Calls())-1]; c.Code != "ConnectionReset" || c.Status != 0 {
				t.Errorf("call = %+v, want a connection reset", c)
			}
		})
	}
}
