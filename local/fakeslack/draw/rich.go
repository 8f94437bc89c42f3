package draw

import (
	"encoding/json"
	"html"
	"strconv"
	"strings"
)

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
