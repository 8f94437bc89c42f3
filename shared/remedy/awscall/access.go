package awscall

import (
	"context"

	"rollcall/shared/remedy/call"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
)

// AccessEntryCreator makes access entries of EKS clusters.
type AccessEntryCreator interface {
	CreateAccessEntry(context.Context, *eks.CreateAccessEntryInput, ...func(*eks.Options)) (*eks.CreateAccessEntryOutput, error)
}

var _ AccessEntryCreator = (*eks.Client)(nil)

// Access makes access entries for nodes.
type Access struct{ client AccessEntryCreator }

// NewAccess makes one whose client tries each call once.
func NewAccess(cfg aws.Config) Access {
	return Access{eks.NewFromConfig(cfg, func(o *eks.Options) { o.Retryer = once() })}
}

// CreateAccessEntry makes an entry without groups and policies.
func (a Access) CreateAccessEntry(ctx context.Context, cluster, principal, kind, token string) call.Answer {
	out, err := a.client.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{
		ClusterName: aws.String(cluster), PrincipalArn: aws.String(principal), Type: aws.String(kind), ClientRequestToken: aws.String(token),
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil:
		return empty()
	}
	return answered(out.ResultMetadata)
}
