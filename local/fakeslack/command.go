package fakeslack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"rollcall/local/fakeslack/schema"
)

// Command is a person typing a slash command.
type Command struct {
	Channel string `json:"channel"`
	// Thread is the thread that it was typed in: Slack takes none there.
	Thread string `json:"thread"`
	// Text is all that was typed, "/rollcall status".
	Text string `json:"text"`
	// User is who typed it; empty means the first user.
	User string `json:"user"`
}

// CommandName is the app's only command (deploy/slack-app.yaml).
const CommandName = "/rollcall"

// CommandError is what Slack shows below the box in place of an answer.
type CommandError struct{ Says string }

func (e *CommandError) Error() string { return e.Says }

// Command sends the request that a command makes, signed, waits for its answer, and shows
// that (docs.slack.dev/interactivity/implementing-slash-commands).
func (s *Server) Command(ctx context.Context, c Command) error {
	s.mu.Lock()
	to, body, reply, err := s.prepareCommand(c)
	at := s.cfg.SignatureClock()
	select {
	case <-s.done:
		err = http.ErrServerClosed
	default:
		s.presses.Add(1)
		defer s.presses.Done()
	}
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("fakeslack: command: %w", err)
	}
	status, kind, said, err := s.sendSigned(ctx, to, "application/x-www-form-urlencoded", body, at)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &CommandError{CommandName + ` failed with the error "operation_timeout"`}
	case err != nil:
		return fmt.Errorf("fakeslack: command: %w", err)
	case status != http.StatusOK:
		return &CommandError{CommandName + ` failed with the error "dispatch_failed"`}
	case len(bytes.TrimSpace(said)) == 0:
		return nil // the app says nothing yet
	}
	p := params{"text": string(said)}
	if strings.HasPrefix(kind, "application/json") {
		if p, err = parseParams(nil, "application/json; charset=utf-8", said); err != nil {
			return &CommandError{CommandName + ` failed with the error "invalid_response"`}
		}
	}
	if _, err := s.respondAs(reply, p); err != nil {
		return fmt.Errorf("fakeslack: show the answer to the command: %w", err)
	}
	return nil
}

// prepareCommand writes the form that Slack sends. The lock is held.
func (s *Server) prepareCommand(c Command) (to string, body []byte, reply *replyURL, err error) {
	name, text, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	ch := s.store.byID(c.Channel)
	who := s.cfg.Users[0]
	if c.User != "" {
		u := s.user(c.User)
		if u == nil {
			return "", nil, nil, &apiError{code: "user_not_found"}
		}
		who = *u
	}
	from, organization := s.home(who)
	switch {
	case ch == nil:
		return "", nil, nil, &apiError{code: "channel_not_found"}
	case c.Thread != "":
		return "", nil, nil, &CommandError{name + " is not supported in threads. Sorry!"}
	case name != CommandName, !s.hasScope("commands"), from != teamID && (organization == "" || organization != s.cfg.Enterprise):
		// A command is there where the app is installed: not for a person of another
		// company in a channel of Slack Connect.
		return "", nil, nil, &CommandError{name + " is not a valid command."}
	case s.interact == "":
		return "", nil, nil, ErrNoInteractivityURL
	}
	trigger := s.store.id("Tr")
	s.triggers[trigger] = s.cfg.Wall()
	address := s.newReplyURL(ch.ID, "", "", who.ID)
	form := url.Values{
		"token": {"stage"}, "team_id": {from}, "team_domain": {"stage"}, "channel_id": {ch.ID}, "channel_name": {ch.Name}, "user_id": {who.ID}, "user_name": {who.Name},
		"command": {name}, "text": {strings.TrimSpace(text)}, "api_app_id": {s.cfg.Bot.AppID}, "is_enterprise_install": {"false"}, "response_url": {address}, "trigger_id": {trigger},
	}
	if s.cfg.Enterprise != "" {
		form.Set("enterprise_id", s.cfg.Enterprise)
		form.Set("enterprise_name", "Stage")
	}
	return s.interact, []byte(form.Encode()), s.replies[address[strings.LastIndex(address, "/")+1:]], nil
}

func (s *Server) hasScope(scope string) bool { return checkScope(s.cfg.Scopes, []string{scope}) == nil }

// sendSigned sends a signed request, and gives what came back within the time that Slack
// waits.
func (s *Server) sendSigned(ctx context.Context, to, kind string, body []byte, at interface{ Unix() int64 }) (status int, answered string, said []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, pressTimeout)
	defer cancel()
	req, err := signedRequest(ctx, to, s.cfg.SigningSecret, body, at)
	if err != nil {
		return 0, "", nil, err
	}
	req.Header.Set("Content-Type", kind)
	resp, err := s.client().Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer resp.Body.Close()
	said, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, resp.Header.Get("Content-Type"), said, err
}

// respondAs shows what an app said to a command at once: it counts as none of the five
// uses of its response_url.
func (s *Server) respondAs(u *replyURL, p params) (ts string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	said, err := s.parseContent(p)
	if err != nil {
		return "", err
	}
	m := &Message{
		User: s.cfg.Bot.UserID, Bot: true, Visible: u.user, Text: said.text, Blocks: said.blocks, Attachments: said.attachments, Metadata: said.metadata,
	}
	if p["response_type"] == "in_channel" {
		m.Visible = ""
	}
	s.post(s.store.byID(u.channel), m)
	return m.TS, nil
}

// serveCommand is a command typed on the page.
func (s *Server) serveCommand(w http.ResponseWriter, r *http.Request) {
	c, err := pressFrom[Command](r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var says *CommandError
	switch err := s.Command(r.Context(), c); {
	case errors.As(err, &says):
		writeJSON(w, http.StatusOK, answer{"ok": false, "hint": says.Says})
	case errors.Is(err, ErrNoInteractivityURL):
		writeJSON(w, http.StatusOK, answer{"ok": false, "hint": "No request URL is set, so nothing was sent."})
	case err != nil:
		writeJSON(w, http.StatusOK, answer{"ok": false, "hint": strings.TrimPrefix(err.Error(), "fakeslack: ")})
	default:
		writeJSON(w, http.StatusOK, answer{"ok": true})
	}
}

// event sends what the Events API sends of something that happened, and sends it again
// where it is not answered by 200 in time: at once, after a minute and after five, unless
// the answer says x-slack-no-retry (docs.slack.dev/apis/events-api). Here the retries come
// one after the other.
func (s *Server) event(ctx context.Context, to string, what answer) error {
	body, err := schema.Encode(what)
	if err != nil {
		return err
	}
	reason := ""
	for try := 0; try <= 3; try++ {
		status, said, err := s.eventOnce(ctx, to, body, try, reason)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			reason = "http_timeout"
		case err != nil:
			return err
		case status == http.StatusOK:
			if want, ok := what["challenge"].(string); ok && !strings.Contains(said, want) {
				return errors.New("the address did not answer with the challenge")
			}
			return nil
		default:
			reason = "http_error"
		}
		if reason == "http_error" && said == noRetry {
			break
		}
	}
	return fmt.Errorf("the app did not take the event: %s", reason)
}

const noRetry = "x-slack-no-retry"

func (s *Server) eventOnce(ctx context.Context, to string, body []byte, try int, reason string) (status int, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, pressTimeout)
	defer cancel()
	req, err := signedRequest(ctx, to, s.cfg.SigningSecret, body, s.cfg.SignatureClock())
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	if try > 0 {
		req.Header.Set("X-Slack-Retry-Num", itoa(try))
		req.Header.Set("X-Slack-Retry-Reason", reason)
	}
	resp, err := s.client().Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if resp.Header.Get(noRetry) == "1" {
		return resp.StatusCode, noRetry, err
	}
	return resp.StatusCode, string(text), err
}

// VerifyEvents is what Slack does when an address is put in for events.
func (s *Server) VerifyEvents(ctx context.Context) error {
	s.mu.Lock()
	to, challenge := s.interact, s.store.id("challenge")
	s.mu.Unlock()
	if to == "" {
		return ErrNoInteractivityURL
	}
	return s.event(ctx, to, answer{"token": "stage", "challenge": challenge, "type": "url_verification"})
}
