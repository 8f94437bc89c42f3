package slackactions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/bus"
	"rollcall/shared/interaction"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Slack shows a warning to whoever pressed if there is no answer within three
// seconds (docs.slack.dev/interactivity/handling-user-interaction). Half a second
// is left for the way there and back and for a start of the function.
const (
	answerWithin = 2250 * time.Millisecond
	// releaseWithin is for taking a claim back after that: 2.5 seconds in all.
	releaseWithin = 250 * time.Millisecond
)

// Once remembers which presses were taken, and as which message each was passed
// on: report believes no other.
type Once interface {
	ClaimPress(ctx context.Context, id, by string) (bool, error)
	PassPress(ctx context.Context, id, by, digest string) error
	ReleasePress(ctx context.Context, id, by string) error
}

// Audit keeps what was refused.
type Audit interface {
	RecordRefusal(ctx context.Context, r interaction.Record) (bool, error)
}

// Sender is whom a press is passed on to.
type Sender interface {
	SendPress(ctx context.Context, m report.PressMessage) error
}

var (
	_ Once   = (*store.Store)(nil)
	_ Audit  = (*store.Store)(nil)
	_ Sender = bus.Queues{}
)

type handler struct {
	signing *signing
	once    Once
	audit   *audit
	send    Sender
	replies slackapi.Responder
	// wall is the time in which signatures are dated, and a request travels. now
	// is the time in which incidents live: on the local stage it runs faster.
	wall func() time.Time
	now  func() time.Time
	// watched tells whether an account and region is among those of the settings: what is
	// pressed of others report would leave out, and nobody would be answered.
	watched func(spoke.ID) bool
	log     *slog.Logger
	count   func(name string, n int)
}

// Build makes the handler of slack-actions from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	table := store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName)
	h := handler{
		signing: &signing{secrets: secretsmanager.NewFromConfig(e.AWS), arn: e.Config.SigningARN, log: e.Log},
		once:    table, // a copy of a request comes in the time in which it was signed
		audit:   &audit{store: table.At(e.Now), log: e.Log, metrics: e.Metrics},
		send:    bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL},
		replies: slackapi.NewResponder(e.Config.SlackAPI, e.HTTP),
		wall:    time.Now,
		now:     e.Now,
		watched: e.Config.Watched,
		log:     e.Log,
		count:   e.Metrics.Count,
	}
	return h.handle, nil
}

// handle answers one request to the function's address. It fails only where the
// request is none: what goes wrong is answered, so that the person is told.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	c, err := received(raw)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err = h.take(ctx, c)
	var refused *interaction.Refusal
	switch {
	case err == nil:
		return c.done(), nil
	case errors.As(err, &refused):
		return h.refuse(ctx, c, refused), nil
	}
	return h.failed(ctx, c, err), nil
}

// take does all that is to be done with a request, in this order: nothing is
// parsed before it is known who signed it, when, and that it is the first time.
func (h handler) take(ctx context.Context, c *call) error {
	if c.unread != nil {
		return c.unread
	}
	if err := interaction.Acceptable(c.Request); err != nil {
		return err
	}
	if err := interaction.Fresh(c.Request, h.wall()); err != nil {
		return err
	}
	if err := h.signing.verify(ctx, c.Request, h.wall()); err != nil {
		return err
	}
	c.id = interaction.ID(c.Request)
	first, err := h.once.ClaimPress(ctx, c.id, c.by)
	if err != nil {
		return fmt.Errorf("see whether it was pressed before: %w", err)
	}
	if !first {
		return &interaction.Refusal{Reason: interaction.Replayed, Says: "this very request was taken before"}
	}
	parse := interaction.Parse
	if interaction.IsEvent(c.Request) {
		parse = interaction.ParseEvent
	}
	if c.payload, err = parse(c.Body); err != nil {
		return err
	}
	switch {
	case c.payload.Type == interaction.SSLCheck:
		return nil
	case c.payload.Type == interaction.URLVerification:
		c.challenge = c.payload.Challenge
		return nil
	case c.payload.Type == interaction.BlockActions && c.payload.Actions[0].Link:
		return nil // it opened a page
	}
	ask, isCommand, err := h.asked(c)
	switch {
	case err != nil:
		return err
	case ask.Verb != "":
		return h.command(ctx, c, ask, "")
	case isCommand:
		return nil // it is answered, or there is nothing to do
	}
	return h.press(ctx, c)
}

// press passes on what was pressed in an incident's message.
func (h handler) press(ctx context.Context, c *call) error {
	press, err := pressOf(c.payload)
	if err != nil {
		return err
	}
	if !h.watched(press.Key.Spoke) {
		return &interaction.Refusal{Reason: interaction.NotWatched,
			Says: "the account and region that it is about are no longer watched (setting spokes); what is open there is closed within half an hour"}
	}
	press.ID, press.At = c.id, h.now().UTC()
	message, err := report.EncodePress(press)
	if err != nil {
		return err
	}
	if err := h.forward(ctx, c, message); err != nil {
		return errors.Join(fmt.Errorf("pass the press on: %w", err), h.release(ctx, c))
	}
	h.log.InfoContext(ctx, "pressed", "audit", true, "action", press.Action, "user", press.User.ID,
		"spoke", press.Key.Spoke.String(), "cluster", press.Key.Cluster, "check", press.Key.Check, "resource", press.Key.Resource, "press", press.ID)
	h.count("Presses", 1)
	return nil
}

// forward writes down what was pressed or typed, and sends it to report, which holds the one
// against the other.
func (h handler) forward(ctx context.Context, c *call, message report.PressMessage) error {
	if err := h.once.PassPress(ctx, c.id, c.by, message.Digest()); err != nil {
		return err
	}
	return h.send.SendPress(ctx, message)
}

// release lets the same request come again, for it was not passed on. Should
// its message have arrived all the same, report does not believe it any more: the
// person was told that it failed.
func (h handler) release(ctx context.Context, c *call) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	if err := h.once.ReleasePress(ctx, c.id, c.by); err != nil {
		return fmt.Errorf("let it come again: %w", err)
	}
	return nil
}
