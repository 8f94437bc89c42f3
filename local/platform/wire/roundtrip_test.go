package wire

import (
	"context"
	"fmt"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
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
