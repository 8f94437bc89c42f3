package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/config"

	relay "rollcall/functions/relay/spec"
)

// RelayStackName is the name of a relay's stack in the app; deployed it has the cluster's too.
const RelayStackName = "RollcallRelay"

// relayTemplate is the context key by which make relay-template asks for it.
const relayTemplate = "relay"

// relayLogDays is how long its log is kept: as long as the others' where nobody sets it.
const relayLogDays = 30

// NewRelayStack adds the relay of one cluster to the app. All that it knows of the cluster,
// its address among it, are parameters: it asks AWS for nothing and has no permission there,
// so that its subnets need no way out, and nobody who invokes it can send it elsewhere. Whom
// it lets invoke it is said by their policies alone: it has none of its own, by which others
// of this account, or of another, could be let in.
func NewRelayStack(app awscdk.App) {
	stack := awscdk.NewStack(app, jsii.String(RelayStackName), &awscdk.StackProps{
		Description: jsii.String("The relay of a cluster for Rollcall: it hands on what Rollcall lists, in the VPC of a cluster whose API has a private endpoint only."),
		Synthesizer: awscdk.NewDefaultStackSynthesizer(&awscdk.DefaultStackSynthesizerProps{GenerateBootstrapVersionRule: jsii.Bool(false)}),
	})
	awscdk.Tags_Of(stack).Add(jsii.String(settings.TagKey), jsii.String(settings.TagValue), nil)
	given := relayParameters(stack)
	s := relay.Spec()
	scope := constructs.NewConstruct(stack, jsii.String(camel(s.Name)))
	group := relayGroup(scope, given)
	vpc := settings.VPC{SubnetIDs: []string{*given.subnetA, *given.subnetB}, SecurityGroupIDs: []string{*group.AttrGroupId()}}

	logs := awslogs.NewLogGroup(scope, jsii.String("Logs"), &awslogs.LogGroupProps{
		LogGroupName: jsii.String("/aws/lambda/" + *given.name), RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	logs.Node().DefaultChild().(awslogs.CfnLogGroup).SetRetentionInDays(jsii.Number(relayLogDays))
	statements := append([]statement{{sid: sidLogs, actions: []string{"logs:CreateLogStream", "logs:PutLogEvents"}, resources: []string{*logs.LogGroupArn()}}},
		interfaceStatements(s, *given.name, vpc)...)
	role := awsiam.NewRole(scope, jsii.String("Role"), &awsiam.RoleProps{
		Description:    jsii.String("Its log, and what Lambda needs for its network interfaces: the relay itself may do nothing else"),
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{s.Name: document(statements)},
	})
	function := awslambda.NewCfnFunction(scope, jsii.String("Function"), &awslambda.CfnFunctionProps{
		FunctionName: given.name, Description: jsii.String(s.About), Role: role.RoleArn(),
		Runtime: jsii.String("provided.al2023"), Architectures: jsii.Strings("arm64"), Handler: jsii.String("bootstrap"),
		Code:       &awslambda.CfnFunction_CodeProperty{S3Bucket: given.bucket, S3Key: given.key},
		MemorySize: jsii.Number(int(s.Memory)), Timeout: jsii.Number(s.Timeout.Seconds()),
		Environment: &awslambda.CfnFunction_EnvironmentProperty{Variables: &map[string]*string{
			string(config.RelayCluster): given.cluster, string(config.RelayEndpoint): given.endpoint, string(config.RelayCA): given.authority,
			string(config.LogLevel): jsii.String("info"),
		}},
		LoggingConfig: &awslambda.CfnFunction_LoggingConfigProperty{LogGroup: logs.LogGroupName(), LogFormat: jsii.String("Text")},
	})
	enter(function, vpc)
	// By it rollcall doctor tells a relay of another release.
	awscdk.Tags_Of(function).Add(jsii.String(specs.RelayTag), jsii.String(specs.RelayDigest()), nil)
	// The local stage finds the program of a function by this.
	function.AddMetadata(jsii.String("Rollcall::Folder"), jsii.String("functions/"+s.Name))
}

// relayGroup is the relay's own security group, which leads to the cluster's and nowhere
// else, and the rule by which that lets it in. Amazon's resolver is asked past all groups
// (VPC user guide, "Security groups": "Route 53 Resolver").
func relayGroup(scope constructs.Construct, given relayGiven) awsec2.CfnSecurityGroup {
	group := awsec2.NewCfnSecurityGroup(scope, jsii.String("Group"), &awsec2.CfnSecurityGroupProps{
		// EC2 takes no apostrophes here (CreateSecurityGroup, GroupDescription).
		GroupDescription: jsii.String("Rollcall relay: to the API of its cluster and nowhere else"), VpcId: given.vpc,
		SecurityGroupEgress: []any{&awsec2.CfnSecurityGroup_EgressProperty{
			IpProtocol: jsii.String("tcp"), FromPort: jsii.Number(443), ToPort: jsii.Number(443), DestinationSecurityGroupId: given.group,
			Description: jsii.String("The API of the cluster"),
		}},
	})
	awsec2.NewCfnSecurityGroupIngress(scope, jsii.String("In"), &awsec2.CfnSecurityGroupIngressProps{
		GroupId: given.group, IpProtocol: jsii.String("tcp"), FromPort: jsii.Number(443), ToPort: jsii.Number(443), SourceSecurityGroupId: group.AttrGroupId(),
		Description: jsii.String("Rollcall relay, which lists what deploy/clusterrole.yaml gives"),
	})
	return group
}

// relayGiven is what a relay is told when it is deployed.
type relayGiven struct {
	name, cluster, endpoint, authority, vpc, subnetA, subnetB, group, bucket, key *string
}

func relayParameters(stack awscdk.Stack) relayGiven {
	parameter := func(name, of, about, form string) *string {
		p := &awscdk.CfnParameterProps{Type: jsii.String(of), Description: jsii.String(about)}
		if form != "" {
			p.AllowedPattern = jsii.String(form)
		}
		return awscdk.NewCfnParameter(stack, jsii.String(name), p).ValueAsString()
	}
	return relayGiven{
		name:      parameter("FunctionName", "String", "Its name, by which the reader finds it: the prefix of the deployment, -relay- and the cluster's name", "^[a-zA-Z0-9_-]{1,64}$"),
		cluster:   parameter("ClusterArn", "String", "The cluster", "^arn:[a-z-]+:eks:[a-z0-9-]+:[0-9]{12}:cluster/[0-9A-Za-z][A-Za-z0-9_-]{0,99}$"),
		endpoint:  parameter("ClusterEndpoint", "String", "The address of its API (aws eks describe-cluster: endpoint)", "^https://[A-Za-z0-9.-]+(:[0-9]+)?$"),
		authority: parameter("ClusterAuthority", "String", "Its authority (certificateAuthority.data)", "^[A-Za-z0-9+/=]+$"),
		vpc:       parameter("VpcId", "AWS::EC2::VPC::Id", "The cluster's VPC", ""),
		subnetA:   parameter("SubnetA", "AWS::EC2::Subnet::Id", "A subnet of the cluster", ""),
		subnetB:   parameter("SubnetB", "AWS::EC2::Subnet::Id", "Another one, in another zone", ""),
		group:     parameter("ClusterSecurityGroup", "AWS::EC2::SecurityGroup::Id", "The security group that EKS made for it (clusterSecurityGroupId)", ""),
		bucket:    parameter("CodeBucket", "String", "A bucket in this region with the relay of the hub's release", ""),
		key:       parameter("CodeKey", "String", "Its key there", ""),
	}
}
