package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
)

// failing registers one operation of each service whose handler answers err,
// and returns a caller for each.
func failing(s *Server, cfg aws.Config, err error) map[string]func(context.Context) error {
	Handle(s, "ec2", "DescribeRouteTables", func(context.Context, *Call, *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
		return nil, err
	})
	Handle(s, "autoscaling", "SetDesiredCapacity", func(context.Context, *Call, *autoscaling.SetDesiredCapacityInput) (*autoscaling.SetDesiredCapacityOutput, error) {
		return nil, err
	})
	Handle(s, "iam", "GetRole", func(context.Context, *Call, *iam.GetRoleInput) (*iam.GetRoleOutput, error) { return nil, err })
	Handle(s, "sts", "GetCallerIdentity", func(context.Context, *Call, *sts.GetCallerIdentityInput) (*sts.GetCallerIdentityOutput, error) {
		return nil, err
	})
	Handle(s, "eks", "DescribeCluster", func(context.Context, *Call, *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
		return nil, err
	})
	Handle(s, "sqs", "DeleteMessage", func(context.Context, *Call, *sqs.DeleteMessageInput) (*sqs.DeleteMessageOutput, error) {
		return nil, err
	})
	Handle(s, "secretsmanager", "GetSecretValue", func(context.Context, *Call, *secretsmanager.GetSecretValueInput) (*secretsmanager.GetSecretValueOutput, error) {
		return nil, err
	})
	Handle(s, "eventbridge", "PutEvents", func(context.Context, *Call, *eventbridge.PutEventsInput) (*eventbridge.PutEventsOutput, error) {
		return nil, err
	})
	s.Pass("dynamodb", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	x := aws.String("x")
	return map[string]func(context.Context) error{
		"ec2": func(ctx context.Context) error {
			_, err := ec2.NewFromConfig(cfg).DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{})
			return err
		},
		"autoscaling": func(ctx context.Context) error {
			_, err := autoscaling.NewFromConfig(cfg).SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: x, DesiredCapacity: aws.Int32(1)})
			return err
		},
		"iam": func(ctx context.Context) error {
			_, err := iam.NewFromConfig(cfg).GetRole(ctx, &iam.GetRoleInput{RoleName: x})
			return err
		},
		"sts": func(ctx context.Context) error {
			_, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
			return err
		},
		"eks": func(ctx context.Context) error {
			_, err := eks.NewFromConfig(cfg).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: x})
			return err
		},
		"sqs": func(ctx context.Context) error {
			_, err := sqs.NewFromConfig(cfg).DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: x, ReceiptHandle: x})
			return err
		},
		"secretsmanager": func(ctx context.Context) error {
			_, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: x})
			return err
		},
		"eventbridge": func(ctx context.Context) error {
			_, err := eventbridge.NewFromConfig(cfg).PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{{}}})
			return err
		},
		"dynamodb": func(ctx context.Context) error {
			_, err := dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: x})
			return err
		},
	}
}

// answerOf is what a client saw of an error.
type answerOf struct {
	Code, Message string
	Status        int
}

func decoded(t *testing.T, err error) answerOf {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) {
		t.Fatalf("error = %v, want an API error", err)
	}
	var res interface{ HTTPStatusCode() int }
	if !errors.As(err, &res) {
		t.Fatalf("error = %v, want one with an HTTP response", err)
	}
	return answerOf{api.ErrorCode(), api.ErrorMessage(), res.HTTPStatusCode()}
}

func TestErrorsOfHandlers(t *testing.T) {
	tests := []struct {
		service string
		err     error
		want    answerOf
	}{
		{"ec2", Errorf("InvalidRouteTableID.NotFound", "The routeTable ID '%s' does not exist", "rtb-<1>"),
			answerOf{"InvalidRouteTableID.NotFound", "The routeTable ID 'rtb-<1>' does not exist", 400}},
		{"ec2", fmt.Errorf("create route: %w", &Error{Code: "RouteAlreadyExists", Message: "there"}), answerOf{"RouteAlreadyExists", "there", 400}},
		{"ec2", errors.New("a defect"), answerOf{"InternalError", "An internal error has occurred", 500}},
		{"autoscaling", Errorf("ValidationError", "New SetDesiredCapacity value 9 is above max value 1 for the AutoScalingGroup."),
			answerOf{"ValidationError", "New SetDesiredCapacity value 9 is above max value 1 for the AutoScalingGroup.", 400}},
		{"iam", &Error{Code: "NoSuchEntity", Message: "The role with name x cannot be found.", Status: 404},
			answerOf{"NoSuchEntity", "The role with name x cannot be found.", 404}},
		{"eks", &Error{Code: "ResourceNotFoundException", Message: "No cluster found for name: x.", Status: 404},
			answerOf{"ResourceNotFoundException", "No cluster found for name: x.", 404}},
		{"sqs", Errorf("QueueDoesNotExist", "The specified queue does not exist."),
			answerOf{"AWS.SimpleQueueService.NonExistentQueue", "The specified queue does not exist.", 400}},
		{"sqs", Errorf("InvalidAddress", "The address https://x is not valid for this endpoint."),
			answerOf{"InvalidAddress", "The address https://x is not valid for this endpoint.", 400}},
		{"secretsmanager", Errorf("ResourceNotFoundException", "Secrets Manager can't find the specified secret."),
			answerOf{"ResourceNotFoundException", "Secrets Manager can't find the specified secret.", 400}},
		{"eventbridge", Errorf("ValidationException", "too many"), answerOf{"ValidationException", "too many", 400}},
	}
	for _, tt := range tests {
		t.Run(tt.service+"/"+tt.want.Code, func(t *testing.T) {
			s, cfg := serve(t, Config{})
			got := decoded(t, failing(s, cfg, tt.err)[tt.service](t.Context()))
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
			calls := s.Calls()
			if len(calls) != 1 || calls[0].Code == "" || calls[0].Status != tt.want.Status {
				t.Errorf("calls = %+v, want one with a code and status %d", calls, tt.want.Status)
			}
		})
	}
}

func TestTypedErrors(t *testing.T) {
	s, cfg := serve(t, Config{})
	call := failing(s, cfg, &Error{Code: "ResourceNotFoundException", Message: "No cluster found for name: x.", Status: 404})
	var notFound *ekstypes.ResourceNotFoundException
	if err := call["eks"](t.Context()); !errors.As(err, &notFound) {
		t.Errorf("error = %v, want *ResourceNotFoundException", err)
	}
}

// BenchmarkEncodePage writes a full page of network interfaces, the largest
// answer that the stage often gives.
func BenchmarkEncodePage(b *testing.B) {
	out := &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: make([]types.NetworkInterface, 1000)}
	var f filler
	for i := range out.NetworkInterfaces {
		f.fill(reflect.ValueOf(&out.NetworkInterfaces[i]).Elem(), maxFill-6)
	}
	table := testNames(b)["ec2"]
	call := &Call{Operation: "DescribeNetworkInterfaces"}
	for b.Loop() {
		body, err := encodeXML(table, services()[0], call, out)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
	}
}

// BenchmarkDecodeForm reads a request for 1000 instances.
func BenchmarkDecodeForm(b *testing.B) {
	form := url.Values{}
	for i := range 1000 {
		form.Set("InstanceId."+strconv.Itoa(i+1), "i-0123456789abcdef0")
	}
	table := testNames(b)["ec2"]
	for b.Loop() {
		if err := decodeForm(table, form, &ec2.DescribeInstancesInput{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMalformedIDs: an id that cannot be one is refused as EC2 does, whatever
// there is in the account; in a filter it is a value like any other.
func TestMalformedIDs(t *testing.T) {
	s, cfg := serve(t, Config{})
	methods := answerAll(t, s, cfg)["ec2"]
	instances := func(ids ...string) *ec2.DescribeInstancesInput { return &ec2.DescribeInstancesInput{InstanceIds: ids} }
	for name, test := range map[string]struct {
		op            string
		in            any
		code, message string // empty where the id may be one
	}{
		"an instance":                {"DescribeInstances", instances("i-0123456789abcdef0"), "", ""},
		"an instance of old":         {"DescribeInstances", instances("i-01234567"), "", ""},
		"no prefix":                  {"DescribeInstances", instances("web-1"), "InvalidInstanceID.Malformed", `Invalid id: "web-1" (expecting "i-...")`},
		"another kind":               {"DescribeInstances", instances("subnet-0123456789abcdef0"), "InvalidInstanceID.Malformed", `Invalid id: "subnet-0123456789abcdef0" (expecting "i-...")`},
		"too short":                  {"DescribeInstances", instances("i-0123456789abcdef"), "InvalidInstanceID.Malformed", `Invalid id: "i-0123456789abcdef"`},
		"too long":                   {"DescribeInstances", instances("i-0123456789abcdef01"), "InvalidInstanceID.Malformed", `Invalid id: "i-0123456789abcdef01"`},
		"no hexadecimal number":      {"DescribeInstances", instances("i-0123456789abcdefg"), "InvalidInstanceID.Malformed", `Invalid id: "i-0123456789abcdefg"`},
		"capital letters":            {"DescribeInstances", instances("i-0123456789ABCDEF0"), "InvalidInstanceID.Malformed", `Invalid id: "i-0123456789ABCDEF0"`},
		"empty":                      {"DescribeInstances", instances(""), "InvalidInstanceID.Malformed", `Invalid id: "" (expecting "i-...")`},
		"the second":                 {"DescribeInstances", instances("i-0123456789abcdef0", "i-1"), "InvalidInstanceID.Malformed", `Invalid id: "i-1"`},
		"in a filter":                {"DescribeInstances", &ec2.DescribeInstancesInput{Filters: []types.Filter{{Name: aws.String("instance-id"), Values: []string{"web-1"}}}}, "", ""},
		"an interface":               {"DeleteNetworkInterface", &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-x")}, "InvalidNetworkInterfaceId.Malformed", `Invalid id: "eni-x"`},
		"a route's table":            {"CreateRoute", &ec2.CreateRouteInput{RouteTableId: aws.String("rtb-x")}, "InvalidRouteTableId.Malformed", `Invalid id: "rtb-x"`},
		"a NAT gateway":              {"DescribeNatGateways", &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{"nat"}}, "NatGatewayMalformed", `Invalid id: "nat" (expecting "nat-...")`},
		"an attachment by interface": {"DetachNetworkInterface", &ec2.DetachNetworkInterfaceInput{AttachmentId: aws.String("eni-0123456789abcdef0")}, "InvalidNetworkInterfaceAttachmentId.Malformed", `Invalid id: "eni-0123456789abcdef0" (expecting "eni-attach-...")`},
		"a console":                  {"GetConsoleOutput", &ec2.GetConsoleOutputInput{InstanceId: aws.String("i-x")}, "InvalidInstanceID.Malformed", `Invalid id: "i-x"`},
	} {
		t.Run(name, func(t *testing.T) {
			res := methods[test.op].Call([]reflect.Value{reflect.ValueOf(t.Context()), reflect.ValueOf(test.in)})
			err, _ := res[1].Interface().(error)
			var api smithy.APIError
			errors.As(err, &api)
			if test.code == "" && err != nil || test.code != "" && (api == nil || api.ErrorCode() != test.code || api.ErrorMessage() != test.message) {
				t.Errorf("got %v, want %q %q", err, test.code, test.message)
			}
		})
	}
}

// TestIDFormsAreOfTheSDK: each parameter that is looked at is one of EC2's.
func TestIDFormsAreOfTheSDK(t *testing.T) {
	s, cfg := serve(t, Config{})
	methods := answerAll(t, s, cfg)["ec2"]
	seen := map[string]bool{}
	for op := range s.models["ec2"].ops {
		in := methods[op].Type().In(1).Elem()
		for i := range in.NumField() {
			name := in.Field(i).Name
			seen[name] = true
			if n := len(name); name[n-1] == 's' {
				seen[name[:n-1]] = true
			}
		}
	}
	for name := range idForms() {
		if !seen[name] {
			t.Errorf("no operation of EC2 has the parameter %s", name)
		}
	}
}

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

func TestDecodeJSON(t *testing.T) {
	tests := []struct {
		name, body string
		in, want   any
		refused    string // part of the message
	}{
		{"no body", "", &eks.DescribeClusterInput{}, &eks.DescribeClusterInput{}, ""},
		{"nulls", `{"name":null}`, &eks.DescribeClusterInput{}, &eks.DescribeClusterInput{}, ""},
		{"nested", `{"clusterName":"c","nodegroupName":"n","scalingConfig":{"minSize":0,"desiredSize":1},"labels":{"addOrUpdateLabels":{"a":"b"}},"taints":{"removeTaints":[{"key":"k","effect":"NO_SCHEDULE"}]}}`,
			&eks.UpdateNodegroupConfigInput{}, &eks.UpdateNodegroupConfigInput{
				ClusterName: aws.String("c"), NodegroupName: aws.String("n"),
				ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), DesiredSize: aws.Int32(1)},
				Labels:        &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: map[string]string{"a": "b"}},
				Taints:        &ekstypes.UpdateTaintsPayload{RemoveTaints: []ekstypes.Taint{{Key: aws.String("k"), Effect: "NO_SCHEDULE"}}},
			}, ""},
		{"epoch seconds", `{"Entries":[{"Time":1795230000.5}]}`, &eventbridge.PutEventsInput{}, &eventbridge.PutEventsInput{
			Entries: []ebtypes.PutEventsRequestEntry{{Time: aws.Time(time.UnixMilli(1795230000500).UTC())}}}, ""},
		{"ISO time", `{"Entries":[{"Time":"2026-11-20T21:00:00Z"}]}`, &eventbridge.PutEventsInput{}, &eventbridge.PutEventsInput{
			Entries: []ebtypes.PutEventsRequestEntry{{Time: aws.Time(time.Date(2026, 11, 20, 21, 0, 0, 0, time.UTC))}}}, ""},
		{"blob", `{"SecretBinary":"AP8="}`, &secretsmanager.PutSecretValueInput{}, &secretsmanager.PutSecretValueInput{SecretBinary: []byte{0, 255}}, ""},
		{"not JSON", `{`, &eks.DescribeClusterInput{}, nil, "not JSON"},
		{"two values", `{}{}`, &eks.DescribeClusterInput{}, nil, "goes on"},
		{"not an object", `[]`, &eks.DescribeClusterInput{}, nil, "not a JSON object"},
		{"unknown member", `{"colour":1}`, &eks.DescribeClusterInput{}, nil, `unknown member "colour"`},
		{"metadata is not a member", `{"ResultMetadata":{}}`, &eks.DescribeClusterOutput{}, nil, "unknown member"},
		{"number for a string", `{"name":1}`, &eks.DescribeClusterInput{}, nil, "name is a number"},
		{"string for a number", `{"scalingConfig":{"minSize":"0"}}`, &eks.UpdateNodegroupConfigInput{}, nil, "scalingConfig.minSize is a string"},
		{"object for a string", `{"name":{}}`, &eks.DescribeClusterInput{}, nil, "name is an object"},
		{"list for a string", `{"name":[]}`, &eks.DescribeClusterInput{}, nil, "name is a list"},
		{"fraction for a whole number", `{"VisibilityTimeout":1.5}`, &sqs.ReceiveMessageInput{}, nil, "VisibilityTimeout"},
		{"broken blob", `{"SecretBinary":"*"}`, &secretsmanager.PutSecretValueInput{}, nil, "not base64"},
		{"absurd time", `{"Entries":[{"Time":1e300}]}`, &eventbridge.PutEventsInput{}, nil, "not a time"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := decodeJSON([]byte(tt.body), tt.in)
			var e *Error
			switch {
			case tt.refused == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case tt.refused != "" && (!errors.As(err, &e) || e.Code != "SerializationException" || !strings.Contains(e.Message, tt.refused)):
				t.Errorf("error = %v, want a SerializationException with %q", err, tt.refused)
			case tt.refused == "":
				if diff := cmp.Diff(tt.in, tt.want, sameWire); diff != "" {
					t.Errorf("(-got +want):\n%s", diff)
				}
			}
		})
	}
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add([]byte(`{"Entries":[{"Time":1795230000.5,"Detail":"{}","Resources":["a"]}]}`))
	f.Add([]byte(`{"Entries":[{"Time":1e400}],"EndpointId":null}`))
	f.Add([]byte(`{"":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		err := decodeJSON(body, &eventbridge.PutEventsInput{})
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("error = %v, want an API error", err)
		}
	})
}

func TestEncodeJSON(t *testing.T) {
	got, err := encodeJSON(t.Context(), &eks.DescribeNodegroupOutput{Nodegroup: &ekstypes.Nodegroup{
		NodegroupName: aws.String(`a"b`), CreatedAt: aws.Time(time.UnixMilli(1795230000250)), Status: ekstypes.NodegroupStatusActive,
		Health: &ekstypes.NodegroupHealth{Issues: []ekstypes.Issue{}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"nodegroup":{"createdAt":1795230000.25,"health":{"issues":[]},"nodegroupName":"a\"b","status":"ACTIVE"}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// answerAll registers every operation that has a model, with empty answers.
func answerAll(t *testing.T, s *Server, cfg aws.Config) map[string]map[string]reflect.Value {
	t.Helper()
	all := map[string]map[string]reflect.Value{}
	for service, client := range map[string]any{
		"ec2": ec2.NewFromConfig(cfg), "autoscaling": autoscaling.NewFromConfig(cfg), "iam": iam.NewFromConfig(cfg), "sts": sts.NewFromConfig(cfg),
		"eks": eks.NewFromConfig(cfg), "sqs": sqs.NewFromConfig(cfg), "secretsmanager": secretsmanager.NewFromConfig(cfg),
		"eventbridge": eventbridge.NewFromConfig(cfg), "dynamodb": dynamodb.NewFromConfig(cfg),
	} {
		all[service] = operationsOf(client)
		if s.byName[service].protocol == passOnly {
			s.Pass(service, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
			continue
		}
		for op := range s.models[service].ops {
			method, ok := all[service][op]
			if !ok {
				t.Fatalf("the SDK has no operation %s %s", service, op)
			}
			in, out := method.Type().In(1).Elem(), method.Type().Out(0).Elem()
			s.register(service, op, in, out, handler{
				newInput: func() any { return reflect.New(in).Interface() },
				serve:    func(context.Context, *Call, any) (any, error) { return reflect.New(out).Interface(), nil },
			})
		}
	}
	return all
}

// TestRequestsThatDoNotFit: what AWS's model refuses is refused before anybody
// else looks at it, in the service's own words; what is just right passes.
func TestRequestsThatDoNotFit(t *testing.T) {
	reached := 0
	s, cfg := serve(t, Config{Admit: func(context.Context, *Call, any) error { reached++; return nil }})
	methods := answerAll(t, s, cfg)
	long := func(n int) *string { return aws.String(strings.Repeat("x", n)) }
	for _, test := range []struct {
		name, service, op string
		in                any
		code, message     string // empty where it fits
	}{
		{"a page of 1000", "ec2", "DescribeVpcPeeringConnections", &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: aws.Int32(1000)}, "", ""},
		{"a page of 1001", "ec2", "DescribeVpcPeeringConnections", &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: aws.Int32(1001)},
			"InvalidParameterValue", "Value (1001) for parameter MaxResults is invalid. Member must have value less than or equal to 1000"},
		{"a page of 4", "ec2", "DescribeVpcPeeringConnections", &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: aws.Int32(4)},
			"InvalidParameterValue", "Value (4) for parameter MaxResults is invalid. Member must have value greater than or equal to 5"},
		{"a page of none", "ec2", "DescribeVpcPeeringConnections", &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: aws.Int32(0)},
			"InvalidParameterValue", "Value (0) for parameter MaxResults is invalid. Member must have value greater than or equal to 5"},
		{"an attribute", "ec2", "DescribeVpcAttribute", &ec2.DescribeVpcAttributeInput{VpcId: aws.String("vpc-0a1b2c3d4e5f60718"), Attribute: types.VpcAttributeNameEnableDnsSupport}, "", ""},
		{"no such attribute", "ec2", "DescribeVpcAttribute", &ec2.DescribeVpcAttributeInput{VpcId: aws.String("vpc-0a1b2c3d4e5f60718"), Attribute: "enableDns"},
			"InvalidParameterValue", "Value (enableDns) for parameter Attribute is invalid. Member must satisfy enum value set: " +
				"[enableDnsSupport, enableDnsHostnames, enableNetworkAddressUsageMetrics]"},
		{"101 instance types", "ec2", "DescribeInstanceTypes", &ec2.DescribeInstanceTypesInput{InstanceTypes: slices.Repeat([]types.InstanceType{"m5.large"}, 101)},
			"InvalidParameterValue", "Member must have length less than or equal to 100"},
		{"a type that does not exist", "ec2", "DescribeInstanceTypes", &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"m5.large", "m5.huge"}},
			"InvalidParameterValue", "Value (m5.huge) for parameter InstanceTypes.2 is invalid."},
		{"a group", "autoscaling", "SetDesiredCapacity", &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: long(255), DesiredCapacity: aws.Int32(0)}, "", ""},
		{"a group with a long name", "autoscaling", "SetDesiredCapacity", &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: long(256), DesiredCapacity: aws.Int32(0)},
			"ValidationError", "1 validation error detected: Value '" + *long(256) + "' at 'autoScalingGroupName' failed to satisfy constraint: Member must have length less than or equal to 255"},
		{"an instance with a long id", "autoscaling", "TerminateInstanceInAutoScalingGroup", &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: aws.String("i-0123456789abcdef01"), ShouldDecrementDesiredCapacity: aws.Bool(false)},
			"ValidationError", "at 'instanceId' failed to satisfy constraint: Member must have length less than or equal to 19"},
		{"a role", "iam", "GetRole", &iam.GetRoleInput{RoleName: aws.String("node")}, "", ""},
		{"a role by its path", "iam", "GetRole", &iam.GetRoleInput{RoleName: aws.String("team/node")},
			"ValidationError", "1 validation error detected: Value 'team/node' at 'roleName' failed to satisfy constraint: Member must satisfy regular expression pattern: "},
		{"filters", "ec2", "DescribeCapacityReservations", &ec2.DescribeCapacityReservationsInput{Filters: []types.Filter{{Name: aws.String("state"), Values: []string{"active"}}}}, "", ""},
		{"a filter that is none", "ec2", "DescribeCapacityReservations", &ec2.DescribeCapacityReservationsInput{Filters: []types.Filter{{Name: aws.String("capacity-reservation-id"), Values: []string{"cr-1"}}}},
			"InvalidParameterValue", "The filter 'capacity-reservation-id' is invalid"},
		{"a value as a filter", "ec2", "DescribeCapacityReservations", &ec2.DescribeCapacityReservationsInput{Filters: []types.Filter{{Name: aws.String("dedicated"), Values: []string{"x"}}}},
			"InvalidParameterValue", "The filter 'dedicated' is invalid"},
		{"a tag", "ec2", "DescribeNatGateways", &ec2.DescribeNatGatewaysInput{Filter: []types.Filter{{Name: aws.String("tag:team"), Values: []string{"a"}}}}, "", ""},
		{"a tag of what has none", "ec2", "DescribeManagedPrefixLists", &ec2.DescribeManagedPrefixListsInput{Filters: []types.Filter{{Name: aws.String("tag:team"), Values: []string{"a"}}}},
			"InvalidParameterValue", "The filter 'tag:team' is invalid"},
		{"a filter of groups that is none", "autoscaling", "DescribeAutoScalingGroups", &autoscaling.DescribeAutoScalingGroupsInput{Filters: []astypes.Filter{{Name: aws.String("auto-scaling-group")}}},
			"ValidationError", "failed to satisfy constraint: Member is not known"},
		{"a page of clusters", "eks", "ListClusters", &eks.ListClustersInput{MaxResults: aws.Int32(100)}, "", ""},
		{"a page of too many", "eks", "ListClusters", &eks.ListClustersInput{MaxResults: aws.Int32(101)},
			"InvalidParameterException", "MaxResults: Member must have value less than or equal to 100"},
		{"a secret", "secretsmanager", "GetSecretValue", &secretsmanager.GetSecretValueInput{SecretId: long(2048)}, "", ""},
		{"a secret with a long name", "secretsmanager", "GetSecretValue", &secretsmanager.GetSecretValueInput{SecretId: long(2049)},
			"ValidationException", "at 'secretId' failed to satisfy constraint: Member must have length less than or equal to 2048"},
		{"no events", "eventbridge", "PutEvents", &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{}},
			"ValidationException", "at 'entries' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"11 events", "eventbridge", "PutEvents", &eventbridge.PutEventsInput{Entries: make([]ebtypes.PutEventsRequestEntry, 11)},
			"ValidationException", "at 'entries' failed to satisfy constraint: Member must have length less than or equal to 10"},
		{"a bus that cannot be", "eventbridge", "PutEvents", &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{{EventBusName: aws.String("a bus")}}},
			"ValidationException", "1 validation error detected: Value 'a bus' at 'entries.1.eventBusName' failed to satisfy constraint: Member must satisfy regular expression pattern: "},
		{"a table", "dynamodb", "Query", &dynamodb.QueryInput{TableName: aws.String("rollcall"), Limit: aws.Int32(1)}, "", ""},
		{"a query of nothing", "dynamodb", "Query", &dynamodb.QueryInput{TableName: aws.String("rollcall"), Limit: aws.Int32(0)},
			"ValidationException", "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"},
		{"an index that cannot be", "dynamodb", "Query", &dynamodb.QueryInput{TableName: aws.String("rollcall"), IndexName: aws.String("a")},
			"ValidationException", "at 'indexName' failed to satisfy constraint: Member must have length greater than or equal to 3"},
	} {
		t.Run(test.service+" "+test.name, func(t *testing.T) {
			reached = 0
			res := methods[test.service][test.op].Call([]reflect.Value{reflect.ValueOf(t.Context()), reflect.ValueOf(test.in)})
			err, _ := res[1].Interface().(error)
			var api smithy.APIError
			errors.As(err, &api)
			switch {
			case test.code == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.code != "" && (api == nil || api.ErrorCode() != test.code || !strings.Contains(api.ErrorMessage(), test.message)):
				t.Errorf("got %v, want %s: …%s…", err, test.code, test.message)
			case (test.code != "") != (s.Calls()[len(s.Calls())-1].Misfit != ""):
				t.Errorf("the record says %q", s.Calls()[len(s.Calls())-1].Misfit)
			case test.code != "" && reached > 0:
				t.Error("the request was looked at by who decides about permissions")
			}
		})
	}
}

// TestWhatAnSDKWouldNotSend: the SDK looks for missing members itself.
func TestWhatAnSDKWouldNotSend(t *testing.T) {
	s, cfg := serve(t, Config{})
	answerAll(t, s, cfg)
	for _, test := range []struct{ signing, target, body, code, message string }{
		{"ec2", "", "Action=CreateRoute&Version=2016-11-15&DestinationCidrBlock=0.0.0.0/0", "MissingParameter", "The request must contain the parameter RouteTableId"},
		{"autoscaling", "", "Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName=x", "ValidationError", "Value null at 'desiredCapacity' failed to satisfy constraint: Member must not be null"},
		{"sqs", "AmazonSQS.SendMessage", `{"MessageBody":"x"}`, "MissingRequiredParameterException", "The request must contain the parameter QueueUrl."},
		{"secretsmanager", "secretsmanager.GetSecretValue", `{}`, "ValidationException", "Value null at 'secretId' failed to satisfy constraint: Member must not be null"},
		{"dynamodb", "DynamoDB_20120810.Query", `{}`, "ValidationException", "Value null at 'tableName' failed to satisfy constraint: Member must not be null"},
		{"dynamodb", "DynamoDB_20120810.Query", `{"TableName":"rollcall","Limits":1}`, "ValidationException", "'limits' failed to satisfy constraint: Member is not known"},
		{"dynamodb", "DynamoDB_20120810.DeleteTable", `{"TableName":"rollcall"}`, "UnknownOperationException", "DeleteTable"},
	} {
		t.Run(test.signing+" "+test.body, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(test.body))
			r.Header.Set("Authorization", algorithm+" Credential=AKIDTEST/20261120/us-west-2/"+test.signing+"/aws4_request, SignedHeaders=host, Signature=00")
			r.Header.Set("X-Amz-Target", test.target)
			if test.target == "" {
				r.Header.Del("X-Amz-Target")
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if body := w.Body.String(); w.Code != 400 || !strings.Contains(body, test.code) || !strings.Contains(strings.NewReplacer("&#39;", "'").Replace(body), test.message) {
				t.Errorf("got %d %s, want 400 %s %s", w.Code, body, test.code, test.message)
			}
		})
	}
}

// TestModelAndSDK: both know the same members. The model is botocore's, of one
// day, and the SDK of another: what only the SDK knows would be refused here,
// and what only the model knows cannot be sent.
func TestModelAndSDK(t *testing.T) {
	s, cfg := serve(t, Config{})
	methods := answerAll(t, s, cfg)
	var got []string
	for service, ops := range methods {
		m := s.models[service]
		seen := map[string]bool{}
		for op, name := range m.ops {
			if name != noRule {
				m.compare(service, name, ops[op].Type().In(1).Elem(), seen, &got)
			}
		}
		if len(m.ops) == 0 {
			t.Errorf("%s has no operation", service)
		}
	}
	slices.Sort(got)
	// What the SDK has and botocore 1.43.11 had not yet. Nothing here sends it.
	newer := []string{
		"autoscaling SDK InstancesDistribution.DistributionSegments",
		"autoscaling SDK TerminateInstanceInAutoScalingGroupType.AutoScalingGroupName",
		"autoscaling SDK TerminateInstanceInAutoScalingGroupType.InstanceIds",
		"dynamodb SDK CreateTableInput.VectorIndexes",
		"ec2 SDK FleetLaunchTemplateOverridesRequest.IamInstanceProfile",
		"ec2 SDK FleetLaunchTemplateOverridesRequest.KeyName",
		"ec2 SDK FleetLaunchTemplateOverridesRequest.MetadataOptions",
		"ec2 SDK FleetLaunchTemplateSpecificationRequest.LaunchTemplateSpecificationUserData",
		"ec2 SDK ModifyInstanceAttributeRequest.EnclaveOptions",
		"ec2 SDK ReservedCapacityOptionsRequest.AllocationStrategy",
		"ec2 SDK ReservedCapacityOptionsRequest.CapacityReservationTarget",
		"ec2 SDK ReservedCapacityOptionsRequest.ReservedCapacityFallbackOptions",
		"eks SDK ControlPlanePlacementRequest.SpreadLevel",
		"eks SDK CreateClusterRequest.KubeApiServerConfig",
		"eks SDK CreateClusterRequest.KubeControllerManagerConfig",
		"eks SDK CreateClusterRequest.KubeSchedulerConfig",
		"eks SDK ElasticLoadBalancing.GatewayApi",
		"eks SDK OutpostConfigRequest.EtcdInstanceType",
		"eks SDK OutpostConfigRequest.EtcdPlacement",
		"eks SDK VpcConfigRequest.ControlPlaneEgressMode",
		"sts SDK AssumeRoleRequest.MinimumSessionTokenSize",
	}
	if diff := cmp.Diff(newer, slices.Compact(got)); diff != "" {
		t.Errorf("members that one alone has (-known +found):\n%s", diff)
	}
}

// compare notes the members that one side alone has.
func (m *serviceModel) compare(service, name string, t reflect.Type, seen map[string]bool, got *[]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if s := m.shapes[name]; t.Kind() == reflect.Slice && s != nil && s.kind == listShape {
			name = s.elem
		}
		t = t.Elem()
	}
	s := m.shapes[name]
	if s == nil || s.kind != structShape || t.Kind() != reflect.Struct || seen[name] {
		return
	}
	seen[name] = true
	for _, member := range s.members {
		field, ok := t.FieldByName(member.name)
		if !ok {
			*got = append(*got, service+" model "+name+"."+member.name)
			continue
		}
		m.compare(service, member.shape, field.Type, seen, got)
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.IsExported() && !field.Anonymous && !slices.ContainsFunc(s.members, func(r memberRule) bool { return r.name == field.Name }) {
			*got = append(*got, service+" SDK "+name+"."+field.Name)
		}
	}
}

func TestParseModelsRefuses(t *testing.T) {
	for _, text := range []string{"op A B", "service x\nop A B", "service x\nstruct A b", "service x\nlist A b", "service x\ntext A 1 x", "service x\ntext A 1 2 \"(\"", "service x\nwhat A", "filters A b"} {
		if _, err := parseModels(text); err == nil {
			t.Errorf("%q was read as a model", text)
		}
	}
}

func TestParseNamesRefusesBrokenTables(t *testing.T) {
	for _, text := range []string{"op X", "service ec2\nField wire", "service ec2\nin A\none two three four", "service ec2\nrest A GET"} {
		if _, err := parseNames(text); err == nil {
			t.Errorf("table %q was accepted", text)
		}
	}
}

func TestNamesStaySmall(t *testing.T) {
	// The table is read at each start of the stage and sits in the repository.
	const limit = 300 << 10
	if len(namesText) > limit {
		t.Errorf("names.txt has %d bytes, want at most %d", len(namesText), limit)
	}
}

// denyClusters refuses calls about clusters before they are read.
type denyClusters struct{}

func (denyClusters) Before(_ context.Context, call *Call) error {
	if call.Operation == "DescribeCluster" {
		return Denied
	}
	return nil
}

func TestObserve(t *testing.T) {
	var got [][4]string
	s, cfg := serve(t, Config{Faults: denyClusters{}, Observe: func(call Call, in, out any, err error) {
		seen := [4]string{call.Action(), "", "", ""}
		if v, ok := in.(*eks.DeleteNodegroupInput); ok {
			seen[1] = aws.ToString(v.NodegroupName)
		}
		if _, ok := out.(*eks.DeleteNodegroupOutput); ok {
			seen[2] = "answered"
		}
		var e *Error
		if errors.As(err, &e) {
			seen[3] = e.Code
		}
		got = append(got, seen)
	}})
	Handle(s, "eks", "DeleteNodegroup", func(_ context.Context, _ *Call, in *eks.DeleteNodegroupInput) (*eks.DeleteNodegroupOutput, error) {
		if *in.NodegroupName == "x" {
			return nil, &Error{Code: "ResourceNotFoundException", Status: 404}
		}
		return nil, nil
	})
	Handle(s, "eks", "DescribeCluster", func(context.Context, *Call, *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
		return nil, nil
	})
	api := eks.NewFromConfig(cfg)
	for _, name := range []string{"workers", "x"} {
		if _, err := api.DeleteNodegroup(t.Context(), &eks.DeleteNodegroupInput{ClusterName: aws.String("c"), NodegroupName: aws.String(name)}); (err != nil) != (name == "x") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := api.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("c")}); err == nil {
		t.Error("a denied call: got no error")
	}
	want := [][4]string{
		{"eks:DeleteNodegroup", "workers", "answered", ""},
		{"eks:DeleteNodegroup", "x", "", "ResourceNotFoundException"},
		{"eks:DescribeCluster", "", "", "AccessDeniedException"},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}
