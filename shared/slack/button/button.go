// Package button is what the buttons and menus of an incident's message carry: package slack
// draws them, slack-actions reads which was pressed.
package button

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/spoke"
)

// Value is what a button of an incident's message carries: which incident, in
// which of its openings, and which plan. Nothing in it is believed: report
// holds it against the incident's record.
type Value struct {
	Key    report.Key
	Number int
	// Plan is the hash of the plan to approve or refuse; else empty.
	Plan string
}

// valueFormat is the version of a button's value. Buttons live as long as
// their messages: an old one may be pressed after a deployment.
const valueFormat = 1

// maxValue is the longest value of a button, docs.slack.dev/reference/block-kit.
// The longest real key (a cluster of 100 characters, a role's ARN of 607) takes
// less than half of it.
const maxValue = 2000

type wireValue struct {
	Format   int    `json:"v"`
	Cluster  string `json:"c"`
	Check    string `json:"k"`
	Resource string `json:"r"`
	Number   int    `json:"n,omitempty"`
	Plan     string `json:"p,omitempty"`
	// Spoke is whose the incident is; the hub's own buttons have none.
	Spoke string `json:"s,omitempty"`
}

// Text is the value as a button carries it. It is false for one that does not
// fit or would not be read as the same: a message then has no buttons.
func (v Value) Text() (string, bool) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(wireValue{valueFormat, v.Key.Cluster, string(v.Key.Check), v.Key.Resource, v.Number, v.Plan, v.Key.Spoke.String()}) != nil {
		return "", false
	}
	text := string(bytes.TrimSpace(b.Bytes()))
	back, err := Parse(text)
	return text, err == nil && back == v
}

// Why a press is not one that Rollcall's buttons make.
var (
	ErrValue  = errors.New("not the value of a button of Rollcall")
	ErrAction = errors.New("not an action of Rollcall")
	ErrOption = errors.New("not a choice of Rollcall's menu")
)

// Parse reads a button's value.
func Parse(text string) (Value, error) {
	if slacktext.Length(text) > maxValue {
		return Value{}, fmt.Errorf("read a button's value: %w: %d characters", ErrValue, slacktext.Length(text))
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	var w wireValue
	if err := dec.Decode(&w); err != nil {
		return Value{}, fmt.Errorf("read a button's value: %w", ErrValue)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Value{}, fmt.Errorf("read a button's value: %w: something follows it", ErrValue)
	}
	v := Value{Number: w.Number, Plan: w.Plan}
	v.Key.Cluster, v.Key.Resource = w.Cluster, w.Resource
	v.Key.Check = checkid.ID(w.Check)
	if w.Spoke != "" {
		var err error
		if v.Key.Spoke, err = spoke.Parse(w.Spoke); err != nil {
			return Value{}, fmt.Errorf("read a button's value: %w: %w", ErrValue, err)
		}
	}
	switch {
	case w.Format != valueFormat:
		return Value{}, fmt.Errorf("read a button's value: %w: format %d, known %d", ErrValue, w.Format, valueFormat)
	case v.Key.Cluster == "" || v.Key.Check == "" || v.Key.Resource == "" || v.Number < 0:
		return Value{}, fmt.Errorf("read a button's value: %w: it names no incident", ErrValue)
	case v.Plan != "" && !isHash(v.Plan):
		return Value{}, fmt.Errorf("read a button's value: %w: the plan's hash is none", ErrValue)
	}
	return v, nil
}

// isHash tells a plan's hash: 16 bytes in hex.
func isHash(s string) bool { return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == "" }

// Element is the pressed element, as a block_actions payload has it in
// actions[0]: action_id, block_id, value, and selected_option.value.
type Element struct {
	ActionID, BlockID, Value, Option string
}

// Pressed is what a press requests.
type Pressed struct {
	Value
	Action report.Action
	// For is how long to mute.
	For time.Duration
	// Text is what was written.
	Text string
}

// TextBlock is the id of the block in which a line can be written about a value; false for a
// value that does not fit. Slack sends nothing else of such a block but its id, and of a
// message that one person sees no blocks at all
// (docs.slack.dev/reference/interaction-payloads/block_actions-payload).
func TextBlock(v Value) (id string, fits bool) {
	id, fits = v.Text()
	return id, fits && slacktext.Length(id) <= maxBlockID
}

// MaxText is how much a person can write, maxBlockID the longest id of a block
// (docs.slack.dev/reference/block-kit/blocks/input-block).
const MaxText, maxBlockID = 300, 255

// Read reads a press. Blocks is the payload's message.blocks: a menu's
// choice may be 150 characters long, which an incident's key is not always, so
// the key is taken from a button beside the menu.
func Read(e Element, blocks []byte) (Pressed, error) {
	p := Pressed{Action: report.Action(e.ActionID)}
	var err error
	switch p.Action {
	case report.MuteFor:
		if p.For, err = parseMute(e.Option); err == nil {
			p.Value, err = valueBeside(e, blocks)
		}
		p.Plan = ""
	case report.ApprovePlan, report.RefusePlan:
		p.Value, err = Parse(e.Value)
		if err == nil && p.Plan == "" {
			err = fmt.Errorf("read a button's value: %w: it names no plan", ErrValue)
		}
	case report.SayMore:
		p.Value, err = Parse(e.BlockID)
		p.Plan, p.Text = "", slacktext.Clip(slacktext.OneLine(e.Value), MaxText)
	case report.Acknowledge, report.TakeOver, report.Unmute, report.CheckAgain, report.OfferAgain, report.SayRight, report.SayWrong, report.SayNotUseful:
		p.Value, err = Parse(e.Value)
		p.Plan = ""
	default:
		err = fmt.Errorf("read a press: %w: %q", ErrAction, slacktext.Clip(slacktext.OneLine(e.ActionID), 60))
	}
	if err != nil {
		return Pressed{}, err
	}
	return p, nil
}

// Mutes are the lengths that the menu offers, by their values.
func Mutes() []Mute {
	return []Mute{{"1h", "1 hour", time.Hour}, {"4h", "4 hours", 4 * time.Hour}, {"24h", "24 hours", 24 * time.Hour}}
}

// Mute is a length for which an incident can be muted.
type Mute struct {
	Value, Words string
	Lasts        time.Duration
}

func parseMute(option string) (time.Duration, error) {
	for _, m := range Mutes() {
		if m.Value == option {
			return m.Lasts, nil
		}
	}
	return 0, fmt.Errorf("read a mute: %w: %q", ErrOption, slacktext.Clip(slacktext.OneLine(option), 60))
}

// valueBeside is the value of a button in the same block as the menu.
func valueBeside(menu Element, blocks []byte) (Value, error) {
	type element struct {
		ActionID string `json:"action_id"`
		Value    string `json:"value"`
	}
	var list []struct {
		ID       string          `json:"block_id"`
		Type     string          `json:"type"`
		Elements json.RawMessage `json:"elements"`
	}
	if err := json.Unmarshal(blocks, &list); err != nil {
		return Value{}, fmt.Errorf("read the menu's message: %w", ErrValue)
	}
	for _, b := range list {
		var elements []element
		if b.Type != "actions" || b.ID != menu.BlockID || json.Unmarshal(b.Elements, &elements) != nil {
			continue
		}
		for _, e := range elements {
			if e.ActionID == menu.ActionID || e.Value == "" {
				continue
			}
			if v, err := Parse(e.Value); err == nil {
				return v, nil
			}
		}
	}
	return Value{}, fmt.Errorf("read the menu's message: %w: no button beside it names the incident", ErrValue)
}
