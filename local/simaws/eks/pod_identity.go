package eks

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/state"
)

// PutPodIdentity keeps an association, with what EKS would have filled in.
func PutPodIdentity(w *state.State, a *ekstypes.PodIdentityAssociation) {
	defaults.Set(&a.AssociationId, "a-"+w.IDs.Hex(17))
	defaults.Set(&a.Namespace, "kube-system")
	defaults.Set(&a.AssociationArn, w.ARN("eks", "podidentityassociation/"+aws.ToString(a.ClusterName)+"/"+*a.AssociationId))
	defaults.Set(&a.CreatedAt, w.Start.Add(-state.Age))
	defaults.Set(&a.ModifiedAt, *a.CreatedAt)
	w.PodIdentities.Put(state.NodegroupKey(aws.ToString(a.ClusterName), *a.AssociationId), a)
}

// ListPodIdentityAssociations lists a cluster's associations, without their
// roles.
func (s API) ListPodIdentityAssociations(in *eks.ListPodIdentityAssociationsInput) (*eks.ListPodIdentityAssociationsOutput, error) {
	defer s.w.Enter()()
	if _, err := eksCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	var ids []string
	for _, a := range s.w.PodIdentities.All() {
		if aws.ToString(a.ClusterName) == *in.ClusterName &&
			(in.Namespace == nil || *in.Namespace == aws.ToString(a.Namespace)) &&
			(in.ServiceAccount == nil || *in.ServiceAccount == aws.ToString(a.ServiceAccount)) {
			ids = append(ids, *a.AssociationId)
		}
	}
	ids, next, err := names(ids, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	out := &eks.ListPodIdentityAssociationsOutput{NextToken: next, Associations: []ekstypes.PodIdentityAssociationSummary{}}
	for _, id := range ids {
		a := deepcopy.Of(*s.w.PodIdentities.Get(state.NodegroupKey(*in.ClusterName, id)))
		out.Associations = append(out.Associations, ekstypes.PodIdentityAssociationSummary{
			AssociationArn: a.AssociationArn, AssociationId: a.AssociationId, ClusterName: a.ClusterName,
			Namespace: a.Namespace, OwnerArn: a.OwnerArn, ServiceAccount: a.ServiceAccount,
		})
	}
	return out, nil
}

// DescribePodIdentityAssociation shows an association.
func (s API) DescribePodIdentityAssociation(in *eks.DescribePodIdentityAssociationInput) (*eks.DescribePodIdentityAssociationOutput, error) {
	defer s.w.Enter()()
	if _, err := eksCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	a := s.w.PodIdentities.Get(state.NodegroupKey(*in.ClusterName, aws.ToString(in.AssociationId)))
	if a == nil {
		return nil, errEKSMissing("No pod identity association found for association ID: %s", aws.ToString(in.AssociationId))
	}
	return &eks.DescribePodIdentityAssociationOutput{Association: deepcopy.Of(a)}, nil
}
