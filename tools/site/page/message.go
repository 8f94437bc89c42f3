package page

import (
	"fmt"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"
)

// Markdown is a message of rich_text blocks. Pictures and buttons are left out; a block
// of another kind is an error, so that nothing is left out unseen.
func Markdown(blocks []slackgo.Block) (string, error) {
	var parts []string
	for _, b := range blocks {
		switch b := b.(type) {
		case *slackgo.RichTextBlock:
			text, err := richText(b)
			if err != nil {
				return "", err
			}
			parts = append(parts, text...)
		case *slackgo.ActionBlock, *slackgo.ImageBlock:
		default:
			return "", fmt.Errorf("a message has a block of type %s", b.BlockType())
		}
	}
	return strings.Join(parts, "\n\n") + "\n", nil
}

func richText(b *slackgo.RichTextBlock) ([]string, error) {
	var parts []string
	for _, e := range b.Elements {
		switch e := e.(type) {
		case *slackgo.RichTextSection:
			text, err := section(e.Elements)
			if err != nil {
				return nil, err
			}
			parts = append(parts, text)
		case *slackgo.RichTextPreformatted:
			parts = append(parts, "```text\n"+strings.TrimRight(plain(e.Elements), "\n")+"\n```")
		case *slackgo.RichTextList:
			var items []string
			for _, item := range e.Elements {
				s, ok := item.(*slackgo.RichTextSection)
				if !ok {
					return nil, fmt.Errorf("a list of a message has a %s", item.RichTextElementType())
				}
				text, err := section(s.Elements)
				if err != nil {
					return nil, err
				}
				items = append(items, "- "+text)
			}
			parts = append(parts, strings.Join(items, "\n"))
		default:
			return nil, fmt.Errorf("a message has a %s", e.RichTextElementType())
		}
	}
	return parts, nil
}

// section is a paragraph, with its lines broken where Slack breaks them.
func section(elements []slackgo.RichTextSectionElement) (string, error) {
	var b strings.Builder
	for _, e := range elements {
		switch e := e.(type) {
		case *slackgo.RichTextSectionTextElement:
			b.WriteString(styled(e.Text, e.Style))
		case *slackgo.RichTextSectionLinkElement:
			b.WriteString(styled(e.Text, e.Style)) // the console of an account that is not there
		case *slackgo.RichTextSectionDateElement:
			b.WriteString(e.Timestamp.Time().UTC().Format("15:04"))
		default:
			return "", fmt.Errorf("a message has a %s in a section", e.RichTextSectionElementType())
		}
	}
	return strings.ReplaceAll(strings.TrimSpace(b.String()), "\n", "  \n"), nil
}

// plain is text as it is to be copied.
func plain(elements []slackgo.RichTextSectionElement) string {
	var b strings.Builder
	for _, e := range elements {
		switch e := e.(type) {
		case *slackgo.RichTextSectionTextElement:
			b.WriteString(e.Text)
		case *slackgo.RichTextSectionLinkElement:
			b.WriteString(e.Text)
		case *slackgo.RichTextSectionDateElement:
			b.WriteString(e.Timestamp.Time().UTC().Format(time.TimeOnly))
		}
	}
	return b.String()
}

// styled is text in HTML's own marks: those of Markdown do not take a word that ends
// within another, nor blanks at their ends.
func styled(text string, style *slackgo.RichTextSectionTextStyle) string {
	s := Escape(text)
	if style == nil {
		return s
	}
	if style.Code {
		s = "<code>" + s + "</code>"
	}
	if style.Bold {
		s = "<b>" + s + "</b>"
	}
	if style.Italic {
		s = "<i>" + s + "</i>"
	}
	return s
}

// marks are what Markdown would take for its own.
var marks = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "|", "\\|", "~", "\\~")

// Escape is text that Markdown and HTML leave as it is.
func Escape(text string) string { return marks.Replace(text) }
