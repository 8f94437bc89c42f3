package fakeslack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"rollcall/stage/fakeslack/schema"
)

// answer is a JSON answer of the Web API. Its "ok" is added when it is written.
type answer map[string]any

// apiError is an answer with "ok": false.
type apiError struct {
	code string
	// messages go to response_metadata.messages.
	messages []string
	// needed and provided are the scopes of a missing_scope.
	needed, provided string
}

// Error returns Slack's error code.
func (e *apiError) Error() string {
	if len(e.messages) == 0 {
		return e.code
	}
	return e.code + ": " + strings.Join(e.messages, "; ")
}

func (e *apiError) answer() answer {
	a := answer{"ok": false, "error": e.code}
	if e.needed != "" {
		a["needed"], a["provided"] = e.needed, e.provided
	}
	if len(e.messages) > 0 {
		short := make([]string, len(e.messages))
		for i, m := range e.messages {
			short[i] = strings.TrimPrefix(m, "[ERROR] ")
		}
		a["errors"] = short
		a["response_metadata"] = answer{"messages": e.messages}
	}
	return a
}

// writeJSON writes v. Slack's status is 200 for errors too.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// The client may be gone; then there is no reader left.
	_ = enc.Encode(v)
}

// serveAPI answers one call of the Web API.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	call := Call{Method: r.PathValue("method"), Wall: s.cfg.Wall(), Stage: s.cfg.Now()}
	p, token, err := readCall(r)
	call.Params = p.withoutToken()

	s.mu.Lock()
	fault, hit := s.faults.pick(call.Method, call.Stage)
	s.mu.Unlock()
	if hit {
		call.Fault = fault.name()
		s.wait(r, fault.Latency)
	}
	var a answer
	if !fault.fails() || fault.Applied {
		if err == nil {
			a, err = s.do(call.Method, token, p)
		}
		if ts, ok := a["ts"].(string); ok && err == nil {
			call.TS = ts
		}
	}
	if fault.fails() {
		call.Status, call.Error = fault.status(), fault.Error
		s.record(call)
		fault.write(w)
		return
	}
	call.Status = http.StatusOK
	var limited throttled
	var refused *apiError
	switch {
	case errors.As(err, &limited):
		call.Status, call.Error = http.StatusTooManyRequests, limited.Error()
		s.record(call)
		writeThrottled(w, limited.wait)
		return
	case errors.As(err, &refused):
		a, call.Error = refused.answer(), refused.code
	case err != nil:
		a, call.Error = answer{"ok": false, "error": "internal_error"}, "internal_error"
	default:
		a["ok"] = true
	}
	if r.Header.Get("Content-Type") == "application/json" {
		// Slack asks for the charset and takes the call all the same.
		a["warning"] = "missing_charset"
	}
	s.record(call)
	w.Header().Set("X-OAuth-Scopes", strings.Join(s.cfg.Scopes, ","))
	writeJSON(w, call.Status, a)
}

// readCall reads the arguments and the token, which comes in the header or as an
// argument.
func readCall(r *http.Request) (params, string, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, "", err
	}
	p, err := parseParams(r.URL.Query(), r.Header.Get("Content-Type"), body)
	if err != nil {
		return nil, "", err
	}
	return p, bearer(r, p), nil
}

func bearer(r *http.Request, p params) string {
	if t, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return t
	}
	return p["token"]
}

func (p params) withoutToken() map[string]string {
	out := map[string]string{}
	for k, v := range p {
		if k != "token" {
			out[k] = v
		}
	}
	return out
}

// do checks the token, the scope and the pace, then carries out the call.
func (s *Server) do(method, token string, p params) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.method(method)
	switch {
	case run == nil:
		return nil, &apiError{code: "unknown_method"}
	case token == "":
		return nil, &apiError{code: "not_authed"}
	case token != s.cfg.Token:
		return nil, &apiError{code: "invalid_auth"}
	}
	if err := checkScope(s.cfg.Scopes, scopesOf(method)); err != nil {
		return nil, err
	}
	if err := s.limiter.allow(method, p["channel"], s.cfg.Wall()); err != nil {
		return nil, err
	}
	return run(p)
}

// method finds what carries out a method; nil if the stand-in does not have it.
func (s *Server) method(name string) func(params) (answer, error) {
	switch name {
	case "auth.test":
		return s.authTest
	case "chat.postMessage":
		return s.chatPostMessage
	case "chat.postEphemeral":
		return s.chatPostEphemeral
	case "chat.update":
		return s.chatUpdate
	case "chat.getPermalink":
		return s.chatGetPermalink
	case "conversations.history":
		return s.conversationsHistory
	case "conversations.replies":
		return s.conversationsReplies
	case "users.info":
		return s.usersInfo
	case "usergroups.users.list":
		return s.usergroupsUsersList
	case "views.publish":
		return s.viewsPublish
	case "files.getUploadURLExternal":
		return s.filesGetUploadURLExternal
	case "files.completeUploadExternal":
		return s.filesCompleteUploadExternal
	}
	return nil
}

func (s *Server) record(c Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
}

// wait delays an answer; it ends early when the client or the server goes.
func (s *Server) wait(r *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	case <-s.done:
	}
}

func (f Fault) status() int {
	switch {
	case f.Reset:
		return 0
	case f.Status != 0:
		return f.Status
	case f.RetryAfter != 0:
		return http.StatusTooManyRequests
	}
	return http.StatusOK
}

// write answers as the fault says.
func (f Fault) write(w http.ResponseWriter) {
	switch status := f.status(); {
	case f.Reset:
		// net/http closes the connection with no answer after this panic.
		panic(http.ErrAbortHandler)
	case status == http.StatusTooManyRequests:
		writeThrottled(w, f.RetryAfter)
	case status != http.StatusOK:
		// Slack's servers send HTML with a 5xx.
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<!DOCTYPE html><title>" + http.StatusText(status) + "</title>"))
	default:
		writeJSON(w, http.StatusOK, answer{"ok": false, "error": f.Error})
	}
}

func writeThrottled(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", itoa(retryAfter(wait)))
	writeJSON(w, http.StatusTooManyRequests, answer{"ok": false, "error": "ratelimited"})
}

// serveAsset sends a script or the stylesheet.
func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, web, path.Join("web", r.PathValue("name")))
}

// Call is one request to the Web API, as it came and as it was answered.
type Call struct {
	// Method is for example "chat.postMessage".
	Method string
	// Wall is when it came in real time, Stage in the stage's time.
	Wall, Stage time.Time
	// Params are its arguments, without the token.
	Params map[string]string
	// Status is the HTTP status of the answer; zero if there was none.
	Status int
	// Error is the Slack error code, or empty if the answer was ok.
	Error string
	// Fault names the fault that hit the call.
	Fault string
	// TS is the timestamp of the message that was written or edited.
	TS string
}

const (
	// maxText is where chat.postMessage cuts the text, in characters.
	maxText = 40000
	// maxUpdateText is what chat.update takes, in bytes.
	maxUpdateText = 4000
	// maxAttachments is the most attachments of a message.
	maxAttachments = 100
)

var timestamp = regexp.MustCompile(`^\d{10}\.\d{6}$`)

func itoa(n int) string { return strconv.Itoa(n) }

// writable finds the channel of a call that writes.
func (s *Server) writable(name string) (*channel, error) {
	c := s.store.byName(name)
	switch {
	case c == nil:
		return nil, &apiError{code: "channel_not_found"}
	case c.BotAbsent && c.Private:
		// A private channel does not exist for those outside.
		return nil, &apiError{code: "channel_not_found"}
	case c.BotAbsent:
		return nil, &apiError{code: "not_in_channel"}
	case c.Archived:
		return nil, &apiError{code: "is_archived"}
	}
	return c, nil
}

// parseContent reads and checks what a message says.
func (s *Server) parseContent(p params) (content, error) {
	c := content{text: p["text"]}
	if text := p["blocks"]; text != "" {
		blocks, err := checkBlocks(json.RawMessage(text), func() string { return s.store.id("b") })
		if err != nil {
			return c, err
		}
		if err := s.checkPictures(blocks); err != nil {
			return c, err
		}
		c.blocks = blocks
	}
	if text := p["attachments"]; text != "" {
		attachments, err := checkAttachments(json.RawMessage(text))
		if err != nil {
			return c, err
		}
		c.attachments = attachments
	}
	metadata, err := checkMetadata(p["metadata"])
	c.metadata = metadata
	return c, err
}

func checkAttachments(raw json.RawMessage) (json.RawMessage, error) {
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, &apiError{code: "invalid_attachments"}
	}
	if len(list) > maxAttachments {
		return nil, &apiError{code: "too_many_attachments"}
	}
	for _, a := range list {
		if blocks := a["blocks"]; len(blocks) > 0 {
			if _, err := checkBlocks(blocks, func() string { return "" }); err != nil {
				return nil, err
			}
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	return raw, nil
}

// checkMetadata takes {event_type, event_payload}; an empty object means none.
func checkMetadata(text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	var m struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil, &apiError{code: "invalid_metadata_format"}
	}
	if m.Type == "" && m.Payload == nil {
		return nil, nil
	}
	if m.Type == "" || m.Payload == nil {
		return nil, &apiError{code: "invalid_metadata_schema"}
	}
	return json.RawMessage(text), nil
}

// cut shortens text to n characters.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n])
	}
	return text
}

func (c content) empty() bool {
	return strings.TrimSpace(c.text) == "" && len(c.blocks) == 0 && len(c.attachments) == 0
}

// compose checks the arguments of a new message and builds it.
func (s *Server) compose(c *channel, p params) (*Message, error) {
	said, err := s.parseContent(p)
	if err != nil {
		return nil, err
	}
	if said.empty() {
		return nil, &apiError{code: "no_text"}
	}
	thread, err := c.parent(p["thread_ts"])
	if err != nil {
		return nil, err
	}
	return &Message{
		User: s.cfg.Bot.UserID, Bot: true, ThreadTS: thread, Broadcast: thread != "" && p.flag("reply_broadcast"),
		Text: cut(said.text, maxText), Blocks: said.blocks, Attachments: said.attachments, Metadata: said.metadata,
	}, nil
}

// parent checks the timestamp of a thread.
func (c *channel) parent(ts string) (string, error) {
	if ts == "" {
		return "", nil
	}
	if !timestamp.MatchString(ts) {
		return "", &apiError{code: "invalid_thread_ts", messages: []string{"[ERROR] " + ts + " is not a valid thread_ts"}}
	}
	m := c.find(ts)
	switch {
	case m == nil:
		return "", &apiError{code: "thread_not_found"}
	case m.ThreadTS != "":
		return "", &apiError{code: "cannot_reply_to_message"}
	}
	return ts, nil
}

func (s *Server) chatPostMessage(p params) (answer, error) {
	if err := p.need("channel"); err != nil {
		return nil, err
	}
	c, err := s.writable(p["channel"])
	if err != nil {
		return nil, err
	}
	m, err := s.compose(c, p)
	if err != nil {
		return nil, err
	}
	s.post(c, m)
	return answer{"channel": c.ID, "ts": m.TS, "message": s.wire(c, m, true)}, nil
}

func (s *Server) chatPostEphemeral(p params) (answer, error) {
	if err := p.need("channel", "user"); err != nil {
		return nil, err
	}
	c, err := s.writable(p["channel"])
	if err != nil {
		return nil, err
	}
	if s.user(p["user"]) == nil {
		return nil, &apiError{code: "user_not_in_channel"}
	}
	m, err := s.compose(c, p)
	if err != nil {
		return nil, err
	}
	m.Visible, m.Broadcast = p["user"], false
	s.post(c, m)
	return answer{"message_ts": m.TS}, nil
}

func (s *Server) chatUpdate(p params) (answer, error) {
	if err := p.need("channel", "ts"); err != nil {
		return nil, err
	}
	c, m, err := s.own(p["channel"], p["ts"], "cant_update_message")
	if err != nil {
		return nil, err
	}
	if len(p["text"]) > maxUpdateText {
		return nil, &apiError{code: "msg_too_long"}
	}
	to, err := s.parseContent(p)
	if err != nil {
		return nil, err
	}
	_, hasText := p["text"]
	hasText = hasText && p["text"] != ""
	_, hasBlocks := p["blocks"]
	_, hasAttachments := p["attachments"]
	_, hasMetadata := p["metadata"]
	// What is left out stays, except that new text alone takes the blocks away.
	if !hasBlocks && !hasText {
		to.blocks = m.Blocks
	}
	if !hasText {
		to.text = m.Text
	}
	if !hasAttachments {
		to.attachments = m.Attachments
	}
	if !hasMetadata {
		to.metadata = m.Metadata
	}
	if !hasText && !hasBlocks && !hasAttachments && !hasMetadata || to.empty() {
		return nil, &apiError{code: "no_text"}
	}
	s.edit(c, m, to)
	return answer{"channel": c.ID, "ts": m.TS, "text": m.Text, "message": s.wireContent(m, true)}, nil
}

// edit changes m and tells the pages. The lock is held.
func (s *Server) edit(c *channel, m *Message, to content) {
	now := s.cfg.Now()
	m.edit(to, s.cfg.Bot.UserID, stampOf(now), now)
	s.changed(change{channel: c.ID, ts: m.TS, thread: m.ThreadTS})
}

// own finds a message that the app wrote itself.
func (s *Server) own(channelID, ts, denied string) (*channel, *Message, error) {
	c := s.store.byID(channelID)
	if c == nil {
		return nil, nil, &apiError{code: "channel_not_found"}
	}
	m := c.find(ts)
	switch {
	case m == nil:
		return nil, nil, &apiError{code: "message_not_found"}
	case !m.Bot:
		return nil, nil, &apiError{code: denied}
	}
	return c, m, nil
}

func (s *Server) chatGetPermalink(p params) (answer, error) {
	if err := p.need("channel", "message_ts"); err != nil {
		return nil, err
	}
	c := s.store.byID(p["channel"])
	if c == nil {
		return nil, &apiError{code: "channel_not_found"}
	}
	m := c.find(p["message_ts"])
	if m == nil {
		return nil, &apiError{code: "message_not_found"}
	}
	link := s.url + "/archives/" + c.ID + "/p" + strings.Replace(m.TS, ".", "", 1)
	if m.ThreadTS != "" {
		link += "?thread_ts=" + m.ThreadTS + "&cid=" + c.ID
	}
	return answer{"channel": c.ID, "permalink": link}, nil
}

// checkBlocks holds blocks against Block Kit's rules. It returns them with a
// block_id for each, made by newID where the sender gave none.
func checkBlocks(raw json.RawMessage, newID func() string) (json.RawMessage, error) {
	var blocks []any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&blocks) != nil || dec.More() {
		return nil, &apiError{code: "invalid_blocks_format"}
	}
	if problems := schema.Problems(blocks); len(problems) > 0 {
		messages := make([]string, len(problems))
		for i, p := range problems {
			messages[i] = "[ERROR] " + p
		}
		return nil, &apiError{code: "invalid_blocks", messages: messages}
	}
	if len(blocks) == 0 {
		return nil, nil
	}
	size, err := schema.Encode(blocks)
	if err != nil {
		return nil, err
	}
	if utf8.RuneCount(size) > schema.MaxBlocksSize {
		return nil, &apiError{code: "msg_blocks_too_long"}
	}
	for _, b := range blocks {
		if block := b.(map[string]any); block["block_id"] == nil {
			block["block_id"] = newID()
		}
	}
	return schema.Encode(blocks)
}

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
