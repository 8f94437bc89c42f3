// Package fakeslack stands in for Slack on one machine. The real client,
// github.com/slack-go/slack, talks to its Web API; a browser sees the channel,
// its threads and its edits live; buttons send signed interactivity requests.
//
// It is strict where Slack is strict: tokens, scopes, channel membership,
// Block Kit limits, rate limits and error codes. It knows the blocks that an
// alerting app posts (header, section, divider, context, actions, image and
// rich_text) and refuses all others.
//
// Three things differ from Slack on purpose. A reply to a timestamp that never
// was a message is refused with thread_not_found, where Slack takes it and shows
// it nowhere. A message edited with blocks gets a mark of its own on the page,
// which opens the earlier versions: Slack shows "(edited)" only after an edit of
// the text. The numbers of msg_blocks_too_long are those users measured, because
// Slack publishes none.
package fakeslack

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/stage/fakeslack/draw"
	"rollcall/stage/fakeslack/schema"
	"rollcall/stage/platform/loopback"
)

// stampOf writes a time as Slack writes timestamps.
func stampOf(t time.Time) string {
	us := t.UnixMicro()
	return fmt.Sprintf("%d.%06d", us/1e6, us%1e6)
}

// readable finds the channel of a call that reads.
func (s *Server) readable(id string) (*channel, error) {
	c := s.store.byID(id)
	switch {
	case c == nil || c.BotAbsent && c.Private:
		return nil, &apiError{code: "channel_not_found"}
	case c.BotAbsent:
		return nil, &apiError{code: "not_in_channel"}
	}
	scope := "channels:history"
	if c.Private {
		scope = "groups:history"
	}
	return c, checkScope(s.cfg.Scopes, []string{scope})
}

// window keeps the messages between oldest and latest. Timestamps of the same
// length sort as text.
func window(list []*Message, p params) ([]*Message, error) {
	for _, name := range []string{"oldest", "latest"} {
		if v := p[name]; v != "" && v != "0" && strings.Trim(v, "0123456789.") != "" {
			return nil, &apiError{code: "invalid_ts_" + name}
		}
	}
	oldest, latest, inclusive := pad(p["oldest"]), pad(p["latest"]), p.flag("inclusive")
	return slices.DeleteFunc(slices.Clone(list), func(m *Message) bool {
		if inclusive && (m.TS == oldest || m.TS == latest) {
			return false
		}
		return oldest != "" && m.TS <= oldest || latest != "" && m.TS >= latest
	}), nil
}

// pad gives a timestamp six decimals, so that "1700000000" and "1700000000.5"
// compare.
func pad(ts string) string {
	if ts == "" || ts == "0" {
		return ""
	}
	whole, part, _ := strings.Cut(ts, ".")
	return whole + "." + (part + "000000")[:6]
}

const cursorPrefix = "next_ts:"

// page cuts list after limit messages, starting at the cursor.
func page(list []*Message, cursor string, limit int) (part []*Message, next string, err error) {
	start := 0
	if cursor != "" {
		text, err := base64.StdEncoding.DecodeString(cursor)
		ts, ok := strings.CutPrefix(string(text), cursorPrefix)
		if err != nil || !ok {
			return nil, "", &apiError{code: "invalid_cursor"}
		}
		start = slices.IndexFunc(list, func(m *Message) bool { return m.TS == ts })
		if start < 0 {
			return nil, "", &apiError{code: "invalid_cursor"}
		}
	}
	end := min(len(list), start+limit)
	if end < len(list) {
		next = base64.StdEncoding.EncodeToString([]byte(cursorPrefix + list[end].TS))
	}
	return list[start:end], next, nil
}

func (s *Server) conversationsHistory(p params) (answer, error) {
	if err := p.need("channel"); err != nil {
		return nil, err
	}
	c, err := s.readable(p["channel"])
	if err != nil {
		return nil, err
	}
	limit, err := p.limit(100, 999)
	if err != nil {
		return nil, err
	}
	list, err := window(c.history(), p)
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	a, err := s.listMessages(c, list, p, limit)
	if err != nil {
		return nil, err
	}
	a["pin_count"] = 0
	return a, nil
}

func (s *Server) conversationsReplies(p params) (answer, error) {
	if err := p.need("channel", "ts"); err != nil {
		return nil, err
	}
	c, err := s.readable(p["channel"])
	if err != nil {
		return nil, err
	}
	limit, err := p.limit(1000, 1000)
	if err != nil {
		return nil, err
	}
	m := c.find(p["ts"])
	if m == nil {
		return nil, &apiError{code: "thread_not_found"}
	}
	if m.ThreadTS != "" {
		if m = c.find(m.ThreadTS); m == nil {
			return nil, &apiError{code: "thread_not_found"}
		}
	}
	list, err := window(c.replies(m.TS), p)
	if err != nil {
		return nil, err
	}
	return s.listMessages(c, append([]*Message{m}, list...), p, limit)
}

func (s *Server) listMessages(c *channel, list []*Message, p params, limit int) (answer, error) {
	list, next, err := page(list, p["cursor"], limit)
	if err != nil {
		return nil, err
	}
	out := make([]answer, len(list))
	for i, m := range list {
		out[i] = s.wire(c, m, p.flag("include_all_metadata"))
	}
	return answer{
		"messages": out, "has_more": next != "",
		"response_metadata": answer{"next_cursor": next},
	}, nil
}

// Config is what a Server starts with. Token and at least one channel are
// required; everything else has a default.
type Config struct {
	// Token is the bot token that callers must present.
	Token string
	// Scopes are the scopes of the token. Nil means all that the stand-in knows.
	Scopes []string
	// SigningSecret signs interactivity requests.
	SigningSecret string
	// InteractivityURL receives button presses. It can be set later too.
	InteractivityURL string
	// Workspace is the name shown at the top of the sidebar.
	Workspace string
	// Enterprise is the organization that the workspace is of (E…); empty for none.
	Enterprise string
	// Bot is the app that owns the token.
	Bot Bot
	// Channels are the channels of the workspace.
	Channels []Channel
	// Users are its people. The page is the first one's, until another is
	// chosen there.
	Users []User
	// Groups are its user groups.
	Groups []Group
	// Limits are the rate limits. The zero value means none.
	Limits Limits
	// Now is the stage's clock; it gives messages their timestamps. Nil means
	// the wall clock.
	Now func() time.Time
	// Wall is the clock for rate limits and for the record of calls, which stay
	// in real time when the stage's time runs faster. Nil means time.Now.
	Wall func() time.Time
	// SignatureClock dates the signatures of presses. It must be the clock of
	// whoever verifies them. Nil means the wall clock.
	SignatureClock func() time.Time
	// Network, if any, is where it is found in place of a port of this machine, and
	// by which its presses go.
	Network *loopback.Network
}

// Bot is the app behind the token.
type Bot struct {
	// Name is shown beside the APP badge.
	Name string
	// UserID, BotID and AppID are Slack's three names of one app.
	UserID, BotID, AppID string
}

// Channel is a channel of the workspace.
type Channel struct {
	// ID is Slack's id of the channel, Name is without "#".
	ID, Name string
	// Topic is shown in the channel's header.
	Topic string
	// Private makes history need groups:history.
	Private bool
	// Archived channels take no messages.
	Archived bool
	// BotAbsent means the app was not invited.
	BotAbsent bool
}

// User is a person.
type User struct {
	// ID is Slack's id, Name the display name.
	ID, Name string
	// Timezone is an IANA zone, for example "Europe/Berlin".
	Timezone string
	// Team is the workspace that they are of, if it is not this one, Enterprise its
	// organization: a user of another company in a channel of Slack Connect, or of
	// another workspace of our own organization.
	Team, Enterprise string
	// Guest is a guest of some channels (docs.slack.dev/reference/objects/user-object,
	// is_restricted).
	Guest bool
}

// Group is a user group such as @oncall.
type Group struct {
	// ID is Slack's id ("S..."), Handle is without "@".
	ID, Handle string
	// Users are the ids of its members.
	Users []string
}

// Limits are rate limits. A limit of zero is off.
type Limits struct {
	// PostsPerSecond is the pace of new messages for each channel. Slack allows
	// about one a second and "short bursts".
	PostsPerSecond float64
	// PostBurst is how many messages may come at once. Zero means one.
	PostBurst int
	// UpdatesPerMinute is the pace of chat.update. Slack's tier 3 is about 50.
	UpdatesPerMinute float64
	// UpdateBurst is how many updates may come at once. Zero means one.
	UpdateBurst int
}

// withDefaults checks c and fills what was left out.
func (c Config) withDefaults() (Config, error) {
	if c.Token == "" {
		return c, errors.New("fakeslack: a token is required")
	}
	if len(c.Channels) == 0 {
		return c, errors.New("fakeslack: at least one channel is required")
	}
	seen := map[string]bool{}
	for _, ch := range c.Channels {
		if ch.ID == "" || ch.Name == "" {
			return c, fmt.Errorf("fakeslack: channel %q (%q) needs an id and a name", ch.ID, ch.Name)
		}
		if seen[ch.ID] || seen["#"+ch.Name] {
			return c, fmt.Errorf("fakeslack: channel %q (%q) is there twice", ch.ID, ch.Name)
		}
		seen[ch.ID], seen["#"+ch.Name] = true, true
	}
	if c.Scopes == nil {
		c.Scopes = allScopes()
	}
	if c.Workspace == "" {
		c.Workspace = "Local stage"
	}
	if c.Bot.Name == "" {
		c.Bot.Name = "Rollcall"
	}
	if c.Bot.UserID == "" {
		c.Bot.UserID = "U0BOT00001"
	}
	if c.Bot.BotID == "" {
		c.Bot.BotID = "B0BOT00001"
	}
	if c.Bot.AppID == "" {
		c.Bot.AppID = "A0BOT00001"
	}
	if len(c.Users) == 0 {
		c.Users = []User{{ID: "U0ONCALL01", Name: "oncall", Timezone: "UTC"}}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wall == nil {
		c.Wall = time.Now
	}
	if c.SignatureClock == nil {
		c.SignatureClock = c.Wall
	}
	return c, nil
}

// Fault makes calls fail. Exactly what happens is the sum of its fields: a
// latency may come before a status, for example.
type Fault struct {
	// Method is a method or a pattern such as "chat.*"; empty means every call.
	Method string
	// Times is how many calls it hits; zero means all while it lasts.
	Times int
	// For is how long it lasts in the stage's time; zero means until cleared.
	For time.Duration
	// Latency delays the answer, in wall time.
	Latency time.Duration
	// Status is the HTTP status, for example 500 or 503. 429 carries RetryAfter.
	Status int
	// RetryAfter is the Retry-After of a 429; it is a 429 if Status is zero.
	RetryAfter time.Duration
	// Reset closes the connection with no answer.
	Reset bool
	// Error is a Slack error code: the answer is ok:false with it.
	Error string
	// Applied means the call is carried out first and only its answer is lost.
	Applied bool
}

// fails says whether the fault changes the answer, not only its time.
func (f Fault) fails() bool {
	return f.Status != 0 || f.RetryAfter != 0 || f.Reset || f.Error != ""
}

// name is the fault in the record of calls.
func (f Fault) name() string {
	switch {
	case f.Reset:
		return "reset"
	case f.Status == 429 || f.Status == 0 && f.RetryAfter != 0:
		return "429"
	case f.Status != 0:
		return fmt.Sprint(f.Status)
	case f.Error != "":
		return f.Error
	case f.Latency != 0:
		return "latency " + f.Latency.String()
	}
	return ""
}

// armed is a fault that is waiting for calls.
type armed struct {
	Fault
	until time.Time
	left  int
}

// faults is the list of armed faults, oldest first.
type faults []*armed

// add arms f.
func (fs *faults) add(f Fault, now time.Time) error {
	if _, err := path.Match(f.Method, ""); err != nil {
		return fmt.Errorf("fakeslack: fault for %q: %w", f.Method, err)
	}
	if !f.fails() && f.Latency == 0 {
		return fmt.Errorf("fakeslack: fault for %q does nothing", f.Method)
	}
	a := &armed{Fault: f, left: f.Times}
	if f.For > 0 {
		a.until = now.Add(f.For)
	}
	*fs = append(*fs, a)
	return nil
}

// pick returns the first fault that hits method now, and counts it.
func (fs faults) pick(method string, now time.Time) (Fault, bool) {
	for _, a := range fs {
		if a.Times > 0 && a.left == 0 || !a.until.IsZero() && !now.Before(a.until) {
			continue
		}
		// The pattern was checked when the fault was armed.
		if hit, _ := path.Match(a.Method, method); a.Method != "" && !hit {
			continue
		}
		a.left--
		return a.Fault, true
	}
	return Fault{}, false
}

// maxUpload bounds an uploaded file.
const maxUpload = 16 << 20

// upload is a file on its way, and afterwards its bytes.
type upload struct {
	File
	length int
	data   []byte
	shared bool
}

func fileName(name string) string { return url.PathEscape(strings.ToLower(name)) }

func (s *Server) filesGetUploadURLExternal(p params) (answer, error) {
	if err := p.need("filename", "length"); err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(p["length"])
	if err != nil || length < 1 || length > maxUpload {
		return nil, &apiError{code: "invalid_arguments", messages: []string{"[ERROR] invalid `length`"}}
	}
	id := s.store.id("F")
	s.uploads[id] = &upload{File: File{ID: id, Name: p["filename"], Title: p["filename"], AltText: p["alt_txt"]}, length: length}
	return answer{"upload_url": s.url + "/upload/" + id, "file_id": id}, nil
}

// serveUpload takes the bytes, as a multipart form or as they are.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	data, err := readUpload(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.uploads[r.PathValue("id")]
	switch {
	case u == nil:
		http.Error(w, "file not found", http.StatusNotFound)
	case len(data) != u.length:
		http.Error(w, fmt.Sprintf("%d bytes, %d were announced", len(data), u.length), http.StatusBadRequest)
	default:
		u.data, u.Size, u.Mimetype = data, len(data), http.DetectContentType(data)
		fmt.Fprintf(w, "OK - %d", len(data))
	}
}

func readUpload(r *http.Request) ([]byte, error) {
	var from io.Reader = r.Body
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		parts, err := r.MultipartReader()
		if err != nil {
			return nil, fmt.Errorf("read form: %w", err)
		}
		part, err := parts.NextPart()
		for err == nil && part.FileName() == "" {
			part, err = parts.NextPart()
		}
		if err != nil {
			return nil, fmt.Errorf("find file in form: %w", err)
		}
		from = part
	}
	data, err := io.ReadAll(io.LimitReader(from, maxUpload+1))
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	return data, nil
}

func (s *Server) filesCompleteUploadExternal(p params) (answer, error) {
	if err := p.need("files"); err != nil {
		return nil, err
	}
	var wanted []struct{ ID, Title string }
	if json.Unmarshal([]byte(p["files"]), &wanted) != nil || len(wanted) == 0 {
		return nil, &apiError{code: "invalid_arguments", messages: []string{"[ERROR] invalid `files`"}}
	}
	var ups []*upload
	for _, f := range wanted {
		u := s.uploads[f.ID]
		if u == nil || u.data == nil || u.shared {
			return nil, &apiError{code: "file_not_found"}
		}
		ups = append(ups, u)
	}
	channels := strings.FieldsFunc(p["channel_id"]+","+p["channels"], func(r rune) bool { return r == ',' })
	var to []*channel
	for _, id := range channels {
		c, err := s.writable(id)
		if err != nil {
			return nil, err
		}
		if _, err := c.parent(p["thread_ts"]); err != nil {
			return nil, err
		}
		to = append(to, c)
	}
	said, err := s.parseContent(params{"text": p["initial_comment"], "blocks": p["blocks"]})
	if err != nil {
		return nil, err
	}
	var files []File
	list := []answer{}
	for i, u := range ups {
		if u.shared = true; wanted[i].Title != "" {
			u.Title = wanted[i].Title
		}
		files = append(files, u.File)
		list = append(list, s.wireFile(u.File))
	}
	for _, c := range to {
		// The parent was checked above.
		thread, _ := c.parent(p["thread_ts"])
		s.post(c, &Message{
			User: s.cfg.Bot.UserID, Bot: true, ThreadTS: thread, Text: said.text, Blocks: said.blocks, Files: files,
		})
	}
	return answer{"files": list}, nil
}

// servePrivateFile is url_private: it wants the token.
func (s *Server) servePrivateFile(w http.ResponseWriter, r *http.Request) {
	if bearer(r, params{}) != s.cfg.Token {
		http.Error(w, "not_authed", http.StatusForbidden)
		return
	}
	s.sendFile(w, r.PathValue("id"))
}

// servePageFile is the same file for the page, whose viewer is signed in.
func (s *Server) servePageFile(w http.ResponseWriter, r *http.Request) {
	s.sendFile(w, r.PathValue("id"))
}

func (s *Server) sendFile(w http.ResponseWriter, id string) {
	s.mu.Lock()
	u := s.uploads[id]
	s.mu.Unlock()
	if u == nil || !u.shared {
		http.Error(w, "file_not_found", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	// Only pictures are shown; an uploaded page must not run here.
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("Content-Type", u.Mimetype)
	if !strings.HasPrefix(u.Mimetype, "image/") {
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+fileName(u.Name))
	}
	_, _ = w.Write(u.data)
}

// Handler is the server without its listener, for tests in which time is not
// the machine's.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Limits of a home page, docs.slack.dev/reference/views and
// docs.slack.dev/reference/methods/views.publish (view_too_large).
const (
	maxHomeBlocks = 100
	maxHomeSize   = 250 << 10
)

// homeView is a person's home page of the app.
type homeView struct {
	User, App string
	Body      template.HTML
	// Empty is set where the app has drawn nothing yet.
	Empty bool
}

// home is the newest home page of a person. The lock is held.
func (s *Server) homeOf(user string) *View {
	for i := len(s.views) - 1; i >= 0; i-- {
		if s.views[i].User == user {
			return &s.views[i]
		}
	}
	return nil
}

// blocksOf are those of a view.
func blocksOf(v *View) json.RawMessage {
	var of struct{ Blocks json.RawMessage }
	if v == nil || json.Unmarshal(v.View, &of) != nil {
		return nil
	}
	return of.Blocks
}

func (s *Server) homeView(user string) *homeView {
	v := s.homeOf(user)
	out := &homeView{User: user, App: s.cfg.Bot.Name, Empty: v == nil}
	if v != nil {
		out.Body = draw.Blocks(blocksOf(v), names{s})
	}
	return out
}

// publishHome keeps a home page as Slack does: checked, and only over the state that its
// hash names.
func (s *Server) publishHome(p params) (answer, error) {
	var v map[string]any
	bad := func(says string) (answer, error) {
		return nil, &apiError{code: "invalid_arguments", messages: []string{"[ERROR] " + says}}
	}
	read := json.NewDecoder(strings.NewReader(p["view"]))
	read.UseNumber()
	if read.Decode(&v) != nil || v == nil || v["type"] != "home" {
		return bad("view is not a home")
	}
	for name := range v {
		switch name {
		case "type", "blocks", "private_metadata", "callback_id", "external_id":
		default:
			return bad("unsupported key: " + name)
		}
	}
	list, ok := v["blocks"].([]any)
	if !ok && v["blocks"] != nil {
		return bad("missing required field: blocks")
	}
	before := s.homeOf(p["user_id"])
	switch {
	case len(list) > maxHomeBlocks:
		return bad("no more than 100 items allowed [json-pointer:/view/blocks]")
	case len(p["view"]) > maxHomeSize:
		return nil, &apiError{code: "view_too_large"}
	case p["hash"] != "" && (before == nil || before.Hash != p["hash"]):
		return nil, &apiError{code: "hash_conflict"}
	}
	for some := range slices.Chunk(list, 50) { // those of a message, of which there may be half as many
		if problems := schema.Problems(some); len(problems) > 0 {
			return bad(problems[0])
		}
	}
	for _, b := range list {
		if block := b.(map[string]any); block["block_id"] == nil {
			block["block_id"] = s.store.id("b")
		}
	}
	v["blocks"] = list
	text, err := schema.Encode(v)
	if err != nil {
		return nil, err
	}
	id, hash := s.store.id("V"), stampOf(s.cfg.Now())+"."+s.store.id("h")
	if before != nil {
		id = before.ID // it is one view, drawn anew
	}
	s.views = append(s.views, View{ID: id, User: p["user_id"], View: text, Hash: hash})
	s.changed(change{home: p["user_id"]})
	v["id"], v["team_id"], v["app_id"], v["bot_id"], v["hash"] = id, teamID, s.cfg.Bot.AppID, s.cfg.Bot.BotID, hash
	return answer{"view": v}, nil
}

// OpenHome is a person opening the app's home page: the app gets an event
// (docs.slack.dev/reference/events/app_home_opened).
func (s *Server) OpenHome(ctx context.Context, user string) error {
	s.mu.Lock()
	to, who := s.interact, s.user(user)
	if to == "" || who == nil {
		s.mu.Unlock()
		return fmt.Errorf("fakeslack: open the home page: %w", errors.Join(ErrNoInteractivityURL))
	}
	from, _ := s.home(*who)
	now := s.cfg.Now()
	event := answer{"type": "app_home_opened", "user": who.ID, "channel": "D0" + strings.TrimPrefix(who.ID, "U"), "event_ts": stampOf(now), "tab": "home"}
	if v := s.homeOf(who.ID); v != nil {
		event["view"] = answer{"id": v.ID, "team_id": from, "type": "home", "hash": v.Hash, "blocks": blocksOf(v)}
	}
	what := answer{
		"token": "stage", "team_id": from, "api_app_id": s.cfg.Bot.AppID, "event": event, "type": "event_callback", "event_id": s.store.id("Ev"), "event_time": now.Unix(),
		"authorizations": []answer{{"enterprise_id": nil, "team_id": teamID, "user_id": s.cfg.Bot.UserID, "is_bot": true, "is_enterprise_install": false}}, "is_ext_shared_channel": false,
	}
	s.presses.Add(1)
	s.mu.Unlock()
	defer s.presses.Done()
	if err := s.event(ctx, to, what); err != nil {
		return fmt.Errorf("fakeslack: open the home page: %w", err)
	}
	return nil
}

// preparePressOnHome writes the request of a press on the home page: it has a view in place
// of a message, and no response_url
// (docs.slack.dev/reference/interaction-payloads/block_actions-payload). The lock is held.
func (s *Server) preparePressOnHome(p Press, who User) (to string, body []byte, err error) {
	v := s.homeOf(who.ID)
	if v == nil {
		return "", nil, &apiError{code: "not_found"}
	}
	action, err := findAction(blocksOf(v), p)
	if err != nil {
		return "", nil, err
	}
	if s.interact == "" {
		return "", nil, ErrNoInteractivityURL
	}
	action["action_ts"] = stampOf(s.cfg.Now())
	trigger := s.store.id("Tr")
	from, team, enterprise := s.places(who)
	text, err := schema.Encode(answer{
		"type": "block_actions", "api_app_id": s.cfg.Bot.AppID, "token": "stage", "trigger_id": trigger,
		"user": answer{"id": who.ID, "username": who.Name, "name": who.Name, "team_id": from}, "team": team, "enterprise": enterprise, "is_enterprise_install": false,
		"container": answer{"type": "view", "view_id": v.ID},
		"view":      answer{"id": v.ID, "team_id": teamID, "type": "home", "hash": v.Hash, "blocks": blocksOf(v), "app_id": s.cfg.Bot.AppID, "bot_id": s.cfg.Bot.BotID, "state": answer{"values": answer{}}},
		"actions":   []answer{action},
	})
	return s.interact, []byte(formOf(text)), err
}

// serveOpenHome is a user opening the home page on the page.
func (s *Server) serveOpenHome(w http.ResponseWriter, r *http.Request) {
	who, err := pressFrom[struct{ User string }](r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 4*pressTimeout+time.Second)
	defer cancel()
	if err := s.OpenHome(ctx, who.User); err != nil {
		writeJSON(w, http.StatusOK, answer{"ok": false, "hint": strings.TrimPrefix(err.Error(), "fakeslack: ")})
		return
	}
	writeJSON(w, http.StatusOK, answer{"ok": true})
}

// bucket is a token bucket. The zero bucket is full at its first use.
type bucket struct {
	tokens float64
	seen   time.Time
}

// take spends one token. When there is none, it says how long until there is.
func (b *bucket) take(now time.Time, perSecond float64, burst int) (wait time.Duration) {
	if perSecond <= 0 {
		return 0
	}
	size := float64(max(burst, 1))
	if b.seen.IsZero() {
		b.tokens = size
	} else {
		b.tokens = min(size, b.tokens+max(0, now.Sub(b.seen).Seconds())*perSecond)
	}
	b.seen = now
	if b.tokens >= 1 {
		b.tokens--
		return 0
	}
	return time.Duration((1 - b.tokens) / perSecond * float64(time.Second))
}

// retryAfter is the header's value: whole seconds, rounded up, at least one.
func retryAfter(wait time.Duration) int {
	return max(1, int(math.Ceil(wait.Seconds())))
}

// throttled is the answer 429.
type throttled struct{ wait time.Duration }

// Error returns the code that Slack puts into the body.
func (throttled) Error() string { return "ratelimited" }

// limiter paces calls in wall time.
type limiter struct {
	limits  Limits
	posts   map[string]*bucket
	updates bucket
}

func newLimiter(l Limits) *limiter {
	return &limiter{limits: l, posts: map[string]*bucket{}}
}

// allow spends what method costs on channel.
func (l *limiter) allow(method, channel string, now time.Time) error {
	var wait time.Duration
	switch method {
	case "chat.postMessage", "chat.postEphemeral":
		b := l.posts[channel]
		if b == nil {
			b = &bucket{}
			l.posts[channel] = b
		}
		wait = b.take(now, l.limits.PostsPerSecond, l.limits.PostBurst)
	case "chat.update":
		wait = l.updates.take(now, l.limits.UpdatesPerMinute/60, l.limits.UpdateBurst)
	}
	if wait > 0 {
		return throttled{wait}
	}
	return nil
}
