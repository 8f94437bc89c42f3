package awscall

import (
	"context"
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

	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/coverzones"
	"rollcall/shared/remedy/createaccessentry"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/openendpointsecuritygroup"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/stage/platform/wire"
)

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

func serve(t *testing.T, a *account) remedy.Executor {
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
	return remedy.Executor{Calls: New(aws.Config{Region: "us-west-2", BaseEndpoint: aws.String(h.URL), Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "")})}
}

const role = "arn:aws:iam::123456789012:role/workers"

// plans are one of each remedy, with what is asked of AWS for it.
func plans() map[string]remedy.Plan {
	return map[string]remedy.Plan{
		"route rtb-1 0.0.0.0/0 nat-1":       {Route: &addnatroute.Plan{Table: "rtb-1", Destination: "0.0.0.0/0", NAT: "nat-1"}},
		"open sg-1 tcp 443-443 sg-2":        {Open: &openendpointsecuritygroup.Plan{SecurityGroup: "sg-1", Port: 443, From: []string{"sg-2"}}},
		"end i-1 false":                     {Replace: &replaceinstance.Plan{Instances: []replaceinstance.Replaced{{Instance: "i-1"}}}},
		"group g 3":                         {Cover: &coverzones.Plan{Group: "g", From: 2, To: 3, Max: 3}},
		"nodegroup prod n 3 token":          {Cluster: "prod", Cover: &coverzones.Plan{Nodegroup: "n", From: 2, To: 3, Max: 3}},
		"entry prod " + role + " EC2_LINUX": {Cluster: "prod", Access: &createaccessentry.Plan{Principal: role, Type: "EC2_LINUX"}},
	}
}

func TestDo(t *testing.T) {
	for want, p := range plans() {
		a := &account{}
		got := serve(t, a).Do(t.Context(), p, "token")
		if got.Status != action.Done || len(got.Changed) != 1 || len(got.Requests) != 1 || len(a.asked) != 1 || a.asked[0] != want {
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
		want   action.Status
	}{
		{"UnauthorizedOperation", 403, action.Failed},
		{"AccessDeniedException", 403, action.Failed},
		{"RequestLimitExceeded", 503, action.Failed},
		{"Throttling", 400, action.Failed},
		{"RouteAlreadyExists", 400, action.Failed},
		{"InvalidPermission.Duplicate", 400, action.Failed},
		{"InvalidParameterValue", 400, action.Failed},
		{"ValidationError", 400, action.Failed},
		{"ScalingActivityInProgress", 400, action.Failed},
		{"ResourceInUseException", 409, action.Failed},
		{"InternalError", 500, action.Uncertain},
		{"SomethingNew", 500, action.Uncertain},
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
		executor := remedy.Executor{Calls: New(aws.Config{Region: "us-west-2", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "")})}
		for what, p := range plans() {
			got := executor.Do(t.Context(), p, "token")
			// An empty answer of a call whose answers hold nothing is one.
			empty := name == "an empty answer" && !strings.HasPrefix(what, "route") && !strings.HasPrefix(what, "open")
			if !empty && got.Status != action.Uncertain {
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
		result action.Status
		reason string
	}{
		{"nothing", remedy.Plan{}, action.Refused, "no-such-remedy"},
		{"eni-cleanup's", remedy.Plan{Cleanup: &deleteleakedinterfaces.Plan{Interfaces: []string{"eni-1"}}}, action.Refused, "no-such-remedy"},
		{"a lower count", remedy.Plan{Cover: &coverzones.Plan{Group: "g", From: 3, To: 2, Max: 5}}, action.Failed, "NotARaise"},
		{"the same count", remedy.Plan{Cover: &coverzones.Plan{Group: "g", From: 3, To: 3, Max: 5}}, action.Failed, "NotARaise"},
		{"over the maximum", remedy.Plan{Cover: &coverzones.Plan{Group: "g", From: 3, To: 6, Max: 5}}, action.Failed, "NotARaise"},
		{"an entry of people", remedy.Plan{Cluster: "prod", Access: &createaccessentry.Plan{Principal: role, Type: "STANDARD"}}, action.Failed, "NotANodeType"},
		{"an entry of any type", remedy.Plan{Cluster: "prod", Access: &createaccessentry.Plan{Principal: role}}, action.Failed, "NotANodeType"},
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
	three := remedy.Plan{Replace: &replaceinstance.Plan{Instances: []replaceinstance.Replaced{{Instance: "i-1"}, {Instance: "i-2"}, {Instance: "i-3"}}}}
	for status, want := range map[int]action.Status{400: action.Partly, 500: action.Uncertain} {
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
