package remedy

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/shared/plan"
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

// Create makes an entry of a type for nodes, without groups and policies; no
// other type, whatever the plan says.
func (a Access) Create(ctx context.Context, cluster string, p plan.Access, token string) Answer {
	if p.Type != "EC2_LINUX" && p.Type != "EC2_WINDOWS" {
		return Answer{Outcome: Refused, Code: "NotANodeType", Message: p.Type + " is no type for nodes"}
	}
	out, err := a.client.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{
		ClusterName: aws.String(cluster), PrincipalArn: aws.String(p.Principal), Type: aws.String(p.Type), ClientRequestToken: aws.String(token),
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil:
		return empty()
	}
	return answered(out.ResultMetadata)
}
