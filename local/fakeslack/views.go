package fakeslack

import (
	"encoding/json"
	"time"
)

// triggerLife is how long a trigger_id can open a view. Slack gives 3 seconds.
const triggerLife = 3 * time.Second

// View is a view that the app opened or published.
type View struct {
	ID string
	// Kind is "modal" or "home".
	Kind string
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

func (s *Server) viewsOpen(p params) (answer, error) {
	if err := p.need("trigger_id", "view"); err != nil {
		return nil, err
	}
	made, ok := s.triggers[p["trigger_id"]]
	switch {
	case !ok:
		return nil, &apiError{code: "invalid_trigger_id"}
	case s.cfg.Wall().Sub(made) > triggerLife:
		return nil, &apiError{code: "expired_trigger_id"}
	}
	a, err := s.keepView("modal", "", p["view"])
	if err == nil {
		delete(s.triggers, p["trigger_id"])
	}
	return a, err
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

func (s *Server) keepView(kind, user, text string) (answer, error) {
	var v map[string]any
	if json.Unmarshal([]byte(text), &v) != nil || v == nil || v["type"] != kind {
		return nil, &apiError{code: "invalid_arguments", messages: []string{"[ERROR] view is not a " + kind}}
	}
	id := s.store.id("V")
	s.views = append(s.views, View{ID: id, Kind: kind, User: user, View: json.RawMessage(text)})
	v["id"], v["team_id"], v["app_id"], v["bot_id"] = id, teamID, s.cfg.Bot.AppID, s.cfg.Bot.BotID
	return answer{"view": v}, nil
}
