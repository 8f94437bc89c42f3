package gather

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/snapshot"
)

func cluster(c types.Cluster) (snapshot.Cluster, error) {
	out := snapshot.Cluster{
		Name:     aws.ToString(c.Name),
		ARN:      aws.ToString(c.Arn),
		Status:   string(c.Status),
		Version:  aws.ToString(c.Version),
		Endpoint: aws.ToString(c.Endpoint),
		Tags:     c.Tags,
		Created:  aws.ToTime(c.CreatedAt),
		Role:     aws.ToString(c.RoleArn),
		AutoMode: c.ComputeConfig != nil && aws.ToBool(c.ComputeConfig.Enabled),
	}
	if c.AccessConfig != nil {
		out.AuthMode = string(c.AccessConfig.AuthenticationMode)
	}
	if c.Health != nil {
		for _, i := range c.Health.Issues {
			out.Issues = append(out.Issues, snapshot.Issue{Code: string(i.Code), Message: aws.ToString(i.Message), Resources: i.ResourceIds})
		}
	}
	if c.CertificateAuthority != nil {
		ca, err := base64.StdEncoding.DecodeString(aws.ToString(c.CertificateAuthority.Data))
		if err != nil {
			return out, fmt.Errorf("cluster %s: its certificate authority is not base64: %w", out.Name, err)
		}
		out.CA = ca
	}
	if v := c.ResourcesVpcConfig; v != nil {
		out.VPC = aws.ToString(v.VpcId)
		out.EndpointPublic, out.EndpointPrivate = v.EndpointPublicAccess, v.EndpointPrivateAccess
		out.SecurityGroup = aws.ToString(v.ClusterSecurityGroupId)
		out.SecurityGroups = slices.Sorted(slices.Values(v.SecurityGroupIds))
		out.Subnets = slices.Sorted(slices.Values(v.SubnetIds))
		for _, text := range v.PublicAccessCidrs {
			p, err := netip.ParsePrefix(text)
			if err != nil {
				return out, fmt.Errorf("cluster %s: public access range %q: %w", out.Name, text, err)
			}
			out.PublicAccessCIDRs = append(out.PublicAccessCIDRs, p)
		}
	}
	if n := c.KubernetesNetworkConfig; n != nil {
		out.IPv6 = n.IpFamily == types.IpFamilyIpv6
		out.ServiceCIDR = prefix(n.ServiceIpv4Cidr)
		if out.IPv6 {
			out.ServiceCIDR = prefix(n.ServiceIpv6Cidr)
		}
	}
	return out, nil
}

func nodegroup(n types.Nodegroup) snapshot.Nodegroup {
	out := snapshot.Nodegroup{
		Name:    aws.ToString(n.NodegroupName),
		Cluster: aws.ToString(n.ClusterName),
		ARN:     aws.ToString(n.NodegroupArn),
		Status:  string(n.Status),
		Subnets: n.Subnets,
		Spot:    n.CapacityType == types.CapacityTypesSpot,

		Role:    aws.ToString(n.NodeRole),
		AMIType: string(n.AmiType),
		Release: aws.ToString(n.ReleaseVersion),
		Version: aws.ToString(n.Version),
		Types:   n.InstanceTypes,
		Labels:  n.Labels,
		Tags:    n.Tags,
		Created: aws.ToTime(n.CreatedAt), Modified: aws.ToTime(n.ModifiedAt),
	}
	if t := n.LaunchTemplate; t != nil {
		out.Template = snapshot.TemplateRef{ID: aws.ToString(t.Id), Name: aws.ToString(t.Name), Version: aws.ToString(t.Version)}
	}
	for _, t := range n.Taints {
		out.Taints = append(out.Taints, snapshot.Taint{Key: aws.ToString(t.Key), Value: aws.ToString(t.Value), Effect: taintEffect(t.Effect)})
	}
	if n.Health != nil {
		for _, i := range n.Health.Issues {
			out.Issues = append(out.Issues, snapshot.Issue{Code: string(i.Code), Message: aws.ToString(i.Message), Resources: i.ResourceIds})
		}
	}
	if n.Resources != nil {
		for _, g := range n.Resources.AutoScalingGroups {
			out.Groups = append(out.Groups, aws.ToString(g.Name))
		}
	}
	if s := n.ScalingConfig; s != nil {
		out.Min, out.Max, out.Desired = int(aws.ToInt32(s.MinSize)), int(aws.ToInt32(s.MaxSize)), int(aws.ToInt32(s.DesiredSize))
	}
	return out
}

// taintEffect is an effect as Kubernetes writes it; EKS writes NO_SCHEDULE.
func taintEffect(e types.TaintEffect) string {
	switch e {
	case types.TaintEffectNoSchedule:
		return "NoSchedule"
	case types.TaintEffectNoExecute:
		return "NoExecute"
	case types.TaintEffectPreferNoSchedule:
		return "PreferNoSchedule"
	}
	return string(e)
}
