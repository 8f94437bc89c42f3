package fakeslack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"html/template"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rollcall/stage/fakeslack/draw"
)

// Server is a running stand-in.
type Server struct {
	cfg  Config
	url  string
	http *http.Server
	// done is closed by Close, so that event streams and slow answers end.
	done chan struct{}

	mu       sync.Mutex
	store    *store
	limiter  *limiter
	faults   faults
	calls    []Call
	views    []View
	uploads  map[string]*upload
	replies  map[string]*replyURL
	banner   string
	interact string
	watchers map[*watcher]bool
	presses  sync.WaitGroup
}

// host is where it is found on a network of its own: on loopback, as the functions
// take plain HTTP from there alone.
const host = "127.0.0.1:1"

// New starts a stand-in on a free loopback port, or on the configuration's network.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, done: make(chan struct{}),
		store: newStore(cfg.Channels, cfg.Now), limiter: newLimiter(cfg.Limits),
		uploads: map[string]*upload{}, replies: map[string]*replyURL{},
		watchers: map[*watcher]bool{}, interact: cfg.InteractivityURL,
	}
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	if cfg.Network != nil {
		s.url = "http://" + host
		cfg.Network.Serve(host, s.http.Handler)
		return s, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fakeslack: listen: %w", err)
	}
	s.url = "http://" + l.Addr().String()
	go func() {
		// Serve always ends with an error; after Close it is ErrServerClosed.
		_ = s.http.Serve(l)
	}()
	return s, nil
}

// URL is the address of the page.
func (s *Server) URL() string { return s.url }

// APIURL is what slack.OptionAPIURL takes; it ends in a slash.
func (s *Server) APIURL() string { return s.url + "/api/" }

// Close stops the server and waits for button presses under way.
func (s *Server) Close() error {
	s.mu.Lock()
	select {
	case <-s.done:
		s.mu.Unlock()
		return nil
	default:
		close(s.done)
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.presses.Wait()
	if err != nil {
		return fmt.Errorf("fakeslack: close: %w", err)
	}
	return nil
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serveAPI)
	mux.HandleFunc("POST /upload/{id}", s.serveUpload)
	mux.HandleFunc("POST /response/{id}", s.serveResponseURL)
	mux.HandleFunc("GET /files-pri/{id}/{name}", s.servePrivateFile)
	mux.HandleFunc("GET /file/{id}", s.servePageFile)
	mux.HandleFunc("GET /archives/{channel}/{link}", s.servePermalink)
	mux.HandleFunc("GET /emoji/{name}", s.serveEmoji)
	mux.HandleFunc("GET /web/{name}", s.serveAsset)
	mux.HandleFunc("GET /state.json", s.serveState)
	mux.HandleFunc("GET /live", s.serveLive)
	mux.HandleFunc("POST /press", s.servePress)
	mux.HandleFunc("POST /say", s.serveSay)
	mux.HandleFunc("POST /command", s.serveCommand)
	mux.HandleFunc("POST /home/open", s.serveOpenHome)
	mux.HandleFunc("GET /{$}", s.servePage)
	return mux
}

// Calls returns the calls so far, in the order they came.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Messages returns what a channel shows, oldest first, each with its earlier
// versions and its replies. Ephemeral messages are among them, marked by Visible.
func (s *Server) Messages(channelID string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.store.byID(channelID)
	if c == nil {
		return nil
	}
	return c.tree()
}

// tree copies the channel's messages with their replies below them.
func (c *channel) tree() []Message {
	out := []Message{}
	at := map[string]int{}
	for _, m := range c.messages {
		if m.ThreadTS == "" || m.Broadcast {
			if m.ThreadTS == "" {
				at[m.TS] = len(out)
			}
			out = append(out, m.clone())
		}
		if i, ok := at[m.ThreadTS]; ok && m.ThreadTS != "" {
			out[i].Replies = append(out[i].Replies, m.clone())
		}
	}
	return out
}

// Inject arms a fault.
func (s *Server) Inject(f Fault) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.add(f, s.cfg.Now())
}

// SetInteractivityURL sets where button presses go.
func (s *Server) SetInteractivityURL(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interact = url
	s.changed(change{banner: true})
}

// SetBanner shows text, such as the name of the story, at the top of the page.
func (s *Server) SetBanner(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.banner = text
	s.changed(change{banner: true})
}

// Say posts as a person, in the thread of threadTS unless that is empty.
func (s *Server) Say(channelID, userID, text, threadTS string) (ts string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.store.byID(channelID)
	if c == nil {
		return "", fmt.Errorf("fakeslack: say: %w", &apiError{code: "channel_not_found"})
	}
	if s.user(userID) == nil {
		return "", fmt.Errorf("fakeslack: say: %w", &apiError{code: "user_not_found"})
	}
	if threadTS != "" && c.find(threadTS) == nil {
		return "", fmt.Errorf("fakeslack: say: %w", &apiError{code: "thread_not_found"})
	}
	m := &Message{User: userID, Text: text, ThreadTS: threadTS}
	s.post(c, m)
	return m.TS, nil
}

// post adds m and tells the pages. The lock is held.
func (s *Server) post(c *channel, m *Message) {
	c.add(m, s.cfg.Now())
	s.changed(change{channel: c.ID, ts: m.TS, thread: m.ThreadTS})
}

func (s *Server) user(id string) *User {
	for i := range s.cfg.Users {
		if s.cfg.Users[i].ID == id {
			return &s.cfg.Users[i]
		}
	}
	return nil
}

// A response_url can be used five times within half an hour:
// docs.slack.dev/interactivity/handling-user-interaction.
const (
	replyURLUses = 5
	replyURLLife = 30 * time.Minute
)

// replyURL is a response_url that was given out.
type replyURL struct {
	channel, ts, thread, user string
	made                      time.Time
	left                      int
}

// newReplyURL makes a response_url. The lock is held.
func (s *Server) newReplyURL(channel, ts, thread, user string) string {
	id := s.store.id("R")
	s.replies[id] = &replyURL{channel, ts, thread, user, s.cfg.Wall(), replyURLUses}
	return s.url + "/response/" + id
}

// serveResponseURL takes a message for a response_url.
func (s *Server) serveResponseURL(w http.ResponseWriter, r *http.Request) {
	call := Call{Method: "response_url", Wall: s.cfg.Wall(), Stage: s.cfg.Now(), Status: http.StatusOK}
	p, _, err := readCall(r)
	call.Params = p.withoutToken()
	if err == nil {
		call.TS, err = s.respond(r.PathValue("id"), p)
	}
	a := answer{"ok": true}
	var refused *apiError
	switch {
	case errors.As(err, &refused):
		a, call.Error = refused.answer(), refused.code
		if refused.code == "expired_url" || refused.code == "used_url" {
			call.Status = http.StatusNotFound
		}
	case err != nil:
		a, call.Error, call.Status = answer{"ok": false, "error": "invalid_payload"}, "invalid_payload", http.StatusBadRequest
	}
	s.record(call)
	writeJSON(w, call.Status, a)
}

// respond carries out what was sent to a response_url.
func (s *Server) respond(id string, p params) (ts string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.replies[id]
	switch {
	case u == nil || s.cfg.Wall().Sub(u.made) > replyURLLife:
		return "", &apiError{code: "expired_url"}
	case u.left == 0:
		return "", &apiError{code: "used_url"}
	}
	u.left--
	c := s.store.byID(u.channel)
	original := c.findAny(u.ts)
	said, err := s.parseContent(p)
	if err != nil {
		return "", err
	}
	if said.empty() {
		return "", &apiError{code: "no_text"}
	}
	if p.flag("replace_original") && original != nil {
		if _, ok := p["metadata"]; !ok {
			said.metadata = original.Metadata
		}
		s.edit(c, original, said)
		return original.TS, nil
	}
	m := &Message{
		User: s.cfg.Bot.UserID, Bot: true, Visible: u.user, ThreadTS: u.thread,
		Text: said.text, Blocks: said.blocks, Attachments: said.attachments, Metadata: said.metadata,
	}
	if p["response_type"] == "in_channel" {
		m.Visible = ""
	}
	s.post(c, m)
	return m.TS, nil
}

// scopesOf names the scopes of a method; any one of them is enough. A method
// that is not in the table needs none.
func scopesOf(method string) []string {
	switch method {
	case "chat.postMessage", "chat.postEphemeral", "chat.update":
		return []string{"chat:write"}
	case "conversations.history", "conversations.replies":
		return []string{"channels:history", "groups:history"}
	case "users.info":
		return []string{"users:read"}
	case "usergroups.users.list":
		return []string{"usergroups:read"}
	case "files.getUploadURLExternal", "files.completeUploadExternal":
		return []string{"files:write"}
	}
	return nil
}

// allScopes is every scope that the stand-in asks for somewhere.
func allScopes() []string {
	return []string{
		"chat:write", "chat:write.customize", "channels:history", "groups:history", "channels:read",
		"groups:read", "users:read", "usergroups:read", "files:write", "files:read", "reactions:write", "commands",
	}
}

// checkScope refuses when granted has none of needed.
func checkScope(granted, needed []string) error {
	if len(needed) == 0 || slices.ContainsFunc(needed, func(s string) bool { return slices.Contains(granted, s) }) {
		return nil
	}
	return &apiError{code: "missing_scope", needed: needed[0], provided: strings.Join(granted, ",")}
}

// serveEmoji sends one picture.
func (s *Server) serveEmoji(w http.ResponseWriter, r *http.Request) {
	e, ok := draw.EmojiNamed(strings.TrimSuffix(r.PathValue("name"), ".svg"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "max-age=3600")
	_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">` + e.Svg + `</svg>`))
}

// store holds the workspace. The Server's lock guards it.
type store struct {
	now      func() time.Time
	channels []*channel
	nextID   int
}

// channel is a Channel and what was said in it.
type channel struct {
	Channel
	// last is the last timestamp given, in microseconds since 1970.
	last int64
	// messages has roots, replies and ephemerals, in order of their timestamps.
	messages []*Message
}

func newStore(channels []Channel, now func() time.Time) *store {
	s := &store{now: now}
	for _, c := range channels {
		s.channels = append(s.channels, &channel{Channel: c})
	}
	return s
}

// byID finds a channel by its id.
func (s *store) byID(id string) *channel {
	for _, c := range s.channels {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// byName finds a channel by id, "#name" or "name", as chat.postMessage does.
func (s *store) byName(name string) *channel {
	if c := s.byID(name); c != nil {
		return c
	}
	for _, c := range s.channels {
		if c.Name == strings.TrimPrefix(name, "#") {
			return c
		}
	}
	return nil
}

// id makes a new id with Slack's kind of prefix, such as "F" for files.
func (s *store) id(prefix string) string {
	s.nextID++
	return fmt.Sprintf("%s0STAGE%04d", prefix, s.nextID)
}

// stamp gives the next timestamp: the stage's time, but always later than the
// one before, because a timestamp is a message's identity.
func (c *channel) stamp(now time.Time) string {
	c.last = max(now.UnixMicro(), c.last+1)
	return fmt.Sprintf("%d.%06d", c.last/1e6, c.last%1e6)
}

// add gives m a timestamp and appends it.
func (c *channel) add(m *Message, now time.Time) {
	m.Channel, m.TS = c.ID, c.stamp(now)
	c.messages = append(c.messages, m)
}

// find returns the message with ts; ephemeral messages are not found, as in Slack.
func (c *channel) find(ts string) *Message {
	for _, m := range c.messages {
		if m.TS == ts && m.Visible == "" {
			return m
		}
	}
	return nil
}

// findAny returns the message with ts, ephemeral or not.
func (c *channel) findAny(ts string) *Message {
	for _, m := range c.messages {
		if m.TS == ts {
			return m
		}
	}
	return nil
}

// replies lists the thread of parent, oldest first, without ephemerals.
func (c *channel) replies(parent string) []*Message {
	var out []*Message
	for _, m := range c.messages {
		if m.ThreadTS == parent && m.Visible == "" {
			out = append(out, m)
		}
	}
	return out
}

// history lists what the channel shows: no replies unless broadcast.
func (c *channel) history() []*Message {
	var out []*Message
	for _, m := range c.messages {
		if m.Visible == "" && (m.ThreadTS == "" || m.Broadcast) {
			out = append(out, m)
		}
	}
	return out
}

// Tally counts what an app did in a channel, by whom it reaches: a new line marks the
// channel as unread for all, a reply reaches who wrote in its thread, an edit no user.
type Tally struct {
	// Lines are messages of the channel and replies that are shown there too.
	Lines   int
	Replies int
	Edits   int
	// Unseen are the edits after which everything reads the same, and each button does the same.
	Unseen int
}

// TallyOf counts what a channel's messages came by, as Server.Messages gives them.
func TallyOf(list []Message) (t Tally) {
	for _, m := range list {
		if m.Visible != "" {
			continue
		}
		t.Lines++
		if m.ThreadTS != "" {
			continue // it is counted as its parent's reply
		}
		t.edits(m)
		for _, r := range m.Replies {
			if !r.Broadcast {
				t.Replies++
			}
			t.edits(r)
		}
	}
	return t
}

// Add is the tally of several channels, or stages.
func (t Tally) Add(o Tally) Tally {
	return Tally{Lines: t.Lines + o.Lines, Replies: t.Replies + o.Replies, Edits: t.Edits + o.Edits, Unseen: t.Unseen + o.Unseen}
}

func (t *Tally) edits(m Message) {
	for n, v := range m.Versions {
		text, blocks := m.Text, m.Blocks
		if n+1 < len(m.Versions) {
			text, blocks = m.Versions[n+1].Text, m.Versions[n+1].Blocks
		}
		t.Edits++
		if v.Text == text && shownBy(v.Blocks) == shownBy(blocks) {
			t.Unseen++
		}
	}
}

// shownBy are blocks without their ids, which no reader sees: what a press does
// stands in action_id and value.
func shownBy(blocks json.RawMessage) string {
	var tree any
	if json.Unmarshal(blocks, &tree) != nil {
		return string(blocks)
	}
	text, err := json.Marshal(withoutIDs(tree))
	if err != nil {
		return string(blocks)
	}
	return string(text)
}

func withoutIDs(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "block_id")
		for name, of := range v {
			v[name] = withoutIDs(of)
		}
	case []any:
		for i := range v {
			v[i] = withoutIDs(v[i])
		}
	}
	return v
}

func (s *Server) authTest(params) (answer, error) {
	a := answer{
		"url": s.url + "/", "team": s.cfg.Workspace, "team_id": teamID, "user": s.cfg.Bot.Name,
		"user_id": s.cfg.Bot.UserID, "bot_id": s.cfg.Bot.BotID, "is_enterprise_install": false,
	}
	// "When working against a team within an Enterprise organization, you'll also
	// find their enterprise_id here" (docs.slack.dev/reference/methods/auth.test).
	if s.cfg.Enterprise != "" {
		a["enterprise_id"] = s.cfg.Enterprise
	}
	return a, nil
}

// home is the workspace of a person, and its organization.
func (s *Server) home(u User) (team, enterprise string) {
	if u.Team == "" {
		return teamID, s.cfg.Enterprise
	}
	return u.Team, u.Enterprise
}

func (s *Server) usersInfo(p params) (answer, error) {
	if err := p.need("user"); err != nil {
		return nil, err
	}
	team, guest := teamID, false
	id, name, zone, bot := s.cfg.Bot.UserID, s.cfg.Bot.Name, "UTC", true
	if p["user"] != id {
		u := s.user(p["user"])
		if u == nil {
			return nil, &apiError{code: "user_not_found"}
		}
		team, _ = s.home(*u)
		guest = u.Guest
		id, name, zone, bot = u.ID, u.Name, u.Timezone, false
	}
	return answer{"user": answer{
		"id": id, "team_id": team, "name": name, "real_name": name, "tz": zone, "is_bot": bot, "deleted": false,
		"is_restricted": guest, "is_ultra_restricted": false,
		"profile": answer{"real_name": name, "display_name": name},
	}}, nil
}

func (s *Server) usergroupsUsersList(p params) (answer, error) {
	if err := p.need("usergroup"); err != nil {
		return nil, err
	}
	for _, g := range s.cfg.Groups {
		if g.ID == p["usergroup"] {
			return answer{"users": g.Users}, nil
		}
	}
	return nil, &apiError{code: "no_such_subteam"}
}

// messageView is a message as the template wants it.
type messageView struct {
	TS, Channel, Author, AuthorID, Initial string
	Bot, Thread, Ephemeral, Edited         bool
	Color, Versions, Replies               int
	Clock, Body, LastReply                 template.HTML
	Attachments                            []attachmentView
	Files                                  []fileView
	Repliers                               []replier
	Link, HistoryLink                      string
	BroadcastLink                          string
}

type attachmentView struct {
	Color       string
	Pretext     template.HTML
	Title, Body template.HTML
	Footer      string
}

type fileView struct {
	File
	Image bool
	Kind  string
	// Snippet is the beginning of a text, More how many lines follow.
	Snippet string
	More    int
}

type replier struct {
	Color   int
	Initial string
	Bot     bool
}

// color picks an avatar's colour.
func color(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % 8)
}

func initial(name string) string {
	for _, r := range name {
		return strings.ToUpper(string(r))
	}
	return "?"
}

// timeOf reads a message's timestamp; they are all written by stamp.
func timeOf(ts string) time.Time {
	whole, part, _ := strings.Cut(ts, ".")
	sec, _ := strconv.ParseInt(whole, 10, 64)
	micro, _ := strconv.ParseInt(part, 10, 64)
	return time.Unix(sec, micro*1000).UTC()
}

func (s *Server) view(c *channel, m *Message, thread bool) messageView {
	v := messageView{
		TS: m.TS, Channel: c.ID, AuthorID: m.User, Bot: m.Bot, Thread: thread, Ephemeral: m.Visible != "",
		Edited: m.Edited != nil, Color: color(m.User), Versions: len(m.Versions),
		Clock: template.HTML(draw.Clock(timeOf(m.TS), "{time}")), Body: s.body(m.content()),
		Link: pageLink(c.ID, "thread", m.TS), HistoryLink: pageLink(c.ID, "history", m.TS),
	}
	v.Author, _ = s.userName(m.User)
	v.Initial = initial(v.Author)
	v.Attachments = s.attachments(m.Attachments)
	for _, f := range m.Files {
		kind, _, _ := strings.Cut(f.Mimetype, ";")
		shown := fileView{File: f, Image: strings.HasPrefix(f.Mimetype, "image/"), Kind: kind}
		if u := s.uploads[f.ID]; u != nil && kind == "text/plain" {
			shown.Snippet, shown.More = snippet(u.data)
		}
		v.Files = append(v.Files, shown)
	}
	if m.Broadcast && !thread {
		v.BroadcastLink = pageLink(c.ID, "thread", m.ThreadTS)
	}
	if thread || m.ThreadTS != "" {
		return v
	}
	replies := c.replies(m.TS)
	var users []string
	for _, r := range replies {
		if slices.Contains(users, r.User) || len(users) == 5 {
			continue
		}
		users = append(users, r.User)
		name, _ := s.userName(r.User)
		v.Repliers = append(v.Repliers, replier{color(r.User), initial(name), r.Bot})
	}
	if v.Replies = len(replies); v.Replies > 0 {
		v.LastReply = template.HTML(draw.Clock(timeOf(replies[v.Replies-1].TS), "{ago}"))
	}
	return v
}

// snippet is the first lines of a text, as Slack shows a text file.
func snippet(data []byte) (head string, more int) {
	const most = 12
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(data), "�"), "\n"), "\n")
	if len(lines) > most {
		lines, more = lines[:most], len(lines)-most
	}
	return strings.Join(lines, "\n"), more
}

// body draws the blocks, or the text where there are none.
func (s *Server) body(c content) template.HTML {
	if len(c.blocks) > 0 {
		return draw.Blocks(c.blocks, names{s})
	}
	if c.text == "" {
		return ""
	}
	return `<div class="b-text">` + draw.Mrkdwn(c.text, names{s}) + `</div>`
}

// Text returns what a message reads as in a terminal.
func (s *Server) Text(m Message) string { return draw.Text(s.body(m.content())) }

func (s *Server) attachments(raw json.RawMessage) []attachmentView {
	var list []struct {
		Color, Pretext, Title, Text, Fallback, Footer string
		TitleLink                                     string `json:"title_link"`
		Blocks                                        json.RawMessage
		Fields                                        []struct{ Title, Value string }
	}
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []attachmentView
	for _, a := range list {
		v := attachmentView{Color: a.Color, Footer: a.Footer}
		if a.Pretext != "" {
			v.Pretext = draw.Mrkdwn(a.Pretext, names{s})
		}
		if a.Title != "" {
			v.Title = template.HTML(draw.WithEmoji(draw.Unescape(a.Title)))
			if draw.WebURL.MatchString(a.TitleLink) {
				v.Title = template.HTML(draw.Anchor(a.TitleLink, string(v.Title)))
			}
		}
		switch {
		case len(a.Blocks) > 0:
			v.Body = draw.Blocks(a.Blocks, names{s})
		case a.Text != "":
			v.Body = `<div class="b-text">` + draw.Mrkdwn(a.Text, names{s}) + `</div>`
		}
		if len(a.Fields) > 0 {
			v.Body += `<div class="b-fields">`
			for _, f := range a.Fields {
				v.Body += template.HTML(`<div><b>`+draw.WithEmoji(draw.Unescape(f.Title))+`</b><br>`) + draw.Mrkdwn(f.Value, names{s}) + `</div>`
			}
			v.Body += `</div>`
		}
		out = append(out, v)
	}
	return out
}

func (s *Server) userName(id string) (string, bool) {
	if id == s.cfg.Bot.UserID {
		return s.cfg.Bot.Name, true
	}
	if u := s.user(id); u != nil {
		return u.Name, true
	}
	return id, false
}

func (s *Server) channelName(id string) (string, bool) {
	if c := s.store.byID(id); c != nil {
		return c.Name, true
	}
	return id, false
}

func (s *Server) groupName(id string) (string, bool) {
	for _, g := range s.cfg.Groups {
		if g.ID == id {
			return g.Handle, true
		}
	}
	return id, false
}

// names gives the drawing the names of people, channels and groups. The lock is
// held.
type names struct{ s *Server }

func (n names) UserName(id string) (string, bool)    { return n.s.userName(id) }
func (n names) ChannelName(id string) (string, bool) { return n.s.channelName(id) }
func (n names) GroupName(id string) (string, bool)   { return n.s.groupName(id) }

// viewerCookie keeps who looks at the page, from one page to the next.
const viewerCookie = "fakeslack_viewer"

// viewer is who looks at the page: ?as= or the cookie names a user, else it is
// the first. The stand-in asks for no password: everybody may be anybody.
func (s *Server) viewer(r *http.Request) User {
	names := []string{r.URL.Query().Get("as")}
	if c, err := r.Cookie(viewerCookie); err == nil {
		names = append(names, c.Value)
	}
	for _, id := range names {
		if u := s.user(id); u != nil {
			return *u
		}
	}
	return s.cfg.Users[0]
}

// shownTo reports whether a user sees m: an ephemeral message is for one alone.
func (m *Message) shownTo(user string) bool { return m.Visible == "" || m.Visible == user }

// View is a view that the app opened or published.
type View struct {
	ID string
	// User is who sees a home view.
	User string
	// View is the view as sent.
	View json.RawMessage
	// Hash is the state of a home view; another one whenever it is drawn.
	Hash string
}

// Views returns the views so far, in the order they came.
func (s *Server) Views() []View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]View(nil), s.views...)
}

func (s *Server) viewsPublish(p params) (answer, error) {
	if err := p.need("user_id", "view"); err != nil {
		return nil, err
	}
	if s.user(p["user_id"]) == nil {
		return nil, &apiError{code: "invalid_arguments", messages: []string{"[ERROR] invalid `user_id`"}}
	}
	return s.publishHome(p)
}
