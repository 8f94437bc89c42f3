// Package slacktext writes text for Slack: harmless, counted as Slack counts it,
// and cut to what a message may hold.
package slacktext

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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
func Fit[Block any](draw func(room int) []Block) []Block { return FitTo(rooms[:], draw) }

// FitTo is Fit with other spaces, the widest first.
func FitTo[Block any](rooms []int, draw func(room int) []Block) []Block {
	var blocks []Block
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
func Size[Block any](blocks []Block) int {
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
// blanks at its ends count. Text in a name or a tag of the account
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

// Place is a cluster, with its owner where that is set: "prod (payments)".
func Place(cluster, whose string) string {
	if whose = Clip(OneLine(whose), 40); whose == "" {
		return cluster
	}
	return cluster + " (" + whose + ")"
}

// Count writes "1 instance", "12 instances", "1,200 instances".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + Plural(noun)
}

// Plural returns the plural of a noun: instances, batches, policies.
func Plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "ss"):
		return noun + "es"
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay"):
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}

// Number writes thousands with commas.
func Number(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Ordinal writes "2nd", "3rd", "11th".
func Ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// Span writes a duration as a person would say it: "58 s", "14 min", "2 h 5 min".
func Span(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	pair := func(big, small int, bigUnit, smallUnit string) string {
		if small == 0 {
			return fmt.Sprintf("%d %s", big, bigUnit)
		}
		return fmt.Sprintf("%d %s %d %s", big, bigUnit, small, smallUnit)
	}
	seconds := int(d.Round(time.Second) / time.Second)
	minutes := int(d.Round(time.Minute) / time.Minute)
	hours := int(d.Round(time.Hour) / time.Hour)
	switch {
	case seconds < 120:
		return fmt.Sprintf("%d s", seconds)
	case minutes < 120:
		return fmt.Sprintf("%d min", minutes)
	case hours < 48:
		return pair(minutes/60, minutes%60, "h", "min")
	}
	return pair(hours/24, hours%24, "d", "h")
}

// Few writes "a, b and 3 more": at most most of the names, each cut to length.
func Few(names []string, most, length int) string {
	shown := make([]string, 0, most)
	for _, n := range names[:min(len(names), most)] {
		shown = append(shown, Clip(OneLine(n), length))
	}
	left := len(names) - len(shown)
	switch {
	case left > 0:
		return strings.Join(shown, ", ") + fmt.Sprintf(" and %s more", Number(left))
	case len(shown) > 1:
		last := len(shown) - 1
		return strings.Join(shown[:last], ", ") + " and " + shown[last]
	}
	return strings.Join(shown, "")
}

// Distinct sorts names and drops the empty and the repeated.
func Distinct(names ...string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// Utc writes a time that no client converts, e.g. in preformatted text.
func Utc(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" }

// Sentence ends s with a full stop unless it has an end.
func Sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
