package page

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"
)

func textElement(s string, style *slackgo.RichTextSectionTextStyle) *slackgo.RichTextSectionTextElement {
	return slackgo.NewRichTextSectionTextElement(s, style)
}

func TestMarkdown(t *testing.T) {
	got, err := Markdown([]slackgo.Block{
		slackgo.NewRichTextBlock("a", slackgo.NewRichTextSection(
			textElement("prod_1 *is* <down>: ", &slackgo.RichTextSectionTextStyle{Bold: true}),
			slackgo.NewRichTextSectionLinkElement("https://console", "i-0a", &slackgo.RichTextSectionTextStyle{Code: true}),
			textElement(" since ", nil), slackgo.NewRichTextSectionDateElement(1763650080, "{time}", nil, nil), textElement("\nnext", nil),
		)),
		slackgo.NewRichTextBlock("b", &slackgo.RichTextPreformatted{
			Type: slackgo.RTEPreformatted, Elements: []slackgo.RichTextSectionElement{textElement("aws <a> *b*\n", nil)},
		}),
		slackgo.NewRichTextBlock("c", slackgo.NewRichTextList(slackgo.RTEListBullet, 0, slackgo.NewRichTextSection(textElement("one", nil)), slackgo.NewRichTextSection(textElement("two", nil)))),
		slackgo.NewActionBlock("buttons"),
	})
	want := `<b>prod\_1 \*is\* &lt;down&gt;: </b><code>i-0a</code> since 14:48  
next

` + "```text\naws <a> *b*\n```" + `

- one
- two
`
	if diff := cmp.Diff(got, want); err != nil || diff != "" {
		t.Errorf("%v (-got +want):\n%s", err, diff)
	}
}

// What is not known is not left out.
func TestMarkdownRefuses(t *testing.T) {
	for name, b := range map[string]slackgo.Block{
		"a message has a block of type divider": slackgo.NewDividerBlock(),
		"a message has a user in a section":     slackgo.NewRichTextBlock("a", slackgo.NewRichTextSection(slackgo.NewRichTextSectionUserElement("U1", nil))),
		"a message has a rich_text_quote":       slackgo.NewRichTextBlock("a", &slackgo.RichTextQuote{Type: slackgo.RTEQuote}),
	} {
		if _, err := Markdown([]slackgo.Block{b}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}
