// Package slackapi sends messages to Slack: a thin client over slack-go that
// waits as Slack asks, tells each failure's kind, and keeps the token out of
// every error. docs.slack.dev/apis/web-api.
package slackapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/report"
)

// Message is one message, or one reply in a thread, ready to be sent.
type Message struct {
	// Text is one line for notifications and for clients that cannot show
	// blocks. It is escaped for Slack.
	Text   string
	Blocks []slackgo.Block
	// Sum is the digest of all but the stamp of when it was last checked; empty where there
	// is no such stamp.
	Sum string
	// Tag marks the message in Slack, so that Find can tell it again.
	Tag Tag
}

// Tag is the metadata that every message of Rollcall carries.
type Tag struct {
	// Key names the incident (see KeyOf).
	Key string
	// Note is the reply's id; empty for the incident's own message.
	Note string
}

// EventType is the metadata's event_type.
const EventType = "rollcall_incident"

// The fields of the metadata's payload.
const (
	payloadKey  = "key"
	payloadNote = "note"
)

// KeyOf writes an incident's key as one string.
func KeyOf(k report.Key) string {
	return strings.Join([]string{k.Of().String(), string(k.Check), k.Resource}, "|")
}

func (t Tag) Metadata() slackgo.SlackMetadata {
	return slackgo.SlackMetadata{
		EventType:    EventType,
		EventPayload: map[string]any{payloadKey: t.Key, payloadNote: t.Note},
	}
}

// Stamp is when Slack took a message: its timestamp is its time, in seconds
// (docs.slack.dev/messaging/retrieving-messages); zero for what is none.
func Stamp(ts string) time.Time {
	seconds, _, _ := strings.Cut(ts, ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// matches tells whether a message's metadata is this tag.
func (t Tag) matches(m slackgo.SlackMetadata) bool {
	key, _ := m.EventPayload[payloadKey].(string)
	note, _ := m.EventPayload[payloadNote].(string)
	return m.EventType == EventType && key == t.Key && note == t.Note
}

// Digest is a hash of what a reader sees and of what each button does: two messages
// with the same digest need no edit. The ids of blocks are neither.
func (m Message) Digest() string {
	if m.Sum != "" {
		return m.Sum
	}
	shown := slices.Clone(m.Blocks)
	for i, b := range shown {
		if row, is := b.(*slackgo.ActionBlock); is {
			unnamed := *row
			unnamed.BlockID = ""
			shown[i] = &unnamed
		}
	}
	blocks, err := json.Marshal(shown)
	if err != nil {
		// Our blocks hold strings and numbers only; a digest that never
		// matches costs one edit too many, not a lost one.
		return "unknown: " + err.Error()
	}
	h := sha256.New()
	h.Write([]byte(m.Text))
	h.Write([]byte{0})
	h.Write(blocks)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
