package fakeslack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
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
	triggers map[string]time.Time
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
		uploads: map[string]*upload{}, triggers: map[string]time.Time{}, replies: map[string]*replyURL{},
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

// ClearFaults disarms all faults.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
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
