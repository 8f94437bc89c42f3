package iam

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/iam"
)

// Aliases lists the aliases of the account.
type Aliases interface {
	ListAccountAliases(context.Context, *iam.ListAccountAliasesInput, ...func(*iam.Options)) (*iam.ListAccountAliasesOutput, error)
}

// Alias is the account's alias; empty where it has none. An account has one at most (IAM API
// reference, ListAccountAliases), so there is no second page. IAM has no regions: the SDK
// asks its one endpoint of the partition whatever the region is.
func Alias(ctx context.Context, api Aliases) (string, error) {
	out, err := api.ListAccountAliases(ctx, &iam.ListAccountAliasesInput{})
	if err != nil || len(out.AccountAliases) == 0 {
		return "", err
	}
	return out.AccountAliases[0], nil
}
