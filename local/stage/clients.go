package stage

import (
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"rollcall/local/platform/template"
	"rollcall/local/simaws"
	"rollcall/shared/spoke"
)

// AsAdmin is the configuration of an SDK client that a person uses.
func (s *Stage) AsAdmin() aws.Config {
	return s.as(simaws.AdminIdentity(s.Template.AccountID, Admin))
}

// AsFunction is the configuration of a function's own clients.
func (s *Stage) AsFunction(f template.Function) aws.Config {
	return s.as(simaws.RoleIdentity(s.Template.AccountID, f.Name))
}

// AsAdminIn is the same of a person of a spoke's account.
func (s *Stage) AsAdminIn(id spoke.ID) aws.Config {
	cfg := s.as(adminOf(id))
	cfg.Region = id.Region
	return cfg
}

func (s *Stage) as(who simaws.Identity) aws.Config {
	cfg := aws.Config{
		Region: s.Template.Region, BaseEndpoint: aws.String(s.Cloud.Endpoint()),
		Credentials: credentials.NewStaticCredentialsProvider(who.AccessKeyID, who.SecretAccessKey, ""),
	}
	if s.network != nil {
		cfg.HTTPClient = &http.Client{Transport: s.network}
	}
	return cfg
}

// HTTPClient is a client of all that the stage serves.
func (s *Stage) HTTPClient() *http.Client {
	if s.network == nil {
		return &http.Client{}
	}
	return &http.Client{Transport: s.network}
}

// AdminEnv is the environment in which the AWS CLI and kubectl work on the
// stage.
func (s *Stage) AdminEnv() map[string]string {
	who := simaws.AdminIdentity(s.Template.AccountID, Admin)
	return map[string]string{
		"AWS_ENDPOINT_URL":      s.Cloud.Endpoint(),
		"AWS_ACCESS_KEY_ID":     who.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY": who.SecretAccessKey,
		"AWS_REGION":            s.Template.Region,
		"AWS_DEFAULT_REGION":    s.Template.Region,
		"AWS_PAGER":             "",
	}
}
