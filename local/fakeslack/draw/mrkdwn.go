package draw

import (
	"html"
	"html/template"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
