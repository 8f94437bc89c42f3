package interaction

import (
	"encoding/json"
	"net/url"
	"strings"
)

// slash reads a slash command out of Slack's form
// (docs.slack.dev/interactivity/implementing-slash-commands, "Understanding the payload").
// Its team_id is the workspace in which it was typed: a command is there only where its app
// is installed, so people of other companies in a channel of Slack Connect do not have it.
func slash(form url.Values) (Payload, error) {
	p := Payload{
		Type: SlashCommand, App: form.Get("api_app_id"), Team: form.Get("team_id"), User: form.Get("user_id"), Name: cut(form.Get("user_name"), maxName),
		Home: cut(form.Get("team_id"), maxName), Enterprise: cut(form.Get("enterprise_id"), maxName),
		Channel: form.Get("channel_id"), ResponseURL: form.Get("response_url"), Text: form.Get("text"),
	}
	if strings.HasPrefix(p.Home, "E") {
		p.Enterprise = p.Home
	}
	// The channel of a command may be any conversation, also one between two people.
	if !id("UW").MatchString(p.User) || !id("CGD").MatchString(p.Channel) {
		return p, refuse(Malformed, "Slack's form does not say who typed the command, and where")
	}
	return p, nil
}

// wireEvent are the fields in use of what the Events API sends
// (docs.slack.dev/apis/events-api, docs.slack.dev/reference/events/app_home_opened).
type wireEvent struct {
	Type       string `json:"type"`
	Challenge  string `json:"challenge"`
	App        string `json:"api_app_id"`
	Team       string `json:"team_id"`
	Enterprise string `json:"enterprise_id"`
	Event      struct {
		Type string   `json:"type"`
		User string   `json:"user"`
		Tab  string   `json:"tab"`
		View wireView `json:"view"`
	} `json:"event"`
}

type wireView struct {
	Type string `json:"type"`
	Hash string `json:"hash"`
}

// maxChallenge is longer than any challenge of Slack's (60 characters).
const maxChallenge = 200

// ParseEvent reads the body of a signed request of the Events API.
func ParseEvent(body []byte) (Payload, error) {
	var w wireEvent
	if json.Unmarshal(body, &w) != nil {
		return Payload{}, refuse(Malformed, "Slack's event cannot be read")
	}
	p := Payload{Type: w.Type, App: w.App, Team: w.Team, Home: cut(w.Team, maxName), Enterprise: cut(w.Enterprise, maxName)}
	switch {
	case w.Type == URLVerification:
		if p.Challenge = w.Challenge; p.Challenge == "" || len(p.Challenge) > maxChallenge {
			return p, refuse(Malformed, "Slack's challenge is none")
		}
		return p, nil
	case w.Type != "event_callback" || w.Event.Type != HomeOpened:
		return p, refuse(NotPressed, "Rollcall takes one event, app_home_opened: take the others off the app's event subscriptions")
	}
	p.Type, p.User, p.OnHome, p.View, p.Tab = HomeOpened, w.Event.User, true, cut(w.Event.View.Hash, maxHash), w.Event.Tab
	if !id("UW").MatchString(p.User) {
		return p, refuse(Malformed, "Slack's event does not say who opened the home page")
	}
	return p, nil
}

// maxHash is longer than any hash of a view.
const maxHash = 100
