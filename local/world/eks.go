package world

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/wire"
)

// EKS is the world's EKS API, one method for each operation.
type EKS struct{ w *World }

// EKS is the world's EKS API.
func (w *World) EKS() EKS { return EKS{w} }

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
	rows, next, err := page(rows, func(s *string) *string { return s }, token, int(n), func() *wire.Error {
		return wire.Errorf("InvalidParameterException", "Invalid nextToken")
	})
	if err != nil {
		return nil, nil, err
	}
	return clones(rows), next, nil
}

func (w *World) eksCluster(name *string) (*ekstypes.Cluster, error) {
	if c := w.clusters.get(aws.ToString(name)); c != nil {
		return c, nil
	}
	return nil, errEKSMissing("No cluster found for name: %s.", aws.ToString(name))
}

// ListClusters lists the clusters' names.
func (s EKS) ListClusters(in *eks.ListClustersInput) (*eks.ListClustersOutput, error) {
	defer s.w.enter()()
	var all []string
	for _, c := range s.w.clusters.all() {
		all = append(all, *c.Name)
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListClustersOutput{Clusters: list, NextToken: next}, nil
}

// DescribeCluster shows a cluster.
func (s EKS) DescribeCluster(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	defer s.w.enter()()
	c, err := s.w.eksCluster(in.Name)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeClusterOutput{Cluster: ptr(clone(*c))}, nil
}

// ListNodegroups lists a cluster's nodegroups.
func (s EKS) ListNodegroups(in *eks.ListNodegroupsInput) (*eks.ListNodegroupsOutput, error) {
	defer s.w.enter()()
	if _, err := s.w.eksCluster(in.ClusterName); err != nil {
		return nil, err
	}
	var all []string
	for _, n := range s.w.nodegroups.all() {
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

func (w *World) eksNodegroup(cluster, name *string) (*nodegroup, error) {
	if _, err := w.eksCluster(cluster); err != nil {
		return nil, err
	}
	if n := w.nodegroups.get(nodegroupKey(*cluster, aws.ToString(name))); n != nil {
		return n, nil
	}
	return nil, errEKSMissing("No node group found for name: %s.", aws.ToString(name))
}

// DescribeNodegroup shows a nodegroup.
func (s EKS) DescribeNodegroup(in *eks.DescribeNodegroupInput) (*eks.DescribeNodegroupOutput, error) {
	defer s.w.enter()()
	n, err := s.w.eksNodegroup(in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeNodegroupOutput{Nodegroup: ptr(clone(n.Nodegroup))}, nil
}

// ListUpdates lists the updates of a nodegroup; this world updates nothing
// else.
func (s EKS) ListUpdates(in *eks.ListUpdatesInput) (*eks.ListUpdatesOutput, error) {
	defer s.w.enter()()
	if _, err := s.w.eksCluster(in.Name); err != nil {
		return nil, err
	}
	var all []string
	if in.NodegroupName != nil {
		n, err := s.w.eksNodegroup(in.Name, in.NodegroupName)
		if err != nil {
			return nil, err
		}
		for _, u := range slices.Backward(n.updates) {
			all = append(all, aws.ToString(u.Id))
		}
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListUpdatesOutput{UpdateIds: list, NextToken: next}, nil
}

// DescribeUpdate shows an update of a nodegroup.
func (s EKS) DescribeUpdate(in *eks.DescribeUpdateInput) (*eks.DescribeUpdateOutput, error) {
	defer s.w.enter()()
	if in.NodegroupName != nil {
		n, err := s.w.eksNodegroup(in.Name, in.NodegroupName)
		if err != nil {
			return nil, err
		}
		for _, u := range n.updates {
			if aws.ToString(u.Id) == aws.ToString(in.UpdateId) {
				return &eks.DescribeUpdateOutput{Update: ptr(clone(*u))}, nil
			}
		}
	} else if _, err := s.w.eksCluster(in.Name); err != nil {
		return nil, err
	}
	return nil, errEKSMissing("No update found for ID: %s", aws.ToString(in.UpdateId))
}

// ListAddons lists a cluster's add-ons.
func (s EKS) ListAddons(in *eks.ListAddonsInput) (*eks.ListAddonsOutput, error) {
	defer s.w.enter()()
	if _, err := s.w.eksCluster(in.ClusterName); err != nil {
		return nil, err
	}
	var all []string
	for _, a := range s.w.addons.all() {
		if aws.ToString(a.ClusterName) == *in.ClusterName {
			all = append(all, *a.AddonName)
		}
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListAddonsOutput{Addons: list, NextToken: next}, nil
}

// DescribeAddon shows an add-on.
func (s EKS) DescribeAddon(in *eks.DescribeAddonInput) (*eks.DescribeAddonOutput, error) {
	defer s.w.enter()()
	if _, err := s.w.eksCluster(in.ClusterName); err != nil {
		return nil, err
	}
	a := s.w.addons.get(nodegroupKey(*in.ClusterName, aws.ToString(in.AddonName)))
	if a == nil {
		return nil, errEKSMissing("No addon: %s found in cluster: %s", aws.ToString(in.AddonName), *in.ClusterName)
	}
	return &eks.DescribeAddonOutput{Addon: ptr(clone(*a))}, nil
}
