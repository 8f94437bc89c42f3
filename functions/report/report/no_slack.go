package report

import (
	"context"
	"fmt"
	"time"

	"rollcall/shared/notify"
	"rollcall/shared/slack/slackapi"
)

// noSlack takes what is for Slack where there is no app (slackChannel=none): incidents run
// their course, and the bus and with it the targets get what happens. What it took has a
// timestamp that Slack does not know: with a channel, an open incident is posted anew.
type noSlack struct{ now func() time.Time }

var (
	_ notify.Slack   = noSlack{}
	_ notify.Files   = noSlack{}
	_ notify.Answers = noSlack{}
)

// stamp has the form of Slack's timestamps, seconds and microseconds
// (docs.slack.dev/messaging/retrieving-messages).
func (n noSlack) stamp() (string, error) {
	at := n.now()
	return fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000), nil
}

// Post takes a message.
func (n noSlack) Post(context.Context, string, slackapi.Message) (string, error) { return n.stamp() }

// Update takes an edit.
func (noSlack) Update(context.Context, string, string, slackapi.Message) error { return nil }

// Reply takes a reply.
func (n noSlack) Reply(context.Context, string, string, slackapi.Message) (string, error) {
	return n.stamp()
}

// Broadcast takes a reply that the channel shows.
func (n noSlack) Broadcast(context.Context, string, string, slackapi.Message) (string, error) {
	return n.stamp()
}

// Find finds nothing: taking it again does no harm.
func (noSlack) Find(context.Context, slackapi.Search) (slackapi.Found, error) {
	return slackapi.Found{}, nil
}

// Upload takes a picture.
func (noSlack) Upload(context.Context, slackapi.File) (string, error) { return "F0", nil }

// Share takes a file.
func (noSlack) Share(context.Context, string, string, slackapi.File) (string, error) {
	return "F0", nil
}

// Ephemeral takes an answer.
func (noSlack) Ephemeral(context.Context, string, string, string, slackapi.Message) error { return nil }
