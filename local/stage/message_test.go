package stage

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/fakeslack"
)

var updateMessages = flag.Bool("update", false, "write the golden messages anew")

// messageWorlds are worlds of the corpus whose messages are kept as they come into
// the channel from the whole machinery: the words are the check's own, where the
// scenes of shared/slack are written by hand. No world is here whose cause two
// functions see at the same moment: what else was looked up hangs on who was first.
var messageWorlds = []string{
	"karpenter-nodeclass-not-ready", "karpenter-nodeclass-not-ready-auto-mode", "karpenter-nodepool-limit", "node-not-initialized",
	"launch-policy-denied", "sg-efa-self-rule",
}

// messageFleets are samples of fleets that EC2 refuses, a call every two minutes, whose
// messages are kept in the same way.
var messageFleets = map[string]string{
	"fleet-refused":     "ec2-call-create-fleet-refused.json",
	"fleet-no-capacity": "ec2-call-create-fleet-no-capacity.json",
}

// TestMessages holds what is said of a world against its golden files: the blocks as
// they were sent, and how they read. go run ./local/fakeslack/try FILE… shows them.
func TestMessages(t *testing.T) {
	want := map[string]bool{}
	for _, name := range messageWorlds {
		want[name+".golden.json"], want[name+".txt"] = true, true
		t.Run(name, inTime(func(t *testing.T) {
			r := start(t, "corpus/"+name, func(o *Options) { o.Rights = "../../deploy/clusterrole.yaml" })
			r.until("a message", func() bool { return len(r.messages()) > 0 })
			// The look into CloudTrail answers in between; it is asked again a quarter of an hour later.
			r.pass(3 * time.Minute)
			messages := r.messages()
			if len(messages) != 1 {
				t.Fatalf("%d messages, want one", len(messages))
			}
			goldenMessage(t, name+".golden.json", sent(t, messages[0]))
			goldenMessage(t, name+".txt", []byte(aloud(t, messages[0])))
		}))
	}
	for name, sample := range messageFleets {
		want[name+".golden.json"], want[name+".txt"] = true, true
		t.Run(name, inTime(func(t *testing.T) {
			text, err := os.ReadFile("../../events/in/" + sample)
			if err != nil {
				t.Fatal(err)
			}
			r := start(t, "healthy-nat", func(o *Options) { o.Rights = "../../deploy/clusterrole.yaml" })
			for range 10 {
				r.put(json.RawMessage(strings.ReplaceAll(string(text), "2026-11-20T14:58:40Z", r.Clock.Now().UTC().Format(time.RFC3339))))
				r.pass(2 * time.Minute)
			}
			messages := r.messages()
			if len(messages) != 1 {
				t.Fatalf("%d messages, want one", len(messages))
			}
			goldenMessage(t, name+".golden.json", sent(t, messages[0]))
			goldenMessage(t, name+".txt", []byte(aloud(t, messages[0])))
		}))
	}
	for _, name := range karpenterMessages { // TestKarpenterStory
		want[name+".golden.json"], want[name+".txt"] = true, true
	}
	files, err := os.ReadDir("testdata/messages")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("testdata/messages/%s belongs to no world", f.Name())
		}
	}
}

func goldenMessage(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata/messages", name)
	if *updateMessages {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; run with -update if it should change):\n%s", name, diff)
	}
}

// sent is a message and its replies as they were posted, in the form of the golden
// files of shared/slack.
func sent(t *testing.T, m fakeslack.Message) []byte {
	t.Helper()
	type one struct {
		Text   string          `json:"text"`
		Blocks json.RawMessage `json:"blocks,omitempty"`
	}
	list := []one{{m.Text, m.Blocks}}
	for _, reply := range m.Replies {
		if len(reply.Files) == 0 { // a picture is no text
			list = append(list, one{reply.Text, reply.Blocks})
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(list); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// part is a block of Slack's, or an element of one, as far as it is read aloud.
type part struct {
	Type     string
	Text     json.RawMessage // a string, or an object with one
	Elements []part
	UserID   string `json:"user_id"`
	Format   string
	Stamp    int64 `json:"timestamp"`
}

// aloud is how a message reads in UTC.
func aloud(t *testing.T, m fakeslack.Message) string {
	t.Helper()
	var b strings.Builder
	for n, each := range append([]fakeslack.Message{m}, m.Replies...) {
		if n > 0 {
			fmt.Fprintf(&b, "\n--- reply %d\n", n)
		}
		var blocks []part
		if len(each.Files) > 0 {
			fmt.Fprintf(&b, "(picture: %s)\n", each.Files[0].AltText)
		}
		if len(each.Blocks) == 0 {
			continue
		}
		if err := json.Unmarshal(each.Blocks, &blocks); err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks {
			b.WriteString(block.aloud())
		}
	}
	return b.String()
}

func (p part) aloud() string {
	var inner strings.Builder
	for _, e := range p.Elements {
		inner.WriteString(e.aloud())
	}
	switch p.Type {
	case "rich_text_section":
		return inner.String() + "\n"
	case "rich_text_list":
		return "  • " + strings.ReplaceAll(strings.TrimSuffix(inner.String(), "\n"), "\n", "\n  • ") + "\n"
	case "rich_text_preformatted":
		return "    " + strings.ReplaceAll(inner.String(), "\n", "\n    ") + "\n"
	case "actions":
		return strings.TrimSpace(inner.String()) + "\n"
	case "button":
		return "[" + p.text() + "] "
	case "user":
		return "@" + p.UserID
	case "date":
		at := time.Unix(p.Stamp, 0).UTC()
		return strings.NewReplacer("{time}", at.Format("15:04"), "{date_short_pretty}", at.Format("Jan 2")).Replace(p.Format)
	}
	return inner.String() + p.text()
}

// text is the part's own, be it a string or an object of Slack's.
func (p part) text() string {
	var object struct{ Text string }
	var text string
	if len(p.Text) == 0 {
		return ""
	}
	if json.Unmarshal(p.Text, &text) == nil {
		return text
	}
	_ = json.Unmarshal(p.Text, &object) // else it says nothing
	return object.Text
}
