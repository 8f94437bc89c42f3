package awscall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
	"rollcall/shared/remedy/replaceinstance"
)

// silent is an AWS whose answers hold nothing, or an error.
type silent struct{ err error }

func (s silent) CreateAccessEntry(context.Context, *eks.CreateAccessEntryInput, ...func(*eks.Options)) (*eks.CreateAccessEntryOutput, error) {
	return nil, s.err
}

func (s silent) UpdateNodegroupConfig(context.Context, *eks.UpdateNodegroupConfigInput, ...func(*eks.Options)) (*eks.UpdateNodegroupConfigOutput, error) {
	return nil, s.err
}

func (s silent) SetDesiredCapacity(context.Context, *autoscaling.SetDesiredCapacityInput, ...func(*autoscaling.Options)) (*autoscaling.SetDesiredCapacityOutput, error) {
	return nil, s.err
}

func (s silent) TerminateInstanceInAutoScalingGroup(context.Context, *autoscaling.TerminateInstanceInAutoScalingGroupInput, ...func(*autoscaling.Options)) (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
	return nil, s.err
}

func (s silent) CreateRoute(context.Context, *ec2.CreateRouteInput, ...func(*ec2.Options)) (*ec2.CreateRouteOutput, error) {
	return nil, s.err
}

func (s silent) AuthorizeSecurityGroupIngress(context.Context, *ec2.AuthorizeSecurityGroupIngressInput, ...func(*ec2.Options)) (*ec2.AuthorizeSecurityGroupIngressOutput, error) {
	return nil, s.err
}

func (s silent) DeleteNetworkInterface(context.Context, *ec2.DeleteNetworkInterfaceInput, ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error) {
	return nil, s.err
}

// calls are all calls that change something.
func calls(s silent) map[string]func() call.Answer {
	ctx := context.Background()
	return map[string]func() call.Answer{
		"route":     func() call.Answer { return Routes{s}.CreateRoute(ctx, "rtb-1", "0.0.0.0/0", "nat-1") },
		"open":      func() call.Answer { return SecurityGroups{s}.AdmitTCP(ctx, "sg-1", 443, []string{"sg-2"}) },
		"end":       func() call.Answer { return Instances{s}.EndInGroup(ctx, "i-1") },
		"group":     func() call.Answer { return Capacity{s, s}.SetDesiredCapacity(ctx, "g", 1) },
		"nodegroup": func() call.Answer { return Capacity{s, s}.SetDesiredSize(ctx, "prod", "n", 1, "") },
		"entry":     func() call.Answer { return Access{s}.CreateAccessEntry(ctx, "prod", "arn", "EC2_WINDOWS", "") },
		"interface": func() call.Answer { return Interfaces{s}.DeleteNetworkInterface(ctx, "eni-1", false) },
	}
}

// An answer without anything in it does not say that it was done.
func TestEmptyAnswers(t *testing.T) {
	want := call.Answer{Outcome: call.Uncertain, Message: "the answer holds nothing"}
	for name, ask := range calls(silent{}) {
		if got := ask(); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A code that means something of its own where an interface is deleted is a
// refusal of any other change.
func TestRefusalsOfOtherChanges(t *testing.T) {
	for code, ofInterface := range map[string]call.Outcome{
		"InvalidParameterValue": call.InUse, "InvalidNetworkInterfaceID.NotFound": call.NotThere, "DryRunOperation": call.WouldDo,
	} {
		for name, ask := range calls(silent{&smithy.GenericAPIError{Code: code, Message: "because"}}) {
			want := call.Answer{Outcome: call.Refused, Code: code, Message: "because"}
			if name == "interface" {
				want.Outcome = ofInterface
			}
			if got := ask(); got != want {
				t.Errorf("%s, %s: %+v, want %+v", code, name, got, want)
			}
		}
	}
}

// A call for want of whose role nothing was sent has changed nothing, whatever STS said or
// did not say; a call of STS that is the call itself is no such thing.
func TestCallsWithoutTheirRole(t *testing.T) {
	assume := func(err error) error {
		return &smithy.OperationError{ServiceID: "STS", OperationName: "AssumeRole", Err: err}
	}
	inner := func(err error) error {
		return &smithy.OperationError{ServiceID: "EC2", OperationName: "CreateRoute", Err: fmt.Errorf("get identity: get credentials: %w", assume(err))}
	}
	denied := &smithy.GenericAPIError{Code: "AccessDenied", Message: "because"}
	for name, ask := range calls(silent{inner(denied)}) {
		if diff := cmp.Diff(call.Answer{Outcome: call.NoRole, Code: "AccessDenied", Message: "because"}, ask()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, tt := range map[string]struct {
		err  error
		want call.Outcome
	}{
		"STS is throttled":           {inner(&smithy.GenericAPIError{Code: "Throttling"}), call.NoRole},
		"STS gives no answer":        {inner(context.DeadlineExceeded), call.NoRole},
		"another call gives none":    {&smithy.OperationError{ServiceID: "EC2", OperationName: "CreateRoute", Err: context.DeadlineExceeded}, call.Uncertain},
		"within another call of STS": {&smithy.OperationError{ServiceID: "EC2", OperationName: "CreateRoute", Err: &smithy.OperationError{ServiceID: "STS", OperationName: "GetCallerIdentity", Err: denied}}, call.Denied},
		"the call itself":            {assume(denied), call.Denied},
	} {
		if got := answerOf(tt.err).Outcome; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// What each code means, whatever its status (EC2, "Error codes for the Amazon
// EC2 API"); of one that is not known, whose fault it is.
func TestOutcomes(t *testing.T) {
	for want, codes := range map[call.Outcome][]string{
		call.InUse: {"InvalidParameterValue", "InvalidNetworkInterface.InUse"},
		call.Throttled: {"RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestThrottled", "RequestThrottledException",
			"TooManyRequestsException", "EC2ThrottledException", "SlowDown", "BandwidthLimitExceeded"},
		call.Denied: {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "UnrecognizedClientException",
			"InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException", "OptInRequired", "Blocked"},
		call.Uncertain: {"InternalError", "InternalFailure", "Unavailable", "ServiceUnavailable", "RequestTimeout", "RequestExpired", "", "UnknownError"},
		call.Refused:   {"SomethingNew", "OperationNotPermitted"},
	} {
		for _, code := range codes {
			for _, fault := range []smithy.ErrorFault{smithy.FaultUnknown, smithy.FaultClient} {
				if got := outcomeOf(code, fault, errors.New("x")); got != want {
					t.Errorf("%q, fault %s: %s, want %s", code, fault, got, want)
				}
			}
		}
	}
	answered := func(status int) error {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: errors.New("x")}
	}
	for _, test := range []struct {
		name  string
		fault smithy.ErrorFault
		err   error
		want  call.Outcome
	}{
		{"EC2's own fault", smithy.FaultServer, errors.New("x"), call.Uncertain},
		{"EC2's own fault by the status", smithy.FaultClient, answered(500), call.Uncertain},
		{"the caller's fault by the status", smithy.FaultClient, answered(499), call.Refused},
	} {
		if got := outcomeOf("SomethingNew", test.fault, test.err); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// What was ended before AWS refused is said.
func TestReplaceSaysHowFarItCame(t *testing.T) {
	three := remedy.Plan{Replace: &replaceinstance.Plan{Instances: []replaceinstance.Replaced{{Instance: "i-1"}, {Instance: "i-2"}, {Instance: "i-3"}}}}
	n := 0
	executor := remedy.Executor{Calls: Client{Instances: Instances{ender(func() (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
		if n++; n < 3 {
			return &autoscaling.TerminateInstanceInAutoScalingGroupOutput{}, nil
		}
		return nil, &smithy.GenericAPIError{Code: "ResourceContention", Message: "because"}
	})}}}
	got := executor.Do(t.Context(), three, "token")
	if want := "2 of 3 instances were ended; then AWS said ResourceContention."; got.Says != want || got.Status != action.Partly || got.Reason != "ResourceContention" {
		t.Errorf("%+v, want %q", got, want)
	}
	refused := remedy.Executor{Calls: Client{Instances: Instances{silent{&smithy.GenericAPIError{Code: "ResourceContention", Message: "because"}}}}}.Do(t.Context(), three, "token")
	if want := "Nothing was changed: AWS says ResourceContention: because"; refused.Says != want || refused.Status != action.Failed {
		t.Errorf("%+v, want %q", refused, want)
	}
	unknown := remedy.Executor{Calls: Client{Instances: Instances{silent{errors.New("cut off")}}}}.Do(t.Context(), three, "token")
	if want := "No answer came that says whether it was done."; unknown.Says != want || unknown.Status != action.Uncertain {
		t.Errorf("%+v, want %q", unknown, want)
	}
}

type ender func() (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error)

func (e ender) TerminateInstanceInAutoScalingGroup(_ context.Context, in *autoscaling.TerminateInstanceInAutoScalingGroupInput, _ ...func(*autoscaling.Options)) (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
	if aws.ToBool(in.ShouldDecrementDesiredCapacity) {
		return nil, errors.New("the capacity would not stay")
	}
	return e()
}
