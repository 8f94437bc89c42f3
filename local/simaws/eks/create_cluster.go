package eks

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/table"
)

// createClusterTime is how long EKS takes to make a cluster: "several minutes" (API
// reference, CreateCluster).
const createClusterTime = 9 * time.Minute

// CreateCluster makes a cluster, of a new name or of one that was deleted: with the security
// group that is named first as its own, and without nodes, access entries and add-ons. It is
// described as CREATING until it is ACTIVE. A name that there is is a ResourceInUseException
// (EKS API reference, CreateCluster, "Errors", status 409).
func (s API) CreateCluster(in *eks.CreateClusterInput) (*eks.CreateClusterOutput, error) {
	defer s.w.Enter()()
	name := aws.ToString(in.Name)
	switch {
	case s.w.Clusters.Get(name) != nil:
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "Cluster already exists with name: " + name, Status: 409}
	case in.ResourcesVpcConfig == nil || len(in.ResourcesVpcConfig.SubnetIds) < 2:
		return nil, wire.Errorf("InvalidParameterException", "Subnets specified must be in at least two different AZs")
	}
	subnet := s.w.Subnets.Get(in.ResourcesVpcConfig.SubnetIds[0])
	if subnet == nil {
		return nil, wire.Errorf("InvalidParameterException", "The subnet ID '%s' does not exist", in.ResourcesVpcConfig.SubnetIds[0])
	}
	now := s.w.Now
	vpc := &ekstypes.VpcConfigResponse{
		VpcId: subnet.VpcId, SubnetIds: in.ResourcesVpcConfig.SubnetIds, SecurityGroupIds: in.ResourcesVpcConfig.SecurityGroupIds,
		EndpointPublicAccess:  in.ResourcesVpcConfig.EndpointPublicAccess == nil || *in.ResourcesVpcConfig.EndpointPublicAccess,
		EndpointPrivateAccess: aws.ToBool(in.ResourcesVpcConfig.EndpointPrivateAccess), PublicAccessCidrs: []string{"0.0.0.0/0"},
	}
	if len(in.ResourcesVpcConfig.SecurityGroupIds) > 0 {
		vpc.ClusterSecurityGroupId = aws.String(in.ResourcesVpcConfig.SecurityGroupIds[0])
	}
	c := &ekstypes.Cluster{
		Name: in.Name, Arn: aws.String(s.w.ARN("eks", "cluster/"+name)), RoleArn: in.RoleArn, Version: aws.String(aws.ToString(in.Version)), Status: ekstypes.ClusterStatusCreating,
		CreatedAt: aws.Time(now), ResourcesVpcConfig: vpc, AccessConfig: &ekstypes.AccessConfigResponse{AuthenticationMode: ekstypes.AuthenticationModeApiAndConfigMap},
		Endpoint: aws.String("https://" + strings.ToUpper(s.w.IDs.Hex(32)) + ".gr7." + s.w.Region + ".eks.amazonaws.com"),
	}
	s.w.Clusters.Put(name, c)
	s.w.Kubernetes[name] = &kubestate.Cluster{Name: name, Nodes: table.New[map[string]any](), Objects: map[string][]map[string]any{}, Version: 1000}
	s.w.After(createClusterTime, func() { c.Status = ekstypes.ClusterStatusActive })
	return &eks.CreateClusterOutput{Cluster: deepcopy.Of(c)}, nil
}
