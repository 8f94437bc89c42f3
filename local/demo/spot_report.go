package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"rollcall/local/fakeslack"
)

// reportFunction is the folder of the function that writes the Spot report.
const reportFunction = "spot-report"

// proof is what a Spot report must say, and what it must have ruled out, each
// with its numbers: regular expressions.
type proof struct {
	says     []string
	ruledOut []string
}

// report asks for the cluster's Spot report, as a person would with the AWS
// CLI, and holds what it says against the proof.
func (st *spotStory) report(ctx context.Context, n *narrator, picture string, want proof) error {
	f, ok := st.stage.Function(reportFunction)
	if !ok {
		return fmt.Errorf("the template has no function %s", reportFunction)
	}
	event := fmt.Sprintf(`{"source":"rollcall","detail-type":"Rollcall Spot Report Wanted","detail":{"cluster":%q,"hours":24}}`, cluster)
	res, err := st.stage.Runtime.Invoke(ctx, f.Name, []byte(event))
	if err != nil {
		return fmt.Errorf("ask for the Spot report: %w", err)
	}
	if res.FunctionError != "" {
		return fmt.Errorf("the Spot report failed: %s: %s", res.FunctionError, res.Payload)
	}
	n.say("the Spot report of the last 24 hours is asked for")
	var m fakeslack.Message
	if err := n.wait(ctx, "waiting for the Spot report and its thread", func() (bool, error) {
		for _, m = range st.messages() {
			if strings.Contains(m.Text, "Spot in the last 24 h") {
				return len(m.Replies) > 0 || strings.Contains(m.Text, "✅"), nil
			}
		}
		return false, nil
	}); err != nil {
		return err
	}
	if err := want.hold(m); err != nil {
		return err
	}
	n.say("Slack: %s", m.Text)
	for _, line := range strings.Split(strings.TrimSpace(ruledOut(plain(m))), "\n") {
		n.say("ruled out: %s", line)
	}
	return st.pictures(ctx, n, picture, m)
}

// pictures are of the whole report, of its thread, and of what a phone shows; none
// of a report without a name for them.
func (st *spotStory) pictures(ctx context.Context, n *narrator, name string, m fakeslack.Message) error {
	if name == "" {
		return nil
	}
	for _, p := range []struct {
		name, query   string
		width, height int
	}{{name, "", 1200, 1000}, {name + "-thread", "&thread=" + m.TS, 640, 3250}, {name + "-narrow", "", 390, 1160}} {
		if err := n.picture(ctx, p.name, p.query, p.width, p.height); err != nil {
			return err
		}
	}
	return nil
}

// hold tells what a report does not say, or has not ruled out.
func (p proof) hold(m fakeslack.Message) error {
	text := plain(m)
	for _, w := range p.says {
		if !regexp.MustCompile(w).MatchString(text) {
			return fmt.Errorf("the Spot report does not say %q:\n%s", w, text)
		}
	}
	for _, w := range p.ruledOut {
		if !regexp.MustCompile(w).MatchString(ruledOut(text)) {
			return fmt.Errorf("the Spot report does not have %q among what is ruled out:\n%s", w, text)
		}
	}
	return nil
}

// ruledOut is the part of a report that says what nobody need follow.
func ruledOut(text string) string {
	_, rest, _ := strings.Cut(text, "\nRuled out\n")
	for _, next := range []string{"\nChange\n", "\nWorst pools\n"} {
		rest, _, _ = strings.Cut(rest, next)
	}
	return rest
}

// plain is a message's blocks as people read them, a paragraph a line.
func plain(m fakeslack.Message) string {
	var blocks []block
	if json.Unmarshal(m.Blocks, &blocks) != nil {
		return m.Text
	}
	var b strings.Builder
	for _, e := range blocks {
		e.write(&b)
	}
	return b.String()
}

// block is a block of rich text or a part of one.
type block struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"`
	Elements []block         `json:"elements"`
}

func (e block) write(b *strings.Builder) {
	var text string
	if json.Unmarshal(e.Text, &text) == nil {
		b.WriteString(text)
	}
	for _, part := range e.Elements {
		part.write(b)
	}
	if e.Type == "rich_text_section" || e.Type == "rich_text_preformatted" {
		b.WriteString("\n")
	}
}
