package eks

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
)

// deleteClusterTime is how long EKS takes to delete a cluster: some minutes.
const deleteClusterTime = 4 * time.Minute

// DeleteCluster deletes a cluster that has no nodegroups any more. While that
// lasts it is listed and described as DELETING; then it is not found (EKS API
// reference, DeleteCluster: "If your cluster has managed node groups … you must
// delete those first", ResourceInUseException; botocore's waiter ClusterDeleted,
// eks/2017-11-01, waits while DescribeCluster says neither ACTIVE, CREATING nor
// PENDING, until ResourceNotFoundException, which its model gives the status 404).
func (s API) DeleteCluster(in *eks.DeleteClusterInput) (*eks.DeleteClusterOutput, error) {
	defer s.w.Enter()()
	c, err := eksCluster(s.w, in.Name)
	if err != nil {
		return nil, err
	}
	for _, n := range s.w.Nodegroups.All() {
		if aws.ToString(n.ClusterName) == *c.Name {
			return nil, &wire.Error{Code: "ResourceInUseException", Message: "Cluster has nodegroups attached", Status: 409}
		}
	}
	if c.Status == ekstypes.ClusterStatusDeleting {
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "Cluster is already being deleted", Status: 409}
	}
	c.Status = ekstypes.ClusterStatusDeleting
	name := *c.Name
	s.w.After(deleteClusterTime, func() {
		s.w.Clusters.Remove(name)
		for _, a := range s.w.AccessEntries.All() { // they are the cluster's, and go with it
			if aws.ToString(a.ClusterName) == name {
				key := state.NodegroupKey(name, aws.ToString(a.PrincipalArn))
				s.w.AccessEntries.Remove(key)
				delete(s.w.AccessPolicies, key)
			}
		}
	})
	return &eks.DeleteClusterOutput{Cluster: deepcopy.Of(c)}, nil
}
