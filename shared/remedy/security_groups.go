package remedy

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/plan"
)

// IngressAuthorizer adds inbound rules to security groups.
type IngressAuthorizer interface {
	AuthorizeSecurityGroupIngress(context.Context, *ec2.AuthorizeSecurityGroupIngressInput, ...func(*ec2.Options)) (*ec2.AuthorizeSecurityGroupIngressOutput, error)
}

var _ IngressAuthorizer = (*ec2.Client)(nil)

// SecurityGroups opens ports.
type SecurityGroups struct{ client IngressAuthorizer }

// NewSecurityGroups makes one whose client tries each call once.
func NewSecurityGroups(cfg aws.Config) SecurityGroups {
	return SecurityGroups{ec2.NewFromConfig(cfg, func(o *ec2.Options) { o.Retryer = once() })}
}

// Open admits one port from security groups, in one call: all of it or nothing.
func (s SecurityGroups) Open(ctx context.Context, p plan.Open) Answer {
	var pairs []types.UserIdGroupPair
	for _, id := range p.From {
		pairs = append(pairs, types.UserIdGroupPair{GroupId: aws.String(id), Description: aws.String("Nodes (Rollcall)")})
	}
	out, err := s.client.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{
		GroupId: aws.String(p.SecurityGroup),
		IpPermissions: []types.IpPermission{{
			IpProtocol: aws.String("tcp"), FromPort: aws.Int32(int32(p.Port)), ToPort: aws.Int32(int32(p.Port)), UserIdGroupPairs: pairs,
		}},
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil || !aws.ToBool(out.Return):
		return empty()
	}
	return answered(out.ResultMetadata)
}
