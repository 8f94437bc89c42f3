package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
)

// secret is where the Slack bot token is. The stack never knows the token.
type secret struct {
	arn string
	// made tells that the stack made it, empty.
	made bool
	// key is the customer key that encrypts it, if any.
	key string
	// service is Secrets Manager's name towards KMS in the secret's region.
	service string
}

// newSecret refers to the operator's secret, or makes one without a value:
// until it is filled in, report says that the token is missing.
func newSecret(stack awscdk.Stack, chosen settings.Settings) secret {
	if arn := chosen.SlackSecretARN; arn != "" {
		// arn:<partition>:secretsmanager:<region>:…; settings.Parse checked it.
		region := strings.Split(arn, ":")[3]
		return secret{arn: arn, key: chosen.SlackSecretKMSKey, service: fmt.Sprintf("secretsmanager.%s.%s", region, *awscdk.Aws_URL_SUFFIX())}
	}
	made := awssecretsmanager.NewCfnSecret(stack, jsii.String("SlackToken"), &awssecretsmanager.CfnSecretProps{
		Description: jsii.String("Slack bot token (xoxb-...) of Rollcall. Made empty: put the token in with put-secret-value."),
	})
	made.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE, nil)
	return secret{arn: *made.Ref(), made: true}
}
