package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	slackgo "github.com/slack-go/slack"
)

// SlackError is an answer of Slack that is an error.
type SlackError struct{ Method, Code string }

func (e *SlackError) Error() string { return "Slack answers " + e.Method + " with " + e.Code }

// slackClient is Slack as it is.
type slackClient struct{ api *slackgo.Client }

// NewSlack makes a client of a token, at the address of Slack's API.
func NewSlack(api, token string, via *http.Client) Slack {
	return slackClient{slackgo.New(token, slackgo.OptionAPIURL(strings.TrimRight(api, "/")+"/"), slackgo.OptionHTTPClient(via))}
}

func (c slackClient) Scopes(ctx context.Context) (string, []string, error) {
	out, err := c.api.AuthTestContext(ctx)
	if err != nil {
		return "", nil, failed("auth.test", err)
	}
	var scopes []string
	// docs.slack.dev/authentication: the header of each answer lists the token's scopes.
	for s := range strings.SplitSeq(out.Header.Get("X-OAuth-Scopes"), ",") {
		if s = strings.TrimSpace(s); s != "" {
			scopes = append(scopes, s)
		}
	}
	return out.Team, scopes, nil
}

func (c slackClient) Reads(ctx context.Context, channel string) error {
	_, err := c.api.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{ChannelID: channel, Limit: 1})
	return failed("conversations.history", err)
}

func (c slackClient) Post(ctx context.Context, channel, text string) error {
	_, _, err := c.api.PostMessageContext(ctx, channel, slackgo.MsgOptionText(text, true))
	return failed("chat.postMessage", err)
}

// failed tells an answer of Slack from a failure on the way to it.
func failed(method string, err error) error {
	var answer slackgo.SlackErrorResponse
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		return &SlackError{Method: method, Code: answer.Err}
	}
	return fmt.Errorf("ask Slack for %s: %w", method, err)
}
