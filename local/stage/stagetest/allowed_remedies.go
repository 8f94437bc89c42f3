package stagetest

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
)

// changed gives the condition keys of what a remedy's call is about, as IAM
// has them: the VPC of a route table or security group, the tags of an Auto
// Scaling group, the type of an access entry. It is false for other calls, and
// there are no keys where the thing is not there.
func (b *Bench) changed(input any) (keys map[string][]string, ok bool) {
	keys = map[string][]string{}
	vpc := func(id *string) {
		keys["ec2:Vpc"] = []string{"arn:aws:ec2:" + b.Template.Region + ":" + b.Template.AccountID + ":vpc/" + aws.ToString(id)}
	}
	switch in := input.(type) {
	case *ec2.CreateRouteInput:
		out, err := b.World.EC2().DescribeRouteTables(&ec2.DescribeRouteTablesInput{RouteTableIds: []string{aws.ToString(in.RouteTableId)}})
		if err == nil && len(out.RouteTables) == 1 {
			vpc(out.RouteTables[0].VpcId)
		}
	case *ec2.AuthorizeSecurityGroupIngressInput:
		out, err := b.World.EC2().DescribeSecurityGroups(&ec2.DescribeSecurityGroupsInput{GroupIds: []string{aws.ToString(in.GroupId)}})
		if err == nil && len(out.SecurityGroups) == 1 {
			vpc(out.SecurityGroups[0].VpcId)
		}
	case *autoscaling.TerminateInstanceInAutoScalingGroupInput:
		b.groupKeys(keys, func(g astypes.AutoScalingGroup) bool {
			for _, i := range g.Instances {
				if aws.ToString(i.InstanceId) == aws.ToString(in.InstanceId) {
					return true
				}
			}
			return false
		})
	case *autoscaling.SetDesiredCapacityInput:
		b.groupKeys(keys, func(g astypes.AutoScalingGroup) bool {
			return aws.ToString(g.AutoScalingGroupName) == aws.ToString(in.AutoScalingGroupName)
		})
	case *eks.CreateAccessEntryInput:
		// Both are condition keys of CreateAccessEntry (service authorization reference).
		keys["eks:accessEntryType"] = []string{aws.ToString(in.Type)}
		keys["eks:principalArn"] = []string{aws.ToString(in.PrincipalArn)}
	default:
		return nil, false
	}
	return keys, true
}

func (b *Bench) groupKeys(keys map[string][]string, is func(astypes.AutoScalingGroup) bool) {
	out, err := b.World.AutoScaling().DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{})
	if err != nil {
		return
	}
	for _, g := range out.AutoScalingGroups {
		if !is(g) {
			continue
		}
		for _, tag := range g.Tags {
			keys["aws:ResourceTag/"+aws.ToString(tag.Key)] = []string{aws.ToString(tag.Value)}
		}
	}
}

// written is the resource of a remedy's call.
func (b *Bench) written(input any, arn func(service, rest string) string) (string, bool) {
	switch in := input.(type) {
	case *ec2.CreateRouteInput:
		return arn("ec2", "route-table/"+aws.ToString(in.RouteTableId)), true
	case *ec2.AuthorizeSecurityGroupIngressInput:
		return arn("ec2", "security-group/"+aws.ToString(in.GroupId)), true
	case *autoscaling.TerminateInstanceInAutoScalingGroupInput:
		return arn("autoscaling", "autoScalingGroup:00000000:autoScalingGroupName/of-"+aws.ToString(in.InstanceId)), true
	case *autoscaling.SetDesiredCapacityInput:
		return arn("autoscaling", "autoScalingGroup:00000000:autoScalingGroupName/"+aws.ToString(in.AutoScalingGroupName)), true
	case *eks.UpdateNodegroupConfigInput:
		return arn("eks", "nodegroup/"+aws.ToString(in.ClusterName)+"/"+aws.ToString(in.NodegroupName)+"/id"), true
	case *eks.CreateAccessEntryInput:
		return arn("eks", "cluster/"+aws.ToString(in.ClusterName)), true
	}
	return "", false
}
