// Package draw draws what Slack's client draws of a message, as HTML: Block Kit
// blocks, mrkdwn, rich text, dates and emoji. Whatever a text holds, it comes out
// escaped.
package draw

import (
	"encoding/json"
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rollcall/stage/fakeslack/schema"
)

// Block is any object of Block Kit, read leniently: what is drawn was checked
// when it was sent.
type Block struct {
	Type      string          `json:"type"`
	BlockID   string          `json:"block_id"`
	ActionID  string          `json:"action_id"`
	Text      json.RawMessage `json:"text"`
	Fields    []textObj       `json:"fields"`
	Accessory *Block          `json:"accessory"`
	Element   *Block          `json:"element"`
	Label     *textObj        `json:"label"`
	Elements  []Block         `json:"elements"`
	ImageURL  string          `json:"image_url"`
	SlackFile *fileObj        `json:"slack_file"`
	AltText   string          `json:"alt_text"`
	Title     *textObj        `json:"title"`
	URL       string          `json:"url"`
	Value     string          `json:"value"`
	// Style is a word on buttons and lists, and an object in rich text.
	Style       json.RawMessage `json:"style"`
	Confirm     *confirmObj     `json:"confirm"`
	Options     []optionObj     `json:"options"`
	Groups      []groupObj      `json:"option_groups"`
	Initial     *optionObj      `json:"initial_option"`
	Placeholder *textObj        `json:"placeholder"`

	// The rest is of rich text.
	Name        string `json:"name"`
	UserID      string `json:"user_id"`
	UsergroupID string `json:"usergroup_id"`
	ChannelID   string `json:"channel_id"`
	Range       string `json:"range"`
	Indent      int    `json:"indent"`
	Timestamp   int64  `json:"timestamp"`
	Format      string `json:"format"`
}

type textObj struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type optionObj struct {
	Text  textObj `json:"text"`
	Value string  `json:"value"`
	URL   string  `json:"url"`
}

type groupObj struct {
	Label   textObj     `json:"label"`
	Options []optionObj `json:"options"`
}

type confirmObj struct {
	Title   textObj `json:"title"`
	Text    textObj `json:"text"`
	Confirm textObj `json:"confirm"`
	Deny    textObj `json:"deny"`
	Style   string  `json:"style"`
}

// json is what the page's script asks with; its "html" is escaped already.
func (c confirmObj) json(who Names) string {
	// Strings always marshal.
	text, _ := json.Marshal(map[string]string{
		"title": c.Title.Text, "html": c.Text.html(who), "yes": c.Confirm.Text, "no": c.Deny.Text, "style": c.Style,
	})
	return string(text)
}

func (b Block) textObject() (t textObj) {
	// An object of another shape is left out.
	_ = json.Unmarshal(b.Text, &t)
	return t
}

// Word is a JSON string, empty where it is none.
func Word(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

func (t textObj) html(who Names) string {
	if t.Type == "mrkdwn" {
		return string(Mrkdwn(t.Text, who))
	}
	return strings.ReplaceAll(WithEmoji(t.Text), "\n", "<br>")
}

// Blocks turns blocks into HTML.
func Blocks(raw json.RawMessage, who Names) template.HTML {
	var blocks []Block
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	var b strings.Builder
	for _, x := range blocks {
		b.WriteString(drawBlock(x, who))
	}
	return template.HTML(b.String())
}

func drawBlock(b Block, who Names) string {
	switch b.Type {
	case "header":
		return `<h3 class="b-header">` + b.textObject().html(who) + `</h3>`
	case "divider":
		return `<hr>`
	case "section":
		return drawSection(b, who)
	case "context":
		out := ""
		for _, e := range b.Elements {
			if e.Type == "image" {
				out += `<img class="ctx" src="` + imageURL(e.ImageURL) + `" alt="` + html.EscapeString(e.AltText) + `">`
			} else {
				// A text object is an element here: its text is a plain string.
				out += `<span>` + textObj{e.Type, Word(e.Text)}.html(who) + `</span>`
			}
		}
		return `<div class="b-context">` + out + `</div>`
	case "actions":
		out := ""
		for _, e := range b.Elements {
			out += drawElement(e, b.BlockID, who)
		}
		return `<div class="b-actions">` + out + `</div>`
	case "input":
		if b.Element == nil || b.Label == nil {
			return ""
		}
		return `<label class="b-input"><span>` + b.Label.html(who) + `</span>` + drawElement(*b.Element, b.BlockID, who) + `</label>`
	case "image":
		title := ""
		if b.Title != nil {
			title = `<div class="b-title">` + b.Title.html(who) + `</div>`
		}
		return `<figure class="b-image">` + title + drawPicture(b) + `</figure>`
	case "rich_text":
		return `<div class="b-rich">` + drawRich(b.Elements, who) + `</div>`
	}
	return ""
}

func drawSection(b Block, who Names) string {
	out := ""
	if len(b.Text) > 0 {
		out += `<div class="b-text">` + b.textObject().html(who) + `</div>`
	}
	if len(b.Fields) > 0 {
		out += `<div class="b-fields">`
		for _, f := range b.Fields {
			out += `<div>` + f.html(who) + `</div>`
		}
		out += `</div>`
	}
	out = `<div class="b-main">` + out + `</div>`
	if b.Accessory != nil {
		out += `<div class="b-acc">` + drawElement(*b.Accessory, b.BlockID, who) + `</div>`
	}
	return `<div class="b-section">` + out + `</div>`
}

// drawElement draws what a person can press.
func drawElement(e Block, blockID string, who Names) string {
	attrs := ` data-block="` + html.EscapeString(blockID) + `" data-action="` + html.EscapeString(e.ActionID) + `"`
	if e.Confirm != nil {
		attrs += ` data-confirm="` + html.EscapeString(e.Confirm.json(who)) + `"`
	}
	switch e.Type {
	case "button":
		class := "btn"
		if s := Word(e.Style); s == "primary" || s == "danger" {
			class += " " + s
		}
		label := e.textObject().html(who)
		if e.URL != "" && WebURL.MatchString(e.URL) {
			// A press of a link button is sent as well as followed.
			return `<a class="` + class + `"` + attrs + ` href="` + html.EscapeString(e.URL) + `" target="_blank" rel="noopener noreferrer">` + label + `</a>`
		}
		return `<button type="button" class="` + class + `"` + attrs + `>` + label + `</button>`
	case "static_select":
		holder := "Select an item"
		if e.Placeholder != nil {
			holder = e.Placeholder.Text
		}
		out := `<option value="" hidden>` + html.EscapeString(holder) + `</option>` + drawOptions(e.Options, e.Initial)
		for _, g := range e.Groups {
			out += `<optgroup label="` + html.EscapeString(g.Label.Text) + `">` + drawOptions(g.Options, e.Initial) + `</optgroup>`
		}
		return `<select class="btn"` + attrs + ` aria-label="` + html.EscapeString(holder) + `">` + out + `</select>`
	case "plain_text_input":
		holder := ""
		if e.Placeholder != nil {
			holder = e.Placeholder.Text
		}
		return `<input type="text"` + attrs + ` placeholder="` + html.EscapeString(holder) + `">`
	case "overflow":
		out := ""
		for _, o := range e.Options {
			out += `<button type="button"` + attrs + ` data-value="` + html.EscapeString(o.Value) + `">` + o.Text.html(who) + `</button>`
		}
		return `<details class="more"><summary class="btn" aria-label="More actions"><span>•••</span></summary><div class="menu">` + out + `</div></details>`
	case "image":
		return `<img class="acc" src="` + imageURL(e.ImageURL) + `" alt="` + html.EscapeString(e.AltText) + `">`
	}
	return ""
}

func drawOptions(list []optionObj, chosen *optionObj) string {
	out := ""
	for _, o := range list {
		mark := ""
		if chosen != nil && chosen.Value == o.Value {
			mark = " selected"
		}
		out += `<option value="` + html.EscapeString(o.Value) + `"` + mark + `>` + html.EscapeString(o.Text.Text) + `</option>`
	}
	return out
}

var picture = regexp.MustCompile(`^https?://[^\s"'<>]+$`)

// imageURL lets only web addresses through.
func imageURL(url string) string {
	if !picture.MatchString(url) {
		return ""
	}
	return html.EscapeString(url)
}

// fileObj is a Slack file object: docs.slack.dev/reference/block-kit/composition-objects/slack-file-object.
type fileObj struct {
	ID  string `json:"id"`
	URL string `json:"url"`
}

// drawPicture draws an image block's picture; one of Slack's own opens large.
func drawPicture(b Block) string {
	alt := html.EscapeString(b.AltText)
	if b.SlackFile != nil && schema.FileID.MatchString(b.SlackFile.ID) {
		src := "/file/" + b.SlackFile.ID
		return `<a href="` + src + `" target="_blank" rel="noopener"><img src="` + src + `" alt="` + alt + `"></a>`
	}
	return `<img src="` + imageURL(b.ImageURL) + `" alt="` + alt + `">`
}

// date renders <!date^seconds^format^link|fallback>. The text is in UTC; the
// page's script puts it into the browser's zone, by the format it is given.
func date(body, fallback string) (string, bool) {
	parts := strings.SplitN(body, "^", 4)
	if len(parts) < 3 {
		return "", false
	}
	seconds, err := strconv.ParseInt(parts[1], 10, 64)
	// Four digits of year are what the formats can show.
	if err != nil || seconds < 0 || seconds > 253402300799 {
		return html.EscapeString(fallback), true
	}
	at := time.Unix(seconds, 0).UTC()
	out := Clock(at, Unescape(parts[2]))
	if len(parts) == 4 && WebURL.MatchString(parts[3]) {
		out = Anchor(Unescape(parts[3]), out)
	}
	return out, true
}

// Clock is a time element: UTC on hover, the browser's zone as text.
func Clock(at time.Time, format string) string {
	return `<time datetime="` + at.Format(time.RFC3339Nano) + `" data-format="` + html.EscapeString(format) +
		`" title="` + at.Format("Mon 2 Jan 2006, 15:04:05 UTC") + `">` + html.EscapeString(dateText(at, format)) + `</time>`
}

var dateField = regexp.MustCompile(`\{[a-z_]+\}`)

// dateText fills Slack's date format.
func dateText(at time.Time, format string) string {
	return dateField.ReplaceAllStringFunc(format, func(field string) string {
		switch field {
		case "{date_num}":
			return at.Format("2006-01-02")
		case "{date_slash}":
			return at.Format("02/01/2006")
		case "{date}", "{date_pretty}":
			return at.Format("January 2, 2006")
		case "{date_short}", "{date_short_pretty}":
			return at.Format("Jan 2, 2006")
		case "{date_long}", "{date_long_pretty}":
			return at.Format("Monday, January 2, 2006")
		case "{time}":
			return at.Format("15:04")
		case "{time_secs}":
			return at.Format("15:04:05")
		case "{ago}":
			return at.Format("Jan 2, 15:04")
		}
		return field
	})
}

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

// Names resolves the ids in a text.
type Names interface {
	UserName(id string) (string, bool)
	ChannelName(id string) (string, bool)
	GroupName(id string) (string, bool)
}

// Mrkdwn turns Slack's markup into HTML. Nothing in the text reaches the page
// unescaped; every tag is written here.
func Mrkdwn(text string, who Names) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "```") {
		switch {
		case i%2 == 0:
			b.WriteString(lines(part, who))
		case part == "":
			b.WriteString("``````")
		case i == strings.Count(text, "```"):
			// The fence was never closed.
			b.WriteString("```" + lines(part, who))
		default:
			b.WriteString(`<pre>` + literal(strings.Trim(part, "\n"), who) + `</pre>`)
		}
	}
	return template.HTML(b.String())
}

// lines renders text line by line; lines that begin with ">" are a quote.
func lines(text string, who Names) string {
	var b strings.Builder
	quoted := false
	for i, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		rest, quote := strings.CutPrefix(line, "&gt;")
		if !quote {
			rest, quote = strings.CutPrefix(line, ">")
		}
		switch {
		case quote && !quoted:
			b.WriteString("<blockquote>")
		case !quote && quoted:
			b.WriteString("</blockquote>")
		case i > 0:
			b.WriteString("<br>")
		}
		quoted = quote
		if quote {
			rest = strings.TrimPrefix(rest, " ")
		}
		b.WriteString(inline(rest, who, true))
	}
	if quoted {
		b.WriteString("</blockquote>")
	}
	return b.String()
}

// inline renders one line: code, tokens in angle brackets, bold, italics,
// strikethrough, emoji. links is false inside a link's own text.
func inline(s string, who Names, links bool) string {
	var b strings.Builder
	run := 0 // start of the plain text not yet written
	flush := func(end int) {
		b.WriteString(plain(s[run:end], links))
	}
	for i := 0; i < len(s); {
		var out string
		end := 0
		switch c := s[i]; c {
		case '`':
			if j := strings.IndexByte(s[i+1:], '`'); j > 0 {
				out, end = `<code>`+literal(s[i+1:i+1+j], who)+`</code>`, i+j+2
			}
		case '<':
			// A token holds no other "<".
			if j := strings.IndexAny(s[i+1:], "<>"); j > 0 && s[i+1+j] == '>' {
				if t, ok := token(s[i+1:i+1+j], who, links); ok {
					out, end = t, i+j+2
				}
			}
		case '*', '_', '~':
			if j := closing(s, i); j > 0 {
				tag := map[byte]string{'*': "b", '_': "i", '~': "s"}[c]
				out, end = "<"+tag+">"+inline(s[i+1:j], who, links)+"</"+tag+">", j+1
			}
		}
		if end == 0 {
			i++
			continue
		}
		flush(i)
		b.WriteString(out)
		i, run = end, end
	}
	flush(len(s))
	return b.String()
}

// closing finds the mark that ends the format begun at i, or 0. Marks count only
// at the edges of words: snake_case_names stay as they are.
func closing(s string, i int) int {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	if i > 0 && wordRune(before) || i+1 == len(s) || unicode.IsSpace(after) || s[i+1] == s[i] {
		return 0
	}
	for j := i + 2; j < len(s); j++ {
		if s[j] != s[i] {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(s[:j])
		next, _ := utf8.DecodeRuneInString(s[j+1:])
		if !unicode.IsSpace(last) && (j+1 == len(s) || !wordRune(next)) {
			return j
		}
	}
	return 0
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// token renders what stands between angle brackets.
func token(t string, who Names, links bool) (string, bool) {
	body, label, labelled := strings.Cut(t, "|")
	mention := func(mark string, name string, ok bool) (string, bool) {
		if labelled && label != "" {
			name, ok = strings.TrimPrefix(Unescape(label), mark), true
		}
		if !ok {
			name = body
		}
		return `<span class="mention">` + html.EscapeString(mark+name) + `</span>`, true
	}
	switch {
	case strings.HasPrefix(body, "@"):
		name, ok := who.UserName(body[1:])
		return mention("@", name, ok)
	case strings.HasPrefix(body, "#"):
		name, ok := who.ChannelName(body[1:])
		return mention("#", name, ok)
	case strings.HasPrefix(body, "!subteam^"):
		name, ok := who.GroupName(strings.TrimPrefix(body, "!subteam^"))
		return mention("@", name, ok)
	case body == "!here" || body == "!channel" || body == "!everyone":
		return `<span class="mention loud">@` + body[1:] + `</span>`, true
	case strings.HasPrefix(body, "!date^"):
		return date(body, Unescape(label))
	}
	if !links || !WebURL.MatchString(body) {
		return "", false
	}
	text := html.EscapeString(Unescape(body))
	if labelled && label != "" {
		text = inline(label, who, false)
	}
	return Anchor(Unescape(body), text), true
}

var (
	WebURL  = regexp.MustCompile(`^(?:https?://|mailto:|tel:)[^\s<>"]+$`)
	bareURL = regexp.MustCompile(`https?://[^\s<>"|]*[^\s<>"|.,;:!?)\]}'` + "`" + `*_~]`)
)

// Anchor links to url; text is HTML already.
func Anchor(url, text string) string {
	return `<a href="` + html.EscapeString(url) + `" target="_blank" rel="noopener noreferrer">` + text + `</a>`
}

// Unescape undoes the three escapes of Slack, and no others.
func Unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

// literal renders the inside of code: no format, but tokens become their text.
func literal(s string, who Names) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			break
		}
		b.WriteString(html.EscapeString(Unescape(s[:i])))
		s = s[i+1:]
		t, ok := "", false
		j := strings.IndexAny(s, "<>")
		if j > 0 && s[j] == '>' {
			t, ok = token(s[:j], who, true)
		}
		if ok {
			b.WriteString(t)
			s = s[j+1:]
		} else {
			b.WriteString("&lt;")
		}
	}
	b.WriteString(html.EscapeString(Unescape(s)))
	return b.String()
}

// plain renders text without format: bare links and emoji.
func plain(s string, links bool) string {
	if !links {
		return WithEmoji(Unescape(s))
	}
	s = Unescape(s)
	var b strings.Builder
	for {
		at := bareURL.FindStringIndex(s)
		if at == nil {
			break
		}
		b.WriteString(WithEmoji(s[:at[0]]))
		url := s[at[0]:at[1]]
		b.WriteString(Anchor(url, html.EscapeString(url)))
		s = s[at[1]:]
	}
	b.WriteString(WithEmoji(s))
	return b.String()
}

// drawRich draws the parts of a rich_text block.
func drawRich(parts []Block, who Names) string {
	var b strings.Builder
	for _, p := range parts {
		switch p.Type {
		case "rich_text_section":
			b.WriteString(`<div>` + drawRichItems(p.Elements, who) + `</div>`)
		case "rich_text_preformatted":
			b.WriteString(`<pre>` + drawRichItems(p.Elements, who) + `</pre>`)
		case "rich_text_quote":
			b.WriteString(`<blockquote>` + drawRichItems(p.Elements, who) + `</blockquote>`)
		case "rich_text_list":
			tag := "ul"
			if Word(p.Style) == "ordered" {
				tag = "ol"
			}
			b.WriteString(`<` + tag + ` class="indent` + strconv.Itoa(min(max(p.Indent, 0), 4)) + `">`)
			for _, item := range p.Elements {
				b.WriteString(`<li>` + drawRichItems(item.Elements, who) + `</li>`)
			}
			b.WriteString(`</` + tag + `>`)
		}
	}
	return b.String()
}

func drawRichItems(items []Block, who Names) string {
	var b strings.Builder
	for _, e := range items {
		out := ""
		switch e.Type {
		case "text":
			out = strings.ReplaceAll(WithEmoji(Word(e.Text)), "\n", "<br>")
		case "link":
			label := Word(e.Text)
			if label == "" {
				label = e.URL
			}
			out = html.EscapeString(label)
			if WebURL.MatchString(e.URL) {
				out = Anchor(e.URL, out)
			}
		case "emoji":
			out = WithEmoji(":" + e.Name + ":")
		case "user":
			out, _ = token("@"+e.UserID, who, true)
		case "usergroup":
			out, _ = token("!subteam^"+e.UsergroupID, who, true)
		case "channel":
			out, _ = token("#"+e.ChannelID, who, true)
		case "broadcast":
			out = `<span class="mention loud">` + html.EscapeString("@"+e.Range) + `</span>`
		case "date":
			out, _ = date("!date^"+strconv.FormatInt(e.Timestamp, 10)+"^"+e.Format, "")
		}
		b.WriteString(styled(out, e.Style))
	}
	return b.String()
}

// styled wraps HTML in the styles of a rich text piece.
func styled(out string, raw json.RawMessage) string {
	var style struct{ Bold, Italic, Strike, Code bool }
	// No style, or one of another shape, changes nothing.
	_ = json.Unmarshal(raw, &style)
	for _, s := range []struct {
		on  bool
		tag string
	}{{style.Code, "code"}, {style.Bold, "b"}, {style.Italic, "i"}, {style.Strike, "s"}} {
		if s.on {
			out = "<" + s.tag + ">" + out + "</" + s.tag + ">"
		}
	}
	return out
}
