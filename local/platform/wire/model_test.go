package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
)

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
