package stage

import (
	"maps"

	"rollcall/local/cloud"
	"rollcall/local/template"
	"rollcall/shared/config"
)

// Names of the stage.
const (
	// Channel is the Slack channel of the stage, SlackToken the bot's token.
	Channel    = "C0STAGE0001"
	SlackToken = "xoxb-stage-token"
	// Admin is the person at the keyboard, with the AWS CLI and kubectl.
	Admin = "admin"
)

// environment is a function's environment: that of the template, its role's
// credentials, and the few addresses that are the stage's instead of AWS's.
func (s *Stage) environment(f template.Function) map[string]string {
	who := cloud.RoleIdentity(s.Template.AccountID, f.Name)
	env := maps.Clone(f.Environment)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, map[string]string{
		"AWS_ENDPOINT_URL":          s.Cloud.Endpoint(),
		"AWS_ACCESS_KEY_ID":         who.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY":     who.SecretAccessKey,
		"AWS_SESSION_TOKEN":         "stage",
		"AWS_EC2_METADATA_DISABLED": "true",
		string(config.StageClock):   s.Clock.Env(),
	})
	if _, reads := env[string(config.SlackAPI)]; reads {
		env[string(config.SlackAPI)] = s.Slack.APIURL()
		env[string(config.Channel)] = Channel
	}
	// The deployed ARN ends in six characters that Secrets Manager chooses.
	if _, reads := env[string(config.SlackSecretARN)]; reads && len(s.Template.Secrets) > 0 {
		env[string(config.SlackSecretARN)] = cloud.SecretARN(s.Template.Region, s.Template.AccountID, s.Template.Secrets[0].Name)
	}
	maps.Copy(env, s.options.Settings)
	return env
}
