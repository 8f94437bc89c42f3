package slackactions

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/shared/interaction"
)

// call is one request to the function's address, and what becomes known of it.
type call struct {
	interaction.Request
	// source is the address that it came from.
	source string
	// by names this invocation.
	by string
	// unread is why there is no body.
	unread error

	id      string
	payload interaction.Payload
	// answer is what whoever typed a command is told at once; challenge is what Slack wants
	// back.
	answer, challenge string
}

// errNoCall: slack-actions is woken by its address alone.
var errNoCall = errors.New("the event is no request to a function URL: slack-actions is woken by its own address")

// received reads the event by which Lambda hands over a request (payload format
// 2.0). The names of headers are in lower case there, and the body of a form is
// in base64.
func received(raw json.RawMessage) (*call, error) {
	var e events.LambdaFunctionURLRequest
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoCall, err)
	}
	if e.RequestContext.HTTP.Method == "" {
		return nil, errNoCall
	}
	c := &call{
		Request: interaction.Request{
			Method: e.RequestContext.HTTP.Method, ContentType: e.Headers["content-type"],
			Timestamp: e.Headers[interaction.HeaderTimestamp], Signature: e.Headers[interaction.HeaderSignature],
			Body: []byte(e.Body),
		},
		source: e.RequestContext.HTTP.SourceIP,
		by:     rand.Text(),
	}
	if !e.IsBase64Encoded {
		return c, nil
	}
	if base64.StdEncoding.DecodedLen(len(e.Body)) > interaction.MaxBody+2 { // two of padding
		return c, nil // its text is larger still, and refused for that
	}
	body, err := base64.StdEncoding.DecodeString(e.Body)
	if err != nil {
		c.unread = &interaction.Refusal{Reason: interaction.NotForm, Says: "the body is not the base64 that it is said to be"}
		return c, nil
	}
	c.Body = body
	return c, nil
}
