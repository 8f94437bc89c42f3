package world

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/deepcopy"
)

// putPodIdentity keeps an association, with what EKS would have filled in.
func (w *World) putPodIdentity(a *ekstypes.PodIdentityAssociation) {
	or(&a.AssociationId, "a-"+w.ids.Hex(17))
	or(&a.Namespace, "kube-system")
	or(&a.AssociationArn, w.arn("eks", "podidentityassociation/"+aws.ToString(a.ClusterName)+"/"+*a.AssociationId))
	or(&a.CreatedAt, w.start.Add(-long))
	or(&a.ModifiedAt, *a.CreatedAt)
	w.podIdentities.Put(nodegroupKey(aws.ToString(a.ClusterName), *a.AssociationId), a)
}

// ListPodIdentityAssociations lists a cluster's associations, without their
// roles.
func (s EKS) ListPodIdentityAssociations(in *eks.ListPodIdentityAssociationsInput) (*eks.ListPodIdentityAssociationsOutput, error) {
	defer s.w.enter()()
	if _, err := s.w.eksCluster(in.ClusterName); err != nil {
		return nil, err
	}
	var ids []string
	for _, a := range s.w.podIdentities.All() {
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
		a := deepcopy.Of(*s.w.podIdentities.Get(nodegroupKey(*in.ClusterName, id)))
		out.Associations = append(out.Associations, ekstypes.PodIdentityAssociationSummary{
			AssociationArn: a.AssociationArn, AssociationId: a.AssociationId, ClusterName: a.ClusterName,
			Namespace: a.Namespace, OwnerArn: a.OwnerArn, ServiceAccount: a.ServiceAccount,
		})
	}
	return out, nil
}

// DescribePodIdentityAssociation shows an association.
func (s EKS) DescribePodIdentityAssociation(in *eks.DescribePodIdentityAssociationInput) (*eks.DescribePodIdentityAssociationOutput, error) {
	defer s.w.enter()()
	if _, err := s.w.eksCluster(in.ClusterName); err != nil {
		return nil, err
	}
	a := s.w.podIdentities.Get(nodegroupKey(*in.ClusterName, aws.ToString(in.AssociationId)))
	if a == nil {
		return nil, errEKSMissing("No pod identity association found for association ID: %s", aws.ToString(in.AssociationId))
	}
	return &eks.DescribePodIdentityAssociationOutput{Association: deepcopy.Of(a)}, nil
}
