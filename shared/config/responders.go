package config

import "fmt"

// Responders are who may acknowledge and mute incidents and ask for a check: the
// zero value is everybody of the app's own workspace or organization.
type Responders struct {
	// Channel is whoever is in the channel, also of another company.
	Channel bool
	// IDs are Slack's of users and user groups of the own workspace.
	IDs []string
}

// mostResponders bounds the list: each user group in it is a call of Slack for a
// press, which has five seconds in all.
const mostResponders = 50

func parseResponders(text string) (Responders, error) {
	switch text {
	case "workspace":
		return Responders{}, nil
	case "channel":
		return Responders{Channel: true}, nil
	case "none":
		return Responders{}, fmt.Errorf("%q: without buttons (slackActions=off) nobody can press", text)
	}
	ids, err := parseApprovers(text)
	if err != nil {
		return Responders{}, fmt.Errorf("neither \"workspace\" nor \"channel\": %w", err)
	}
	if len(ids) > mostResponders {
		return Responders{}, fmt.Errorf("%d ids, at most %d: name a user group", len(ids), mostResponders)
	}
	return Responders{IDs: ids}, nil
}
