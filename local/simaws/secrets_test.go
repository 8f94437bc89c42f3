package simaws

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

func TestGetSecretValue(t *testing.T) {
	arn := SecretARN(testRegion, testAccount, "rollcall/slack")
	c := start(t, func(cfg *Config) { cfg.Secrets = map[string]string{"rollcall/slack": `{"token":"xoxb"}`} })
	client := secretsmanager.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	for _, id := range []string{"rollcall/slack", arn, arn[:strings.LastIndex(arn, "-")]} {
		out, err := client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: &id, VersionStage: aws.String("AWSCURRENT")})
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if aws.ToString(out.SecretString) != `{"token":"xoxb"}` || aws.ToString(out.ARN) != arn || aws.ToString(out.Name) != "rollcall/slack" {
			t.Errorf("%s: answer = %+v, want the secret", id, out)
		}
	}
	for name, in := range map[string]*secretsmanager.GetSecretValueInput{
		"another name":    {SecretId: aws.String("rollcall")},
		"another stage":   {SecretId: &arn, VersionStage: aws.String("AWSPREVIOUS")},
		"another version": {SecretId: &arn, VersionId: aws.String("00000000-0000-0000-0000-000000000000")},
	} {
		if _, err := client.GetSecretValue(t.Context(), in); errorCode(err) != "ResourceNotFoundException" {
			t.Errorf("%s: error = %v, want ResourceNotFoundException", name, err)
		}
	}
}
