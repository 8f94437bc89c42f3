package eks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// PodIdentities lists and describes a cluster's Pod Identity associations.
type PodIdentities interface {
	ListPodIdentityAssociations(context.Context, *eks.ListPodIdentityAssociationsInput, ...func(*eks.Options)) (*eks.ListPodIdentityAssociationsOutput, error)
	DescribePodIdentityAssociation(context.Context, *eks.DescribePodIdentityAssociationInput, ...func(*eks.Options)) (*eks.DescribePodIdentityAssociationOutput, error)
}

// podIdentities are the associations in kube-system.
func podIdentities(api PodIdentities) source.Source {
	return source.Source{
		Name: snapshot.PodIdentities,
		Calls: []source.Call{
			{Action: "eks:ListPodIdentityAssociations", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}},
			{Action: "eks:DescribePodIdentityAssociation", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:podidentityassociation/*/*"}},
		},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.PodIdentity, error) {
			return readPodIdentities(ctx, api, v.Cluster)
		}, func(x snapshot.PodIdentity) string { return x.Namespace + "/" + x.ServiceAccount }, func(s *snapshot.Snapshot) *[]snapshot.PodIdentity { return &s.PodIdentities }),
	}
}

// awsNode is the VPC CNI's DaemonSet and service account.
const awsNode = "aws-node"

// readPodIdentities lists the associations in kube-system. Only that of
// aws-node is described: of the others it matters that they exist, and their
// Role is empty.
func readPodIdentities(ctx context.Context, api PodIdentities, cluster string) ([]snapshot.PodIdentity, error) {
	var list []snapshot.PodIdentity
	p := eks.NewListPodIdentityAssociationsPaginator(api, &eks.ListPodIdentityAssociationsInput{ClusterName: aws.String(cluster), Namespace: aws.String("kube-system")})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list pod identity associations: %w", err)
		}
		for _, a := range page.Associations {
			found := snapshot.PodIdentity{Namespace: aws.ToString(a.Namespace), ServiceAccount: aws.ToString(a.ServiceAccount)}
			if found.ServiceAccount == awsNode {
				if err := describePodIdentity(ctx, api, cluster, a.AssociationId, &found); err != nil {
					return nil, err
				}
				if found.Role == "" {
					continue // gone since it was listed
				}
			}
			list = append(list, found)
		}
	}
	return list, nil
}

// describePodIdentity adds the roles and the session policy of an association; Role stays
// empty where it is gone.
func describePodIdentity(ctx context.Context, api PodIdentities, cluster string, id *string, found *snapshot.PodIdentity) error {
	out, err := api.DescribePodIdentityAssociation(ctx, &eks.DescribePodIdentityAssociationInput{ClusterName: aws.String(cluster), AssociationId: id})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("describe pod identity association %s: %w", aws.ToString(id), err)
	}
	a := out.Association
	if a == nil || !strings.HasPrefix(aws.ToString(a.RoleArn), "arn:") {
		return fmt.Errorf("describe pod identity association %s: the answer holds no role", aws.ToString(id))
	}
	found.Role, found.Target, found.Policy = *a.RoleArn, aws.ToString(a.TargetRoleArn), aws.ToString(a.Policy)
	found.ExternalID, found.Untagged = aws.ToString(a.ExternalId), aws.ToBool(a.DisableSessionTags)
	return nil
}
