package remedy

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/shared/plan"
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
func calls(s silent) map[string]func() Answer {
	ctx := context.Background()
	return map[string]func() Answer{
		"route":     func() Answer { return Routes{s}.Add(ctx, plan.Route{}) },
		"open":      func() Answer { return SecurityGroups{s}.Open(ctx, plan.Open{}) },
		"end":       func() Answer { return Instances{s}.Replace(ctx, "i-1") },
		"group":     func() Answer { return Capacity{s, s}.Raise(ctx, "prod", plan.Cover{Group: "g", To: 1, Max: 1}, "") },
		"nodegroup": func() Answer { return Capacity{s, s}.Raise(ctx, "prod", plan.Cover{Nodegroup: "n", To: 1, Max: 1}, "") },
		"entry":     func() Answer { return Access{s}.Create(ctx, "prod", plan.Access{Type: "EC2_WINDOWS"}, "") },
		"interface": func() Answer { return Interfaces{s}.Delete(ctx, "eni-1", false) },
	}
}

// An answer without anything in it does not say that it was done.
func TestEmptyAnswers(t *testing.T) {
	want := Answer{Outcome: Uncertain, Message: "the answer holds nothing"}
	for name, call := range calls(silent{}) {
		if got := call(); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A code that means something of its own where an interface is deleted is a
// refusal of any other change.
func TestRefusalsOfOtherChanges(t *testing.T) {
	for code, ofInterface := range map[string]Outcome{
		"InvalidParameterValue": InUse, "InvalidNetworkInterfaceID.NotFound": NotThere, "DryRunOperation": WouldDo,
	} {
		for name, call := range calls(silent{&smithy.GenericAPIError{Code: code, Message: "because"}}) {
			want := Answer{Outcome: Refused, Code: code, Message: "because"}
			if name == "interface" {
				want.Outcome = ofInterface
			}
			if got := call(); got != want {
				t.Errorf("%s, %s: %+v, want %+v", code, name, got, want)
			}
		}
	}
}

// What each code means, whatever its status (EC2, "Error codes for the Amazon
// EC2 API"); of one that is not known, whose fault it is.
func TestOutcomes(t *testing.T) {
	for want, codes := range map[Outcome][]string{
		InUse: {"InvalidParameterValue", "InvalidNetworkInterface.InUse", "InvalidNetworkInterfaceID.InUse"},
		Throttled: {"RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestThrottled", "RequestThrottledException",
			"TooManyRequestsException", "EC2ThrottledException", "SlowDown", "BandwidthLimitExceeded"},
		Denied: {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "UnrecognizedClientException",
			"InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException", "OptInRequired", "Blocked"},
		Uncertain: {"InternalError", "InternalFailure", "Unavailable", "ServiceUnavailable", "RequestTimeout", "RequestExpired", "", "UnknownError"},
		Refused:   {"SomethingNew", "OperationNotPermitted"},
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
		want  Outcome
	}{
		{"EC2's own fault", smithy.FaultServer, errors.New("x"), Uncertain},
		{"EC2's own fault by the status", smithy.FaultClient, answered(500), Uncertain},
		{"the caller's fault by the status", smithy.FaultClient, answered(499), Refused},
	} {
		if got := outcomeOf("SomethingNew", test.fault, test.err); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// Both of the types that nodes have are made.
func TestEntriesOfNodes(t *testing.T) {
	for kind, want := range map[string]string{"EC2_LINUX": "", "EC2_WINDOWS": "", "STANDARD": "NotANodeType", "HYBRID_LINUX": "NotANodeType", "": "NotANodeType"} {
		got := Access{silent{}}.Create(t.Context(), "prod", plan.Access{Type: kind}, "")
		if got.Code != want || (got.Outcome == Refused) != (want != "") {
			t.Errorf("%q: %+v, want %q", kind, got, want)
		}
	}
}

// What was ended before AWS refused is said.
func TestReplaceSaysHowFarItCame(t *testing.T) {
	three := plan.Plan{Replace: &plan.Replace{Instances: []plan.Replaced{{Instance: "i-1"}, {Instance: "i-2"}, {Instance: "i-3"}}}}
	n := 0
	hand := Hand{instances: Instances{ender(func() (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
		if n++; n < 3 {
			return &autoscaling.TerminateInstanceInAutoScalingGroupOutput{}, nil
		}
		return nil, &smithy.GenericAPIError{Code: "ResourceContention", Message: "because"}
	})}}
	got := hand.Do(t.Context(), three, "token")
	if want := "2 of 3 instances were ended; then AWS said ResourceContention."; got.Says != want || got.Result != plan.Partly || got.Reason != "ResourceContention" {
		t.Errorf("%+v, want %q", got, want)
	}
	refused := Hand{instances: Instances{silent{&smithy.GenericAPIError{Code: "ResourceContention", Message: "because"}}}}.Do(t.Context(), three, "token")
	if want := "Nothing was changed: AWS says ResourceContention: because"; refused.Says != want || refused.Result != plan.Failed {
		t.Errorf("%+v, want %q", refused, want)
	}
	unknown := Hand{instances: Instances{silent{errors.New("cut off")}}}.Do(t.Context(), three, "token")
	if want := "No answer came that says whether it was done."; unknown.Says != want || unknown.Result != plan.Uncertain {
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
