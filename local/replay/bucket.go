package replay

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	joincheck "rollcall/functions/join-check/spec"
	"rollcall/local/doctor"
	"rollcall/shared/config"
)

// Bucket is where the deployment in the account and region of cfg keeps evidence: its
// functions say which one that is; "" where they keep none.
func Bucket(ctx context.Context, cfg aws.Config) (string, error) {
	name := doctor.Prefix + "-" + joincheck.Name
	out, err := lambda.NewFromConfig(cfg).GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(name)})
	if err != nil {
		return "", fmt.Errorf("find the bucket of the evidence: %w", err)
	}
	if out.Environment == nil {
		return "", nil
	}
	return out.Environment.Variables[string(config.EvidenceBucket)], nil
}
