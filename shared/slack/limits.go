package slack

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
	// maxBlocks is how many blocks a message may have.
	maxBlocks = 50
	// maxText is how long the notification text should be at most.
	maxText = 4000
	// maxPiece is the longest text of a section. Rich text has no published
	// limit of its own, so the section's is kept.
	maxPiece = 3000
	// maxSize is for the JSON of all blocks. Slack publishes no number: users
	// meet msg_blocks_too_long from about 13,200 characters on (slackapi/bolt-js
	// issue 2509), and some before 12,000 of text (issue 2867).
	maxSize = 11000
)

// rooms are how much space long texts get, tried from the widest on until the
// message fits.
var rooms = [...]int{2800, 1400, 700, 350, 160}

// fit draws a message with less and less room until it is within the limits.
func fit(draw func(room int) []slackgo.Block) []slackgo.Block {
	var blocks []slackgo.Block
	for _, room := range rooms {
		blocks = draw(room)
		if len(blocks) <= maxBlocks && size(blocks) <= maxSize {
			return blocks
		}
	}
	// What comes first matters most.
	blocks = blocks[:min(len(blocks), maxBlocks)]
	for len(blocks) > 1 && size(blocks) > maxSize {
		blocks = blocks[:len(blocks)-1]
	}
	return blocks
}

// size is how long the blocks are on the wire.
func size(blocks []slackgo.Block) int {
	b, err := json.Marshal(blocks)
	if err != nil {
		return 0
	}
	return len(b)
}

// length counts as Slack's clients do, in UTF-16 units: never fewer than runes.
func length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// clip cuts s to at most n characters, the last of which is then "…".
func clip(s string, n int) string {
	if length(s) <= n {
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

// fitLines keeps the first lines that fit into room, at most most of them, and
// says how many of total it left out.
func fitLines(lines []string, total, room, most int, what string) string {
	var b strings.Builder
	shown := 0
	for _, line := range lines[:min(len(lines), most)] {
		line = clip(line, max(room/2, 80))
		if shown > 0 && length(b.String())+length(line) > room {
			break
		}
		b.WriteString(line + "\n")
		shown++
	}
	if left := max(total, len(lines)) - shown; left > 0 {
		fmt.Fprintf(&b, "… and %s left out here", count(left, "more "+what))
	}
	return strings.TrimRight(b.String(), "\n")
}

// clean makes foreign text harmless: no control characters, no invisible ones
// and none that turn the direction of the text.
func clean(s string) string {
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

// oneLine is clean text without line breaks.
func oneLine(s string) string {
	return strings.Join(strings.Fields(clean(s)), " ")
}

// unbroken is clean text whose line breaks are spaces: a part of a sentence, whose
// blanks at its ends count. What somebody wrote into a name or a tag of the account
// cannot begin a line, which readers would take for Rollcall's own words.
func unbroken(s string) string { return strings.ReplaceAll(clean(s), "\n", " ") }

// escape is for the message's text, which Slack parses as mrkdwn:
// docs.slack.dev/messaging/formatting-message-text.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// notification is the message's text: one line, short enough that escaping it
// stays within the limit.
func notification(s string) string { return escape(clip(oneLine(s), maxText/len("&amp;"))) }
