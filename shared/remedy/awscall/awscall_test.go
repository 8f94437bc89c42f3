package awscall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedies"
	"rollcall/stage/platform/wire"
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
func calls(s silent) map[string]func() action.Answer {
	ctx := context.Background()
	return map[string]func() action.Answer{
		"route":     func() action.Answer { return Routes{s}.CreateRoute(ctx, "rtb-1", "0.0.0.0/0", "nat-1") },
		"open":      func() action.Answer { return SecurityGroups{s}.AdmitTCP(ctx, "sg-1", 443, []string{"sg-2"}) },
		"end":       func() action.Answer { return Instances{s}.EndInGroup(ctx, "i-1") },
		"group":     func() action.Answer { return Capacity{s, s}.SetDesiredCapacity(ctx, "g", 1) },
		"nodegroup": func() action.Answer { return Capacity{s, s}.SetDesiredSize(ctx, "prod", "n", 1, "") },
		"entry":     func() action.Answer { return Access{s}.CreateAccessEntry(ctx, "prod", "arn", "EC2_WINDOWS", "") },
		"interface": func() action.Answer { return Interfaces{s}.DeleteNetworkInterface(ctx, "eni-1", false) },
	}
}

// An answer without anything in it does not say that it was done.
func TestEmptyAnswers(t *testing.T) {
	want := action.Answer{Outcome: action.Uncertain, Message: "the answer holds nothing"}
	for name, ask := range calls(silent{}) {
		if got := ask(); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A code that means something of its own where an interface is deleted is a
// refusal of any other change.
func TestRefusalsOfOtherChanges(t *testing.T) {
	for code, ofInterface := range map[string]action.Outcome{
		"InvalidParameterValue": action.InUse, "InvalidNetworkInterfaceID.NotFound": action.NotThere, "DryRunOperation": action.WouldDo,
	} {
		for name, ask := range calls(silent{&smithy.GenericAPIError{Code: code, Message: "because"}}) {
			want := action.Answer{Outcome: action.Refused, Code: code, Message: "because"}
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
		if diff := cmp.Diff(action.Answer{Outcome: action.NoRole, Code: "AccessDenied", Message: "because"}, ask()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, tt := range map[string]struct {
		err  error
		want action.Outcome
	}{
		"STS is throttled":           {inner(&smithy.GenericAPIError{Code: "Throttling"}), action.NoRole},
		"STS gives no answer":        {inner(context.DeadlineExceeded), action.NoRole},
		"another call gives none":    {&smithy.OperationError{ServiceID: "EC2", OperationName: "CreateRoute", Err: context.DeadlineExceeded}, action.Uncertain},
		"within another call of STS": {&smithy.OperationError{ServiceID: "EC2", OperationName: "CreateRoute", Err: &smithy.OperationError{ServiceID: "STS", OperationName: "GetCallerIdentity", Err: denied}}, action.Denied},
		"the call itself":            {assume(denied), action.Denied},
	} {
		if got := answerOf(tt.err).Outcome; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// What each code means, whatever its status (EC2, "Error codes for the Amazon
// EC2 API"); of one that is not known, whose fault it is.
func TestOutcomes(t *testing.T) {
	for want, codes := range map[action.Outcome][]string{
		action.InUse: {"InvalidParameterValue", "InvalidNetworkInterface.InUse"},
		action.Throttled: {"RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestThrottled", "RequestThrottledException",
			"TooManyRequestsException", "EC2ThrottledException", "SlowDown", "BandwidthLimitExceeded"},
		action.Denied: {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "UnrecognizedClientException",
			"InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException", "OptInRequired", "Blocked"},
		action.Uncertain: {"InternalError", "InternalFailure", "Unavailable", "ServiceUnavailable", "RequestTimeout", "RequestExpired", "", "UnknownError"},
		action.Refused:   {"SomethingNew", "OperationNotPermitted"},
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
		want  action.Outcome
	}{
		{"EC2's own fault", smithy.FaultServer, errors.New("x"), action.Uncertain},
		{"EC2's own fault by the status", smithy.FaultClient, answered(500), action.Uncertain},
		{"the caller's fault by the status", smithy.FaultClient, answered(499), action.Refused},
	} {
		if got := outcomeOf("SomethingNew", test.fault, test.err); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// What was ended before AWS refused is said.
func TestReplaceSaysHowFarItCame(t *testing.T) {
	three := remedy.Plan{Replace: &remedy.ReplaceInstance{Instances: []remedy.Replaced{{Instance: "i-1"}, {Instance: "i-2"}, {Instance: "i-3"}}}}
	n := 0
	executor := remedies.Executor{Calls: Client{Instances: Instances{ender(func() (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
		if n++; n < 3 {
			return &autoscaling.TerminateInstanceInAutoScalingGroupOutput{}, nil
		}
		return nil, &smithy.GenericAPIError{Code: "ResourceContention", Message: "because"}
	})}}}
	got := executor.Do(t.Context(), three, "token")
	if want := "2 of 3 instances were terminated; then AWS returned ResourceContention."; got.Says != want || got.Status != remedy.Partly || got.Reason != "ResourceContention" {
		t.Errorf("%+v, want %q", got, want)
	}
	refused := remedies.Executor{Calls: Client{Instances: Instances{silent{&smithy.GenericAPIError{Code: "ResourceContention", Message: "because"}}}}}.Do(t.Context(), three, "token")
	if want := "Nothing was changed: AWS returned ResourceContention: because"; refused.Says != want || refused.Status != remedy.Failed {
		t.Errorf("%+v, want %q", refused, want)
	}
	unknown := remedies.Executor{Calls: Client{Instances: Instances{silent{errors.New("cut off")}}}}.Do(t.Context(), three, "token")
	if want := "No response confirms whether it was done."; unknown.Says != want || unknown.Status != remedy.Uncertain {
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

// account is an AWS that gives one answer, and keeps what it was asked for.
type account struct {
	mu     sync.Mutex
	asked  []string
	answer func(n int) error
}

func (a *account) ask(what string, values ...any) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, fmt.Sprintf(what, values...))
	if a.answer == nil {
		return nil
	}
	return a.answer(len(a.asked))
}

func serve(t *testing.T, a *account) remedies.Executor {
	t.Helper()
	s, err := wire.New(wire.Config{AnyIDs: true, Faults: wire.NoFaults{}})
	if err != nil {
		t.Fatal(err)
	}
	wire.Handle(s, "ec2", "CreateRoute", func(_ context.Context, _ *wire.Call, in *ec2.CreateRouteInput) (*ec2.CreateRouteOutput, error) {
		return &ec2.CreateRouteOutput{Return: aws.Bool(true)}, a.ask("route %s %s %s", *in.RouteTableId, *in.DestinationCidrBlock, *in.NatGatewayId)
	})
	wire.Handle(s, "ec2", "AuthorizeSecurityGroupIngress", func(_ context.Context, _ *wire.Call, in *ec2.AuthorizeSecurityGroupIngressInput) (*ec2.AuthorizeSecurityGroupIngressOutput, error) {
		p := in.IpPermissions[0]
		if in.CidrIp != nil || len(in.IpPermissions) != 1 || len(p.IpRanges)+len(p.Ipv6Ranges)+len(p.PrefixListIds) != 0 {
			t.Errorf("opened to addresses: %+v", in)
		}
		return &ec2.AuthorizeSecurityGroupIngressOutput{Return: aws.Bool(true)}, a.ask("open %s %s %d-%d %s", *in.GroupId, *p.IpProtocol, *p.FromPort, *p.ToPort, *p.UserIdGroupPairs[0].GroupId)
	})
	wire.Handle(s, "autoscaling", "TerminateInstanceInAutoScalingGroup", func(_ context.Context, _ *wire.Call, in *autoscaling.TerminateInstanceInAutoScalingGroupInput) (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
		return &autoscaling.TerminateInstanceInAutoScalingGroupOutput{}, a.ask("end %s %v", *in.InstanceId, *in.ShouldDecrementDesiredCapacity)
	})
	wire.Handle(s, "autoscaling", "SetDesiredCapacity", func(_ context.Context, _ *wire.Call, in *autoscaling.SetDesiredCapacityInput) (*autoscaling.SetDesiredCapacityOutput, error) {
		return &autoscaling.SetDesiredCapacityOutput{}, a.ask("group %s %d", *in.AutoScalingGroupName, *in.DesiredCapacity)
	})
	wire.Handle(s, "eks", "UpdateNodegroupConfig", func(_ context.Context, _ *wire.Call, in *eks.UpdateNodegroupConfigInput) (*eks.UpdateNodegroupConfigOutput, error) {
		if c := in.ScalingConfig; c.MinSize != nil || c.MaxSize != nil || in.Labels != nil || in.Taints != nil || in.UpdateConfig != nil {
			t.Errorf("more than the desired count is changed: %+v", in)
		}
		return &eks.UpdateNodegroupConfigOutput{}, a.ask("nodegroup %s %s %d %s", *in.ClusterName, *in.NodegroupName, *in.ScalingConfig.DesiredSize, *in.ClientRequestToken)
	})
	wire.Handle(s, "eks", "CreateAccessEntry", func(_ context.Context, _ *wire.Call, in *eks.CreateAccessEntryInput) (*eks.CreateAccessEntryOutput, error) {
		if len(in.KubernetesGroups) > 0 || in.Username != nil {
			t.Errorf("the entry gives more than a node has: %+v", in)
		}
		return &eks.CreateAccessEntryOutput{}, a.ask("entry %s %s %s", *in.ClusterName, *in.PrincipalArn, *in.Type)
	})
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return remedies.Executor{Calls: New(aws.Config{Region: "us-west-2", BaseEndpoint: aws.String(h.URL), Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "")})}
}

const role = "arn:aws:iam::123456789012:role/workers"

// plans are one of each remedy, with what is asked of AWS for it.
func plans() map[string]remedy.Plan {
	return map[string]remedy.Plan{
		"route rtb-1 0.0.0.0/0 nat-1":       {Route: &remedy.AddNATRoute{Table: "rtb-1", Destination: "0.0.0.0/0", NAT: "nat-1"}},
		"open sg-1 tcp 443-443 sg-2":        {Open: &remedy.OpenEndpointSecurityGroup{SecurityGroup: "sg-1", Port: 443, From: []string{"sg-2"}}},
		"end i-1 false":                     {Replace: &remedy.ReplaceInstance{Instances: []remedy.Replaced{{Instance: "i-1"}}}},
		"group g 3":                         {Cover: &remedy.CoverZones{Group: "g", From: 2, To: 3, Max: 3}},
		"nodegroup prod n 3 token":          {Cluster: "prod", Cover: &remedy.CoverZones{Nodegroup: "n", From: 2, To: 3, Max: 3}},
		"entry prod " + role + " EC2_LINUX": {Cluster: "prod", Access: &remedy.CreateAccessEntry{Principal: role, Type: "EC2_LINUX"}},
	}
}

func TestDo(t *testing.T) {
	for want, p := range plans() {
		a := &account{}
		got := serve(t, a).Do(t.Context(), p, "token")
		if got.Status != remedy.Done || len(got.Changed) != 1 || len(got.Requests) != 1 || len(a.asked) != 1 || a.asked[0] != want {
			t.Errorf("%s: %+v, asked %q", want, got, a.asked)
		}
	}
}

// What AWS refuses changes nothing, and is not tried again; what is not
// answered may have been done.
func TestDoIsAnswered(t *testing.T) {
	for _, test := range []struct {
		code   string
		status int
		want   remedy.Status
	}{
		{"UnauthorizedOperation", 403, remedy.Failed},
		{"AccessDeniedException", 403, remedy.Failed},
		{"RequestLimitExceeded", 503, remedy.Failed},
		{"Throttling", 400, remedy.Failed},
		{"RouteAlreadyExists", 400, remedy.Failed},
		{"InvalidPermission.Duplicate", 400, remedy.Failed},
		{"InvalidParameterValue", 400, remedy.Failed},
		{"ValidationError", 400, remedy.Failed},
		{"ScalingActivityInProgress", 400, remedy.Failed},
		{"ResourceInUseException", 409, remedy.Failed},
		{"InternalError", 500, remedy.Uncertain},
		{"SomethingNew", 500, remedy.Uncertain},
	} {
		for what, p := range plans() {
			a := &account{answer: func(int) error { return &wire.Error{Code: test.code, Message: "because", Status: test.status} }}
			got := serve(t, a).Do(t.Context(), p, "token")
			if got.Status != test.want || got.Reason != test.code || got.Says == "" || len(got.Changed) != 0 || len(a.asked) != 1 {
				t.Errorf("%s, %s: %+v after %d calls, want %s after one", what, test.code, got, len(a.asked), test.want)
			}
		}
	}
}

func TestDoWithoutAnswer(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"cut off":         func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no page of AWS":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"an empty answer": func(http.ResponseWriter, *http.Request) {},
	} {
		server := httptest.NewServer(handle)
		executor := remedies.Executor{Calls: New(aws.Config{Region: "us-west-2", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "")})}
		for what, p := range plans() {
			got := executor.Do(t.Context(), p, "token")
			// An empty answer of a call whose answers hold nothing is one.
			empty := name == "an empty answer" && !strings.HasPrefix(what, "route") && !strings.HasPrefix(what, "open")
			if !empty && got.Status != remedy.Uncertain {
				t.Errorf("%s, %s: %+v", name, what, got)
			}
		}
		server.Close()
	}
}

// What is no plan of a remedy, or would lower, exceed or admit more, is not asked
// of AWS.
func TestDoRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		plan   remedy.Plan
		result remedy.Status
		reason string
	}{
		{"nothing", remedy.Plan{}, remedy.Refused, "no-such-remedy"},
		{"eni-cleanup's", remedy.Plan{Cleanup: &remedy.DeleteLeakedInterfaces{Interfaces: []string{"eni-1"}}}, remedy.Refused, "no-such-remedy"},
		{"a lower count", remedy.Plan{Cover: &remedy.CoverZones{Group: "g", From: 3, To: 2, Max: 5}}, remedy.Failed, "NotARaise"},
		{"the same count", remedy.Plan{Cover: &remedy.CoverZones{Group: "g", From: 3, To: 3, Max: 5}}, remedy.Failed, "NotARaise"},
		{"over the maximum", remedy.Plan{Cover: &remedy.CoverZones{Group: "g", From: 3, To: 6, Max: 5}}, remedy.Failed, "NotARaise"},
		{"an entry of people", remedy.Plan{Cluster: "prod", Access: &remedy.CreateAccessEntry{Principal: role, Type: "STANDARD"}}, remedy.Failed, "NotANodeType"},
		{"an entry of any type", remedy.Plan{Cluster: "prod", Access: &remedy.CreateAccessEntry{Principal: role}}, remedy.Failed, "NotANodeType"},
	} {
		a := &account{}
		got := serve(t, a).Do(t.Context(), test.plan, "token")
		if got.Status != test.result || got.Reason != test.reason || got.Says == "" || len(got.Changed) != 0 || len(a.asked) != 0 {
			t.Errorf("%s: %+v, asked %q; want %s as %s", test.name, got, a.asked, test.result, test.reason)
		}
	}
}

// The first instance that AWS does not end stops the rest.
func TestReplaceStops(t *testing.T) {
	three := remedy.Plan{Replace: &remedy.ReplaceInstance{Instances: []remedy.Replaced{{Instance: "i-1"}, {Instance: "i-2"}, {Instance: "i-3"}}}}
	for status, want := range map[int]remedy.Status{400: remedy.Partly, 500: remedy.Uncertain} {
		a := &account{answer: func(n int) error {
			if n < 2 {
				return nil
			}
			return &wire.Error{Code: "Broken", Message: "because", Status: status}
		}}
		got := serve(t, a).Do(t.Context(), three, "token")
		if got.Status != want || len(a.asked) != 2 || len(got.Changed) != 1 || got.Changed[0] != "i-1" || got.Says == "" {
			t.Errorf("%d: %+v, asked %q", status, got, a.asked)
		}
	}
}

// ask sends a delete to an EC2 that gives the answer.
func ask(t *testing.T, dryRun bool, answer error) (action.Answer, int) {
	t.Helper()
	s, err := wire.New(wire.Config{AnyIDs: true, Faults: wire.NoFaults{}})
	if err != nil {
		t.Fatal(err)
	}
	wire.Handle(s, "ec2", "DeleteNetworkInterface", func(_ context.Context, _ *wire.Call, in *ec2.DeleteNetworkInterfaceInput) (*ec2.DeleteNetworkInterfaceOutput, error) {
		if *in.NetworkInterfaceId != "eni-1" || aws.ToBool(in.DryRun) != dryRun {
			t.Errorf("asked for %+v", in)
		}
		return &ec2.DeleteNetworkInterfaceOutput{}, answer
	})
	h := httptest.NewServer(s)
	defer h.Close()
	return to(h.URL).DeleteNetworkInterface(t.Context(), "eni-1", dryRun), len(s.Calls())
}

func to(url string) Interfaces {
	return NewInterfaces(aws.Config{Region: "us-west-2", BaseEndpoint: aws.String(url), Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "")})
}

func TestDelete(t *testing.T) {
	for _, test := range []struct {
		code   string
		status int
		want   action.Outcome
	}{
		{"InvalidParameterValue", 400, action.InUse},
		{"InvalidNetworkInterface.InUse", 400, action.InUse},
		{"InvalidNetworkInterfaceID.NotFound", 400, action.NotThere},
		{"RequestLimitExceeded", 503, action.Throttled},
		{"UnauthorizedOperation", 403, action.Denied},
		{"AuthFailure", 401, action.Denied},
		{"OperationNotPermitted", 400, action.Refused},
		{"InvalidNetworkInterfaceId.Malformed", 400, action.Refused},
		{"InternalError", 500, action.Uncertain},
		{"Unavailable", 503, action.Uncertain},
		{"SomethingNew", 500, action.Uncertain},
	} {
		got, calls := ask(t, false, &wire.Error{Code: test.code, Message: "x Encoded authorization failure message: abc", Status: test.status})
		if got.Outcome != test.want || got.Code != test.code || got.Message != "x" || got.Request == "" || calls != 1 {
			t.Errorf("%s: %+v after %d calls, want %q after one", test.code, got, calls, test.want)
		}
	}
	if got, _ := ask(t, false, nil); got.Outcome != action.Done || got.Request == "" {
		t.Errorf("done: %+v", got)
	}
	if got, _ := ask(t, true, &wire.Error{Code: "DryRunOperation", Message: "x", Status: 412}); got.Outcome != action.WouldDo {
		t.Errorf("dry run: %+v", got)
	}
	if got := (Interfaces{obliging{}}).DeleteNetworkInterface(t.Context(), "eni-1", true); got.Outcome != action.Uncertain {
		t.Errorf("a dry run that was answered as if it were none: %+v", got)
	}
}

// What is not answered may have been done.
func TestDeleteWithoutAnswer(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"cut off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a page that is none of EC2's": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, "<html>bad gateway</html>")
		},
		"an error without a code": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
	} {
		h := httptest.NewServer(handle)
		if got := to(h.URL).DeleteNetworkInterface(t.Context(), "eni-1", false); got.Outcome != action.Uncertain {
			t.Errorf("%s: %+v", name, got)
		}
		h.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := to("http://127.0.0.1:1").DeleteNetworkInterface(ctx, "eni-1", false); got.Outcome != action.Uncertain {
		t.Errorf("cancelled: %+v", got)
	}
	if got := answerOf(errors.New("x")); got.Outcome != action.Uncertain {
		t.Errorf("an error of no kind: %+v", got)
	}
}

// obliging does whatever it is asked to, dry run or not.
type obliging struct{}

func (obliging) DeleteNetworkInterface(context.Context, *ec2.DeleteNetworkInterfaceInput, ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error) {
	return &ec2.DeleteNetworkInterfaceOutput{}, nil
}
