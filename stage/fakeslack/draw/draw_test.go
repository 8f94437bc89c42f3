package draw

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"rollcall/stage/fakeslack/schema"
)

// FuzzBlocks holds that whatever passes the check can be drawn safely.
func FuzzBlocks(f *testing.F) {
	f.Add(`[{"type":"section","text":{"type":"mrkdwn","text":"*a* <b> <http://x|y>"},"accessory":{"type":"button","text":{"type":"plain_text","text":"<i>"},"url":"javascript:1"}}]`)
	f.Add(`[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"link","url":"http://x","text":"<script>"},{"type":"text","text":"t","style":{"bold":true}}]}]}]`)
	f.Add(`[{"type":"image","image_url":"http://x/\"onerror=1","alt_text":"\"><script>"}]`)
	f.Add(`[{"type":"actions","elements":[{"type":"overflow","action_id":"\"><b","options":[{"text":{"type":"plain_text","text":"<"},"value":"\""}]}]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var blocks []any
		if json.Unmarshal([]byte(text), &blocks) == nil && len(schema.Problems(blocks)) == 0 {
			safe(t, string(Blocks(json.RawMessage(text), twoNames{})))
		}
	})
}

// twoNames resolves two names, to show that they are escaped as well.
type twoNames struct{}

func (twoNames) UserName(id string) (string, bool)    { return "<dana>", id == "U1" }
func (twoNames) ChannelName(id string) (string, bool) { return "alerts", id == "C1" }
func (twoNames) GroupName(id string) (string, bool)   { return "oncall", id == "S1" }

func link(url, text string) string {
	return `<a href="` + url + `" target="_blank" rel="noopener noreferrer">` + text + `</a>`
}

// What is drawn reads in a terminal as on the page: commands whole, buttons in brackets.
func TestText(t *testing.T) {
	rich := func(parts string) string { return `{"type":"rich_text","elements":[` + parts + `]}` }
	word := func(text string) string { return `{"type":"text","text":"` + text + `"}` }
	blocks := "[" + strings.Join([]string{
		`{"type":"section","text":{"type":"mrkdwn","text":"*Why* :red_circle: a &lt; b <@U1>\nnext"}}`,
		rich(`{"type":"rich_text_section","elements":[` + word("Or <run>:") + `]},{"type":"rich_text_preformatted","elements":[` + word(`aws ec2\n  --region x`) + `]}`),
		rich(`{"type":"rich_text_list","style":"bullet","elements":[{"type":"rich_text_section","elements":[` + word("one") + `]},{"type":"rich_text_section","elements":[` + word("two") + `]}]}`),
		`{"type":"divider"}`,
		`{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Approve"}},{"type":"button","url":"https://a.example","text":{"type":"plain_text","text":"Open"}},` +
			`{"type":"static_select","placeholder":{"type":"plain_text","text":"Mute for"},"options":[{"text":{"type":"plain_text","text":"1 hour"},"value":"1"}]}]}`,
		`{"type":"image","image_url":"https://a.example/x.png","alt_text":"free addresses"}`,
	}, ",") + "]"
	want := `Why 🔴 a < b @<dana>
next
Or <run>:
    aws ec2
      --region x
- one
- two
[Approve] [Open] [Mute for]
[picture: free addresses]`
	if got := Text(Blocks(json.RawMessage(blocks), twoNames{})); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}

func TestMrkdwn(t *testing.T) {
	red := `<img class="emoji" src="/emoji/red_circle.svg" alt="🔴" title=":red_circle:">`
	tests := map[string]struct{ text, want string }{
		"plain":              {"a b", "a b"},
		"bold":               {"*a* b*c* *d", "<b>a</b> b*c* *d"},
		"italics, strike":    {"_a_ ~b~", "<i>a</i> <s>b</s>"},
		"nested":             {"*_a_*", "<b><i>a</i></b>"},
		"snake case":         {"new_nodegroup_2 and x_y_", "new_nodegroup_2 and x_y_"},
		"code":               {"`*a* <b>`", "<code>*a* &lt;b&gt;</code>"},
		"pre":                {"x\n```\na *b*\n```", "x<pre>a *b*</pre>"},
		"open fence":         {"```a", "```a"},
		"lines":              {"a\nb", "a<br>b"},
		"quote":              {"&gt; a\n> b\nc", "<blockquote>a<br>b</blockquote>c"},
		"link":               {"<https://x.io/?a=1&amp;b=2|see *it*>", link("https://x.io/?a=1&amp;b=2", "see <b>it</b>")},
		"bare link":          {"at https://x.io/a. Yes", "at " + link("https://x.io/a", "https://x.io/a") + ". Yes"},
		"link in brackets":   {"<http://x.io>", link("http://x.io", "http://x.io")},
		"user":               {"<@U1> <@U2>", `<span class="mention">@&lt;dana&gt;</span> <span class="mention">@@U2</span>`},
		"channel":            {"<#C1> <#C9|x>", `<span class="mention">#alerts</span> <span class="mention">#x</span>`},
		"group":              {"<!subteam^S1>", `<span class="mention">@oncall</span>`},
		"here":               {"<!here>", `<span class="mention loud">@here</span>`},
		"escapes":            {"&lt;b&gt; &amp;amp; &quot;", "&lt;b&gt; &amp;amp; &amp;quot;"},
		"tag":                {"<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"},
		"script":             {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
		"script link":        {"<javascript:alert(1)|x>", "&lt;javascript:alert(1)|x&gt;"},
		"quote in a link":    {`<https://x.io/"onclick="1|x>`, `&lt;` + link("https://x.io/", "https://x.io/") + `&#34;onclick=&#34;1|x&gt;`},
		"tag in a label":     {"<https://x.io|&lt;img src=x&gt;>", link("https://x.io", "&lt;img src=x&gt;")},
		"emoji name":         {":red_circle: :no_such:", red + " :no_such:"},
		"emoji character":    {"🔴 a 🦀", red + " a 🦀"},
		"date":               {"<!date^1795186771^at {time}|x>", `at <time`},
		"date beyond reason": {"<!date^99999999999999^{time}|then>", "then"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := string(Mrkdwn(tt.text, twoNames{}))
			if name == "date" {
				want := `<time datetime="2026-11-20T14:59:31Z" data-format="at {time}" title="Fri 20 Nov 2026, 14:59:31 UTC">at 14:59</time>`
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				return
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// written is every tag that the package writes, with its exact attributes.
var written = regexp.MustCompile(`</?(?:b|i|s|code|pre|blockquote|time|a|span|div|ul|ol|li|figure|button|select|option|optgroup|details|summary|h3)>` +
	`|<(?:br|hr)>` +
	`|<(?:a|div|span|h3|ul|ol|img|button|select|option|optgroup|figure|details|summary|time)(?: (?:href|src|alt|title|class|target|rel|type|data-[a-z]+|aria-label|label|value|datetime)="[^"<>]*"| selected| hidden)+>`)

// scheme is what a link may lead to.
var scheme = regexp.MustCompile(`(?:href|src)="(?:https?://|mailto:|tel:|/emoji/|")`)

// safe fails if html has a tag or a link that the package does not write.
func safe(t *testing.T, html string) {
	t.Helper()
	rest := written.ReplaceAllString(html, "")
	if strings.ContainsAny(rest, "<>") {
		t.Errorf("unescaped %q in %q", rest, html)
	}
	for _, tag := range written.FindAllString(html, -1) {
		for _, attr := range []string{`href="`, `src="`} {
			if i := strings.Index(tag, " "+attr); i >= 0 && !scheme.MatchString(tag[i+1:]) {
				t.Errorf("link %q in %q", tag, html)
			}
		}
	}
}

// Text of the greatest length must not stop the page, whatever is in it.
func TestLongText(t *testing.T) {
	for _, part := range []string{"*a ", "<", "`", "*_", "<https://x|", "```", "<!date^1^", "> ", ":red_circle:", "→🔴", "a>", "*a*_b_", "&lt;"} {
		text := strings.Repeat(part, 40_000/len(part))
		began := time.Now()
		safe(t, string(Mrkdwn(text+">", twoNames{})))
		// It takes less than a second.
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q repeated: took %s", part, took)
		}
	}
}

func FuzzMrkdwn(f *testing.F) {
	for _, s := range []string{
		"*a* _b_ ~c~ `d` ```e```", "<https://x|y> <@U1> <!here>", "<!date^1^{time}^https://x|y>", "> q\n&gt; r",
		"<javascript:x|y>", `"><img src=x onerror=1>`, ":red_circle:🔴⚠️", "<https://x|*<@U1>*>", "```<https://x|`>```", "*_*_*", "<!date^1^\"><b>|<i>>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { safe(t, string(Mrkdwn(text, twoNames{}))) })
}
