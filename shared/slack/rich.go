package slack

import (
	"slices"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/slack/slacktext"
)

// page collects the blocks of one message.
type page struct {
	place place
	room  int
	// asOf is when the message is about; older times are shown with their date.
	asOf time.Time
	// links is how many ids can still be linked.
	links int
	// left tells that a list of it says how many more there are.
	left   bool
	blocks []slackgo.Block
}

func newPage(p place, asOf time.Time, room int) *page {
	return &page{place: p, asOf: asOf, room: room, links: min(room/100, 16)}
}

// add appends a block with these parts, unless there is nothing in them.
func (p *page) add(parts ...slackgo.RichTextElement) {
	parts = slices.DeleteFunc(parts, func(e slackgo.RichTextElement) bool {
		s, ok := e.(*slackgo.RichTextSection)
		return ok && len(s.Elements) == 0
	})
	if len(parts) > 0 {
		p.blocks = append(p.blocks, slackgo.NewRichTextBlock("", parts...))
	}
}

// line is one paragraph in the making.
type line struct {
	page  *page
	items []slackgo.RichTextSectionElement
}

func (p *page) line() *line { return &line{page: p} }

func (l *line) section() slackgo.RichTextElement {
	return slackgo.NewRichTextSection(l.items...)
}

// label starts a paragraph with a bold word. The space after it is one that
// no client folds.
func (p *page) label(word string) *line {
	return p.line().styled(word, &slackgo.RichTextSectionTextStyle{Bold: true}).plain("\u2003")
}

// heading is a bold line of its own.
func (p *page) heading(words string) slackgo.RichTextElement {
	return p.line().styled(words, &slackgo.RichTextSectionTextStyle{Bold: true}).section()
}

func (l *line) styled(s string, style *slackgo.RichTextSectionTextStyle) *line {
	if s != "" {
		l.items = append(l.items, slackgo.NewRichTextSectionTextElement(s, style))
	}
	return l
}

// plain appends our own words as they are.
func (l *line) plain(s string) *line { return l.styled(s, nil) }

// code appends an identifier in monospace.
func (l *line) code(s string) *line {
	return l.styled(slacktext.Clip(slacktext.OneLine(s), slacktext.MaxPiece), &slackgo.RichTextSectionTextStyle{Code: true})
}

// prose appends text with its ids in monospace, linked to the console. Text between backquotes is in monospace too.
func (l *line) prose(s string) *line { return l.words(s, false) }

// strong is prose in bold.
func (l *line) strong(s string) *line { return l.words(s, true) }

func (l *line) words(s string, bold bool) *line {
	s = slacktext.Clip(slacktext.Unbroken(s), l.page.room)
	for at, part := range strings.Split(s, "`") {
		if at%2 == 1 && strings.Count(s, "`")%2 == 0 {
			l.styled(part, &slackgo.RichTextSectionTextStyle{Code: true, Bold: bold})
			continue
		}
		l.withClocks(part, bold)
	}
	return l
}

func (l *line) withIDs(s string, bold bool) {
	style := func(code bool) *slackgo.RichTextSectionTextStyle {
		if !bold && !code {
			return nil
		}
		return &slackgo.RichTextSectionTextStyle{Bold: bold, Code: code}
	}
	from := 0
	for _, m := range codes.FindAllStringIndex(s, -1) {
		if m[0] > 0 && s[m[0]-1] == '=' {
			continue // key=value:Effect is a taint, whose tail looks like a call
		}
		l.styled(s[from:m[0]], style(false))
		l.id(s[m[0]:m[1]], style(true))
		from = m[1]
	}
	l.styled(s[from:], style(false))
}

// id appends an id, linked to its page in the console. Links are long: of a
// message with many ids only the first are linked.
func (l *line) id(id string, style *slackgo.RichTextSectionTextStyle) *line {
	address := l.page.place.console(id)
	if address == "" || l.page.links == 0 {
		return l.styled(id, style)
	}
	l.page.links--
	return l.link(address, id, style)
}

func (l *line) link(address, text string, style *slackgo.RichTextSectionTextStyle) *line {
	l.items = append(l.items, slackgo.NewRichTextSectionLinkElement(address, text, style))
	return l
}

// clock appends a time: in the reader's own zone where Slack can, else in UTC.
func (l *line) clock(t time.Time) *line {
	if l.page.asOf.Sub(t) > 12*time.Hour {
		return l.dated(t)
	}
	return l.date(t, "{time}")
}

// at appends when something happened.
func (l *line) at(t time.Time) *line {
	if l.page.asOf.Sub(t) > 12*time.Hour && t.Unix() >= 0 {
		return l.plain("on ").dated(t)
	}
	return l.plain("at ").clock(t)
}

// until appends a time to come, with its date if it is not soon.
func (l *line) until(from, to time.Time) *line {
	if to.Sub(from) > 12*time.Hour {
		return l.dated(to)
	}
	return l.clock(to)
}

// dated appends a time with its date.
func (l *line) dated(t time.Time) *line { return l.date(t, "{date_short_pretty} at {time}") }

func (l *line) date(t time.Time, format string) *line {
	if t.IsZero() || t.Unix() < 0 {
		return l.plain("an unknown time")
	}
	fallback := t.UTC().Format("2006-01-02 15:04") + " UTC"
	l.items = append(l.items, slackgo.NewRichTextSectionDateElement(t.Unix(), format, nil, &fallback))
	return l
}

// pre is text as it is, in monospace: evidence, commands.
func pre(s string) slackgo.RichTextElement {
	return &slackgo.RichTextPreformatted{
		Type:     slackgo.RTEPreformatted,
		Elements: []slackgo.RichTextSectionElement{slackgo.NewRichTextSectionTextElement(s, nil)},
	}
}

// bullets is a list.
func bullets(lines ...*line) slackgo.RichTextElement {
	items := make([]slackgo.RichTextElement, len(lines))
	for i, l := range lines {
		items[i] = l.section()
	}
	return slackgo.NewRichTextList(slackgo.RTEListBullet, 0, items...)
}
