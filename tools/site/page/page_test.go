package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"

	"rollcall/infra/specs"
	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// How urgent a page says a check is, is how urgent its incidents are: before a launch has
// met it, and when one has.
func TestUrgentIsTheSeverity(t *testing.T) {
	for _, c := range checks.All() {
		if c.Confidence == finding.Advice {
			continue
		}
		inc := incident.Incident{State: incident.Open, Key: report.Key{Check: c.ID}, Cause: diagnosis.Cause{Check: c.ID, Confidence: c.Confidence}}
		says := urgent(c)
		unmet := inc.Severity()
		if want := map[bool]incident.Severity{true: incident.Critical, false: incident.Warning}[strings.HasPrefix(says, "Critical:")]; unmet != want {
			t.Errorf("%s: %q, and before a launch it is %s", c.ID, says, unmet)
		}
		if strings.HasPrefix(says, "Critical while pods wait") {
			inc.Cause.Pods = []string{"a/b"}
			if got := inc.Severity(); got != incident.Critical {
				t.Errorf("%s: %q, and with pods that wait it is %s", c.ID, says, got)
			}
			inc.Cause.Pods = nil
		}
		inc.Affected, inc.Launches = 1, []report.Launch{{Instance: "i-1", Status: report.Waiting}}
		early := inc.Severity()
		if strings.Contains(says, "until a launch meets it, then critical") && early != incident.Critical {
			t.Errorf("%s: %q, and for a launch that is not late it is %s", c.ID, says, early)
		}
		if strings.Contains(says, "is late, then critical") && early == incident.Critical {
			t.Errorf("%s: %q, and for a launch that is not late it is critical", c.ID, says)
		}
		inc.Launches[0].Status = report.Missed
		if got := inc.Severity(); got != incident.Critical {
			t.Errorf("%s: %q, and for a launch that is late it is %s", c.ID, says, got)
		}
	}
}

// What the example of a page is taken for says so, and comes out as it went in.
func TestExampleIsFoundAgain(t *testing.T) {
	c := check.Check{Entry: catalog.Entry{ID: "sg/a", Title: "A title", Confidence: finding.Likely}, Needs: []snapshot.Source{snapshot.Clusters}}
	p := Checks{List: []check.Check{c}, Permissions: func(snapshot.Source) []string { return []string{"eks:DescribeCluster"} }}
	for shown, want := range map[Shown]string{
		Posted: "What is posted", Beside: "no message of its own here", Advised: "nothing is posted",
	} {
		text := ExampleSection(c, Example{World: "sg-a", About: "It *is* <broken>.", Shown: shown, Message: "<b>no</b>\n"}, true)
		for _, want := range []string{want, `It \*is\* &lt;broken&gt;.`, "<div class=\"message\">\n\n<b>no</b>\n\n</div>"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", shown, want, text)
			}
		}
		page := p.Check(c, text)
		if got, found := Between(page); !found || strings.TrimSpace(got) != strings.TrimSpace(text) {
			t.Errorf("%s: between is %q, %v", shown, got, found)
		}
	}
	for id, want := range map[checkid.ID]string{"spot/a": "the launches of days", "ip/a": "days of the subnet", "node/a": "evidence beside another cause"} {
		c.ID = id
		if text := ExampleSection(c, Example{}, false); !strings.Contains(text, want) {
			t.Errorf("%s without an example: %q", id, text)
		}
	}
	if _, found := Between("# A page\n"); found {
		t.Error("a page without an example has one")
	}
}

func TestAlarmsRefuse(t *testing.T) {
	for template, want := range map[string]string{
		`{`:                "read the template",
		`{"Resources":{}}`: "has no alarms",
		`{"Resources":{"XAlarm":{"Type":"AWS::CloudWatch::Alarm","Properties":{"AlarmDescription":"It rings. Do: look."}}}}`:     "does not say what happens meanwhile",
		`{"Resources":{"XAlarm":{"Type":"AWS::CloudWatch::Alarm","Properties":{"AlarmDescription":"It rings. Meanwhile: x."}}}}`: "what to do",
	} {
		if _, err := Alarms([]byte(template)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", template, err, want)
		}
	}
}

// TestEveryChoiceIsShown: whatever setting a role hangs on is among those of the page, and
// each of them adds something to it.
func TestEveryChoiceIsShown(t *testing.T) {
	shown := map[string]bool{}
	for _, c := range choices() {
		for name := range c.on {
			shown[string(name)] = true
		}
	}
	adds := map[string]bool{}
	for _, s := range specs.All() {
		if s.Chosen == nil {
			continue
		}
		if _, err := s.Chosen(func(name string) string {
			if !shown[name] && strings.HasPrefix(name, "ROLLCALL_") && !strings.HasPrefix(name, "ROLLCALL_STAGE_") {
				t.Errorf("what %s may hangs on %s, which is none of the page's choices", s.Name, name)
			}
			return ""
		}); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		list, err := chosenGrants(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			for _, name := range c.settings {
				adds[name] = true
			}
		}
	}
	for _, c := range choices() {
		if !adds[c.setting] {
			t.Errorf("%s adds nothing to any role", c.setting)
		}
	}
}

// TestConditionsInWords: each operator that a grant has has words of its own.
func TestConditionsInWords(t *testing.T) {
	for op, want := range map[string]string{
		"Null": "is present", "StringEquals": "is `false`", "StringLike": "matches `false`", "ForAllValues:StringEquals": "is always `false`", "DateLessThan": "is (DateLessThan) `false`",
	} {
		if got := condition(op, []string{"false"}); got != want {
			t.Errorf("%s: %q, want %q", op, got, want)
		}
	}
	for _, s := range specs.All() {
		chosen, err := chosenGrants(s)
		if err != nil {
			t.Fatal(err)
		}
		grants := slices.Clone(s.Grants)
		for _, c := range chosen {
			grants = append(grants, c.grant)
		}
		for _, g := range grants {
			if row := grantRow(g); strings.Contains(row, " is (") {
				t.Errorf("%s, %s: an operator without words: %s", s.Name, g.Sid, row)
			}
		}
	}
	if got := condition("Null", []string{"true"}); got != "is absent" {
		t.Error(got)
	}
	if row := grantRow(spec.Grant{Sid: "S", Actions: []string{"a:B"}, Resources: []spec.Resource{"r"}, Why: "x | y"}); row != "| `S` | `a:B` | `r` | x \\| y |" {
		t.Error(row)
	}
}

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

func TestCompatibility(t *testing.T) {
	got := Compatibility([]Release{{"v0.1.0", "aa", "bb", "1"}}, Release{"next release", "cc", "bb", "2"})
	for _, row := range []string{"| v0.1.0 | `aa` | `bb` | [1](../stage/release/testdata/1) |\n", "| next release | `cc` | `bb` | [2](../stage/release/testdata/2) |\n"} {
		if !strings.Contains(got, row) {
			t.Errorf("no row %q in\n%s", row, got)
		}
	}
}
