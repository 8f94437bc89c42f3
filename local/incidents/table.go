package incidents

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"rollcall/local/caller"
	"rollcall/local/doctor"
	"rollcall/local/exit"
	"rollcall/shared/config"
	"rollcall/shared/store"
)

// Table is the table of the deployment in the caller's account and region: its
// function report says which one that is.
func Table(ctx context.Context, by caller.Caller) (*store.Store, error) {
	out, err := lambda.NewFromConfig(by.AWS).GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(doctor.Prefix + "-report")})
	var none *lambdatypes.ResourceNotFoundException
	switch {
	case errors.As(err, &none):
		return nil, exit.Misuse("there is no deployment of Rollcall in %s of account %s: --region and --profile choose another; rollcall diagnose --cluster needs no deployment", by.AWS.Region, by.Account)
	case err != nil:
		return nil, fmt.Errorf("find the deployment's table: %w", err)
	}
	table := ""
	if out.Environment != nil {
		table = out.Environment.Variables[string(config.TableName)]
	}
	if table == "" {
		return nil, fmt.Errorf("find the deployment's table: %s-report has no setting %s; rollcall doctor tells more", doctor.Prefix, config.TableName)
	}
	return store.New(dynamodb.NewFromConfig(by.AWS), table), nil
}
