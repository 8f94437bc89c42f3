package slackactions

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/slack-actions/spec"
	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/interaction"
	"rollcall/shared/lambda"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/slack/button"
	"rollcall/shared/slack/hook"
	"rollcall/shared/slashcommand"
	"rollcall/shared/spoke"
	"rollcall/shared/store/incoming"
	"rollcall/shared/store/table"
)

const (
	notPassedOn     = spec.NotPassedOn
	refusedRequests = spec.RefusedRequests
)

// audit keeps what was refused: for each that Slack signed a line in the log and a
// record in the table; of the others one line and one record for a minute and
// reason, so that a flood fills nothing. Each counts in the figures.
type audit struct {
	store   Audit
	log     *slog.Logger
	metrics *lambda.Metrics

	mu sync.Mutex
	// told is what was said of unsigned requests, by reason: there are as many
	// entries as reasons.
	told map[interaction.Reason]*tally
}

// tally is how many unsigned requests were refused for a reason since the last
// line, which was of a minute.
type tally struct {
	minute time.Time
	more   int
}

// refused never fails: what cannot be recorded stands in the log.
func (a *audit) refused(ctx context.Context, c *call, r *interaction.Refusal, now time.Time) {
	record := interaction.Record{
		At: now.UTC(), Reason: r.Reason, Says: r.Says, Source: c.source, Request: c.id, Bytes: len(c.Body),
		User: c.payload.User, Team: c.payload.Team, Channel: c.payload.Channel, TS: c.payload.TS,
	}
	if c.id == "" {
		sum := sha256.Sum256(c.Body)
		record.Request = hex.EncodeToString(sum[:])
	}
	if len(c.payload.Actions) > 0 {
		record.Action = short(c.payload.Actions[0].ID)
	}
	a.metrics.Count(refusedRequests, 1)
	a.metrics.Gauge(refusedRequests, "Count", 1, lambda.Dimension{Name: "function", Value: spec.Name}, lambda.Dimension{Name: "reason", Value: string(r.Reason)})
	before := 0
	if !r.Reason.Signed() {
		var first bool
		if first, before = a.next(r.Reason, now); !first {
			return
		}
	}
	a.log.WarnContext(ctx, "refused", "audit", true, "reason", r.Reason, "signed", r.Reason.Signed(), "source", c.source, "request", record.Request, "bytes", record.Bytes,
		"user", record.User, "action", record.Action, "says", r.Says, "unsaid", before)
	if _, err := a.store.RecordRefusal(ctx, record); err != nil {
		a.log.ErrorContext(ctx, "could not record the refusal; only the line above exists", "error", err.Error())
	}
}

// next reports whether it is the first of its reason in this minute that this
// process sees, and how many came since the one before that was.
func (a *audit) next(r interaction.Reason, now time.Time) (first bool, before int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	minute := now.UTC().Truncate(time.Minute)
	t := a.told[r]
	if t != nil && t.minute.Equal(minute) {
		t.more++
		return false, 0
	}
	if a.told == nil {
		a.told = map[interaction.Reason]*tally{}
	}
	a.told[r] = &tally{minute: minute}
	if t != nil {
		before = t.more
	}
	return true, before
}

// short bounds what a sender chose: 255 characters are Slack's limit of an
// action's id, and none of Rollcall's has more than 20.
func short(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), 60)])
}

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
	// answer is the immediate reply to a command; challenge is what Slack wants
	// back.
	answer, challenge string
}

// errNoCall: slack-actions is woken by its address alone.
var errNoCall = errors.New("the event is not a function URL request: slack-actions is invoked by its own address only")

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
		c.unread = &interaction.Refusal{Reason: interaction.NotForm, Says: "the body is not valid base64"}
		return c, nil
	}
	c.Body = body
	return c, nil
}

// asked is what a person requests with a command, with the home page, or with a button that
// ends a silence. A command that is answered here, and a tab that shows nothing of
// Rollcall's, ask for nothing of report.
func (h handler) asked(c *call) (ask report.Ask, isCommand bool, _ error) {
	p := c.payload
	switch {
	case p.Type == interaction.SlashCommand:
		ask, err := slashcommand.Parse(p.Text, h.now(), func(id checkid.ID) bool { _, known := catalog.ByID(id); return known })
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
		return report.Ask{}, true, &interaction.Refusal{Reason: interaction.UnknownValue, Says: "this version of Rollcall does not know that button's value"}
	}
	return ask, true, nil
}

// command passes on a request, with the reply for the home page.
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
		return errors.Join(fmt.Errorf("queue the command: %w", err), h.release(ctx, c))
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
	_ Once   = incoming.Incoming{}
	_ Audit  = incoming.Incoming{}
	_ Sender = queue.Queues{}
)

type handler struct {
	signing *signing
	once    Once
	audit   *audit
	send    Sender
	replies hook.Responder
	// wall is the time in which signatures are dated, and a request travels. now
	// is the time in which incidents live: on the local stage it runs faster.
	wall func() time.Time
	now  func() time.Time
	// watched reports whether an account and region is among those of the settings: what is
	// pressed of others report would leave out, without a reply.
	watched func(spoke.ID) bool
	log     *slog.Logger
	count   func(name string, n int)
}

// Build makes the handler of slack-actions from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	records := table.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName)
	h := handler{
		signing: &signing{secrets: secretsmanager.NewFromConfig(e.AWS), arn: e.Config.SigningARN, log: e.Log},
		once:    incoming.New(records), // a copy of a request comes in the time in which it was signed
		audit:   &audit{store: incoming.New(records.WithClock(e.Now)), log: e.Log, metrics: e.Metrics},
		send:    queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL},
		replies: hook.NewResponder(e.Config.SlackAPI, e.HTTP),
		wall:    time.Now,
		now:     e.Now,
		watched: e.Config.Watched,
		log:     e.Log,
		count:   e.Metrics.Count,
	}
	return h.handle, nil
}

// handle answers one request to the function's address. It fails only where the
// request is none: what goes wrong is answered, so that the person gets the reason.
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
		return fmt.Errorf("look up an earlier press: %w", err)
	}
	if !first {
		return &interaction.Refusal{Reason: interaction.Replayed, Says: "this request was already accepted"}
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
			Says: "its account and region are no longer watched (setting spokes); open incidents there are closed within half an hour"}
	}
	press.ID, press.At = c.id, h.now().UTC()
	message, err := report.EncodePress(press)
	if err != nil {
		return err
	}
	if err := h.forward(ctx, c, message); err != nil {
		return errors.Join(fmt.Errorf("queue the press: %w", err), h.release(ctx, c))
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
		return fmt.Errorf("allow a retry: %w", err)
	}
	return nil
}

// pressOf reads what was pressed. Nothing in it is believed but that Slack says
// so: whether the incident is there, the plan is offered and the person may,
// report decides.
func pressOf(p interaction.Payload) (report.Press, error) {
	a := p.Actions[0]
	read, err := button.Read(button.Element{ActionID: a.ID, BlockID: a.Block, Value: a.Value, Option: a.Option}, p.Blocks)
	switch {
	case errors.Is(err, button.ErrAction):
		return report.Press{}, &interaction.Refusal{Reason: interaction.UnknownAction, Says: "this version of Rollcall does not know that button"}
	case err != nil:
		return report.Press{}, &interaction.Refusal{Reason: interaction.UnknownValue, Says: "this version of Rollcall does not know that button's value"}
	}
	return report.Press{
		Head: report.Head{Key: read.Key}, Number: read.Number, Action: read.Action, For: read.For, Plan: read.Plan, Text: read.Text,
		User: report.User{ID: p.User, Name: p.Name}, Team: p.Team, Home: p.Home, Enterprise: p.Enterprise,
		Channel: p.Channel, TS: p.TS, Thread: p.Thread,
	}, nil
}

// refuse answers a request that is not let in, and keeps who tried what. Whom
// Slack vouches for gets a reply in Slack; the status is then 200, for Slack would
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
		h.log.WarnContext(ctx, "could not send the reason to the person", "reason", r.Reason, "error", err.Error())
	}
	if c.payload.OnHome && c.id != "" && r.Reason != interaction.Malformed && r.Reason != interaction.Replayed {
		err := h.command(ctx, c, report.Ask{Verb: report.OpenHome}, "Nothing was done: "+r.Says+".")
		if err == nil {
			return events.LambdaFunctionURLResponse{StatusCode: http.StatusOK}
		}
		h.log.WarnContext(ctx, "could not show the reason on the home page", "reason", r.Reason, "error", err.Error())
	}
	return plain(r.Reason.Status(), string(r.Reason)+": "+r.Says)
}

// failed answers a request that could not be judged, or not be passed on. Slack
// shows a warning to whoever pressed, in a message and on the home page ("the Slack user
// who interacted with the app will see an error message",
// docs.slack.dev/interactivity/handling-user-interaction), and they can press again.
func (h handler) failed(ctx context.Context, c *call, err error) any {
	if c.payload.Type == interaction.SlashCommand { // Slack would say "dispatch_failed"
		h.log.ErrorContext(ctx, "could not queue a command; the person was asked to try again", "command", c.id, "error", err.Error())
		h.count(notPassedOn, 1)
		c.answer = "Rollcall could not accept the command. Try again in a minute; if it keeps failing, an alarm has the reason."
		return c.done()
	}
	h.log.ErrorContext(ctx, "could not queue a press; the person sees a warning sign in Slack and can press again", "press", c.id, "error", err.Error())
	h.count(notPassedOn, 1)
	if c.id == "" {
		return plain(http.StatusServiceUnavailable, "the signature cannot be verified now")
	}
	return plain(http.StatusInternalServerError, "it could not be queued: press again")
}

func plain(status int, text string) any {
	return events.LambdaFunctionURLResponse{
		StatusCode: status, Body: text + "\n",
		// An event that is refused is not worth the three retries that Slack makes
		// (docs.slack.dev/apis/events-api, "Turning retries off").
		Headers: map[string]string{"content-type": "text/plain; charset=utf-8", "cache-control": "no-store", "x-slack-no-retry": "1"},
	}
}

const (
	// readAgain is how long a secret that was read is good, whether it fits or not:
	// a new one counts, and the one before counts no more, a minute after it was
	// rotated at the latest. A flood of forged requests reads once a minute.
	readAgain = time.Minute
	// keepUnread is how long a secret counts that cannot be read again: as long as
	// an outage of a regional service usually lasts.
	keepUnread = time.Hour
	// lookAgain is how long it is remembered that there is none.
	lookAgain = 5 * time.Second
)

// signing knows the secret by which Slack signs. The previous version of a
// rotated secret does not count: an app's secret is made anew because the old one
// may have leaked.
type signing struct {
	secrets hook.SecretReader
	arn     string
	log     *slog.Logger

	mu     sync.Mutex
	secret string
	wrong  error
	read   time.Time // the last try
	known  time.Time // when secret was last seen to be the one
}

// verify reports whether Slack signed a request: with a Refusal if it did not,
// with another error if that cannot be known.
func (s *signing) verify(ctx context.Context, r interaction.Request, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due(now) {
		s.look(ctx, now)
	}
	if s.secret == "" {
		return s.wrong
	}
	if interaction.Verify(s.secret, r) {
		return nil
	}
	return &interaction.Refusal{Reason: interaction.Forged, Says: "the signature is not that of the Slack app's Signing Secret"}
}

// due reports whether the secret is to be read again.
func (s *signing) due(now time.Time) bool {
	keep := readAgain
	if s.secret == "" {
		keep = lookAgain
	}
	age := now.Sub(s.read)
	// A clock that was set back must not keep an old secret until it catches up.
	return s.read.IsZero() || age >= keep || age < 0
}

// look reads the secret. One that cannot be read now keeps the one that is
// known, for keepUnread; one that is empty by now takes it away.
func (s *signing) look(ctx context.Context, now time.Time) {
	s.read = now
	secret, err := hook.SigningSecret(ctx, s.secrets, s.arn)
	away := err != nil && !errors.Is(err, hook.ErrNoSigning) && !errors.Is(err, hook.ErrNotSigning)
	if away && s.secret != "" && now.Sub(s.known) < keepUnread {
		s.log.WarnContext(ctx, "could not reread the signing secret; the cached one stays in use for an hour", "known", s.known, "error", err.Error())
		return
	}
	s.secret, s.wrong, s.known = secret, err, now
}
