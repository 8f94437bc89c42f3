package gather

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/snapshot"
)

// ClusterList lists the names of EKS clusters.
type ClusterList interface {
	ListClusters(context.Context, *eks.ListClustersInput, ...func(*eks.Options)) (*eks.ListClustersOutput, error)
}

// Clusters describes EKS clusters.
type Clusters interface {
	DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)
}

// Nodegroups describes managed node groups.
type Nodegroups interface {
	DescribeNodegroup(context.Context, *eks.DescribeNodegroupInput, ...func(*eks.Options)) (*eks.DescribeNodegroupOutput, error)
}

var (
	_ ClusterList = (*eks.Client)(nil)
	_ Clusters    = (*eks.Client)(nil)
	_ Nodegroups  = (*eks.Client)(nil)
)

// ErrNoCluster is returned for a cluster that EKS does not have: the tags of
// other Kubernetes distributions look like its own.
var ErrNoCluster = errors.New("EKS has no cluster of this name in this region")

// Clusters lists the names of the region's clusters.
func (r *Reader) Clusters(ctx context.Context) ([]string, *snapshot.Failure) {
	var names []string
	p := eks.NewListClustersPaginator(r.clusterList, &eks.ListClustersInput{})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, failure(snapshot.Clusters, "eks:ListClusters", err)
		}
		names = append(names, page.Clusters...)
	}
	return names, nil
}

func (r *Reader) readCluster(ctx context.Context, name string) (snapshot.Cluster, error) {
	out, err := r.clusters.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(name)})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return snapshot.Cluster{}, fmt.Errorf("cluster %s: %w", name, ErrNoCluster)
	}
	if err != nil {
		return snapshot.Cluster{}, fmt.Errorf("describe cluster %s: %w", name, err)
	}
	if out.Cluster == nil {
		return snapshot.Cluster{}, fmt.Errorf("describe cluster %s: the answer holds no cluster", name)
	}
	return cluster(*out.Cluster)
}

// readNodegroups reads the named groups. One that is being deleted may be gone
// before its instances: that is no failure.
func (r *Reader) readNodegroups(ctx context.Context, cluster string, names []string) ([]snapshot.Nodegroup, error) {
	var all []snapshot.Nodegroup
	for _, name := range names {
		out, err := r.nodegroups.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(name)})
		var missing *types.ResourceNotFoundException
		if errors.As(err, &missing) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("describe nodegroup %s: %w", name, err)
		}
		if out.Nodegroup != nil {
			all = append(all, nodegroup(*out.Nodegroup))
		}
	}
	return all, nil
}

func cluster(c types.Cluster) (snapshot.Cluster, error) {
	out := snapshot.Cluster{
		Name:     aws.ToString(c.Name),
		ARN:      aws.ToString(c.Arn),
		Status:   string(c.Status),
		Version:  aws.ToString(c.Version),
		Endpoint: aws.ToString(c.Endpoint),
		Tags:     c.Tags,
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
	}
	return out, nil
}

func nodegroup(n types.Nodegroup) snapshot.Nodegroup {
	out := snapshot.Nodegroup{
		Name:    aws.ToString(n.NodegroupName),
		Cluster: aws.ToString(n.ClusterName),
		Status:  string(n.Status),
		Subnets: n.Subnets,
		Spot:    n.CapacityType == types.CapacityTypesSpot,
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
