package fakeslack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// change says what a page must draw again.
type change struct {
	channel, ts, thread string
	// home is whose home page was drawn.
	home   string
	banner bool
}

// watcher is an open page. Changes wait in a set, so that a slow page makes
// nobody else wait and draws a message once for many edits.
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
		banner, fragments, err := s.news(me)
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

// news draws what changed since the last time.
func (s *Server) news(me *watcher) (bannerView, []fragment, error) {
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
