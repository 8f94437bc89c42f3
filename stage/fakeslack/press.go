package fakeslack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/stage/fakeslack/draw"
	"rollcall/stage/fakeslack/schema"
)

// pressTimeout is how long Slack waits for the answer to an interaction.
const pressTimeout = 3 * time.Second

// ErrNoInteractivityURL means that there is nowhere to send a press to.
var ErrNoInteractivityURL = errors.New("no interactivity URL is set")

// Press is a person pressing a button or choosing from a menu.
type Press struct {
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	// ActionID names the element; BlockID is needed only where the same action
	// is in more than one block.
	ActionID string `json:"action"`
	BlockID  string `json:"block"`
	// Value is the chosen option's value, for menus, and what was typed.
	Value string `json:"value"`
	// User is who presses; empty means the first user.
	User string `json:"user"`
	// Home is set where it is pressed on the user's home page of the app.
	Home bool `json:"home"`
}

// PressError is what Slack shows beside a button: an answer other than 200, or
// none in time (Status 0).
type PressError struct{ Status int }

// Error says it as Slack does.
func (e *PressError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("the app did not respond within %d seconds", pressTimeout/time.Second)
	}
	return fmt.Sprintf("the app responded with status code %d", e.Status)
}

// Press sends the block_actions request that a press makes, signed, and waits
// for its answer.
func (s *Server) Press(ctx context.Context, p Press) error {
	s.mu.Lock()
	to, body, err := s.prepare(p)
	at := s.cfg.SignatureClock()
	select {
	case <-s.done:
		err = http.ErrServerClosed
	default:
		// Close waits for it.
		s.presses.Add(1)
		defer s.presses.Done()
	}
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("fakeslack: press %q: %w", p.ActionID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, pressTimeout)
	defer cancel()
	req, err := signedRequest(ctx, to, s.cfg.SigningSecret, body, at)
	if err != nil {
		return fmt.Errorf("fakeslack: press %q: %w", p.ActionID, err)
	}
	resp, err := s.client().Do(req)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("fakeslack: press %q: %w", p.ActionID, &PressError{})
	}
	if err != nil {
		return fmt.Errorf("fakeslack: press %q: %w", p.ActionID, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("fakeslack: press %q: %w", p.ActionID, &PressError{resp.StatusCode})
	}
	return nil
}

// signedRequest signs body as Slack does: v0, HMAC-SHA256 of "v0:time:body".
func signedRequest(ctx context.Context, to, secret string, body []byte, at interface{ Unix() int64 }) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("build request: %w", err)
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":"))
	mac.Write(body)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	req.Header.Set("X-Slack-Request-Timestamp", stamp)
	req.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	return req, nil
}

// prepare finds what was pressed and writes the request's body. The lock is held.
func (s *Server) prepare(p Press) (to string, body []byte, err error) {
	who := s.cfg.Users[0]
	if p.User != "" {
		u := s.user(p.User)
		if u == nil {
			return "", nil, &apiError{code: "user_not_found"}
		}
		who = *u
	}
	if p.Home {
		return s.preparePressOnHome(p, who)
	}
	c := s.store.byID(p.Channel)
	if c == nil {
		return "", nil, &apiError{code: "channel_not_found"}
	}
	m := c.findAny(p.TS)
	if m == nil {
		return "", nil, &apiError{code: "message_not_found"}
	}
	action, err := findAction(m.Blocks, p)
	if err != nil {
		return "", nil, err
	}
	if s.interact == "" {
		return "", nil, ErrNoInteractivityURL
	}
	action["action_ts"] = stampOf(s.cfg.Now())
	trigger := s.store.id("Tr")
	container := answer{"type": "message", "message_ts": m.TS, "channel_id": c.ID, "is_ephemeral": m.Visible != ""}
	if m.ThreadTS != "" {
		container["thread_ts"] = m.ThreadTS
	}
	from, team, enterprise := s.places(who)
	payload := answer{
		"type": "block_actions", "api_app_id": s.cfg.Bot.AppID, "token": "stage", "trigger_id": trigger,
		"user":       answer{"id": who.ID, "username": who.Name, "name": who.Name, "team_id": from},
		"team":       team,
		"enterprise": enterprise, "is_enterprise_install": false,
		"channel": answer{"id": c.ID, "name": c.Name}, "container": container,
		"message": s.wire(c, m, true), "state": answer{"values": answer{}},
		"response_url": s.newReplyURL(c.ID, m.TS, m.ThreadTS, who.ID), "actions": []answer{action},
	}
	if m.Visible != "" {
		// Of a message that one person sees an app gets nothing back but where it stands
		// (slackapi/bolt-js, src/types/actions: "undefined when message is ephemeral").
		delete(payload, "message")
	}
	text, err := schema.Encode(payload)
	if err != nil {
		return "", nil, err
	}
	return s.interact, []byte(formOf(text)), nil
}

// formOf is a payload as Slack sends it.
func formOf(payload []byte) string { return url.Values{"payload": {string(payload)}}.Encode() }

// places are what a payload says of where a person is from, of its team, and of
// its enterprise. user.team_id is the person's. The team is the person's own where
// it is of the app's organization; in a channel of Slack Connect it is the app's, and
// enterprise is the organization of the installation, whoever pressed: neither says
// that the person belongs there (docs.slack.dev/apis/slack-connect; the fields in
// slackapi/bolt-js, src/types/actions/block-action.ts, and what bolt-python has to
// do to find the actor's team, slack_bolt/request/internals.py).
func (s *Server) places(who User) (from string, team answer, enterprise any) {
	from, organization := s.home(who)
	team = answer{"id": teamID, "domain": "stage"}
	if s.cfg.Enterprise == "" {
		return from, team, nil
	}
	if organization == s.cfg.Enterprise {
		team["id"] = from
	}
	team["enterprise_id"], team["enterprise_name"] = s.cfg.Enterprise, "Stage"
	return from, team, answer{"id": s.cfg.Enterprise, "name": "Stage"}
}

// findAction finds the pressed element and writes it as an action.
func findAction(raw json.RawMessage, p Press) (answer, error) {
	var blocks []map[string]json.RawMessage
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &blocks); err != nil {
			return nil, fmt.Errorf("read blocks: %w", err)
		}
	}
	for _, b := range blocks {
		blockID := draw.Word(b["block_id"])
		if p.BlockID != "" && p.BlockID != blockID {
			continue
		}
		var elements []map[string]any
		// A section has no elements, an actions block has no accessory, and a
		// rich_text block has elements of another shape: each is then empty.
		_ = json.Unmarshal(b["elements"], &elements)
		var accessory map[string]any
		if json.Unmarshal(b["accessory"], &accessory) == nil {
			elements = append(elements, accessory)
		}
		var input map[string]any
		if json.Unmarshal(b["element"], &input) == nil && string(b["dispatch_action"]) == "true" {
			elements = append(elements, input)
		}
		for _, e := range elements {
			if id, _ := e["action_id"].(string); id != p.ActionID {
				continue
			}
			return actionOf(e, blockID, p.Value)
		}
	}
	return nil, fmt.Errorf("no element has action_id %q", p.ActionID)
}

func actionOf(e map[string]any, blockID, value string) (answer, error) {
	a := answer{"type": e["type"], "action_id": e["action_id"], "block_id": blockID}
	for _, name := range []string{"text", "value", "style", "placeholder"} {
		if v, ok := e[name]; ok {
			a[name] = v
		}
	}
	switch e["type"] {
	case "button":
		return a, nil
	case "plain_text_input": // what was typed (slackapi/bolt-js, src/types/actions/block-action.ts, PlainTextInputAction)
		a["value"] = value
		return a, nil
	}
	options, _ := e["options"].([]any)
	groups, _ := e["option_groups"].([]any)
	for _, g := range groups {
		group, _ := g.(map[string]any)
		more, _ := group["options"].([]any)
		options = append(options, more...)
	}
	for _, o := range options {
		if option, _ := o.(map[string]any); option["value"] == value {
			a["selected_option"] = option
			return a, nil
		}
	}
	return nil, fmt.Errorf("%v has no option %q", e["action_id"], value)
}

// pressFrom reads a press that the page sends. Only JSON is taken: another
// site's page cannot send that here without asking first.
func pressFrom[T any](r *http.Request) (v T, err error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return v, &apiError{code: "invalid_post_type"}
	}
	body, err := readBody(r)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, &apiError{code: "invalid_json"}
	}
	return v, nil
}

// servePress is a press on the page.
func (s *Server) servePress(w http.ResponseWriter, r *http.Request) {
	p, err := pressFrom[Press](r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var unanswered *PressError
	switch err := s.Press(r.Context(), p); {
	case errors.Is(err, ErrNoInteractivityURL):
		writeJSON(w, http.StatusOK, answer{"ok": false, "unset": true, "hint": "No interactivity URL is set, so nothing was sent. Set one to try the buttons."})
	case errors.As(err, &unanswered):
		writeJSON(w, http.StatusOK, answer{"ok": false, "hint": unanswered.Error()})
	case err != nil:
		writeJSON(w, http.StatusOK, answer{"ok": false, "hint": strings.TrimPrefix(err.Error(), "fakeslack: ")})
	default:
		writeJSON(w, http.StatusOK, answer{"ok": true})
	}
}

// serveSay is a line written on the page.
func (s *Server) serveSay(w http.ResponseWriter, r *http.Request) {
	said, err := pressFrom[struct{ Channel, Thread, Text, User string }](r)
	if err != nil || strings.TrimSpace(said.Text) == "" {
		http.Error(w, "channel and text are required", http.StatusBadRequest)
		return
	}
	if said.User == "" {
		said.User = s.cfg.Users[0].ID
	}
	text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(said.Text)
	ts, err := s.Say(said.Channel, said.User, cut(text, maxText), said.Thread)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	writeJSON(w, http.StatusOK, answer{"ok": true, "ts": ts})
}

// client is how presses go out.
func (s *Server) client() *http.Client {
	if s.cfg.Network == nil {
		return http.DefaultClient
	}
	return &http.Client{Transport: s.cfg.Network}
}

// change says what a page must draw again.
type change struct {
	channel, ts, thread string
	// home is whose home page was drawn.
	home   string
	banner bool
}

// watcher is an open page. Changes wait in a set, so that a slow page makes
// no other wait and draws a message once for many edits.
type watcher struct {
	viewer string
	dirty  map[change]bool
	wake   chan struct{}
}

// changed tells all pages. The lock is held.
func (s *Server) changed(c change) {
	for w := range s.watchers {
		w.dirty[c] = true
		select {
		case w.wake <- struct{}{}:
		default:
			// It is awake already.
		}
	}
}

// fragment is a piece of a page: the message TS in List, or its end if HTML is
// empty.
type fragment struct {
	List string `json:"list"`
	TS   string `json:"ts"`
	HTML string `json:"html"`
}

// bannerView is what stands above the channel.
type bannerView struct {
	Text          string `json:"text"`
	Stage         string `json:"stage"`
	Interactivity bool   `json:"interactivity"`
}

func (s *Server) bannerView() bannerView {
	return bannerView{s.banner, s.cfg.Now().UTC().Format("2 Jan 2006 15:04:05") + " UTC", s.interact != ""}
}

// serveLive streams changes as server-sent events, and the stage's time once a
// second.
func (s *Server) serveLive(w http.ResponseWriter, r *http.Request) {
	flusher, ok := w.(http.Flusher)
	if !ok {
		http.Error(w, "no streaming", http.StatusInternalServerError)
		return
	}
	me := &watcher{viewer: s.viewer(r).ID, dirty: map[change]bool{}, wake: make(chan struct{}, 1)}
	s.mu.Lock()
	s.watchers[me] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watchers, me)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		banner, fragments, err := s.changes(me)
		if err != nil {
			return
		}
		send := func(name string, v any) {
			// These types always marshal.
			text, _ := json.Marshal(v)
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, text)
		}
		send("banner", banner)
		for _, f := range fragments {
			send("fragment", f)
		}
		flusher.Flush()
		select {
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		case <-me.wake:
		case <-tick.C:
		}
	}
}

// changes draws what changed since the last time.
func (s *Server) changes(me *watcher) (bannerView, []fragment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []fragment
	for c := range me.dirty {
		delete(me.dirty, c)
		if c.banner {
			continue
		}
		if c.home != "" {
			if c.home == me.viewer {
				html, err := s.drawHome(me.viewer)
				if err != nil {
					return bannerView{}, nil, err
				}
				out = append(out, fragment{List: "home:" + c.home, TS: "home", HTML: html})
			}
			continue
		}
		fs, err := s.fragments(c, me.viewer)
		if err != nil {
			return bannerView{}, nil, err
		}
		out = append(out, fs...)
	}
	return s.bannerView(), out, nil
}

// fragments draws a changed message wherever it is shown: in the channel, in its
// thread, and for a reply its parent too, whose summary counts the replies.
func (s *Server) fragments(c change, viewer string) ([]fragment, error) {
	ch := s.store.byID(c.channel)
	m := ch.findAny(c.ts)
	if m != nil && !m.shownTo(viewer) {
		return nil, nil
	}
	inChannel, inThread := "channel:"+ch.ID, "thread:"+ch.ID+":"+c.ts
	if c.thread != "" {
		inThread = "thread:" + ch.ID + ":" + c.thread
	}
	var out []fragment
	add := func(list string, m *Message, ts string, thread bool) error {
		f := fragment{List: list, TS: ts}
		if m != nil {
			text, err := s.drawMessage(ch, m, thread)
			if err != nil {
				return err
			}
			f.HTML = text
		}
		out = append(out, f)
		return nil
	}
	if c.thread == "" || m == nil || m.Broadcast {
		if err := add(inChannel, m, c.ts, false); err != nil {
			return nil, err
		}
	}
	if err := add(inThread, m, c.ts, true); err != nil {
		return nil, err
	}
	if parent := ch.find(c.thread); parent != nil {
		return out, add(inChannel, parent, parent.TS, false)
	}
	return out, nil
}

// Message is a message as the stand-in holds it.
type Message struct {
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	// ThreadTS is the parent's timestamp; empty for a message of the channel.
	ThreadTS string `json:"thread_ts,omitempty"`
	// Broadcast replies are shown in the channel too.
	Broadcast bool `json:"broadcast,omitempty"`
	// User is who wrote it; Bot says that this is the app.
	User string `json:"user"`
	Bot  bool   `json:"bot,omitempty"`
	// Visible is the one user who sees an ephemeral message.
	Visible     string          `json:"visible_to,omitempty"`
	Text        string          `json:"text"`
	Blocks      json.RawMessage `json:"blocks,omitempty"`
	Attachments json.RawMessage `json:"attachments,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Files       []File          `json:"files,omitempty"`
	// Edited is the mark that Slack shows as "(edited)".
	Edited *Edited `json:"edited,omitempty"`
	// Versions are the earlier forms of the message, oldest first.
	Versions []Version `json:"versions,omitempty"`
	// Replies are the messages of its thread, oldest first. Only parents have them.
	Replies []Message `json:"replies,omitempty"`
}

// Edited says who edited a message, and when.
type Edited struct {
	User string `json:"user"`
	TS   string `json:"ts"`
}

// Version is what a message said before an edit.
type Version struct {
	Text        string          `json:"text"`
	Blocks      json.RawMessage `json:"blocks,omitempty"`
	Attachments json.RawMessage `json:"attachments,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	// Until is the stage's time of the edit that replaced it.
	Until time.Time `json:"until"`
}

// File is an uploaded file.
type File struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	Mimetype string `json:"mimetype"`
	AltText  string `json:"alt_txt,omitempty"`
	Size     int    `json:"size"`
}

// content is the part of a message that an edit replaces.
type content struct {
	text        string
	blocks      json.RawMessage
	attachments json.RawMessage
	metadata    json.RawMessage
}

func (m *Message) content() content {
	return content{m.Text, m.Blocks, m.Attachments, m.Metadata}
}

// edit replaces the content of m and keeps what was there. An edit with blocks
// carries no mark: Slack shows "(edited)" only when the text was replaced.
func (m *Message) edit(to content, user, ts string, at time.Time) {
	m.Versions = append(m.Versions, Version{
		Text: m.Text, Blocks: m.Blocks, Attachments: m.Attachments, Metadata: m.Metadata, Until: at,
	})
	m.Text, m.Blocks, m.Attachments, m.Metadata = to.text, to.blocks, to.attachments, to.metadata
	m.Edited = nil
	if len(to.blocks) == 0 {
		m.Edited = &Edited{User: user, TS: ts}
	}
}

// clone copies m so that the caller cannot reach into the store.
func (m *Message) clone() Message {
	c := *m
	c.Files = slices.Clone(m.Files)
	c.Versions = slices.Clone(m.Versions)
	if m.Edited != nil {
		e := *m.Edited
		c.Edited = &e
	}
	c.Replies = nil
	return c
}

//go:embed web
var web embed.FS

// policy lets the page load its own files only. Pictures may come from
// elsewhere, because image blocks name any address.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: http: https:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pageView is a whole page.
type pageView struct {
	Workspace, App string
	Viewer         User
	Initial        string
	Users          []User
	Banner         bannerView
	Static         bool
	Channels       []Channel
	Channel        Channel
	Messages       []messageView
	Pane           *paneView
	// Home is the app's home page, in place of a channel.
	Home *homeView
}

// paneView is what the right-hand side shows: a thread, or a message's history.
type paneView struct {
	List, Title, TS string
	History         bool
	Replies         int
	Messages        []messageView
}

func pageLink(channel, what, ts string) string {
	return "/?" + url.Values{"channel": {channel}, what: {ts}}.Encode()
}

// templates reads the page's templates; they are embedded, so they always parse.
func templates() *template.Template {
	return template.Must(template.ParseFS(web, "web/*.html"))
}

func (s *Server) drawMessage(c *channel, m *Message, thread bool) (string, error) {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, "message", s.view(c, m, thread)); err != nil {
		return "", fmt.Errorf("draw message: %w", err)
	}
	return b.String(), nil
}

// drawHome draws a person's home page. The lock is held.
func (s *Server) drawHome(user string) (string, error) {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, "home", s.homeView(user)); err != nil {
		return "", fmt.Errorf("draw the home page: %w", err)
	}
	return b.String(), nil
}

// servePage draws the page: ?channel= chooses the channel, ?thread= opens a
// thread, ?history= the versions of a message, ?message= shows one message alone in
// its channel, ?as= says who looks, ?static=1 leaves out live updates.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	v, ok := s.pageView(r.URL.Query(), s.viewer(r))
	var b bytes.Buffer
	var err error
	if ok {
		err = templates().ExecuteTemplate(&b, "page", v)
	}
	s.mu.Unlock()
	switch {
	case !ok:
		http.Error(w, "no such channel or message", http.StatusNotFound)
	case err != nil:
		http.Error(w, "draw page: "+err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(b.Bytes())
	}
}

// pageView gathers a page. The lock is held.
func (s *Server) pageView(q url.Values, who User) (pageView, bool) {
	ts, alone := q.Get("thread")+q.Get("history"), q.Get("message")
	c := s.store.channels[0]
	if id := q.Get("channel"); id != "" {
		c = s.store.byName(id)
	} else if one := cmp.Or(ts, alone); one != "" {
		i := slices.IndexFunc(s.store.channels, func(c *channel) bool { return c.findAny(one) != nil })
		if i >= 0 {
			c = s.store.channels[i]
		}
	}
	if c == nil || alone != "" && c.findAny(alone) == nil {
		return pageView{}, false
	}
	v := pageView{
		Workspace: s.cfg.Workspace, App: s.cfg.Bot.Name, Viewer: who,
		Initial: initial(who.Name), Users: s.cfg.Users, Banner: s.bannerView(),
		Static: q.Get("static") != "", Channels: s.cfg.Channels, Channel: c.Channel,
	}
	if q.Get("home") != "" {
		v.Home = s.homeView(who.ID)
		return v, true
	}
	for _, m := range c.messages {
		if (m.ThreadTS == "" || m.Broadcast) && m.shownTo(who.ID) && (alone == "" || m.TS == alone) {
			v.Messages = append(v.Messages, s.view(c, m, false))
		}
	}
	if ts == "" {
		return v, true
	}
	m := c.findAny(ts)
	if m == nil {
		return v, false
	}
	if q.Get("history") != "" {
		v.Pane = s.history(c, m)
		return v, true
	}
	if m.ThreadTS != "" {
		if m = c.find(m.ThreadTS); m == nil {
			return v, false
		}
	}
	v.Pane = &paneView{List: "thread:" + c.ID + ":" + m.TS, Title: "Thread", TS: m.TS, Replies: len(c.replies(m.TS))}
	v.Pane.Messages = append(v.Pane.Messages, s.view(c, m, true))
	for _, r := range c.messages {
		if r.ThreadTS == m.TS && r.shownTo(who.ID) {
			v.Pane.Messages = append(v.Pane.Messages, s.view(c, r, true))
		}
	}
	return v, true
}

// history shows what a message said, oldest first.
func (s *Server) history(c *channel, m *Message) *paneView {
	p := &paneView{Title: "Earlier versions", TS: m.TS, History: true}
	at := timeOf(m.TS)
	for _, old := range m.Versions {
		v := s.view(c, m, true)
		v.Body = s.body(content{text: old.Text, blocks: old.Blocks})
		v.Attachments, v.Versions, v.Edited = s.attachments(old.Attachments), 0, false
		v.Clock = template.HTML(draw.Clock(at, "{time_secs}"))
		p.Messages = append(p.Messages, v)
		at = old.Until.UTC()
	}
	v := s.view(c, m, true)
	v.Versions = 0
	v.Clock = template.HTML(draw.Clock(at, "{time_secs}"))
	p.Messages = append(p.Messages, v)
	return p
}

// servePermalink opens the message that a permalink names.
func (s *Server) servePermalink(w http.ResponseWriter, r *http.Request) {
	channel, link := r.PathValue("channel"), strings.TrimPrefix(r.PathValue("link"), "p")
	if len(link) < 7 {
		http.NotFound(w, r)
		return
	}
	ts := link[:len(link)-6] + "." + link[len(link)-6:]
	to := "/?" + url.Values{"channel": {channel}}.Encode()
	if thread := r.URL.Query().Get("thread_ts"); thread != "" {
		to = pageLink(channel, "thread", thread)
	}
	http.Redirect(w, r, to+"#m"+ts, http.StatusFound)
}

// serveState sends all that the page shows as JSON, for scripts.
func (s *Server) serveState(w http.ResponseWriter, _ *http.Request) {
	type channelState struct {
		ID       string    `json:"id"`
		Name     string    `json:"name"`
		Messages []Message `json:"messages"`
	}
	s.mu.Lock()
	state := struct {
		Workspace string         `json:"workspace"`
		StageTime time.Time      `json:"stage_time"`
		Banner    string         `json:"banner"`
		Calls     int            `json:"calls"`
		Channels  []channelState `json:"channels"`
	}{Workspace: s.cfg.Workspace, StageTime: s.cfg.Now().UTC(), Banner: s.banner, Calls: len(s.calls)}
	for _, c := range s.store.channels {
		state.Channels = append(state.Channels, channelState{c.ID, c.Name, c.tree()})
	}
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, state)
}

// maxBody bounds a request. A message is at most 40,000 characters of text and
// as much of blocks; a view is smaller.
const maxBody = 1 << 20

// params are the arguments of a call. An argument that is not a string in a JSON
// body is kept as JSON text, which is also how a form sends it.
type params map[string]string

// parseParams reads the arguments of a call from the query and the body.
func parseParams(query url.Values, contentType string, body []byte) (params, error) {
	p := params{}
	for k, v := range query {
		p[k] = v[0]
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return p, nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, &apiError{code: "invalid_post_type"}
	}
	switch media {
	case "application/json":
		return p, p.addJSON(body)
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, &apiError{code: "invalid_form_data"}
		}
		for k, v := range form {
			p[k] = v[0]
		}
		return p, nil
	}
	return nil, &apiError{code: "invalid_post_type"}
}

func (p params) addJSON(body []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return &apiError{code: "invalid_json"}
	}
	for k, raw := range fields {
		var text string
		switch {
		case string(raw) == "null":
		case json.Unmarshal(raw, &text) == nil:
			p[k] = text
		default:
			p[k] = string(raw)
		}
	}
	return nil
}

// readBody reads at most maxBody bytes.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	if len(body) > maxBody {
		return nil, &apiError{code: "request_too_large"}
	}
	return body, nil
}

// flag reads a boolean as Slack does: 1, t, true.
func (p params) flag(name string) bool {
	switch strings.ToLower(p[name]) {
	case "1", "t", "true":
		return true
	}
	return false
}

// limit reads a page size between 1 and most.
func (p params) limit(usual, most int) (int, error) {
	text := p["limit"]
	if text == "" || text == "0" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, &apiError{code: "invalid_limit"}
	}
	return n, nil
}

// need reports the first argument that is missing, in Slack's words.
func (p params) need(names ...string) error {
	var messages []string
	for _, n := range names {
		if p[n] == "" {
			messages = append(messages, "[ERROR] missing required field: "+n)
		}
	}
	if messages == nil {
		return nil
	}
	return &apiError{code: "invalid_arguments", messages: messages}
}

// checkPictures refuses blocks that show a file which the app does not have,
// or whose upload was not completed. The lock is held.
func (s *Server) checkPictures(raw json.RawMessage) error {
	var blocks []draw.Block
	if len(raw) == 0 || json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	for i, b := range blocks {
		if b.SlackFile == nil {
			continue
		}
		u := s.uploads[b.SlackFile.ID]
		if b.SlackFile.ID != "" && (u == nil || !u.shared || !strings.HasPrefix(u.Mimetype, "image/")) {
			return &apiError{code: "invalid_blocks", messages: []string{fmt.Sprintf("[ERROR] invalid slack file [json-pointer:/blocks/%d/slack_file/id]", i)}}
		}
	}
	return nil
}
