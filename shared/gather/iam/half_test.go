package iam

import (
	"testing"

	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/shared/gather/gathertest"
)

func TestHollowAnswers(t *testing.T) {
	gathertest.Converts(t, profile)
	gathertest.Converts(t, func(r iamtypes.Role) string { text, _ := document(r.AssumeRolePolicyDocument); return text })
}
