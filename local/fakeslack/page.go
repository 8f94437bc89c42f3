package fakeslack

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rollcall/local/fakeslack/draw"
)

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
