package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/relay"
)

// parameter is one of a stack's, as `aws cloudformation deploy --parameter-overrides
// file://…` reads it (AWS CLI reference, cloudformation deploy).
type parameter struct {
	ParameterKey, ParameterValue string
}

var (
	errPublic = errors.New("its API has a public endpoint that is open to all: Rollcall reads it without a relay")
	// errNoPrivate: a relay stands in the cluster's VPC.
	errNoPrivate = errors.New("its API has no private endpoint, and a relay needs it: aws eks update-cluster-config --name NAME --resources-vpc-config endpointPrivateAccess=true")
	errYoung     = errors.New("EKS tells no address, authority, VPC or two subnets of it yet: wait until it is ACTIVE")
)

// parameters are those of the relay of a cluster.
func parameters(c *types.Cluster, prefix, bucket, key string) ([]parameter, error) {
	if c == nil {
		return nil, errYoung
	}
	vpc, ca := c.ResourcesVpcConfig, c.CertificateAuthority
	switch {
	case vpc == nil || ca == nil || aws.ToString(c.Endpoint) == "" || aws.ToString(ca.Data) == "" ||
		aws.ToString(vpc.VpcId) == "" || aws.ToString(vpc.ClusterSecurityGroupId) == "" || len(vpc.SubnetIds) < 2:
		return nil, fmt.Errorf("cluster %s: %w", aws.ToString(c.Name), errYoung)
	case vpc.EndpointPublicAccess && (len(vpc.PublicAccessCidrs) == 0 || slices.Contains(vpc.PublicAccessCidrs, "0.0.0.0/0")):
		return nil, fmt.Errorf("cluster %s: %w", aws.ToString(c.Name), errPublic)
	case !vpc.EndpointPrivateAccess:
		return nil, fmt.Errorf("cluster %s: %w", aws.ToString(c.Name), errNoPrivate)
	}
	return []parameter{
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
	}, nil
}

// stackName is the function's name, as a stack may be called: a cluster's name may have a
// low line (CloudFormation API reference, CreateStack, StackName).
func stackName(list []parameter) string {
	return strings.ReplaceAll(list[0].ParameterValue, "_", "-")
}

// packed is a program as Lambda takes it, the same for the same program, and its key, which
// is another for another: CloudFormation takes new code by a new key alone.
func packed(program []byte) (archive []byte, key string, err error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	h := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate, Modified: time.Unix(315532800, 0).UTC()} // 1980, where ZIP begins
	h.SetMode(0o755)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = w.Write(program)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, "", fmt.Errorf("pack the relay's program: %w", err)
	}
	sum := sha256.Sum256(program)
	return out.Bytes(), "rollcall/relay-" + hex.EncodeToString(sum[:8]) + ".zip", nil
}
