package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// secret is where something secret is. The stack never knows what.
type secret struct {
	arn string
	// made tells that the stack made it, empty.
	made bool
	// key is the customer key that encrypts it, if any.
	key string
	// service is Secrets Manager's name towards KMS in the secret's region.
	service string
}

// newSecrets refers to the operator's secrets, or makes those without a value:
// until they are filled in, the functions say what is missing. The signing
// secret is there where a function reads it.
func newSecrets(stack awscdk.Stack, chosen settings.Settings, list []spec.Spec) map[spec.Resource]secret {
	secrets := map[spec.Resource]secret{
		spec.SlackSecret: newSecret(stack, "SlackToken", chosen.SlackSecretARN, chosen.SlackSecretKMSKey,
			"Slack bot token (xoxb-...) of Rollcall. Made empty: put the token in with put-secret-value."),
	}
	if slices.ContainsFunc(list, func(s spec.Spec) bool { return slices.Contains(s.Environment, config.SigningARN) }) {
		secrets[spec.SigningSecret] = newSecret(stack, "SlackSigningSecret", chosen.SigningSecretARN, chosen.SlackSecretKMSKey,
			"Signing Secret of Rollcall's Slack app (Basic Information, App Credentials). Made empty: put it in with put-secret-value.")
	}
	return secrets
}

func newSecret(stack awscdk.Stack, id, arn, key, about string) secret {
	if arn != "" {
		// arn:<partition>:secretsmanager:<region>:…; settings.Parse checked it.
		region := strings.Split(arn, ":")[3]
		return secret{arn: arn, key: key, service: fmt.Sprintf("secretsmanager.%s.%s", region, *awscdk.Aws_URL_SUFFIX())}
	}
	made := awssecretsmanager.NewCfnSecret(stack, jsii.String(id), &awssecretsmanager.CfnSecretProps{Description: jsii.String(about)})
	made.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE, nil)
	return secret{arn: *made.Ref(), made: true}
}
