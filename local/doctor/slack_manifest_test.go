package doctor

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	slackgo "github.com/slack-go/slack"
	"go.yaml.in/yaml/v3"

	"rollcall/shared/config"
)

// The manifest to paste is one that Slack knows (slack-go's types are of its reference),
// and an app made of it has every scope that is asked for.
func TestSlackAppManifest(t *testing.T) {
	text, err := os.ReadFile("../../deploy/slack-app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var any map[string]any
	if err := yaml.Unmarshal(text, &any); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(any)
	if err != nil {
		t.Fatal(err)
	}
	var m slackgo.Manifest
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	// A name has 35 characters at most, a description 140 (docs.slack.dev, app manifest
	// reference).
	if n := len(m.Display.Name); n == 0 || n > 35 || len(m.Display.Description) > 140 {
		t.Errorf("name %q, description %q", m.Display.Name, m.Display.Description)
	}
	found := scopesOf(config.Config{Approvers: []string{"S0ONCALL01"}}, m.OAuthConfig.Scopes.Bot, "")
	if len(found) != 1 || found[0].State != Well {
		t.Errorf("found %+v", found)
	}
	if has := m.OAuthConfig.Scopes.Bot; len(has) != 5 {
		t.Errorf("scopes %q, want no more than are used", has)
	}
}
