package slackactions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/shared/checks"
	"rollcall/shared/interaction"
	"rollcall/shared/report"
	"rollcall/shared/slashcommand"
)

// asked is what somebody wants with a command, with the home page, or with a button that
// ends a silence. A command that is answered here, and a tab that shows nothing of
// Rollcall's, ask for nothing of report.
func (h handler) asked(c *call) (ask report.Ask, isCommand bool, _ error) {
	p := c.payload
	switch {
	case p.Type == interaction.SlashCommand:
		ask, err := slashcommand.Parse(p.Text, h.now(), func(id checks.ID) bool { _, known := checks.Of(id); return known })
		var problem *slashcommand.Problem
		switch {
		case errors.As(err, &problem):
			c.answer = problem.Says
			return report.Ask{}, true, nil
		case err != nil:
			return report.Ask{}, true, err
		case ask.Verb == report.AskHelp:
			c.answer = slashcommand.Help()
			return report.Ask{}, true, nil
		}
		c.answer = "Looking…"
		return ask, true, nil
	case p.Type == interaction.HomeOpened:
		if p.Tab != "home" {
			return report.Ask{}, true, nil
		}
		return report.Ask{Verb: report.OpenHome}, true, nil
	case p.Actions[0].ID != string(report.EndSilence):
		if p.OnHome {
			return report.Ask{}, true, &interaction.Refusal{Reason: interaction.UnknownAction, Says: "this version of Rollcall does not know that button"}
		}
		return report.Ask{}, false, nil
	}
	ask, err := slashcommand.Parse(string(report.AskUnsilence)+" "+p.Actions[0].Value, h.now(), nil)
	if err != nil {
		return report.Ask{}, true, &interaction.Refusal{Reason: interaction.UnknownValue, Says: "this version of Rollcall does not know what that button stands for"}
	}
	return ask, true, nil
}

// command passes on what somebody asks for, and what they are told on the home page.
func (h handler) command(ctx context.Context, c *call, ask report.Ask, says string) error {
	p := c.payload
	message, err := report.EncodeCommand(report.Command{
		ID: c.id, At: h.now().UTC(), Ask: ask, User: report.User{ID: p.User, Name: p.Name}, Team: p.Team, Home: p.Home, Enterprise: p.Enterprise,
		Channel: p.Channel, ResponseURL: p.ResponseURL, OnHome: p.OnHome, View: p.View, Says: says,
	})
	if err != nil {
		return err
	}
	if err := h.forward(ctx, c, message); err != nil {
		return errors.Join(fmt.Errorf("pass the command on: %w", err), h.release(ctx, c))
	}
	h.log.InfoContext(ctx, "asked", "audit", true, "verb", ask.Verb, "user", p.User, "cluster", ask.Cluster.String(), "command", c.id)
	h.count("Commands", 1)
	return nil
}

// done is the answer to a request that was taken.
func (c *call) done() events.LambdaFunctionURLResponse {
	out := events.LambdaFunctionURLResponse{StatusCode: http.StatusOK}
	switch {
	case c.challenge != "":
		// In plain text, one of the forms that Slack takes
		// (docs.slack.dev/reference/events/url_verification).
		out.Body, out.Headers = c.challenge, map[string]string{"content-type": "text/plain; charset=utf-8"}
	case c.answer != "":
		// docs.slack.dev/interactivity/implementing-slash-commands, "Sending an immediate
		// response": for whoever typed it alone.
		body, err := json.Marshal(map[string]string{"response_type": "ephemeral", "text": c.answer})
		if err != nil {
			return out // it is text, and always encodes
		}
		out.Body, out.Headers = string(body), map[string]string{"content-type": "application/json; charset=utf-8"}
	}
	return out
}
