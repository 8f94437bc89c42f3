package doctor

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	slackgo "github.com/slack-go/slack"
	"go.yaml.in/yaml/v3"

	"rollcall/local/fakeslack"
	"rollcall/shared/config"
	"rollcall/shared/interaction"
)

// The manifests to paste are ones that Slack knows (slack-go's types are of its reference),
// and an app made of one has every scope that is asked for, and no more.
func TestSlackAppManifest(t *testing.T) {
	plain := manifestOf(t, "slack-app.yaml", config.Config{Approvers: []string{"S0ONCALL01"}}, 5)
	acting := manifestOf(t, "slack-app-actions.yaml", config.Config{Approvers: []string{"S0ONCALL01"}, SlackActions: true}, 7)
	if plain.Display != acting.Display || plain.Features.BotUser != acting.Features.BotUser {
		t.Error("the two are not the same app")
	}
	if len(plain.Features.SlashCommands) > 0 || plain.Settings.Interactivity.IsEnabled || plain.Settings.EventSubscriptions != nil {
		t.Error("an app without an address is asked for one")
	}
	// Slack sends buttons, commands and events to three addresses, which are one of ours.
	c, e := acting.Features.SlashCommands, acting.Settings.EventSubscriptions
	if len(c) != 1 || e == nil || c[0].Url == "" || c[0].Url != acting.Settings.Interactivity.RequestUrl || c[0].Url != e.RequestUrl || !acting.Settings.Interactivity.IsEnabled {
		t.Errorf("commands %+v, events %+v, interactivity %+v", c, e, acting.Settings.Interactivity)
	}
	if c[0].Command != fakeslack.CommandName || c[0].ShouldEscape || len(c[0].Description) > 2000 || len(c[0].UsageHint) > 1000 {
		t.Errorf("the command is %+v", c[0])
	}
	if !slices.Equal(e.BotEvents, []string{interaction.HomeOpened}) || !acting.Features.AppHome.HomeTabEnabled {
		t.Errorf("events %q, home page %+v", e.BotEvents, acting.Features.AppHome)
	}
	missing := scopesOf(config.Config{SlackActions: true}, plain.OAuthConfig.Scopes.Bot, "")
	if len(missing) != 2 || missing[0].State != Wrong || missing[0].Name != "users:read" || missing[1].Name != "commands" {
		t.Errorf("found %+v, want that the command's scopes are missing", missing)
	}
}

// manifestOf reads a manifest strictly, and holds it against the settings.
func manifestOf(t *testing.T, name string, cfg config.Config, scopes int) slackgo.Manifest {
	t.Helper()
	text, err := os.ReadFile("../../deploy/" + name)
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
	found := scopesOf(cfg, m.OAuthConfig.Scopes.Bot, "")
	if len(found) != 1 || found[0].State != Well {
		t.Errorf("found %+v", found)
	}
	if has := m.OAuthConfig.Scopes.Bot; len(has) != scopes {
		t.Errorf("scopes %q, want no more than are used", has)
	}
	return m
}
