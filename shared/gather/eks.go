package gather

import (
	"context"
	"errors"
	"fmt"

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

// NodegroupList lists the names of a cluster's managed node groups.
type NodegroupList interface {
	ListNodegroups(context.Context, *eks.ListNodegroupsInput, ...func(*eks.Options)) (*eks.ListNodegroupsOutput, error)
}

// Nodegroups describes managed node groups.
type Nodegroups interface {
	DescribeNodegroup(context.Context, *eks.DescribeNodegroupInput, ...func(*eks.Options)) (*eks.DescribeNodegroupOutput, error)
}

var (
	_ ClusterList   = (*eks.Client)(nil)
	_ Clusters      = (*eks.Client)(nil)
	_ NodegroupList = (*eks.Client)(nil)
	_ Nodegroups    = (*eks.Client)(nil)
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

// nodegroupNames lists all of a cluster's node groups.
func (r *Reader) nodegroupNames(ctx context.Context, cluster string) ([]string, error) {
	var names []string
	p := eks.NewListNodegroupsPaginator(r.nodegroupList, &eks.ListNodegroupsInput{ClusterName: aws.String(cluster)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list nodegroups: %w", err)
		}
		names = append(names, page.Nodegroups...)
	}
	return names, nil
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
		if out.Nodegroup == nil {
			// Not that there is none: that would be taken for its deletion.
			return nil, fmt.Errorf("describe nodegroup %s: %w", name, errHalf)
		}
		all = append(all, nodegroup(*out.Nodegroup))
	}
	return all, nil
}
