package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// testKeys signs with the key id "AKIDTEST".
type testKeys struct{}

func (testKeys) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "AKIDTEST", SecretAccessKey: "secret"}, nil
}

// serve starts a server and returns the SDK configuration that reaches it.
func serve(t *testing.T, cfg Config) (*Server, aws.Config) {
	t.Helper()
	cfg.MinLatency = 2 * time.Millisecond
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	return s, aws.Config{
		Region: "us-west-2", BaseEndpoint: aws.String(ts.URL), Credentials: testKeys{},
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	}
}

// filler fills structs so that every field holds a value of its own.
type filler struct{ n int }

// maxFill ends recursive types.
const maxFill = 14

func (f *filler) fill(v reflect.Value, depth int) {
	f.n++
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.UnixMilli(1795230000000 + int64(f.n)*1001).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth < maxFill {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			sf := v.Type().Field(i)
			if sf.IsExported() && sf.Name != "ResultMetadata" && sf.Name != "DryRun" {
				f.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{0, byte(f.n), 255})
			return
		}
		if depth >= maxFill {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0), depth+1)
		f.fill(v.Index(1), depth+1)
	case reflect.Map:
		e := reflect.New(v.Type().Elem()).Elem()
		f.fill(e, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(fmt.Sprintf("Key %d", f.n)).Convert(v.Type().Key()), e)
	case reflect.String:
		v.SetString(fmt.Sprintf("v%06d <&\">'\n é", f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.n) + 0.25)
	default:
		panic("filler: " + v.Type().String())
	}
}

var sameWire = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmpopts.IgnoreTypes(middleware.Metadata{}, document.NoSerde{}),
}

// operationsOf lists the operations of an SDK client: its methods of the form
// (ctx, *XInput, ...options) (*XOutput, error).
func operationsOf(client any) map[string]reflect.Value {
	ops := map[string]reflect.Value{}
	rv := reflect.ValueOf(client)
	for i := range rv.NumMethod() {
		name, m := rv.Type().Method(i).Name, rv.Method(i)
		if m.Type().NumIn() == 3 && m.Type().In(1).Kind() == reflect.Pointer && m.Type().In(1).Elem().Name() == name+"Input" {
			ops[name] = m
		}
	}
	return ops
}

// TestRoundTrip sends every listed operation of every service through the SDK's
// own client with every field set, in both directions.
func TestRoundTrip(t *testing.T) {
	s, cfg := serve(t, Config{})
	s.models = nil // what is sent here fits no rule
	tests := []struct {
		service string
		client  any
		only    string // operations, for the services that have many
	}{
		{"ec2", ec2.NewFromConfig(cfg), ""},
		{"autoscaling", autoscaling.NewFromConfig(cfg), ""},
		{"iam", iam.NewFromConfig(cfg), ""},
		{"sts", sts.NewFromConfig(cfg), ""},
		{"eks", eks.NewFromConfig(cfg), ""},
		// The batch operations check the answer's checksums: they have tests of their own.
		{"sqs", sqs.NewFromConfig(cfg), "DeleteMessage DeleteMessageBatch ChangeMessageVisibility GetQueueUrl GetQueueAttributes ListQueues"},
		{"secretsmanager", secretsmanager.NewFromConfig(cfg), "GetSecretValue DescribeSecret PutSecretValue"},
		{"eventbridge", eventbridge.NewFromConfig(cfg), "DescribeEventBus ListRules PutRule"},
	}
	for _, tt := range tests {
		methods := operationsOf(tt.client)
		ops := strings.Fields(tt.only)
		if tt.only == "" {
			for op := range s.names[tt.service].ops {
				ops = append(ops, op)
			}
		}
		for _, op := range ops {
			t.Run(tt.service+"/"+op, func(t *testing.T) {
				method, ok := methods[op]
				if !ok {
					t.Fatalf("the SDK has no operation %s", op)
				}
				roundTrip(t, s, tt.service, op, method)
			})
		}
	}
}

func roundTrip(t *testing.T, s *Server, service, op string, method reflect.Value) {
	in, out := method.Type().In(1).Elem(), method.Type().Out(0).Elem()
	var received any
	answer := reflect.New(out)
	f := &filler{}
	f.fill(answer.Elem(), 0)
	s.register(service, op, in, out, handler{
		newInput: func() any { return reflect.New(in).Interface() },
		serve: func(_ context.Context, _ *Call, in any) (any, error) {
			received = in
			return answer.Interface(), nil
		},
	})
	sent := reflect.New(in)
	f.fill(sent.Elem(), 0)
	res := method.Call([]reflect.Value{reflect.ValueOf(t.Context()), sent})
	if err, _ := res[1].Interface().(error); err != nil {
		t.Fatalf("call: %v", err)
	}
	if diff := cmp.Diff(received, sent.Interface(), sameWire); diff != "" {
		t.Errorf("request (-received +sent):\n%s", diff)
	}
	if diff := cmp.Diff(res[0].Interface(), answer.Interface(), sameWire); diff != "" {
		t.Errorf("answer (-decoded +returned):\n%s", diff)
	}
}

// TestRoundTripEmpty sends operations whose structs have nothing set.
func TestRoundTripEmpty(t *testing.T) {
	s, cfg := serve(t, Config{})
	Handle(s, "ec2", "DescribeRouteTables", func(_ context.Context, _ *Call, in *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
		if diff := cmp.Diff(in, &ec2.DescribeRouteTablesInput{}, sameWire); diff != "" {
			t.Errorf("request (-received +sent):\n%s", diff)
		}
		return nil, nil
	})
	Handle(s, "eks", "ListNodegroups", func(_ context.Context, _ *Call, in *eks.ListNodegroupsInput) (*eks.ListNodegroupsOutput, error) {
		if got, want := aws.ToString(in.ClusterName), "a/b c%"; got != want {
			t.Errorf("cluster = %q, want %q", got, want)
		}
		return &eks.ListNodegroupsOutput{}, nil
	})
	Handle(s, "autoscaling", "DescribeAutoScalingGroups", func(_ context.Context, _ *Call, in *autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
		if in.AutoScalingGroupNames == nil || len(in.AutoScalingGroupNames) != 0 {
			t.Errorf("names = %#v, want an empty list", in.AutoScalingGroupNames)
		}
		return &autoscaling.DescribeAutoScalingGroupsOutput{}, nil
	})
	tables, err := ec2.NewFromConfig(cfg).DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	if tables.RouteTables == nil || len(tables.RouteTables) != 0 {
		t.Errorf("route tables = %#v, want an empty list", tables.RouteTables)
	}
	groups, err := eks.NewFromConfig(cfg).ListNodegroups(t.Context(), &eks.ListNodegroupsInput{ClusterName: aws.String("a/b c%")})
	if err != nil {
		t.Fatal(err)
	}
	if groups.Nodegroups == nil || len(groups.Nodegroups) != 0 {
		t.Errorf("nodegroups = %#v, want an empty list", groups.Nodegroups)
	}
	asgs, err := autoscaling.NewFromConfig(cfg).DescribeAutoScalingGroups(t.Context(),
		&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	if asgs.AutoScalingGroups == nil || len(asgs.AutoScalingGroups) != 0 {
		t.Errorf("groups = %#v, want an empty list", asgs.AutoScalingGroups)
	}
}

func TestFindRoute(t *testing.T) {
	routes := testNames(t)["eks"].routes
	tests := []struct {
		method, path, want string
		labels             map[string]string
	}{
		{"GET", "/clusters", "ListClusters", map[string]string{}},
		{"GET", "/clusters/prod", "DescribeCluster", map[string]string{"name": "prod"}},
		{"GET", "/clusters/prod/", "DescribeCluster", map[string]string{"name": "prod"}},
		{"GET", "/clusters/prod/node-groups/ng", "DescribeNodegroup", map[string]string{"clusterName": "prod", "nodegroupName": "ng"}},
		{"POST", "/clusters/prod/node-groups/ng/update-config", "UpdateNodegroupConfig", map[string]string{"clusterName": "prod", "nodegroupName": "ng"}},
		{"GET", "/clusters/prod/access-entries/arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx", "DescribeAccessEntry",
			map[string]string{"clusterName": "prod", "principalArn": "arn:aws:iam::1:role/x"}},
		{"GET", "/addons/supported-versions", "DescribeAddonVersions", map[string]string{}},
		{"PATCH", "/clusters/prod", "", nil},
		{"GET", "/clusters//node-groups", "", nil},
		{"GET", "/", "", nil},
		{"GET", "/clusters/%zz", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			op, labels, ok := findRoute(routes, tt.method, tt.path)
			if op != tt.want || ok != (tt.want != "") {
				t.Errorf("operation = %q, %v, want %q", op, ok, tt.want)
			}
			if diff := cmp.Diff(labels, tt.labels); diff != "" {
				t.Errorf("labels (-got +want):\n%s", diff)
			}
		})
	}
}

// TestRawRequests sends what no SDK sends.
func TestRawRequests(t *testing.T) {
	s, _ := serve(t, Config{Principals: func(key string) (Principal, bool) { return Principal{}, key == "AKIDTEST" }})
	failing(s, aws.Config{}, errors.New("x"))
	auth := func(key, service string) string {
		return "AWS4-HMAC-SHA256 Credential=" + key + "/20261120/us-west-2/" + service + "/aws4_request, SignedHeaders=host, Signature=00"
	}
	const form = "application/x-www-form-urlencoded"
	tests := []struct {
		name, method, target, auth, contentType, amzTarget, body string
		status                                                   int
		want                                                     string
	}{
		{"EC2 without a signature", "POST", "/", "", form, "", "Action=DescribeRouteTables&Version=2016-11-15", 403, "<Response><Errors><Error><Code>MissingAuthenticationToken</Code>"},
		{"query without a signature", "POST", "/", "", form, "", "Action=GetRole&Version=2010-05-08", 403, "<Code>MissingAuthenticationToken</Code>"},
		{"JSON without a signature", "POST", "/", "", json11, "AWSEvents.PutEvents", "{}", 403, `"__type":"MissingAuthenticationToken"`},
		{"REST without a signature", "GET", "/clusters/x", "", "", "", "", 403, `"message":"Request is missing Authentication Token"`},
		{"another scheme", "POST", "/", "Bearer x", form, "", "Action=DescribeRouteTables&Version=2016-11-15", 403, "MissingAuthenticationToken"},
		{"unknown key at EC2", "POST", "/", auth("AKIDELSE", "ec2"), form, "", "Action=DescribeRouteTables&Version=2016-11-15", 401, "<Code>AuthFailure</Code>"},
		{"unknown key at STS", "POST", "/", auth("AKIDELSE", "sts"), form, "", "Action=GetCallerIdentity", 403, "<Code>InvalidClientTokenId</Code>"},
		{"unknown key at EKS", "GET", "/clusters/x", auth("AKIDELSE", "eks"), "", "", "", 403, "The security token included in the request is invalid."},
		{"unknown service", "POST", "/", auth("AKIDTEST", "polly"), form, "", "", 403, `the simulated AWS has no service &#34;polly&#34;`},
		{"unknown parameter", "POST", "/", auth("AKIDTEST", "ec2"), form, "", "Action=DescribeRouteTables&Filter.1.Nmae=x", 400, "<Code>UnknownParameter</Code><Message>The parameter Filter.1.Nmae is not recognized</Message>"},
		{"unknown action", "POST", "/", auth("AKIDTEST", "ec2"), form, "", "Action=DescribeTheWeather", 400, "<Code>InvalidAction</Code><Message>The action DescribeTheWeather is not valid for this web service</Message>"},
		{"no action", "POST", "/", auth("AKIDTEST", "ec2"), form, "", "", 400, "<Code>InvalidAction</Code>"},
		{"broken form", "POST", "/", auth("AKIDTEST", "ec2"), form, "", "Action=%zz", 400, "MalformedQueryString"},
		{"not a number", "POST", "/", auth("AKIDTEST", "ec2"), form, "", "Action=DescribeRouteTables&MaxResults=many", 400, "<Code>InvalidParameterValue</Code>"},
		{"unknown path", "GET", "/clusters/x/weather", auth("AKIDTEST", "eks"), "", "", "", 400, "is not one of the simulated AWS"},
		{"unknown query parameter", "GET", "/clusters/x?colour=red", auth("AKIDTEST", "eks"), "", "", "", 400, "The parameter colour is not recognized"},
		{"unknown target", "POST", "/", auth("AKIDTEST", "events"), json11, "AWSEvents.Dance", "{}", 400, `"__type":"UnknownOperationException"`},
		{"not JSON", "POST", "/", auth("AKIDTEST", "events"), json11, "AWSEvents.PutEvents", "<xml/>", 400, `"__type":"SerializationException"`},
		{"unknown member", "POST", "/", auth("AKIDTEST", "events"), json11, "AWSEvents.PutEvents", `{"Colour":1}`, 400, `unknown member`},
		{"GET query", "GET", "/?Action=DescribeRouteTables&Version=2016-11-15&MaxResults=x", auth("AKIDTEST", "ec2"), "", "", "", 400, "InvalidParameterValue"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := httptest.NewRequest(tt.method, tt.target, strings.NewReader(tt.body))
			for k, v := range map[string]string{"Authorization": tt.auth, "Content-Type": tt.contentType, "X-Amz-Target": tt.amzTarget} {
				if v != "" {
					req.Header.Set(k, v)
				}
			}
			rec := httptest.NewRecorder()
			s.ServeHTTP(rec, req)
			body, err := io.ReadAll(rec.Result().Body)
			if err != nil {
				t.Fatal(err)
			}
			if rec.Code != tt.status || !strings.Contains(string(body), tt.want) {
				t.Errorf("answer = %d %q, want %d with %q", rec.Code, body, tt.status, tt.want)
			}
		})
	}
}

func TestCallRecord(t *testing.T) {
	now := time.Date(2026, 11, 20, 21, 0, 0, 0, time.UTC)
	s, cfg := serve(t, Config{
		Now: func() time.Time { now = now.Add(time.Second); return now },
		Principals: func(key string) (Principal, bool) {
			return Principal{Name: "join-check", ARN: "arn:x", Account: "111122223333"}, key == "AKIDTEST"
		},
	})
	Handle(s, "ec2", "DescribeSubnets", func(_ context.Context, call *Call, _ *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
		return &ec2.DescribeSubnetsOutput{NextToken: &call.Caller}, nil
	})
	out, err := ec2.NewFromConfig(cfg).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := aws.ToString(out.NextToken), "join-check"; got != want {
		t.Errorf("the handler saw caller %q, want %q", got, want)
	}
	_, err = ec2.NewFromConfig(cfg).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	if got, want := decoded(t, err).Code, "InvalidAction"; got != want {
		t.Errorf("code = %q, want %q", got, want)
	}
	who := Principal{Name: "join-check", ARN: "arn:x", Account: "111122223333"}
	want := []Call{
		{Service: "ec2", Operation: "DescribeSubnets", Region: "us-west-2", Caller: "join-check", Principal: who, AccessKeyID: "AKIDTEST",
			RequestID: "00000000-0000-4000-8000-000000000001", Time: time.Date(2026, 11, 20, 21, 0, 1, 0, time.UTC), Duration: time.Second, Status: 200},
		{Service: "ec2", Operation: "DescribeVpcs", Region: "us-west-2", Caller: "join-check", Principal: who, AccessKeyID: "AKIDTEST",
			RequestID: "00000000-0000-4000-8000-000000000002", Time: time.Date(2026, 11, 20, 21, 0, 3, 0, time.UTC), Duration: time.Second, Code: "InvalidAction", Status: 400},
	}
	if diff := cmp.Diff(s.Calls(), want); diff != "" {
		t.Errorf("calls (-got +want):\n%s", diff)
	}
}

func TestDryRun(t *testing.T) {
	s, cfg := serve(t, Config{})
	Handle(s, "ec2", "DeleteNetworkInterface", func(context.Context, *Call, *ec2.DeleteNetworkInterfaceInput) (*ec2.DeleteNetworkInterfaceOutput, error) {
		t.Error("the handler ran")
		return nil, nil
	})
	_, err := ec2.NewFromConfig(cfg).DeleteNetworkInterface(t.Context(),
		&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-0a1b2c3d4e5f60718"), DryRun: aws.Bool(true)})
	want := answerOf{"DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412}
	if diff := cmp.Diff(decoded(t, err), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestPages(t *testing.T) {
	s, cfg := serve(t, Config{})
	Handle(s, "ec2", "DescribeNetworkInterfaces", func(_ context.Context, _ *Call, in *ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
		token := aws.ToString(in.NextToken)
		out := &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: []ec2types.NetworkInterface{{NetworkInterfaceId: aws.String("eni-" + token)}}}
		if len(token) < 3 {
			out.NextToken = aws.String(token + "x")
		}
		return out, nil
	})
	var got []string
	p := ec2.NewDescribeNetworkInterfacesPaginator(ec2.NewFromConfig(cfg), &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(5)})
	for p.HasMorePages() {
		page, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, ni := range page.NetworkInterfaces {
			got = append(got, *ni.NetworkInterfaceId)
		}
	}
	if diff := cmp.Diff(got, []string{"eni-", "eni-x", "eni-xx", "eni-xxx"}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

type world struct{}

func (world) DescribeSubnets(*ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
	return nil, Errorf("InvalidSubnetID.NotFound", "The subnet ID 'subnet-1' does not exist")
}
func (world) DescribeVpcs(*ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
	return &ec2.DescribeVpcsOutput{Vpcs: []ec2types.Vpc{{VpcId: aws.String("vpc-1")}}}, nil
}
func (world) DescribeCluster(*eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	return nil, nil
}
func (world) Advance(time.Duration) {}

func TestHandleMethods(t *testing.T) {
	s, cfg := serve(t, Config{})
	if diff := cmp.Diff(HandleMethods(s, "ec2", world{}), []string{"DescribeSubnets", "DescribeVpcs"}); diff != "" {
		t.Errorf("ec2 operations (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(HandleMethods(s, "eks", world{}), []string{"DescribeCluster"}); diff != "" {
		t.Errorf("eks operations (-got +want):\n%s", diff)
	}
	client := ec2.NewFromConfig(cfg)
	out, err := client.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := aws.ToString(out.Vpcs[0].VpcId), "vpc-1"; got != want {
		t.Errorf("vpc = %q, want %q", got, want)
	}
	_, err = client.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	if got, want := decoded(t, err).Code, "InvalidSubnetID.NotFound"; got != want {
		t.Errorf("code = %q, want %q", got, want)
	}
	if _, err := eks.NewFromConfig(cfg).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("x")}); err != nil {
		t.Error(err)
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	s, cfg := serve(t, Config{})
	Handle(s, "ec2", "DescribeSubnets", func(context.Context, *Call, *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
		panic("a defect")
	})
	_, err := ec2.NewFromConfig(cfg).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	if got, want := decoded(t, err).Code, "InternalError"; got != want {
		t.Errorf("code = %q, want %q", got, want)
	}
}

// secretOf is the secret of the only known key.
func secretOf(key string) (string, bool) { return "the secret", key == "AKIDTEST" }

// TestWrongSecret: the SDK's clients are believed with the right secret, and
// refused with another in the service's own words, before anybody looks.
func TestWrongSecret(t *testing.T) {
	reached := 0
	s, cfg := serve(t, Config{Secret: secretOf, Faults: FaultFunc(func(context.Context, *Call) error { reached++; return nil })})
	answerAll(t, s, cfg)
	for name, test := range map[string]struct {
		call   func(ctx context.Context, cfg aws.Config) error
		code   string
		status int
	}{
		"ec2": {func(ctx context.Context, cfg aws.Config) error {
			_, err := ec2.NewFromConfig(cfg).DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
			return err
		}, "AuthFailure", 401},
		"autoscaling": {func(ctx context.Context, cfg aws.Config) error {
			_, err := autoscaling.NewFromConfig(cfg).DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{})
			return err
		}, "SignatureDoesNotMatch", 403},
		"iam": {func(ctx context.Context, cfg aws.Config) error {
			_, err := iam.NewFromConfig(cfg).GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("x")})
			return err
		}, "SignatureDoesNotMatch", 403},
		"sts": {func(ctx context.Context, cfg aws.Config) error {
			_, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
			return err
		}, "SignatureDoesNotMatch", 403},
		"eks, with an escaped path and a query": {func(ctx context.Context, cfg aws.Config) error {
			_, err := eks.NewFromConfig(cfg).DescribeUpdate(ctx, &eks.DescribeUpdateInput{Name: aws.String("a b/c+d%ü"), UpdateId: aws.String("1"), NodegroupName: aws.String("e f&g=h+*~")})
			return err
		}, "InvalidSignatureException", 403},
		"eks, with a body": {func(ctx context.Context, cfg aws.Config) error {
			_, err := eks.NewFromConfig(cfg).CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: aws.String("prod"), PrincipalArn: aws.String("arn:aws:iam::1:role/x")})
			return err
		}, "InvalidSignatureException", 403},
		"sqs": {func(ctx context.Context, cfg aws.Config) error {
			_, err := sqs.NewFromConfig(cfg).DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: aws.String("http://x/y"), ReceiptHandle: aws.String("z")})
			return err
		}, "InvalidSignatureException", 400},
		"secretsmanager": {func(ctx context.Context, cfg aws.Config) error {
			_, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String("x")})
			return err
		}, "InvalidSignatureException", 400},
		"eventbridge": {func(ctx context.Context, cfg aws.Config) error {
			_, err := eventbridge.NewFromConfig(cfg).PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{{}}})
			return err
		}, "InvalidSignatureException", 400},
		"dynamodb": {func(ctx context.Context, cfg aws.Config) error {
			_, err := dynamodb.NewFromConfig(cfg).ListTables(ctx, &dynamodb.ListTablesInput{})
			return err
		}, "InvalidSignatureException", 400},
	} {
		t.Run(name, func(t *testing.T) {
			for _, secret := range []string{"the secret", "another"} {
				reached = 0
				cfg.Credentials = credentials.NewStaticCredentialsProvider("AKIDTEST", secret, "")
				err := test.call(t.Context(), cfg)
				if secret == "the secret" {
					if err != nil || reached != 1 {
						t.Errorf("the right secret: %v, reached %d times", err, reached)
					}
					continue
				}
				var api smithy.APIError
				var response *awshttp.ResponseError
				if !errors.As(err, &api) || !errors.As(err, &response) || api.ErrorCode() != test.code || response.HTTPStatusCode() != test.status || reached > 0 {
					t.Errorf("a wrong secret: %v, reached %d times, want %d %s", err, reached, test.status, test.code)
				}
			}
		})
	}
}

// TestWhatIsSigned: a signature counts for the request that it was made for.
func TestWhatIsSigned(t *testing.T) {
	s, cfg := serve(t, Config{Secret: secretOf})
	answerAll(t, s, cfg)
	const body = "Action=GetCallerIdentity&Version=2011-06-15"
	right := aws.Credentials{AccessKeyID: "AKIDTEST", SecretAccessKey: "the secret", SessionToken: "a session"}
	request := func(t *testing.T, digest string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "http://sts.example/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Note", "  two   words ")
		r.Header.Set("X-Amz-Content-Sha256", digest)
		if err := signer.NewSigner().SignHTTP(t.Context(), right, r, digest, "sts", "us-west-2", time.Now()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, test := range map[string]struct {
		digest string
		change func(r *http.Request) *http.Request
		want   int
	}{
		"as it was":            {hexSHA256(body), func(r *http.Request) *http.Request { return r }, 200},
		"without a digest":     {unsignedPayload, func(r *http.Request) *http.Request { return r }, 200},
		"another host":         {hexSHA256(body), func(r *http.Request) *http.Request { r.Host = "iam.example"; return r }, 403},
		"another header":       {hexSHA256(body), func(r *http.Request) *http.Request { r.Header.Set("X-Note", "one word"); return r }, 403},
		"another date":         {hexSHA256(body), func(r *http.Request) *http.Request { r.Header.Set("X-Amz-Date", "20200101T000000Z"); return r }, 403},
		"another token":        {hexSHA256(body), func(r *http.Request) *http.Request { r.Header.Set("X-Amz-Security-Token", "x"); return r }, 403},
		"a query that was not": {hexSHA256(body), func(r *http.Request) *http.Request { r.URL.RawQuery = "a=b"; return r }, 403},
		"another path":         {hexSHA256(body), func(r *http.Request) *http.Request { r.URL.Path = "/x"; return r }, 403},
		"another body": {hexSHA256(body), func(r *http.Request) *http.Request {
			other := httptest.NewRequest(http.MethodPost, "http://sts.example/", strings.NewReader(body+"&"))
			other.Header = r.Header
			other.ContentLength = r.ContentLength
			return other
		}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, test.change(request(t, test.digest)))
			if w.Code != test.want || test.want == 403 && !strings.Contains(w.Body.String(), "<Code>SignatureDoesNotMatch</Code>") {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, test.want)
			}
		})
	}
	t.Run("in the query", func(t *testing.T) {
		for _, secret := range []string{"the secret", "another"} {
			r := httptest.NewRequest(http.MethodGet, "http://sts.example/?"+body+"&X-Amz-Expires=60", nil)
			c := right
			c.SecretAccessKey = secret
			link, _, err := signer.NewSigner().PresignHTTP(t.Context(), c, r, hexSHA256(""), "sts", "us-west-2", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, link, nil))
			if want := map[string]int{"the secret": 200, "another": 403}[secret]; w.Code != want {
				t.Errorf("%s: got %d %s, want %d", secret, w.Code, w.Body, want)
			}
		}
	})
}
