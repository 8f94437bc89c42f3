package simaws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/local/platform/wire"
)

// getCallerIdentity tells who signed the request.
func (c *Cloud) getCallerIdentity(_ context.Context, call *wire.Call, _ *sts.GetCallerIdentityInput) (*sts.GetCallerIdentityOutput, error) {
	return &sts.GetCallerIdentityOutput{
		Account: aws.String(call.Principal.Account),
		Arn:     aws.String(call.Principal.ARN),
		UserId:  aws.String(c.keys[call.AccessKeyID].userID()),
	}, nil
}
