package draw

import (
	"html"
	"regexp"
	"strings"
)

// emoji is a picture of our own for the emoji that operators use, so that the
// page looks the same on a machine with no emoji font.
type emoji struct {
	name, unicode string
	// Svg is drawn on a field of 16 by 16.
	Svg string
}

func disc(color string) string {
	return `<circle cx="8" cy="8" r="7" fill="` + color + `"/><ellipse cx="6" cy="4.6" rx="2.6" ry="1.5" fill="#fff" opacity=".28"/>`
}

func tile(color, mark string) string {
	return `<rect x="1" y="1" width="14" height="14" rx="3" fill="` + color + `"/><path d="` + mark +
		`" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/>`
}

func stroke(color, d string) string {
	return `<path d="` + d + `" fill="none" stroke="` + color + `" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/>`
}

// emojis is the set. An emoji that is not here is shown as its character.
func emojis() []emoji {
	bell := `<path d="M8 1.4c-2.7 0-4.2 2-4.2 4.6 0 3.2-.9 4-1.6 5h11.6c-.7-1-1.6-1.8-1.6-5 0-2.6-1.5-4.6-4.2-4.6z" fill="#f5b93a"/><circle cx="8" cy="12.9" r="1.6" fill="#c98a16"/>`
	return []emoji{
		{"red_circle", "🔴", disc("#dd2e44")},
		{"large_orange_circle", "🟠", disc("#f4900c")},
		{"large_yellow_circle", "🟡", disc("#fdcb58")},
		{"large_green_circle", "🟢", disc("#4caf50")},
		{"large_blue_circle", "🔵", disc("#2f80d8")},
		{"large_purple_circle", "🟣", disc("#8e5bd0")},
		{"white_circle", "⚪", `<circle cx="8" cy="8" r="6.6" fill="#f1f3f5" stroke="#c3c9cf"/>`},
		{"black_circle", "⚫", disc("#31373d")},
		{"white_check_mark", "✅", tile("#3aa655", "M4.4 8.3l2.5 2.6 4.8-5.6")},
		{"heavy_check_mark", "✔️", stroke("#31373d", "M3 8.6l3.4 3.6L13 4.4")},
		{"x", "❌", stroke("#dd2e44", "M3.4 3.4l9.2 9.2M12.6 3.4l-9.2 9.2")},
		{"warning", "⚠️", `<path d="M8 1.6L15.2 14H.8z" fill="#ffcc33" stroke="#e0a800" stroke-linejoin="round"/><path d="M8 6v4" stroke="#31373d" stroke-width="1.8" stroke-linecap="round"/><circle cx="8" cy="12.1" r="1" fill="#31373d"/>`},
		{"information_source", "ℹ️", `<rect x="1" y="1" width="14" height="14" rx="3" fill="#2f80d8"/><circle cx="8" cy="4.4" r="1.2" fill="#fff"/><path d="M8 7.2v4.8" stroke="#fff" stroke-width="2.2" stroke-linecap="round"/>`},
		{"question", "❓", stroke("#dd2e44", "M5 5.2c0-3.6 6-3.6 6 0 0 2-3 2.3-3 4.3") + `<circle cx="8" cy="13.2" r="1.5" fill="#dd2e44"/>`},
		{"exclamation", "❗", stroke("#dd2e44", "M8 2.6v6.6") + `<circle cx="8" cy="13.2" r="1.5" fill="#dd2e44"/>`},
		{"rotating_light", "🚨", `<path d="M4 12V8a4 4 0 018 0v4z" fill="#dd2e44"/><rect x="2.6" y="12" width="10.8" height="2.6" rx="1" fill="#66757f"/><path d="M8 .8v1.6M2.2 3.4l1.2 1.2M13.8 3.4l-1.2 1.2M.9 8.4h1.4M13.7 8.4h1.4" stroke="#f4900c" stroke-width="1.4" stroke-linecap="round"/>`},
		{"mag", "🔍", `<circle cx="6.6" cy="6.6" r="4.4" fill="#d6ecff" stroke="#66757f" stroke-width="1.6"/>` + stroke("#66757f", "M10.2 10.2l4 4")},
		{"bell", "🔔", bell},
		{"no_bell", "🔕", bell + `<path d="M2 2l12 12" stroke="#dd2e44" stroke-width="2" stroke-linecap="round"/>`},
		{"mute", "🔇", `<path d="M2 6h2.6L8.6 2.6v10.8L4.6 10H2z" fill="#66757f"/><path d="M11 6l3.4 4M14.4 6L11 10" stroke="#dd2e44" stroke-width="1.6" stroke-linecap="round"/>`},
		{"hourglass_flowing_sand", "⏳", `<path d="M3.6 1.6h8.8v1.4c0 2.6-2.6 3.6-2.6 5s2.6 2.4 2.6 5v1.4H3.6V13c0-2.6 2.6-3.6 2.6-5S3.6 5.6 3.6 3z" fill="#d6ecff" stroke="#a0623a" stroke-width="1.2"/><path d="M5.2 13.6c.4-1.8 1.6-2.2 2.8-2.8 1.2.6 2.4 1 2.8 2.8z" fill="#f4900c"/>`},
		{"stopwatch", "⏱️", `<circle cx="8" cy="9" r="5.6" fill="#f1f3f5" stroke="#66757f" stroke-width="1.6"/><path d="M8 9V5.8M6.4 1.4h3.2" stroke="#31373d" stroke-width="1.6" stroke-linecap="round"/>`},
		{"wrench", "🔧", `<path d="M10.4 1.6a4 4 0 00-3.6 5.4L1.8 12a1.6 1.6 0 002.2 2.2l5-5a4 4 0 005.2-5.2L11.8 6.4 9.6 4.2z" fill="#8899a6"/>`},
		{"hammer_and_wrench", "🛠️", `<path d="M10.4 1.6a4 4 0 00-3.6 5.4L1.8 12a1.6 1.6 0 002.2 2.2l5-5a4 4 0 005.2-5.2L11.8 6.4 9.6 4.2z" fill="#8899a6"/>`},
		{"zap", "⚡", `<path d="M9.4.8L3 9h4l-1.4 6.2L13 6.4H8.6z" fill="#f5b93a"/>`},
		{"fire", "🔥", `<path d="M8.2.8c.6 3 4.6 4.6 4.6 8.6A4.8 4.8 0 018 14.8 4.8 4.8 0 013.2 10c0-2.2 1.2-3.4 2-4.6.4 1 .8 1.6 1.6 2C6.6 4.8 6.8 2.6 8.2.8z" fill="#f4900c"/><path d="M8 8.2c1 1.4 2 2.2 2 3.8a2 2 0 01-4 0c0-1.6 1-2.4 2-3.8z" fill="#ffcc4d"/>`},
		{"eyes", "👀", `<ellipse cx="4.6" cy="8" rx="3.2" ry="4.6" fill="#fff" stroke="#8899a6"/><ellipse cx="11.4" cy="8" rx="3.2" ry="4.6" fill="#fff" stroke="#8899a6"/><circle cx="5.6" cy="8.6" r="1.5" fill="#31373d"/><circle cx="12.4" cy="8.6" r="1.5" fill="#31373d"/>`},
		{"thumbsup", "👍", `<path d="M6.4 7L8.4 1.6c1.6 0 2 1.2 1.8 2.4L9.8 6.2h3.6c1 0 1.4.8 1.2 1.6l-1.2 5.4c-.2.8-.8 1.2-1.6 1.2H6.4z" fill="#ffcc4d" stroke="#d99e2b" stroke-width=".8"/><rect x="1.6" y="6.8" width="3.6" height="7.6" rx="1" fill="#2f80d8"/>`},
		{"link", "🔗", stroke("#66757f", "M6.6 9.4l2.8-2.8M7.6 4.6L9.4 2.8a2.7 2.7 0 013.8 3.8l-1.8 1.8M8.4 11.4l-1.8 1.8a2.7 2.7 0 01-3.8-3.8l1.8-1.8")},
		{"lock", "🔒", `<path d="M4.8 7.4V5a3.2 3.2 0 016.4 0v2.4" fill="none" stroke="#66757f" stroke-width="1.8"/><rect x="3" y="7" width="10" height="7.6" rx="1.4" fill="#f5b93a"/>`},
		{"no_entry", "⛔", `<circle cx="8" cy="8" r="7" fill="#dd2e44"/><rect x="3.6" y="6.8" width="8.8" height="2.4" rx=".6" fill="#fff"/>`},
		{"arrows_counterclockwise", "🔄", tile("#2f80d8", "M11.6 6.4A4 4 0 004.6 6M4.4 9.6a4 4 0 007 .4M11.8 3.8v2.6H9.2M4.2 12.2V9.6h2.6")},
		{"chart_with_upwards_trend", "📈", `<rect x="1" y="1" width="14" height="14" rx="2" fill="#f1f3f5" stroke="#c3c9cf"/><path d="M3 12l3.4-4 2.4 2L13 4.4" fill="none" stroke="#dd2e44" stroke-width="1.6"/>`},
		{"clipboard", "📋", `<rect x="2.6" y="2.2" width="10.8" height="13" rx="1.4" fill="#c1773a"/><rect x="4.2" y="4" width="7.6" height="9.6" fill="#fff"/><rect x="5.4" y="1" width="5.2" height="2.6" rx="1" fill="#8899a6"/>`},
		{"broom", "🧹", `<path d="M13.8 1.4L8.6 7.4" stroke="#a0623a" stroke-width="1.8" stroke-linecap="round"/><path d="M7.4 6.2l2.6 2.4-2.6 5.8c-2.4.2-4.4-.8-6-2.8z" fill="#f5b93a" stroke="#c98a16" stroke-width=".8" stroke-linejoin="round"/>`},
		{"tada", "🎉", `<path d="M1.6 14.4L5 5.6l5.4 5.4z" fill="#f5b93a"/><circle cx="9" cy="3" r="1" fill="#dd2e44"/><circle cx="13" cy="6.6" r="1" fill="#2f80d8"/><circle cx="12.4" cy="2.4" r="1.2" fill="#4caf50"/><circle cx="12.6" cy="11" r="1" fill="#8e5bd0"/>`},
	}
}

var shortcode = regexp.MustCompile(`:[a-z0-9_+\-]+:`)

// canonical maps other names of an emoji to the one in the set.
func canonical(name string) string {
	switch name {
	case "+1":
		return "thumbsup"
	case "hourglass":
		return "hourglass_flowing_sand"
	case "large_red_circle":
		return "red_circle"
	case "bangbang":
		return "exclamation"
	}
	return name
}

// Both are built once and never changed.
var (
	emojiByName = indexEmoji()
	emojiSigns  = signReplacer()
)

func indexEmoji() map[string]emoji {
	out := map[string]emoji{}
	for _, e := range emojis() {
		out[e.name] = e
	}
	return out
}

// signReplacer puts pictures for characters.
func signReplacer() *strings.Replacer {
	var pairs []string
	for _, e := range emojis() {
		bare := strings.TrimSuffix(e.unicode, "\uFE0F")
		pairs = append(pairs, bare+"\uFE0F", e.html())
		// Without the selector a text character such as "ℹ" stays text.
		if bare == e.unicode || bare == "⚠" {
			pairs = append(pairs, bare, e.html())
		}
	}
	return strings.NewReplacer(pairs...)
}

// EmojiNamed finds an emoji of the set.
func EmojiNamed(name string) (emoji, bool) {
	e, ok := emojiByName[canonical(name)]
	return e, ok
}

func (e emoji) html() string {
	return `<img class="emoji" src="/emoji/` + e.name + `.svg" alt="` + e.unicode + `" title=":` + e.name + `:">`
}

// WithEmoji escapes text and puts pictures for the emoji of the set.
func WithEmoji(text string) string {
	if text == "" {
		return ""
	}
	out := shortcode.ReplaceAllStringFunc(html.EscapeString(text), func(code string) string {
		if e, ok := EmojiNamed(strings.Trim(code, ":")); ok {
			return e.html()
		}
		return code
	})
	return signs(out)
}

// signs replaces the characters of the set. The pictures' own alt texts hold the
// same characters, so whatever is inside a tag is left alone.
func signs(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r > 0x2000 }) {
		return s
	}
	var b strings.Builder
	for {
		tag := strings.IndexByte(s, '<')
		if tag < 0 {
			break
		}
		end := tag + strings.IndexByte(s[tag:], '>') + 1
		b.WriteString(emojiSigns.Replace(s[:tag]))
		b.WriteString(s[tag:end])
		s = s[end:]
	}
	b.WriteString(emojiSigns.Replace(s))
	return b.String()
}
