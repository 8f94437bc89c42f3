package stage

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"rollcall/stage/platform/template"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
)

func tagged(pairs ...string) ec2types.NetworkInterface {
	eni := ec2types.NetworkInterface{VpcId: aws.String("vpc-1"), SubnetId: aws.String("subnet-1"), OwnerId: aws.String("111122223333")}
	for i := 0; i < len(pairs); i += 2 {
		eni.TagSet = append(eni.TagSet, ec2types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
	}
	return eni
}

// oneInterface is an account that has one network interface, or has lost it.
type oneInterface struct {
	describer
	eni  ec2types.NetworkInterface
	gone bool
}

func (o oneInterface) DescribeNetworkInterfaces(*ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
	if o.gone {
		return nil, errors.New("not found")
	}
	return &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: []ec2types.NetworkInterface{o.eni}}, nil
}

// A policy such as eni-cleanup has: the CNI's tag, one cluster, and for one VPC
// also what names no cluster.
func cleanupPolicy() []template.Statement {
	const any = "arn:aws:ec2:us-west-2:111122223333:network-interface/*"
	return []template.Statement{
		{SID: "Read", Effect: "Allow", Actions: []string{"ec2:DescribeNetworkInterfaces"}, Resources: []string{"*"}},
		{SID: "OfCluster", Effect: "Allow", Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{any},
			Conditions: map[string]map[string][]string{
				"StringLike":   {"aws:ResourceTag/node.k8s.amazonaws.com/instance_id": {"i-*"}},
				"StringEquals": {"aws:ResourceTag/cluster.k8s.amazonaws.com/name": {"prod"}},
			}},
		{SID: "Untagged", Effect: "Allow", Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{any},
			Conditions: map[string]map[string][]string{
				"StringLike": {"aws:ResourceTag/node.k8s.amazonaws.com/instance_id": {"i-*"}},
				"Null":       {"aws:ResourceTag/cluster.k8s.amazonaws.com/name": {"true"}},
				"ArnEquals":  {"ec2:Vpc": {"arn:aws:ec2:us-west-2:111122223333:vpc/vpc-2"}},
			}},
	}
}

func TestMayCall(t *testing.T) {
	const instance, cluster = "node.k8s.amazonaws.com/instance_id", "cluster.k8s.amazonaws.com/name"
	elsewhere := tagged(instance, "i-1")
	elsewhere.VpcId = aws.String("vpc-2")
	tests := map[string]struct {
		action string
		in     any
		eni    ec2types.NetworkInterface
		gone   bool
		want   bool
	}{
		"a read":                        {action: "ec2:DescribeNetworkInterfaces", in: &ec2.DescribeNetworkInterfacesInput{}, want: true},
		"a read without the right":      {action: "ec2:DescribeSubnets", in: &ec2.DescribeSubnetsInput{}},
		"a write without the right":     {action: "ec2:TerminateInstances", in: &ec2.TerminateInstancesInput{}},
		"the CNI's, of the cluster":     {eni: tagged(instance, "i-1", cluster, "prod"), want: true},
		"of another cluster":            {eni: tagged(instance, "i-1", cluster, "payments")},
		"without the CNI's tag":         {eni: tagged(cluster, "prod")},
		"untagged in another VPC":       {eni: tagged(instance, "i-1")},
		"untagged in the VPC of choice": {eni: elsewhere, want: true},
		"not there, so without tags":    {gone: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.action == "" {
				tt.action, tt.in = "ec2:DeleteNetworkInterface", &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-1")}
			}
			got, err := mayCall(cleanupPolicy(), tt.action, tt.in, things{account: "111122223333", region: "us-west-2", api: oneInterface{eni: tt.eni, gone: tt.gone}})
			if err != nil || got != tt.want {
				t.Errorf("allowed: %t (%v), want %t", got, err, tt.want)
			}
		})
	}
}

// On the stage a function can do what its role in the template allows.
func TestTheStageHoldsFunctionsToTheirRoles(t *testing.T) {
	virtual(t, theStageHoldsFunctionsToTheirRoles)
}

func theStageHoldsFunctionsToTheirRoles(t *testing.T) {
	r := start(t, "healthy-nat", func(o *Options) { o.Quiet = true })
	f, ok := r.Function("launch-watch")
	if !ok {
		t.Fatal("no launch-watch")
	}
	client := ec2.NewFromConfig(r.AsFunction(f))
	if _, err := client.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}); err != nil {
		t.Errorf("a read of its own: %v", err)
	}
	for _, dry := range []bool{false, true} {
		_, err := client.DeleteNetworkInterface(t.Context(), &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-0123456789abcdef0"), DryRun: &dry})
		var api smithy.APIError
		if !errors.As(err, &api) || api.ErrorCode() != "UnauthorizedOperation" {
			t.Errorf("a delete, dry run %t: %v, want UnauthorizedOperation", dry, err)
		}
	}
	_, err := ec2.NewFromConfig(r.AsAdmin()).DeleteNetworkInterface(t.Context(), &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-0123456789abcdef0")})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "InvalidNetworkInterfaceID.NotFound" {
		t.Errorf("the person at the keyboard: %v, want not found", err)
	}
	if c := r.Buckets.Counts()["DeleteNetworkInterface"]; c.Calls != 3 || c.Throttled != 0 {
		t.Errorf("the bucket counts %+v, want 3 calls", c)
	}
}

// The bus takes events of the functions that may put them there, and of anyone else only
// a test message.
func TestTheStageGuardsTheBus(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "healthy-nat", func(o *Options) { o.Quiet = true })
		as := func(name string) aws.Config {
			f, ok := r.Function(name)
			if !ok {
				t.Fatalf("no %s", name)
			}
			return r.AsFunction(f)
		}
		const test, forged = "Rollcall Test Message", "Rollcall Check Wanted"
		for name, tt := range map[string]struct {
			as    aws.Config
			types []string
			code  string
		}{
			"a person's test message":            {r.AsAdmin(), []string{test}, ""},
			"a person's event":                   {r.AsAdmin(), []string{forged}, "AccessDeniedException"},
			"an event beside a test message":     {r.AsAdmin(), []string{test, forged}, "AccessDeniedException"},
			"a function that may not":            {as("join-check"), []string{forged}, "AccessDeniedException"},
			"a function that puts events itself": {as("sweep"), []string{forged}, ""},
		} {
			in := &eventbridge.PutEventsInput{}
			for _, kind := range tt.types {
				in.Entries = append(in.Entries, ebtypes.PutEventsRequestEntry{EventBusName: aws.String("rollcall"), Source: aws.String("rollcall"), DetailType: aws.String(kind), Detail: aws.String("{}")})
			}
			_, err := eventbridge.NewFromConfig(tt.as).PutEvents(t.Context(), in)
			var api smithy.APIError
			if errors.As(err, &api) != (tt.code != "") || api != nil && api.ErrorCode() != tt.code {
				t.Errorf("%s: %v, want %q", name, err, tt.code)
			}
		}
	})
}

// A policy such as remedies have: one VPC, the groups and nodegroups of one
// cluster, and access entries of nodes.
func remedyPolicy() []template.Statement {
	const ours = "arn:aws:ec2:us-west-2:111122223333:vpc/vpc-0a1b2c3d4e5f60718"
	inVPC := map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": {ours}}}
	return []template.Statement{
		{SID: "Route", Effect: "Allow", Actions: []string{"ec2:CreateRoute"}, Resources: []string{"arn:aws:ec2:us-west-2:111122223333:route-table/*"}, Conditions: inVPC},
		{SID: "Open", Effect: "Allow", Actions: []string{"ec2:AuthorizeSecurityGroupIngress"}, Resources: []string{"arn:aws:ec2:us-west-2:111122223333:security-group/*"}, Conditions: inVPC},
		{SID: "Groups", Effect: "Allow", Actions: []string{"autoscaling:TerminateInstanceInAutoScalingGroup", "autoscaling:SetDesiredCapacity"},
			Resources:  []string{"arn:aws:autoscaling:us-west-2:111122223333:autoScalingGroup:*:autoScalingGroupName/*"},
			Conditions: map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/eks:cluster-name": {"eks-workshop"}}}},
		{SID: "Nodegroups", Effect: "Allow", Actions: []string{"eks:UpdateNodegroupConfig"}, Resources: []string{"arn:aws:eks:us-west-2:111122223333:nodegroup/eks-workshop/*/*"}},
		{SID: "Entries", Effect: "Allow", Actions: []string{"eks:CreateAccessEntry"}, Resources: []string{"arn:aws:eks:us-west-2:111122223333:cluster/eks-workshop"},
			Conditions: map[string]map[string][]string{"StringEquals": {"eks:accessEntryType": {"EC2_LINUX"}}}},
	}
}

// elsewhere adds to the route world what a remedy must not touch: another VPC's
// route table and security group, and a group of another cluster.
func elsewhere(t *testing.T) things {
	t.Helper()
	f, err := worldfile.Load(filepath.Join("worlds", "route.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	other := aws.String("vpc-0fff0000000000001")
	f.EC2.Vpcs = append(f.EC2.Vpcs, ec2types.Vpc{VpcId: other, CidrBlock: aws.String("10.99.0.0/16")})
	f.EC2.RouteTables = append(f.EC2.RouteTables, ec2types.RouteTable{RouteTableId: aws.String("rtb-0fff0000000000001"), VpcId: other})
	f.EC2.SecurityGroups = append(f.EC2.SecurityGroups, ec2types.SecurityGroup{GroupId: aws.String("sg-0fff0000000000001"), GroupName: aws.String("payments"), VpcId: other})
	foreign := f.AutoScaling.AutoScalingGroups[0]
	foreign.AutoScalingGroupName, foreign.AutoScalingGroupARN, foreign.Instances = aws.String("payments"), nil, nil
	foreign.DesiredCapacity, foreign.MinSize = aws.Int32(0), aws.Int32(0)
	f.AutoScaling.AutoScalingGroups = append(f.AutoScaling.AutoScalingGroups, foreign)
	w, err := world.New(f, world.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return things{account: "111122223333", region: "us-west-2", api: w.API()}
}

func TestIAMRefusesRemediesOnTheWrongThing(t *testing.T) {
	account := elsewhere(t)
	const node = "arn:aws:iam::111122223333:role/nodes"
	workshop, payments := aws.String("eks-workshop"), aws.String("payments")
	replace := func(id string) any {
		return &autoscaling.TerminateInstanceInAutoScalingGroupInput{InstanceId: aws.String(id), ShouldDecrementDesiredCapacity: aws.Bool(false)}
	}
	tests := map[string]struct {
		action string
		in     any
		want   bool
	}{
		"a route table of another VPC":     {action: "ec2:CreateRoute", in: &ec2.CreateRouteInput{RouteTableId: aws.String("rtb-0fff0000000000001")}},
		"a route table that is not there":  {action: "ec2:CreateRoute", in: &ec2.CreateRouteInput{RouteTableId: aws.String("rtb-0eee0000000000001")}},
		"a route taken away":               {action: "ec2:DeleteRoute", in: &ec2.DeleteRouteInput{RouteTableId: aws.String("rtb-0cd20000000000002")}},
		"the route table":                  {action: "ec2:CreateRoute", in: &ec2.CreateRouteInput{RouteTableId: aws.String("rtb-0cd20000000000002")}, want: true},
		"a security group of another VPC":  {action: "ec2:AuthorizeSecurityGroupIngress", in: &ec2.AuthorizeSecurityGroupIngressInput{GroupId: aws.String("sg-0fff0000000000001")}},
		"traffic out":                      {action: "ec2:AuthorizeSecurityGroupEgress", in: &ec2.AuthorizeSecurityGroupEgressInput{GroupId: aws.String("sg-0e50000000000000f")}},
		"the security group":               {action: "ec2:AuthorizeSecurityGroupIngress", in: &ec2.AuthorizeSecurityGroupIngressInput{GroupId: aws.String("sg-0e50000000000000f")}, want: true},
		"an instance of no group":          {action: "autoscaling:TerminateInstanceInAutoScalingGroup", in: replace("i-0123456789abcdef0")},
		"an instance of the cluster":       {action: "autoscaling:TerminateInstanceInAutoScalingGroup", in: replace("i-0d0000000000000a1"), want: true},
		"a group of another cluster":       {action: "autoscaling:SetDesiredCapacity", in: &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: payments}},
		"a group's bounds":                 {action: "autoscaling:UpdateAutoScalingGroup", in: &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: aws.String("eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f")}},
		"a group of the cluster":           {action: "autoscaling:SetDesiredCapacity", in: &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: aws.String("eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f")}, want: true},
		"a nodegroup of another cluster":   {action: "eks:UpdateNodegroupConfig", in: &eks.UpdateNodegroupConfigInput{ClusterName: payments, NodegroupName: aws.String("new_nodegroup_2")}},
		"a nodegroup":                      {action: "eks:UpdateNodegroupConfig", in: &eks.UpdateNodegroupConfigInput{ClusterName: workshop, NodegroupName: aws.String("new_nodegroup_2")}, want: true},
		"an entry of a person":             {action: "eks:CreateAccessEntry", in: &eks.CreateAccessEntryInput{ClusterName: workshop, PrincipalArn: aws.String(node)}},
		"an entry of nodes, other cluster": {action: "eks:CreateAccessEntry", in: &eks.CreateAccessEntryInput{ClusterName: payments, PrincipalArn: aws.String(node), Type: aws.String("EC2_LINUX")}},
		"an entry of nodes":                {action: "eks:CreateAccessEntry", in: &eks.CreateAccessEntryInput{ClusterName: workshop, PrincipalArn: aws.String(node), Type: aws.String("EC2_LINUX")}, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := mayCall(remedyPolicy(), tt.action, tt.in, account)
			if err != nil || got != tt.want {
				t.Errorf("allowed: %t (%v), want %t", got, err, tt.want)
			}
		})
	}
}
