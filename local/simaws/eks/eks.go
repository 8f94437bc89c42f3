// Package eks is the account's EKS API: one method for each operation, and the
// updates of nodegroups and add-ons that take their time.
package eks

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// API is the world's EKS API, one method for each operation.
type API struct{ w *state.State }

// New is the EKS API of an account.
func New(w *state.State) API { return API{w} }

// eksPage is the largest page and the one without a size.
const eksPage = 100

// errEKSMissing is what EKS answers for a thing that does not exist.
func errEKSMissing(format string, args ...any) *wire.Error {
	e := wire.Errorf("ResourceNotFoundException", format, args...)
	e.Status = 404
	return e
}

// names is one page of names.
func names(list []string, size *int32, token *string) ([]string, *string, error) {
	n := int32(eksPage)
	if size != nil {
		n = *size
		if n < 1 || n > eksPage {
			return nil, nil, wire.Errorf("InvalidParameterException", "maxResults must be between 1 and %d", eksPage)
		}
	}
	rows := make([]*string, len(list))
	for i := range list {
		rows[i] = &list[i]
	}
	rows, next, err := table.Page(rows, func(s *string) *string { return s }, token, int(n), func() *wire.Error {
		return wire.Errorf("InvalidParameterException", "Invalid nextToken")
	})
	if err != nil {
		return nil, nil, err
	}
	return deepcopy.Each(rows), next, nil
}

func eksCluster(w *state.State, name *string) (*ekstypes.Cluster, error) {
	if c := w.Clusters.Get(aws.ToString(name)); c != nil {
		return c, nil
	}
	return nil, errEKSMissing("No cluster found for name: %s.", aws.ToString(name))
}

// ListClusters lists the clusters' names.
func (s API) ListClusters(in *eks.ListClustersInput) (*eks.ListClustersOutput, error) {
	defer s.w.Enter()()
	var all []string
	for _, c := range s.w.Clusters.All() {
		all = append(all, *c.Name)
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListClustersOutput{Clusters: list, NextToken: next}, nil
}

// DescribeCluster shows a cluster.
func (s API) DescribeCluster(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	defer s.w.Enter()()
	c, err := eksCluster(s.w, in.Name)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeClusterOutput{Cluster: deepcopy.Of(c)}, nil
}

// ListNodegroups lists a cluster's nodegroups.
func (s API) ListNodegroups(in *eks.ListNodegroupsInput) (*eks.ListNodegroupsOutput, error) {
	defer s.w.Enter()()
	if _, err := eksCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	var all []string
	for _, n := range s.w.Nodegroups.All() {
		if aws.ToString(n.ClusterName) == *in.ClusterName {
			all = append(all, *n.NodegroupName)
		}
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListNodegroupsOutput{Nodegroups: list, NextToken: next}, nil
}

func eksNodegroup(w *state.State, cluster, name *string) (*state.Nodegroup, error) {
	if _, err := eksCluster(w, cluster); err != nil {
		return nil, err
	}
	if n := w.Nodegroups.Get(state.NodegroupKey(*cluster, aws.ToString(name))); n != nil {
		return n, nil
	}
	return nil, errEKSMissing("No node group found for name: %s.", aws.ToString(name))
}

// DescribeNodegroup shows a nodegroup.
func (s API) DescribeNodegroup(in *eks.DescribeNodegroupInput) (*eks.DescribeNodegroupOutput, error) {
	defer s.w.Enter()()
	n, err := eksNodegroup(s.w, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeNodegroupOutput{Nodegroup: deepcopy.Of(&n.Nodegroup)}, nil
}
