package eks

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Clusters describes EKS clusters.
type Clusters interface {
	DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)
}

// clusters is the cluster itself, which Read reads before all others: its VPC
// says where to look, its endpoint whom to ask.
func clusters() source.Source {
	return source.Source{
		Name: snapshot.Clusters,
		Calls: []source.Call{
			{Action: "eks:DescribeCluster", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}},
		},
	}
}

// Describe describes a cluster.
func Describe(ctx context.Context, api Clusters, name string) (snapshot.Cluster, error) {
	out, err := api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(name)})
	if err != nil {
		return snapshot.Cluster{}, fmt.Errorf("describe cluster %s: %w", name, err)
	}
	if out.Cluster == nil {
		return snapshot.Cluster{}, fmt.Errorf("describe cluster %s: the answer holds no cluster", name)
	}
	return cluster(*out.Cluster)
}

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

		ZonalShift: c.ZonalShiftConfig != nil && aws.ToBool(c.ZonalShiftConfig.Enabled),
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
		if a := c.CertificateAuthority.Active; a != nil {
			out.CAActivatedBy = string(a.ActivatedBy)
		}
	}
	if v := c.ResourcesVpcConfig; v != nil {
		out.VPC = aws.ToString(v.VpcId)
		out.EgressMode = string(v.ControlPlaneEgressMode)
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
		out.ServiceCIDR = source.Prefix(n.ServiceIpv4Cidr)
		if out.IPv6 {
			out.ServiceCIDR = source.Prefix(n.ServiceIpv6Cidr)
		}
	}
	return out, nil
}

// Names are those of the region's clusters.
func Names(ctx context.Context, api eks.ListClustersAPIClient) ([]string, error) {
	var names []string
	p := eks.NewListClustersPaginator(api, &eks.ListClustersInput{})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list clusters: %w", err)
		}
		names = append(names, page.Clusters...)
	}
	return names, nil
}
