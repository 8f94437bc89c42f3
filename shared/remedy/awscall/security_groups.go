package awscall

import (
	"context"

	"rollcall/shared/remedy/call"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
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

// AdmitTCP admits one port from security groups, in one call: all of it or nothing.
func (s SecurityGroups) AdmitTCP(ctx context.Context, group string, port int, from []string) call.Answer {
	var pairs []types.UserIdGroupPair
	for _, id := range from {
		pairs = append(pairs, types.UserIdGroupPair{GroupId: aws.String(id), Description: aws.String("Nodes (Rollcall)")})
	}
	out, err := s.client.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{
		GroupId: aws.String(group),
		IpPermissions: []types.IpPermission{{
			IpProtocol: aws.String("tcp"), FromPort: aws.Int32(int32(port)), ToPort: aws.Int32(int32(port)), UserIdGroupPairs: pairs,
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
