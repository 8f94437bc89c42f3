package relaystack

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/infra/settings"
	"rollcall/tools/expect"
)

func private(change func(*types.Cluster)) *types.Cluster {
	c := &types.Cluster{
		Name: aws.String("prod"), Arn: aws.String("arn:aws:eks:eu-west-1:222233334444:cluster/prod"), Endpoint: aws.String("https://A1.gr7.eu-west-1.eks.amazonaws.com"),
		CertificateAuthority: &types.Certificate{Data: aws.String("Q0E=")},
		ResourcesVpcConfig: &types.VpcConfigResponse{
			VpcId: aws.String("vpc-1"), SubnetIds: []string{"subnet-1", "subnet-2", "subnet-3"}, ClusterSecurityGroupId: aws.String("sg-1"), EndpointPrivateAccess: true,
		},
	}
	change(c)
	return c
}

func TestParameters(t *testing.T) {
	chosen := settings.Settings{PermissionsBoundary: "arn:aws:iam::111122223333:policy/teams/boundary", RolePath: "/teams/"}
	got, err := Parameters(private(func(*types.Cluster) {}), chosen, "rollcall", "mine", "rollcall/relay-1.zip")
	expect.OK(t, err)
	want := []Parameter{
		{"FunctionName", "rollcall-relay-prod"}, {"ClusterArn", "arn:aws:eks:eu-west-1:222233334444:cluster/prod"},
		{"ClusterEndpoint", "https://A1.gr7.eu-west-1.eks.amazonaws.com"}, {"ClusterAuthority", "Q0E="}, {"VpcId", "vpc-1"},
		{"SubnetA", "subnet-1"}, {"SubnetB", "subnet-2"}, {"ClusterSecurityGroup", "sg-1"}, {"CodeBucket", "mine"}, {"CodeKey", "rollcall/relay-1.zip"},
		{"PermissionsBoundary", "arn:aws:iam::222233334444:policy/teams/boundary"}, {"RolePath", "/teams/"},
	}
	expect.Same(t, "got", got, want)
	for name, x := range map[string]struct {
		cluster *types.Cluster
		want    error
	}{
		"public too": {private(func(c *types.Cluster) { c.ResourcesVpcConfig.EndpointPublicAccess = true }), ErrPublic},
		"open to all": {private(func(c *types.Cluster) {
			c.ResourcesVpcConfig.EndpointPublicAccess, c.ResourcesVpcConfig.PublicAccessCidrs = true, []string{"203.0.113.0/24", "0.0.0.0/0"}
		}), ErrPublic},
		"open to some": {private(func(c *types.Cluster) {
			c.ResourcesVpcConfig.EndpointPublicAccess, c.ResourcesVpcConfig.PublicAccessCidrs = true, []string{"203.0.113.0/24"}
		}), nil},
		"not within": {private(func(c *types.Cluster) {
			c.ResourcesVpcConfig.EndpointPublicAccess, c.ResourcesVpcConfig.PublicAccessCidrs, c.ResourcesVpcConfig.EndpointPrivateAccess = true, []string{"203.0.113.0/24"}, false
		}), ErrNoPrivate},
		"being made":   {private(func(c *types.Cluster) { c.Endpoint = nil }), ErrYoung},
		"no authority": {private(func(c *types.Cluster) { c.CertificateAuthority = nil }), ErrYoung},
		"one subnet":   {private(func(c *types.Cluster) { c.ResourcesVpcConfig.SubnetIds = []string{"subnet-1"} }), ErrYoung},
		"no VPC":       {private(func(c *types.Cluster) { c.ResourcesVpcConfig = nil }), ErrYoung},
		"no cluster":   {nil, ErrYoung},
	} {
		if _, err := Parameters(x.cluster, settings.Settings{}, "rollcall", "b", "k"); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", name, err, x.want)
		}
	}
}

// TestBoundary: AWS's own policies are in no account.
func TestBoundary(t *testing.T) {
	const cluster = "arn:aws-us-gov:eks:us-gov-west-1:222233334444:cluster/prod"
	for policy, want := range map[string]string{
		"": "",
		"arn:aws:iam::aws:policy/PowerUserAccess":      "arn:aws:iam::aws:policy/PowerUserAccess",
		"arn:aws:iam::111122223333:policy/teams/limit": "arn:aws-us-gov:iam::222233334444:policy/teams/limit",
	} {
		if got := boundary(policy, cluster); got != want {
			t.Errorf("%s is %s, want %s", policy, got, want)
		}
	}
}
