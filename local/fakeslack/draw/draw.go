// Package draw draws what Slack's client draws of a message, as HTML: Block Kit
// blocks, mrkdwn, rich text, dates and emoji. Whatever a text holds, it comes out
// escaped.
package draw

import (
	"encoding/json"
	"html"
	"html/template"
	"regexp"
	"strings"

	"rollcall/local/fakeslack/schema"
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
