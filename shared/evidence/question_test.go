package evidence

import (
	"net/url"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/capture"
)

// TestFile: the name that a capture has of a call, and what the call asks for of the file.
func TestFile(t *testing.T) {
	for _, test := range []struct {
		call string
		in   any
		file string
		want Question
	}{
		{"ec2:DescribeSubnets", &ec2.DescribeSubnetsInput{MaxResults: aws.Int32(5), NextToken: aws.String("x")}, "ec2-describe-subnets", nil},
		{"ec2:DescribeNatGateways", &ec2.DescribeNatGatewaysInput{Filter: []ec2types.Filter{{Name: aws.String("vpc-id"), Values: []string{"vpc-2", "vpc-1"}}}},
			"ec2-describe-nat-gateways", Question{"filter vpc-id": {"vpc-1", "vpc-2"}}},
		{"ec2:DescribeInstances", &ec2.DescribeInstancesInput{InstanceIds: []string{"i-1"}, IncludeManagedResources: aws.Bool(true)}, "ec2-describe-instances", Question{"InstanceIds": {"i-1"}}},
		{"ec2:DescribeInstanceAttribute", &ec2.DescribeInstanceAttributeInput{InstanceId: aws.String("i-1"), Attribute: "userData"}, "ec2-describe-instance-attribute.i-1.userData", nil},
		{"autoscaling:DescribeScalingActivities", &autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: aws.String("g")}, "autoscaling-describe-scaling-activities", Question{"AutoScalingGroupName": {"g"}}},
		{"eks:DescribeAccessEntry", &eks.DescribeAccessEntryInput{ClusterName: aws.String("a.b"), PrincipalArn: aws.String("arn:aws:iam::1:role/path/node")}, "eks-describe-access-entry.a%2Eb.node", nil},
		{"eks:ListUpdates", &eks.ListUpdatesInput{Name: aws.String("prod"), NodegroupName: aws.String("ng")}, "eks-list-updates.prod.ng", nil},
		{"eks:ListClusters", &eks.ListClustersInput{}, "", nil},
		{"ec2:CreateRoute", &ec2.CreateRouteInput{}, "", nil},
		{"dynamodb:GetItem", nil, "", nil},
	} {
		file, q := File(test.call, test.in)
		if file != test.file {
			t.Errorf("%s: file %q, want %q", test.call, file, test.file)
		}
		if diff := cmp.Diff(test.want, q); diff != "" {
			t.Errorf("%s: question (-want +got):\n%s", test.call, diff)
		}
	}
	for path, test := range map[string]struct {
		query url.Values
		file  string
		want  Question
	}{
		"/api/v1/nodes":                       {nil, "kubectl-get-nodes.prod", nil},
		"/api/v1/pods":                        {url.Values{"fieldSelector": {"status.phase=Pending"}, "limit": {"500"}}, "kubectl-get-pods.prod", Question{"fieldSelector": {"status.phase=Pending"}}},
		"/api/v1/namespaces/kube-system/pods": {nil, "kubectl-get-pods.prod", Question{"namespace": {"kube-system"}}},
		"/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node": {nil, "kubectl-get-daemonset-aws-node.prod", nil},
		"/apis/apps/v1/namespaces/kube-system/daemonsets/other":    {nil, "", nil},
		"/apis/certificates.k8s.io/v1/certificatesigningrequests":  {nil, "kubectl-get-csr.prod", nil},
		"/api/v1/namespaces/kube-system/secrets":                   {nil, "", nil},
		"/version":                                                 {nil, "", nil},
	} {
		file, q := KubernetesFile("prod", path, test.query)
		if diff := cmp.Diff(test.want, q); file != test.file || diff != "" {
			t.Errorf("%s: file %q, want %q; question (-want +got):\n%s", path, file, test.file, diff)
		}
	}
}

// TestScope: what was not asked for is not there, nor is it said that there is none.
func TestScope(t *testing.T) {
	denied := &capture.Refusal{Code: "UnauthorizedOperation"}
	const subnets, instances = "ec2-describe-subnets", "ec2-describe-instances"
	s := Scope{
		subnets: {
			{Question: Question{"filter vpc-id": {"vpc-1"}}}, {Question: Question{"SubnetIds": {"subnet-1", "subnet-2"}}}, {Question: Question{"SubnetIds": {"subnet-3"}}},
			{Question: Question{"filter vpc-id": {"vpc-9"}}, Refused: denied},
		},
		instances: {{Question: Question{"InstanceIds": {"i-1"}}}},
	}
	for name, test := range map[string]struct {
		file    string
		asked   Question
		covered bool
		refused *capture.Refusal
	}{
		"the same":                      {subnets, Question{"filter vpc-id": {"vpc-1"}}, true, nil},
		"fewer":                         {subnets, Question{"filter vpc-id": {"vpc-1"}, "filter state": {"available"}}, true, nil},
		"another VPC":                   {subnets, Question{"filter vpc-id": {"vpc-2"}}, false, nil},
		"both VPCs":                     {subnets, Question{"filter vpc-id": {"vpc-1", "vpc-2"}}, false, nil},
		"all":                           {subnets, nil, false, nil},
		"of two calls":                  {subnets, Question{"SubnetIds": {"subnet-1", "subnet-3"}}, true, nil},
		"one that nobody asked for":     {subnets, Question{"SubnetIds": {"subnet-1", "subnet-4"}}, false, nil},
		"refused":                       {subnets, Question{"filter vpc-id": {"vpc-9"}}, true, denied},
		"a file that holds all":         {"ec2-describe-vpcs", nil, true, nil},
		"a search":                      {instances, Question{"filter tag:eks:cluster-name": {"prod"}}, true, nil},
		"an instance":                   {instances, Question{"InstanceIds": {"i-1"}}, true, nil},
		"one that was not looked at":    {instances, Question{"InstanceIds": {"i-2"}}, false, nil},
		"one of them was not looked at": {instances, Question{"filter instance-id": {"i-1"}}, false, nil},
	} {
		refused, covered := s.Find(test.file, test.asked)
		if covered != test.covered || refused != test.refused {
			t.Errorf("%s: covered %t, refused %v; want %t, %v", name, covered, refused, test.covered, test.refused)
		}
	}
}
