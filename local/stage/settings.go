package stage

import (
	"encoding/json"
	"maps"
	"strings"

	"rollcall/local/platform/template"
	"rollcall/local/simaws"

	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Names of the stage.
const (
	// Channel is the Slack channel of the stage, SlackToken the bot's token.
	Channel    = "C0STAGE0001"
	SlackToken = "xoxb-stage-token"
	// SigningSecret is that of the Slack app.
	SigningSecret = "57a9e0f51941465ec2e7000000000001"
	// Admin is the person at the keyboard, with the AWS CLI and kubectl.
	Admin = "admin"
)

// environment is a function's environment: that of the template, its role's
// credentials, and the few addresses that are the stage's instead of AWS's.
func (s *Stage) environment(f template.Function) map[string]string {
	who := simaws.RoleIdentity(s.Template.AccountID, f.Name)
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
	// The deployed ARNs end in six characters that Secrets Manager chooses.
	for _, v := range []spec.Variable{config.SlackSecretARN, config.SigningARN} {
		if secret, ok := s.secretOf(env[string(v)]); ok {
			env[string(v)] = simaws.SecretARN(s.Template.Region, s.Template.AccountID, secret.Name)
		}
	}
	if overrides := s.EndpointOverrides(); overrides != "" {
		env[string(config.StageEndpoints)] = overrides
	}
	if _, reads := env[string(config.Relays)]; reads && len(s.options.Relays) > 0 {
		var names []string
		for _, c := range s.options.Relays {
			names = append(names, c.String())
		}
		env[string(config.Relays)] = strings.Join(names, ",")
	}
	maps.Copy(env, s.options.Settings)
	return env
}

// settings are a function's environment as Lambda describes it: what Lambda itself
// sets when it starts one is not among it (Lambda developer guide, "Defined runtime
// environment variables").
func (s *Stage) settings(f template.Function) map[string]string {
	env := s.environment(f)
	maps.DeleteFunc(env, func(name, _ string) bool { return strings.HasPrefix(name, "AWS_") })
	return env
}

// EndpointOverrides tells the functions where the Kubernetes APIs of a capture's clusters
// are, which EKS describes as they were, and those of a world that says how its
// clusters are described.
func (s *Stage) EndpointOverrides() string {
	if len(s.overridden) == 0 {
		return ""
	}
	overrides := s.overridesOf(s.overridden)
	text, err := json.Marshal(overrides)
	if err != nil { // strings and bytes
		s.log.Error("write the overrides", "error", err)
	}
	return string(text)
}

// overridesOf are the ways to the Kubernetes APIs of some clusters.
func (s *Stage) overridesOf(clusters []string) config.EndpointOverrides {
	overrides := config.EndpointOverrides{}
	for id, x := range s.spokes {
		for _, name := range x.world.Clusters() {
			if s.relayed(spoke.Cluster{ID: id, Name: name}) {
				continue
			}
			if endpoint, ca, ok := x.cloud.Kubernetes(name); ok {
				overrides[id.In(name)] = config.EndpointOverride{Endpoint: endpoint, CA: ca}
			}
		}
	}
	for _, name := range clusters {
		if s.relayed(spoke.Cluster{Name: name}) {
			continue
		}
		if endpoint, ca, ok := s.Cloud.Kubernetes(name); ok {
			overrides[name] = config.EndpointOverride{Endpoint: endpoint, CA: ca}
		}
	}
	return overrides
}
