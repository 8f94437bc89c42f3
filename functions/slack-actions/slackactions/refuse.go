package slackactions

import (
	"context"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/shared/interaction"
	"rollcall/shared/report"
)

// refuse answers a request that is not let in, and keeps who tried what. Whom
// Slack vouches for is told in Slack; the status is then 200, for Slack would
// put a warning of its own beside that. A press on the home page has no response_url:
// report, which alone has the token, draws the page anew with the reason
// (docs.slack.dev/reference/methods/views.publish).
func (h handler) refuse(ctx context.Context, c *call, r *interaction.Refusal) any {
	h.audit.refused(ctx, c, r, h.now())
	if c.payload.ResponseURL != "" {
		err := h.replies.Tell(ctx, c.payload.ResponseURL, "Nothing was done: "+r.Says+".")
		if err == nil {
			return events.LambdaFunctionURLResponse{StatusCode: http.StatusOK}
		}
		h.log.WarnContext(ctx, "the person could not be told why", "reason", r.Reason, "error", err.Error())
	}
	if c.payload.OnHome && c.id != "" && r.Reason != interaction.Malformed && r.Reason != interaction.Replayed {
		err := h.command(ctx, c, report.Ask{Verb: report.OpenHome}, "Nothing was done: "+r.Says+".")
		if err == nil {
			return events.LambdaFunctionURLResponse{StatusCode: http.StatusOK}
		}
		h.log.WarnContext(ctx, "the person could not be told why on the home page", "reason", r.Reason, "error", err.Error())
	}
	return plain(r.Reason.Status(), string(r.Reason)+": "+r.Says)
}

// failed answers a request that could not be judged, or not be passed on. Slack
// shows a warning to whoever pressed, in a message and on the home page ("the Slack user
// who interacted with the app will see an error message",
// docs.slack.dev/interactivity/handling-user-interaction), and they can press again.
func (h handler) failed(ctx context.Context, c *call, err error) any {
	if c.payload.Type == interaction.SlashCommand { // Slack would say "dispatch_failed"
		h.log.ErrorContext(ctx, "a command could not be passed on; whoever typed it is told to try again", "command", c.id, "error", err.Error())
		h.count(notPassedOn, 1)
		c.answer = "It could not be passed on to Rollcall. Try again in a minute; if it stays so, an alarm says why."
		return c.done()
	}
	h.log.ErrorContext(ctx, "a press could not be passed on; whoever pressed sees a warning sign in Slack, and can press again", "press", c.id, "error", err.Error())
	h.count(notPassedOn, 1)
	if c.id == "" {
		return plain(http.StatusServiceUnavailable, "the signature cannot be checked now")
	}
	return plain(http.StatusInternalServerError, "it could not be passed on: press again")
}

func plain(status int, text string) any {
	return events.LambdaFunctionURLResponse{
		StatusCode: status, Body: text + "\n",
		// An event that is refused is not worth the three retries that Slack makes
		// (docs.slack.dev/apis/events-api, "Turning retries off").
		Headers: map[string]string{"content-type": "text/plain; charset=utf-8", "cache-control": "no-store", "x-slack-no-retry": "1"},
	}
}
