package iam

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"rollcall/local/platform/wire"
)

// ListAccountAliases lists the account's alias: "Amazon Web Services supports only one alias
// per account" (IAM API reference, ListAccountAliases), so that no page is full and no marker
// was ever given. Who calls it for a role of another account gets that account's.
func (s API) ListAccountAliases(in *iam.ListAccountAliasesInput) (*iam.ListAccountAliasesOutput, error) {
	defer s.w.Enter()()
	if in.Marker != nil {
		return nil, wire.Errorf("ValidationError", "Invalid Marker.")
	}
	if n := aws.ToInt32(in.MaxItems); in.MaxItems != nil && (n < 1 || n > 1000) {
		return nil, wire.Errorf("ValidationError", "1 validation error detected: Value '%d' at 'maxItems' failed to satisfy constraint: Member must have value between 1 and 1000", n)
	}
	return &iam.ListAccountAliasesOutput{AccountAliases: append([]string{}, slices.Clone(s.w.AccountAliases)...)}, nil
}
