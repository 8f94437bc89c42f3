package gather

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"rollcall/shared/config"
	gatheriam "rollcall/shared/gather/iam"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// ListAccountAliases is the permission of Alias, in the accounts of spokes. The call takes no
// resource (service authorization reference, IAM).
func ListAccountAliases() spec.Read {
	return spec.Read{Actions: []string{"iam:ListAccountAliases"}, Resources: []string{string(spec.NoResource)}}
}

// AskAlias is the same permission in the hub's own account, where other accounts are watched
// beside it: a hub alone has nothing to tell apart, and does not ask.
func AskAlias(getenv func(string) string) ([]spec.Grant, error) {
	c, err := config.Load(getenv, []spec.Variable{config.Spokes})
	if err != nil || len(c.Spokes) == 0 {
		return nil, err
	}
	return []spec.Grant{{
		Sid:       "AskAlias",
		Why:       "Where several accounts are watched people see each by its alias, which IAM alone tells.",
		Actions:   ListAccountAliases().Actions,
		Resources: []spec.Resource{spec.NoResource},
	}}, nil
}

// Alias reads the alias of the account whose credentials these are. That the credentials may
// not ask for it is denied; that there are none, or that IAM does not answer, is a failure.
func Alias(cfg aws.Config) func(ctx context.Context) (alias string, denied bool, failed *snapshot.Failure) {
	api := iam.NewFromConfig(cfg)
	asks := source.Source{Calls: []source.Call{{Action: ListAccountAliases().Actions[0], Resources: ListAccountAliases().Resources}}}
	return func(ctx context.Context) (string, bool, *snapshot.Failure) {
		alias, err := gatheriam.Alias(ctx, api)
		if err == nil {
			return alias, false, nil
		}
		f := asks.Failure(err)
		if f.Reason == snapshot.Denied && f.Call == asks.Calls[0].Action {
			return "", true, nil
		}
		return "", false, f
	}
}
