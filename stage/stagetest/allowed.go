package stagetest

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"

	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/route53"
	"rollcall/shared/s3"
	"rollcall/stage/platform/template"
	"rollcall/stage/simaws"
)

// call is one call of the handler, with what it asked for.
type call struct {
	action string
	input  any
	failed bool
	// keys are the condition keys that hang on what the call is about, as it
	// was before the call.
	keys map[string][]string
}

// record keeps each call as the SDK's client was asked to make it.
func (b *Bench) record(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("StagetestCalls",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			keys := b.interfaceTags(in.Parameters)
			out, meta, err := next.HandleInitialize(ctx, in)
			service := strings.ToLower(strings.ReplaceAll(awsmiddleware.GetServiceID(ctx), " ", ""))
			if named := map[string]string{"eventbridge": "events", "cloudwatchlogs": "logs", "arczonalshift": "arc-zonal-shift"}[service]; named != "" {
				service = named // IAM's name for it
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			b.calls = append(b.calls, call{service + ":" + awsmiddleware.GetOperationName(ctx), in.Parameters, err != nil, keys})
			return out, meta, err
		}), middleware.After)
}

func (b *Bench) recorded() []call {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// checkCalls holds every call against AWS's model of it and the role's policy, and
// that it asked for managed resources where it could.
func (b *Bench) checkCalls() {
	b.t.Helper()
	for _, c := range b.Cloud.Calls() {
		if c.Misfit != "" {
			b.t.Errorf("%s sent %s a request that AWS refuses: %s", c.Caller, c.Action(), c.Misfit)
		}
	}
	for _, c := range b.recorded() {
		if hidesManaged(c.input) {
			b.t.Errorf("%s called %s without IncludeManagedResources: it does not see what AWS services manage", b.Function.Name, c.action)
		}
		if c.action == "sts:GetCallerIdentity" {
			continue // needs no permission; it is only signed, for the cluster's API
		}
		if c.keys != nil && len(c.keys) == 0 {
			continue // it was about what is not there: nothing tells what IAM would see
		}
		ok, err := b.allowed(c.action, c.input, c.keys)
		if err != nil {
			b.t.Errorf("the policy of %s: %v", b.Function.Name, err)
		}
		if !ok {
			resource, keys := b.resource(c.input)
			if c.keys != nil {
				keys = c.keys
			}
			b.t.Errorf("%s called %s on %s with %v, and its policy does not allow that", b.Function.Name, c.action, resource, keys)
		}
	}
}

// hidesManaged reports whether the input of an EC2 call has
// IncludeManagedResources, and does not set it.
func hidesManaged(input any) bool {
	v := reflect.Indirect(reflect.ValueOf(input))
	if v.Kind() != reflect.Struct {
		return false
	}
	f := v.FieldByName("IncludeManagedResources")
	return f.IsValid() && (f.IsNil() || !f.Elem().Bool())
}

// allowed reports whether the function's role may make a call.
func (b *Bench) allowed(action string, input any, about map[string][]string) (bool, error) {
	resource, keys := b.resource(input)
	if about != nil {
		keys = about
	}
	if action == "sqs:SendMessageBatch" {
		action = "sqs:SendMessage" // the permission of both (service authorization reference, SQS)
	}
	return template.Allows(b.Policy(b.Function.Name), action, resource, keys)
}

// interfaceTags gives the tags and the VPC of a network interface that is to be
// deleted, as IAM does; nil for other calls.
func (b *Bench) interfaceTags(input any) map[string][]string {
	if keys, changed := b.changed(input); changed {
		return keys
	}
	in, ok := input.(*ec2.DeleteNetworkInterfaceInput)
	if !ok {
		return nil
	}
	keys := map[string][]string{}
	out, err := b.World.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{aws.ToString(in.NetworkInterfaceId)}})
	if err != nil || len(out.NetworkInterfaces) != 1 {
		return keys
	}
	n := out.NetworkInterfaces[0]
	keys["ec2:Vpc"] = []string{"arn:aws:ec2:" + b.Template.Region + ":" + b.Template.AccountID + ":vpc/" + aws.ToString(n.VpcId)}
	for _, tag := range n.TagSet {
		keys["aws:ResourceTag/"+aws.ToString(tag.Key)] = []string{aws.ToString(tag.Value)}
	}
	return keys
}

// resource is what IAM sees of a call: the resource, and the condition keys
// that policies here look at (AWS service authorization reference).
func (b *Bench) resource(input any) (string, map[string][]string) {
	arn := func(service, rest string) string {
		return "arn:aws:" + service + ":" + b.Template.Region + ":" + b.Template.AccountID + ":" + rest
	}
	switch in := input.(type) {
	case *dynamodb.PutItemInput:
		return arn("dynamodb", "table/"+aws.ToString(in.TableName)), leading(in.Item["pk"])
	case *dynamodb.QueryInput:
		if in.IndexName != nil {
			return arn("dynamodb", "table/"+aws.ToString(in.TableName)+"/index/"+*in.IndexName), nil
		}
		return arn("dynamodb", "table/"+aws.ToString(in.TableName)), leading(in.ExpressionAttributeValues[":pk"])
	case *dynamodb.BatchGetItemInput:
		for table := range in.RequestItems {
			return arn("dynamodb", "table/"+table), nil
		}
	case *sqs.SendMessageInput:
		url := aws.ToString(in.QueueUrl)
		return arn("sqs", url[strings.LastIndex(url, "/")+1:]), nil
	case *sqs.ChangeMessageVisibilityInput:
		url := aws.ToString(in.QueueUrl)
		return arn("sqs", url[strings.LastIndex(url, "/")+1:]), nil
	case *sns.PublishInput:
		return aws.ToString(in.TopicArn), nil
	case *sqs.SendMessageBatchInput:
		url := aws.ToString(in.QueueUrl)
		return arn("sqs", url[strings.LastIndex(url, "/")+1:]), nil
	case *s3.PutObjectInput:
		// Both headers are always sent; that they are the stage itself holds (stage/objects.go).
		return "arn:aws:s3:::" + in.Bucket + "/" + in.Key, map[string][]string{"s3:if-none-match": {"*"}, "s3:x-amz-server-side-encryption": {"AES256"}}
	case cloudwatchlogs.Filter:
		return arn("logs", "log-group:"+in.Group+":*"), nil
	case *sts.DecodeAuthorizationMessageInput, cloudwatchlogs.List:
		return "*", map[string][]string{"aws:RequestedRegion": {b.Template.Region}}
	case *eventbridge.PutEventsInput:
		for _, e := range in.Entries {
			return arn("events", "event-bus/"+aws.ToString(e.EventBusName)), nil
		}
	}
	if resource, narrowed := b.written(input, arn); narrowed {
		return resource, nil
	}
	if resource, narrowed := b.read(input, arn); narrowed {
		return resource, nil
	}
	return "*", nil // the other describe calls of EC2 and Auto Scaling, and eks:ListClusters, take no resource
}

// read is the resource of the reading calls that are about one thing.
func (b *Bench) read(input any, arn func(service, rest string) string) (string, bool) {
	iam := func(rest string) string { return "arn:aws:iam::" + b.Template.AccountID + ":" + rest }
	switch in := input.(type) {
	case *sts.AssumeRoleInput:
		return b.RoleInTemplate(aws.ToString(in.RoleArn)), true
	case *secretsmanager.GetSecretValueInput:
		for _, secret := range b.Template.Secrets {
			if aws.ToString(in.SecretId) == simaws.SecretARN(b.Template.Region, b.Template.AccountID, secret.Name) {
				return secret.ARN, true
			}
		}
		if name := aws.ToString(in.SecretId); !strings.HasPrefix(name, "arn:") { // an operator's
			return simaws.SecretARN(b.Template.Region, b.Template.AccountID, name), true
		}
	case *ec2.DeleteNetworkInterfaceInput:
		return arn("ec2", "network-interface/"+aws.ToString(in.NetworkInterfaceId)), true
	case *ec2.DescribeInstanceAttributeInput:
		return arn("ec2", "instance/"+aws.ToString(in.InstanceId)), true
	case *ec2.GetConsoleOutputInput:
		return arn("ec2", "instance/"+aws.ToString(in.InstanceId)), true
	case *ec2.DescribeVpcAttributeInput:
		return arn("ec2", "vpc/"+aws.ToString(in.VpcId)), true
	case *ec2.GetManagedPrefixListEntriesInput:
		return arn("ec2", "prefix-list/"+aws.ToString(in.PrefixListId)), true
	case *ec2.SearchTransitGatewayRoutesInput:
		return arn("ec2", "transit-gateway-route-table/"+aws.ToString(in.TransitGatewayRouteTableId)), true
	case *eks.DescribeClusterInput:
		return arn("eks", "cluster/"+aws.ToString(in.Name)), true
	case *eks.ListNodegroupsInput:
		return arn("eks", "cluster/"+aws.ToString(in.ClusterName)), true
	case *eks.ListAddonsInput:
		return arn("eks", "cluster/"+aws.ToString(in.ClusterName)), true
	case *eks.ListAccessEntriesInput:
		return arn("eks", "cluster/"+aws.ToString(in.ClusterName)), true
	case *eks.ListPodIdentityAssociationsInput:
		return arn("eks", "cluster/"+aws.ToString(in.ClusterName)), true
	case *eks.DescribeNodegroupInput:
		return arn("eks", "nodegroup/"+aws.ToString(in.ClusterName)+"/"+aws.ToString(in.NodegroupName)+"/id"), true
	case *eks.ListUpdatesInput:
		return arn("eks", "nodegroup/"+aws.ToString(in.Name)+"/"+aws.ToString(in.NodegroupName)+"/id"), true
	case *eks.DescribeUpdateInput:
		return arn("eks", "nodegroup/"+aws.ToString(in.Name)+"/"+aws.ToString(in.NodegroupName)+"/id"), true
	case *eks.DescribeAddonInput:
		return arn("eks", "addon/"+aws.ToString(in.ClusterName)+"/"+aws.ToString(in.AddonName)+"/id"), true
	case *eks.DescribeAccessEntryInput:
		return arn("eks", accessEntryOf(b.Template.AccountID, in.ClusterName, in.PrincipalArn)), true
	case *eks.ListAssociatedAccessPoliciesInput:
		return arn("eks", accessEntryOf(b.Template.AccountID, in.ClusterName, in.PrincipalArn)), true
	case *eks.DescribePodIdentityAssociationInput:
		return arn("eks", "podidentityassociation/"+aws.ToString(in.ClusterName)+"/"+aws.ToString(in.AssociationId)), true
	case route53.Ask:
		if in.Zone != "" {
			return "arn:aws:route53:::hostedzone/" + in.Zone, true
		}
	case *awsiam.GetInstanceProfileInput:
		return iam("instance-profile/" + aws.ToString(in.InstanceProfileName)), true
	case *awsiam.GetRoleInput:
		return iam("role/" + aws.ToString(in.RoleName)), true
	case *awsiam.GetRolePolicyInput:
		return iam("role/" + aws.ToString(in.RoleName)), true
	case *awsiam.ListRolePoliciesInput:
		return iam("role/" + aws.ToString(in.RoleName)), true
	case *awsiam.ListAttachedRolePoliciesInput:
		return iam("role/" + aws.ToString(in.RoleName)), true
	case *awsiam.GetPolicyInput:
		return aws.ToString(in.PolicyArn), true
	case *awsiam.GetPolicyVersionInput:
		return aws.ToString(in.PolicyArn), true
	}
	return "", false
}

func leading(key types.AttributeValue) map[string][]string {
	text, ok := key.(*types.AttributeValueMemberS)
	if !ok {
		return nil
	}
	return map[string][]string{"dynamodb:LeadingKeys": {text.Value}}
}

func accessEntryOf(account string, cluster, principal *string) string {
	arn := aws.ToString(principal)
	return "access-entry/" + aws.ToString(cluster) + "/role/" + account + "/" + arn[strings.LastIndex(arn, "/")+1:] + "/id"
}

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
