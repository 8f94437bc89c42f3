package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

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
	got, err := parameters(private(func(*types.Cluster) {}), "rollcall", "mine", "rollcall/relay-1.zip")
	expect.OK(t, err)
	want := []parameter{
		{"FunctionName", "rollcall-relay-prod"}, {"ClusterArn", "arn:aws:eks:eu-west-1:222233334444:cluster/prod"},
		{"ClusterEndpoint", "https://A1.gr7.eu-west-1.eks.amazonaws.com"}, {"ClusterAuthority", "Q0E="}, {"VpcId", "vpc-1"},
		{"SubnetA", "subnet-1"}, {"SubnetB", "subnet-2"}, {"ClusterSecurityGroup", "sg-1"}, {"CodeBucket", "mine"}, {"CodeKey", "rollcall/relay-1.zip"},
	}
	expect.Same(t, "got", got, want)
	for name, x := range map[string]struct {
		cluster *types.Cluster
		want    error
	}{
		"public too": {private(func(c *types.Cluster) { c.ResourcesVpcConfig.EndpointPublicAccess = true }), errPublic},
		"open to all": {private(func(c *types.Cluster) {
			c.ResourcesVpcConfig.EndpointPublicAccess, c.ResourcesVpcConfig.PublicAccessCidrs = true, []string{"203.0.113.0/24", "0.0.0.0/0"}
		}), errPublic},
		"open to some": {private(func(c *types.Cluster) {
			c.ResourcesVpcConfig.EndpointPublicAccess, c.ResourcesVpcConfig.PublicAccessCidrs = true, []string{"203.0.113.0/24"}
		}), nil},
		"not within": {private(func(c *types.Cluster) {
			c.ResourcesVpcConfig.EndpointPublicAccess, c.ResourcesVpcConfig.PublicAccessCidrs, c.ResourcesVpcConfig.EndpointPrivateAccess = true, []string{"203.0.113.0/24"}, false
		}), errNoPrivate},
		"being made":   {private(func(c *types.Cluster) { c.Endpoint = nil }), errYoung},
		"no authority": {private(func(c *types.Cluster) { c.CertificateAuthority = nil }), errYoung},
		"one subnet":   {private(func(c *types.Cluster) { c.ResourcesVpcConfig.SubnetIds = []string{"subnet-1"} }), errYoung},
		"no VPC":       {private(func(c *types.Cluster) { c.ResourcesVpcConfig = nil }), errYoung},
		"no cluster":   {nil, errYoung},
	} {
		if _, err := parameters(x.cluster, "rollcall", "b", "k"); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", name, err, x.want)
		}
	}
}

// The same program is the same archive, and another one has another key.
func TestPacked(t *testing.T) {
	a, key, err := packed([]byte("one"))
	again, same, err2 := packed([]byte("one"))
	_, other, err3 := packed([]byte("two"))
	expect.OK(t, errors.Join(err, err2, err3))
	if !bytes.Equal(a, again) || key != same || key == other || !strings.HasPrefix(key, "rollcall/relay-") {
		t.Errorf("keys %s, %s, %s", key, same, other)
	}
}
