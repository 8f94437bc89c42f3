package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
)

// TestPrinted: answers as AWS sends them, and what aws-cli 2 prints of them.
func TestPrinted(t *testing.T) {
	p, err := NewPrinter()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, service string
		out           reflect.Type
		body, want    string
	}{
		{"EC2", "ec2", reflect.TypeFor[ec2.DescribeInstancesOutput](),
			`<?xml version="1.0"?><DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r-1</requestId><nextToken>more</nextToken><reservationSet><item><instancesSet><item>
				<instanceId>i-1</instanceId><amiLaunchIndex>0</amiLaunchIndex><ebsOptimized>false</ebsOptimized><launchTime>2026-11-20T15:04:05.000Z</launchTime>
				<instanceState><code>16</code><name>running</name></instanceState><blockDeviceMapping/><groupSet><item><groupId>sg-1</groupId></item></groupSet><keyName></keyName>
			</item></instancesSet></item></reservationSet></DescribeInstancesResponse>`,
			`{"NextToken": "more", "Reservations": [{"Instances": [{"InstanceId": "i-1", "AmiLaunchIndex": 0, "EbsOptimized": false, "LaunchTime": "2026-11-20T15:04:05+00:00",
				"State": {"Code": 16, "Name": "running"}, "BlockDeviceMappings": [], "SecurityGroups": [{"GroupId": "sg-1"}], "KeyName": ""}]}]}`},
		{"what the SDK does not know", "ec2", reflect.TypeFor[ec2.DescribeVpcsOutput](),
			`<DescribeVpcsResponse><vpcSet><item><vpcId>vpc-1</vpcId><moonPhase>full</moonPhase><craterSet><item><depth>3</depth></item><item><depth>4</depth></item></craterSet><orbit><days>27</days></orbit></item></vpcSet></DescribeVpcsResponse>`,
			`{"Vpcs": [{"VpcId": "vpc-1", "MoonPhase": "full", "CraterSet": [{"Depth": "3"}, {"Depth": "4"}], "Orbit": {"Days": "27"}}]}`},
		{"a console, as latin 1", "ec2", reflect.TypeFor[ec2.GetConsoleOutputOutput](),
			`<GetConsoleOutputResponse><instanceId>i-1</instanceId><timestamp>2026-11-20T15:04:05.250Z</timestamp><output>c3RhcnRlZCDp</output></GetConsoleOutputResponse>`,
			`{"InstanceId": "i-1", "Timestamp": "2026-11-20T15:04:05.250000+00:00", "Output": "started é"}`},
		{"user data stays in base64", "ec2", reflect.TypeFor[ec2.DescribeInstanceAttributeOutput](),
			`<DescribeInstanceAttributeResponse><instanceId>i-1</instanceId><userData><value>IyEvYmluL3No</value></userData></DescribeInstanceAttributeResponse>`,
			`{"InstanceId": "i-1", "UserData": {"Value": "IyEvYmluL3No"}}`},
		{"query", "autoscaling", reflect.TypeFor[autoscaling.DescribeScalingActivitiesOutput](),
			`<DescribeScalingActivitiesResponse><DescribeScalingActivitiesResult><Activities><member><ActivityId>a</ActivityId><Progress>100</Progress><StartTime>2026-11-20T15:04:05Z</StartTime></member></Activities></DescribeScalingActivitiesResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></DescribeScalingActivitiesResponse>`,
			`{"Activities": [{"ActivityId": "a", "Progress": 100, "StartTime": "2026-11-20T15:04:05+00:00"}]}`},
		{"a policy is an object", "iam", reflect.TypeFor[iam.GetRolePolicyOutput](),
			`<GetRolePolicyResponse><GetRolePolicyResult><RoleName>r</RoleName><PolicyName>p</PolicyName><PolicyDocument>%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%5D%7D</PolicyDocument></GetRolePolicyResult></GetRolePolicyResponse>`,
			`{"RoleName": "r", "PolicyName": "p", "PolicyDocument": {"Version": "2012-10-17", "Statement": []}}`},
		{"JSON", "eks", reflect.TypeFor[eks.DescribeClusterOutput](),
			`{"cluster": {"name": "prod", "createdAt": 1795187045.25, "connectorConfig": null, "tags": {"createdAt": "x"}, "moonPhase": {"at": 3}}}`,
			`{"cluster": {"name": "prod", "createdAt": "2026-11-20T15:04:05.250000+00:00", "tags": {"createdAt": "x"}, "moonPhase": {"at": 3}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := p.Printed(test.service, test.out, []byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			d := json.NewDecoder(strings.NewReader(test.want))
			d.UseNumber()
			if err := d.Decode(&want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
	for _, body := range []string{"", "<a><b></a>", "no XML"} {
		if got, err := p.Printed("ec2", reflect.TypeFor[ec2.DescribeVpcsOutput](), []byte(body)); err == nil {
			t.Errorf("%q is read as %v", body, got)
		}
	}
}
