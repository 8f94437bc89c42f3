// Package slacktext writes text for Slack: harmless, counted as Slack counts it,
// and cut to what a message may hold.
package slacktext

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	slackgo "github.com/slack-go/slack"
)

// Slack's limits, docs.slack.dev/reference/block-kit and
// docs.slack.dev/reference/methods/chat.postMessage.
const (
	// MaxBlocks is how many blocks a message may have.
	MaxBlocks = 50
	// MaxText is how long the notification text should be at most.
	MaxText = 4000
	// MaxPiece is the longest text of a section. Rich text has no published
	// limit of its own, so the section's is kept.
	MaxPiece = 3000
	// MaxSize is for the JSON of all blocks. Slack publishes no number: users
	// meet msg_blocks_too_long from about 13,200 characters on (slackapi/bolt-js
	// issue 2509), and some before 12,000 of text (issue 2867).
	MaxSize = 11000
)

// WidestRoom is how much space a long text gets where the message allows it.
const WidestRoom = 2800

// rooms are how much space long texts get, tried from the widest on until the
// message fits.
var rooms = [...]int{WidestRoom, 1400, 700, 350, 160}

// Fit draws a message with less and less room until it is within the limits.
func Fit(draw func(room int) []slackgo.Block) []slackgo.Block { return FitTo(rooms[:], draw) }

// FitTo is Fit with other spaces, the widest first.
func FitTo(rooms []int, draw func(room int) []slackgo.Block) []slackgo.Block {
	var blocks []slackgo.Block
	for _, room := range rooms {
		blocks = draw(room)
		if len(blocks) <= MaxBlocks && Size(blocks) <= MaxSize {
			return blocks
		}
	}
	// What comes first matters most.
	blocks = blocks[:min(len(blocks), MaxBlocks)]
	for len(blocks) > 1 && Size(blocks) > MaxSize {
		blocks = blocks[:len(blocks)-1]
	}
	return blocks
}

// Size is how long the blocks are on the wire.
func Size(blocks []slackgo.Block) int {
	b, err := json.Marshal(blocks)
	if err != nil {
		return 0
	}
	return len(b)
}

// Length counts as Slack's clients do, in UTF-16 units: never fewer than runes.
func Length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Clip cuts s to at most n characters, the last of which is then "…".
func Clip(s string, n int) string {
	if Length(s) <= n {
		return s
	}
	used := 0
	for at, r := range s {
		used++
		if r > 0xFFFF {
			used++
		}
		if used > n-1 {
			return strings.TrimRightFunc(s[:at], unicode.IsSpace) + "…"
		}
	}
	return s
}

// FitLines keeps the first lines that fit into room, at most most of them, and
// says how many of total it left out.
func FitLines(lines []string, total, room, most int, what string) string {
	var b strings.Builder
	shown := 0
	for _, line := range lines[:min(len(lines), most)] {
		line = Clip(line, max(room/2, 80))
		if shown > 0 && Length(b.String())+Length(line) > room {
			break
		}
		b.WriteString(line + "\n")
		shown++
	}
	if left := max(total, len(lines)) - shown; left > 0 {
		fmt.Fprintf(&b, "… and %s left out here", Count(left, "more "+what))
	}
	return strings.TrimRight(b.String(), "\n")
}

// Clean makes foreign text harmless: no control characters, no invisible ones
// and none that turn the direction of the text.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t', r == '\u2028', r == '\u2029': // the last two end a line, too
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// OneLine is clean text without line breaks.
func OneLine(s string) string {
	return strings.Join(strings.Fields(Clean(s)), " ")
}

// Unbroken is clean text whose line breaks are spaces: a part of a sentence, whose
// blanks at its ends count. What somebody wrote into a name or a tag of the account
// cannot begin a line, which readers would take for Rollcall's own words.
func Unbroken(s string) string { return strings.ReplaceAll(Clean(s), "\n", " ") }

// escape is for the message's text, which Slack parses as mrkdwn:
// docs.slack.dev/messaging/formatting-message-text.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// Notification is the message's text: one line, short enough that escaping it
// stays within the limit.
func Notification(s string) string { return escape(Clip(OneLine(s), MaxText/len("&amp;"))) }

// Place is a cluster, and whose it is where that is said: "prod (payments)".
func Place(cluster, whose string) string {
	if whose = Clip(OneLine(whose), 40); whose == "" {
		return cluster
	}
	return cluster + " (" + whose + ")"
}
