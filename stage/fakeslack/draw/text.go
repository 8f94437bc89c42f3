package draw

import (
	"html"
	"html/template"
	"regexp"
	"strings"
)

// Text returns what drawn blocks read as in a terminal: a line for each section, commands
// indented by four spaces, and what can be pressed in brackets.
func Text(drawn template.HTML) string {
	var b strings.Builder
	rest, indent := string(drawn), ""
	for rest != "" {
		text, after, found := strings.Cut(rest, "<")
		b.WriteString(strings.ReplaceAll(html.UnescapeString(text), "\n", "\n"+indent))
		if !found {
			break
		}
		tag, next, _ := strings.Cut(after, ">")
		rest = next
		name, _, _ := strings.Cut(tag, " ")
		switch {
		case name == "pre":
			indent = "    "
			b.WriteString("\n" + indent)
		case name == "/pre":
			indent = ""
			b.WriteString("\n")
		case name == "br":
			b.WriteString("\n" + indent)
		case name == "li":
			b.WriteString("- ")
		case name == "img" && strings.Contains(tag, `class="emoji"`):
			b.WriteString(label(tag, "alt"))
		case name == "img":
			b.WriteString("[picture: " + label(tag, "alt") + "]\n")
		case name == "select":
			b.WriteString("[" + label(tag, "aria-label") + "] ")
			_, rest, _ = strings.Cut(rest, "</select>")
		case name == "button", name == "a" && strings.Contains(tag, `class="btn`):
			press, next, _ := strings.Cut(rest, "</"+name+">")
			b.WriteString("[" + Text(template.HTML(press)) + "] ")
			rest = next
		case name == "/div", name == "/h3", name == "/li", name == "/blockquote", name == "/figure", name == "hr":
			b.WriteString("\n")
		}
	}
	return strings.Trim(blank.ReplaceAllString(b.String(), "\n"), "\n")
}

// blank is an end of a line with those after it that are empty.
var blank = regexp.MustCompile(` *\n(?: *\n)*`)

// label is the value of a tag's attribute.
func label(tag, name string) string {
	_, after, _ := strings.Cut(tag, " "+name+`="`)
	value, _, _ := strings.Cut(after, `"`)
	return html.UnescapeString(value)
}
