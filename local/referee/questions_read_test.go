package referee

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

func questions() []question {
	return slices.Concat(readingQuestions(), writingQuestions())
}

// Why moto answers otherwise.
const (
	motoBelieves   = "moto looks at no signature; AWS's codes are in local/platform/wire/signature.go"
	motoTakesIDs   = "moto looks for any id; AWS's codes are in the EC2 API reference, \"Error codes\" (local/platform/wire/ec2ids.go)"
	motoHasNoModel = "moto does not look at ranges and enumerations; they are in AWS's API models (local/platform/wire/model.txt)"
)

// readingQuestions need nothing in the account, and change nothing.
func readingQuestions() []question {
	var list []question
	// Who asks.
	list = append(list, question{name: "who asks", ask: func(ctx context.Context, p *place) (string, error) {
		out, err := p.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		if err != nil {
			return "", err
		}
		if !regexp.MustCompile(`^\d{12}$`).MatchString(aws.ToString(out.Account)) || !regexp.MustCompile(`^arn:aws[\w-]*:(iam|sts)::`+*out.Account+`:`).MatchString(aws.ToString(out.Arn)) {
			return "no caller: " + aws.ToString(out.Account) + " " + aws.ToString(out.Arn), nil
		}
		return "a caller", nil
	}, want: "a caller"})
	// Signatures.
	for service, codes := range map[string]struct{ wrong, unknown string }{
		"ec2": {"AuthFailure", "AuthFailure"}, "sts": {"SignatureDoesNotMatch", "InvalidClientTokenId"}, "iam": {"SignatureDoesNotMatch", "InvalidClientTokenId"},
		"autoscaling": {"SignatureDoesNotMatch", "InvalidClientTokenId"}, "eks": {"InvalidSignatureException", "UnrecognizedClientException"},
		"secretsmanager": {"InvalidSignatureException", "UnrecognizedClientException"},
	} {
		list = append(list,
			question{name: service + " with a wrong secret", ask: func(ctx context.Context, p *place) (string, error) {
				key, err := p.key(ctx)
				if err != nil {
					return "", err
				}
				return anyRead(ctx, service, p.as(key, "a-secret-that-is-not-the-one-of-this-key"))
			}, want: codes.wrong, moto: "believed", why: motoBelieves},
			question{name: service + " with an unknown key", ask: func(ctx context.Context, p *place) (string, error) {
				return anyRead(ctx, service, p.as("AKIAIOSFODNN7NOTAKEY", "a-secret"))
			}, want: codes.unknown, moto: "believed", why: motoBelieves})
	}
	// Ids that cannot be, and ids of nothing.
	for name, id := range describes() {
		moto, silent := id.notFound, ""
		if name == "a NAT gateway" {
			moto, silent = "found", "found"
		}
		list = append(list,
			question{name: name + " by another kind's id", ask: func(ctx context.Context, p *place) (string, error) { return id.ask(ctx, p, "web-1") },
				want: id.malformed, moto: moto, why: motoTakesIDs},
			question{name: name + " by a short id", ask: func(ctx context.Context, p *place) (string, error) { return id.ask(ctx, p, id.prefix+"-1") },
				want: id.malformed, moto: moto, why: motoTakesIDs},
			question{name: name + " that is not there", ask: func(ctx context.Context, p *place) (string, error) { return id.ask(ctx, p, id.prefix+"-"+absent) },
				want: id.notFound, moto: silent, why: map[bool]string{true: "moto answers with an empty list; NatGatewayNotFound is in the EC2 API reference, \"Error codes\""}[silent != ""]})
	}
	slices.SortFunc(list[1:], func(a, b question) int { return strings.Compare(a.name, b.name) })
	return append(list,
		question{name: "a page that is too long", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DescribeVpcPeeringConnections(ctx, &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: aws.Int32(1001)})
			return "a page", err
		}, want: "InvalidParameterValue", moto: "a page", why: motoHasNoModel},
		question{name: "a page of clusters that is too long", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.eks.ListClusters(ctx, &eks.ListClustersInput{MaxResults: aws.Int32(101)})
			return "a page", err
		}, want: "InvalidParameterException", moto: "a page", why: motoHasNoModel},
		question{name: "a filter that does not exist", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: filters("colour", "red")})
			return "found", err
		}, want: "InvalidParameterValue", moto: "found", why: "moto overlooks it; EC2: The filter 'colour' is invalid"},
		question{name: "a value that nothing has", ask: func(ctx context.Context, p *place) (string, error) {
			out, err := p.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: filters("instance-id", "web-1")})
			if err == nil && len(out.Reservations) > 0 {
				return "something", nil
			}
			return "nothing", err
		}, want: "nothing"},
		question{name: "an attribute that does not exist", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{VpcId: aws.String("vpc-" + absent), Attribute: types.VpcAttributeName("enableDns")})
			return "told", err
		}, want: "InvalidParameterValue", moto: "InvalidVpcID.NotFound", why: motoHasNoModel},
		question{name: "an unknown cluster", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "ResourceNotFoundException"},
		question{name: "nodegroups of an unknown cluster", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.eks.ListNodegroups(ctx, &eks.ListNodegroupsInput{ClusterName: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "ResourceNotFoundException", moto: "broken", why: "moto answers with HTTP 500; EKS's model has the exception"},
		question{name: "an unknown role", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "NoSuchEntity"},
		question{name: "a role by its path", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("team/node")})
			return "found", err
		}, want: "ValidationError", moto: "NoSuchEntity", why: motoHasNoModel},
		question{name: "an unknown instance profile", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "NoSuchEntity"},
		question{name: "an unknown Auto Scaling group", ask: func(ctx context.Context, p *place) (string, error) {
			out, err := p.autoscaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"rollcall-asks-for-nothing"}})
			if err == nil && len(out.AutoScalingGroups) > 0 {
				return "something", nil
			}
			return "nothing", err
		}, want: "nothing"},
		question{name: "an unknown secret", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "ResourceNotFoundException"},
		question{name: "an unknown queue", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "AWS.SimpleQueueService.NonExistentQueue"},
	)
}

// anyRead is one read of a service that needs nothing in the account.
func anyRead(ctx context.Context, service string, p *place) (string, error) {
	var err error
	switch service {
	case "ec2":
		_, err = p.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	case "sts":
		_, err = p.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	case "iam":
		if _, err = p.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("rollcall-asks-for-nothing")}); isCode(err, "NoSuchEntity") {
			err = nil
		}
	case "autoscaling":
		_, err = p.autoscaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{})
	case "eks":
		_, err = p.eks.ListClusters(ctx, &eks.ListClustersInput{})
	case "secretsmanager":
		if _, err = p.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String("rollcall-asks-for-nothing")}); isCode(err, "ResourceNotFoundException") {
			err = nil
		}
	}
	return "believed", err
}

// describe asks for one resource of EC2 by its id.
type describe struct {
	prefix, malformed, notFound string
	ask                         func(ctx context.Context, p *place, id string) (string, error)
}

func describes() map[string]describe {
	return map[string]describe{
		"an instance": {"i", "InvalidInstanceID.Malformed", "InvalidInstanceID.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
			return "found", err
		}},
		"a subnet": {"subnet", "InvalidSubnetID.Malformed", "InvalidSubnetID.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{id}})
			return "found", err
		}},
		"a VPC": {"vpc", "InvalidVpcID.Malformed", "InvalidVpcID.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{id}})
			return "found", err
		}},
		"a route table": {"rtb", "InvalidRouteTableId.Malformed", "InvalidRouteTableID.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{id}})
			return "found", err
		}},
		"an interface": {"eni", "InvalidNetworkInterfaceId.Malformed", "InvalidNetworkInterfaceID.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
			return "found", err
		}},
		"a security group": {"sg", "InvalidGroupId.Malformed", "InvalidGroup.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{id}})
			return "found", err
		}},
		"a NAT gateway": {"nat", "NatGatewayMalformed", "NatGatewayNotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeNatGateways(ctx, &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{id}})
			return "found", err
		}},
		"a volume": {"vol", "InvalidVolumeID.Malformed", "InvalidVolume.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{VolumeIds: []string{id}})
			return "found", err
		}},
		"a launch template": {"lt", "InvalidLaunchTemplateId.Malformed", "InvalidLaunchTemplateId.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: []string{"1"}})
			return "found", err
		}},
	}
}
