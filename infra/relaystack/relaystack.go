// Package relaystack makes the parameters of a relay's stack of what EKS returns of its cluster:
// for make deploy-relay and rollcall deploy relay.
package relaystack

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/infra/settings"
	"rollcall/shared/relay"
)

// Parameter is one of a stack's, as `aws cloudformation deploy --parameter-overrides
// file://…` reads it (AWS CLI reference, cloudformation deploy).
type Parameter struct {
	ParameterKey, ParameterValue string
}

var (
	// ErrPublic is that a relay is not needed.
	ErrPublic = errors.New("its API has a public endpoint that is open to all: Rollcall reads it without a relay")
	// ErrNoPrivate is that a relay is not possible: it stands in the cluster's VPC.
	ErrNoPrivate = errors.New("its API has no private endpoint, and a relay needs it: aws eks update-cluster-config --name NAME --resources-vpc-config endpointPrivateAccess=true")
	// ErrYoung is that the cluster is still being made.
	ErrYoung = errors.New("EKS tells no address, authority, VPC or two subnets of it yet: wait until it is ACTIVE")
)

// Parameters are those of the relay of a cluster. Of the settings it has what all roles have.
func Parameters(c *types.Cluster, chosen settings.Settings, prefix, bucket, key string) ([]Parameter, error) {
	if c == nil {
		return nil, ErrYoung
	}
	vpc, ca := c.ResourcesVpcConfig, c.CertificateAuthority
	switch {
	case vpc == nil || ca == nil || aws.ToString(c.Endpoint) == "" || aws.ToString(ca.Data) == "" ||
		aws.ToString(vpc.VpcId) == "" || aws.ToString(vpc.ClusterSecurityGroupId) == "" || len(vpc.SubnetIds) < 2:
		return nil, fmt.Errorf("cluster %s: %w", aws.ToString(c.Name), ErrYoung)
	case vpc.EndpointPublicAccess && (len(vpc.PublicAccessCidrs) == 0 || slices.Contains(vpc.PublicAccessCidrs, "0.0.0.0/0")):
		return nil, fmt.Errorf("cluster %s: %w", aws.ToString(c.Name), ErrPublic)
	case !vpc.EndpointPrivateAccess:
		return nil, fmt.Errorf("cluster %s: %w", aws.ToString(c.Name), ErrNoPrivate)
	}
	return []Parameter{
		{"FunctionName", relay.FunctionName(prefix, aws.ToString(c.Name))},
		{"ClusterArn", aws.ToString(c.Arn)},
		{"ClusterEndpoint", aws.ToString(c.Endpoint)},
		{"ClusterAuthority", aws.ToString(ca.Data)},
		{"VpcId", aws.ToString(vpc.VpcId)},
		// EKS wants two at least, in two zones (EKS API reference, VpcConfigRequest).
		{"SubnetA", vpc.SubnetIds[0]},
		{"SubnetB", vpc.SubnetIds[1]},
		{"ClusterSecurityGroup", aws.ToString(vpc.ClusterSecurityGroupId)},
		{"CodeBucket", bucket},
		{"CodeKey", key},
		{"PermissionsBoundary", boundary(chosen.PermissionsBoundary, aws.ToString(c.Arn))},
		{"RolePath", chosen.RolePath},
	}, nil
}

// boundary is the hub's boundary as the policy of the same name in a cluster's account, as in a
// spoke: a boundary is a policy of the role's own account or of AWS (IAM API reference, CreateRole).
func boundary(policy, cluster string) string {
	parts, of := strings.SplitN(policy, ":", 6), strings.Split(cluster, ":")
	if len(parts) == 6 && parts[4] != "aws" && len(of) > 4 {
		parts[1], parts[4] = of[1], of[4]
	}
	return strings.Join(parts, ":")
}

// Name is the function's name, as a stack may be called: a cluster's name may have a
// low line (CloudFormation API reference, CreateStack, StackName).
func Name(list []Parameter) string {
	return strings.ReplaceAll(list[0].ParameterValue, "_", "-")
}
