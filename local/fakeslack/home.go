package fakeslack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"rollcall/local/fakeslack/draw"
	"rollcall/local/fakeslack/schema"
)

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
	// Empty tells that the app has drawn nothing yet.
	Empty bool
}

// home is the newest home page of a person. The lock is held.
func (s *Server) homeOf(user string) *View {
	for i := len(s.views) - 1; i >= 0; i-- {
		if s.views[i].Kind == "home" && s.views[i].User == user {
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
	s.views = append(s.views, View{ID: id, Kind: "home", User: p["user_id"], View: text, Hash: hash})
	s.changed(change{home: p["user_id"]})
	v["id"], v["team_id"], v["app_id"], v["bot_id"], v["hash"] = id, teamID, s.cfg.Bot.AppID, s.cfg.Bot.BotID, hash
	return answer{"view": v}, nil
}

// OpenHome is a person opening the app's home page: the app is told by an event
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
	s.triggers[trigger] = s.cfg.Wall()
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

// serveOpenHome is somebody opening the home page on the page.
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
