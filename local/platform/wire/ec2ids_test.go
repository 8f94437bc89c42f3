package wire

import (
	"errors"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
)

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
