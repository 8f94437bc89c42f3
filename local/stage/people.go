package stage

import (
	"rollcall/local/fakeslack"
	"rollcall/local/platform/template"

	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// The people of the stage's Slack. Whoever is on call is the first, who presses
// on the page; the lead is a member of a user group; the developer may approve
// nothing where the approvers are Approvers.
const (
	OnCall = "U0ONCALL01"
	Dev    = "U0DEV00001"
	Lead   = "U0LEAD0001"
	Leads  = "S0LEADS001"
	// Guest is of another company: the channel is shared with it (Slack Connect).
	Guest = "U0GUEST001"
	// Approvers is the setting approvers by which the first may approve by name,
	// and the lead through the group.
	Approvers = OnCall + "," + Leads
)

func people() []fakeslack.User {
	return []fakeslack.User{
		{ID: OnCall, Name: "oncall", Timezone: "UTC"},
		{ID: Dev, Name: "dev", Timezone: "Europe/Berlin"},
		{ID: Lead, Name: "lead", Timezone: "America/New_York"},
		{ID: Guest, Name: "guest", Timezone: "Europe/London", Team: "T0OTHER001"},
	}
}

func groups() []fakeslack.Group {
	return []fakeslack.Group{{ID: Leads, Handle: "leads", Users: []string{Lead}}}
}

// SecretFor is the secret of the template to which the functions' variable
// refers.
func (s *Stage) SecretFor(v spec.Variable) (template.Secret, bool) {
	for _, f := range s.Template.Functions {
		if secret, ok := s.secretOf(f.Environment[string(v)]); ok {
			return secret, true
		}
	}
	return template.Secret{}, false
}

// secretValue is what Secrets Manager holds.
func (s *Stage) secretValue(secret template.Secret) string {
	signing, ok := s.SecretFor(config.SigningARN)
	switch {
	case ok && secret.ARN == signing.ARN:
		return SigningSecret
	case s.options.SlackToken != nil:
		return *s.options.SlackToken
	}
	return SlackToken
}
