package fakeslack

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"rollcall/local/fakeslack/draw"
	"rollcall/local/fakeslack/schema"
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
	// Value is the chosen option's value, for menus.
	Value string `json:"value"`
	// User is who presses; empty means the first user.
	User string `json:"user"`
	// Home tells that it is pressed on the user's home page of the app.
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
	s.triggers[trigger] = s.cfg.Wall()
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
	if e["type"] == "button" {
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
