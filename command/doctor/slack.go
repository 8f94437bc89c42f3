package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/config"
	"rollcall/shared/slack/hook"
)

// appPage is where a Slack app's scopes are; every app's owner has its own below it.
const appPage = "api.slack.com/apps, OAuth & Permissions"

// slack looks at the token, its scopes and the channels.
func (c Clients) slack(ctx context.Context, d Deployment, report functionOf) []Finding {
	cfg, err := settingsOf(report, config.SlackSecretARN, config.SlackAPI, config.Channel, config.Routes, config.Approvers, config.SlackActions)
	if err != nil {
		return []Finding{redeploy(Finding{Part: "settings", Name: Prefix + "-report", Says: err.Error(), Do: "Correct the setting (docs/settings.md), and deploy."})}
	}
	if cfg.Channel == "" {
		return []Finding{{Part: "Slack", Name: "app", State: Well, Says: "not used (slackChannel=none): targets get all messages, without buttons, threads, edits and pictures"}}
	}
	token, err := hook.Token(ctx, c.Secrets, cfg.SlackSecretARN)
	put := fillIn("Slack bot token", cfg.SlackSecretARN)
	if err != nil {
		if isToken(err) {
			return []Finding{{Part: "Slack token", Name: cfg.SlackSecretARN, State: Wrong, Says: last(err).Error(), Do: "Put the bot token of the Slack app in (the app's page, OAuth & Permissions).", Command: put}}
		}
		return []Finding{unseen("Slack token", cfg.SlackSecretARN, "secretsmanager:GetSecretValue", err)}
	}
	s, err := c.Slack(cfg.SlackAPI, token)
	if err != nil {
		return []Finding{{Part: "Slack token", Name: cfg.SlackAPI, State: Unknown, Says: err.Error()}}
	}
	workspace, scopes, err := s.Scopes(ctx)
	switch code := slackCode(err); {
	case slices.Contains([]string{"invalid_auth", "token_revoked", "token_expired", "account_inactive", "not_authed"}, code):
		return []Finding{{
			Part: "Slack token", Name: cfg.SlackSecretARN, State: Wrong, Says: "Slack rejects it: " + code, Do: "Install the app in the workspace (the app's page, OAuth & Permissions), and put its new bot token in.", Command: put,
		}}
	case err != nil:
		return []Finding{{Part: "Slack", Name: cfg.SlackAPI, State: Unknown, Says: "request failed: " + err.Error()}}
	}
	list := []Finding{{Part: "Slack token", State: Well, Says: "valid for workspace " + workspace}}
	list = append(list, scopesOf(cfg, scopes, put)...)
	for _, channel := range channelsOf(cfg) {
		list = append(list, c.channel(ctx, s, d, channel)...)
	}
	return list
}

// isToken reports whether a secret holds no token.
func isToken(err error) bool {
	return errors.Is(err, hook.ErrNoToken) || errors.Is(err, hook.ErrNotToken) || errors.Is(err, hook.ErrWrongToken)
}

// last is which of them it is.
func last(err error) error {
	for _, e := range []error{hook.ErrNoToken, hook.ErrNotToken, hook.ErrWrongToken, hook.ErrNoSigning} {
		if errors.Is(err, e) {
			return e
		}
	}
	return err
}

// slackCode is the code of an answer of Slack that was an error; empty for others.
func slackCode(err error) string {
	var s *SlackError
	if errors.As(err, &s) {
		return s.Code
	}
	return ""
}

// wanted is a scope of which the token needs one, and what for.
type wanted struct {
	any []string
	why string
}

// scopesOf looks whether the token has the scopes that the settings need
// (docs.slack.dev/reference/scopes).
func scopesOf(cfg config.Config, has []string, put string) []Finding {
	list := []wanted{
		{[]string{"chat:write"}, "messages"},
		{[]string{"channels:history", "groups:history"}, "finding its own messages after a crash, so that none is posted twice"},
		{[]string{"files:write"}, "pictures of reports"},
	}
	if slices.ContainsFunc(cfg.Approvers, func(id string) bool { return strings.HasPrefix(id, "S") }) {
		list = append(list, wanted{[]string{"usergroups:read"}, "listing the members of the groups that can approve"})
	}
	if cfg.SlackActions {
		list = append(list, wanted{[]string{"users:read"}, "recognizing guests of the workspace, who cannot use /rollcall: without it no one can"})
		list = append(list, wanted{[]string{"commands"}, "/rollcall: paste deploy/slack-app-actions.yaml as the app's manifest, which also has the command and the home page"})
	}
	var missing []Finding
	for _, w := range list {
		if slices.ContainsFunc(w.any, func(s string) bool { return slices.Contains(has, s) }) {
			continue
		}
		missing = append(missing, Finding{
			Part: "Slack scope", Name: strings.Join(w.any, " or "), State: Wrong, Says: "missing from the token; needed for " + w.why,
			Do: "Add it to the bot's scopes (" + appPage + "), install the app again, and put the new bot token in.", Command: put,
		})
	}
	if len(missing) == 0 {
		return []Finding{{Part: "Slack scopes", State: Well, Says: "all granted"}}
	}
	return missing
}

// channelsOf are the channels that the settings name, once each.
func channelsOf(cfg config.Config) []string {
	list := []string{cfg.Channel}
	for _, r := range cfg.Routes {
		if r.Channel != "" && !slices.Contains(list, r.Channel) {
			list = append(list, r.Channel)
		}
	}
	return list
}

// channel looks whether the bot is in a channel.
func (c Clients) channel(ctx context.Context, s Slack, d Deployment, id string) []Finding {
	err := s.Reads(ctx, id)
	switch code := slackCode(err); {
	case code == "not_in_channel":
		return []Finding{{Part: "Slack channel", Name: id, State: Wrong, Says: "the app is not in it", Do: "Invite it, in the channel: /invite @Rollcall"}}
	case code == "channel_not_found":
		return []Finding{{
			Part: "Slack channel", Name: id, State: Wrong, Says: "there is no such channel, or it is private and the app is not in it",
			Do: "Invite the app to it (/invite @Rollcall), or correct the setting slackChannel or routes and deploy.", Command: "make deploy",
		}}
	case code == "missing_scope":
		return []Finding{{Part: "Slack channel", Name: id, State: Unknown, Says: "not checked: it needs the scopes above"}}
	case err != nil:
		return []Finding{{Part: "Slack channel", Name: id, State: Unknown, Says: "not checked: " + err.Error()}}
	}
	list := []Finding{{Part: "Slack channel", Name: id, State: Well, Says: "readable by the app"}}
	if !d.TestMessage {
		return list
	}
	text := fmt.Sprintf("Test message of Rollcall in account %s, %s: incidents appear here.", d.Account, d.Region)
	if err := s.Post(ctx, id, text); err != nil {
		return append(list, Finding{Part: "test message", Name: id, State: Wrong, Says: "rejected: " + err.Error(), Do: "Fix what Slack names."})
	}
	return append(list, Finding{Part: "test message", Name: id, State: Well, Says: "posted"})
}

// signing looks at the Slack app's Signing Secret.
func (c Clients) signing(ctx context.Context, actions functionOf) []Finding {
	arn := actions.setting(config.SigningARN)
	_, err := hook.SigningSecret(ctx, c.Secrets, arn)
	switch {
	case err == nil:
		return []Finding{{Part: "Slack signing secret", Name: arn, State: Well, Says: "present"}}
	case errors.Is(err, hook.ErrNoSigning), errors.Is(err, hook.ErrNotSigning):
		return []Finding{{
			Part: "Slack signing secret", Name: arn, State: Wrong, Says: "is missing: each press of a button is rejected", Do: "Put the app's Signing Secret in (the app's page, Basic Information, App Credentials).", Command: fillIn("Signing Secret", arn),
		}}
	}
	return []Finding{unseen("Slack signing secret", arn, "secretsmanager:GetSecretValue", err)}
}

// fillIn is a command that asks for a secret's value and puts it in: it is in no
// history and in no list of processes.
func fillIn(what, arn string) string {
	return `printf '` + what + `: ' && read -rs T && echo && printf %s "$T" | aws secretsmanager put-secret-value --secret-id '` + arn + `' --secret-string file:///dev/stdin; unset T`
}
