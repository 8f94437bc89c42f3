//go:build slacktypes

package types

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/tools/goldens"
)

// packages fetches what package-lock.json pins, unless it is there, and returns
// the folder.
func packages(t *testing.T) (dir, node string) {
	t.Helper()
	node = tool(t, "node")
	npm := tool(t, "npm")
	dir, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if fetched(t) {
		return dir, node
	}
	// None of the packages needs its scripts.
	out, err := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund").CombinedOutput()
	if err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return dir, node
}

func tool(t *testing.T, name string) string {
	t.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is needed here (Node.js 20 or later brings node and npm): %v", name, err)
	}
	return file
}

// fetched reports whether npm has put the pinned packages here. It writes its own
// lock file last.
func fetched(t *testing.T) bool {
	t.Helper()
	want, err := os.Stat("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(filepath.Join("node_modules", ".package-lock.json"))
	return err == nil && !got.ModTime().Before(want.ModTime())
}

// message is a message as it is sent.
type message struct {
	Text     string          `json:"text"`
	Blocks   json.RawMessage `json:"blocks"`
	Metadata json.RawMessage `json:"metadata"`
}

// played are the messages of shared/slack as they are sent, by the name of their scene: the
// incident's message, then its replies. The texts are the files.
func played(t *testing.T) (messages map[string][]message, texts map[string][]byte) {
	t.Helper()
	messages, texts = map[string][]message{}, map[string][]byte{}
	for _, file := range goldens.Messages(t, "../../..", "./shared/slack") {
		if filepath.Base(filepath.Dir(file)) == "summaries" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []message
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(list) == 0 {
			t.Fatalf("%s holds no message", file)
		}
		name := strings.TrimSuffix(filepath.Base(file), goldens.Ending)
		messages[name], texts[name] = list, text
	}
	if len(messages) < 100 {
		t.Fatalf("%d messages: they are kept elsewhere", len(messages))
	}
	return messages, texts
}

// wrong are blocks with one mistake each. says is a piece of the compiler's
// error; pointer is where Slack would find the mistake.
var wrong = []struct{ name, block, says, pointer string }{
	{"unknown-block", `{"type": "rich_txt", "elements": []}`, `"rich_txt"`, "/blocks/0/type"},
	{"unknown-part", rich(`{"type": "rich_text_table", "elements": []}`), `"rich_text_table"`, "/blocks/0/elements/0/type"},
	{"unknown-item", section(`{"type": "txt", "text": "a"}`), `"txt"`, "/blocks/0/elements/0/elements/0/type"},
	{"block-without-elements", `{"type": "rich_text"}`, "'elements' is missing", "/blocks/0"},
	{"section-without-elements", rich(`{"type": "rich_text_section"}`), "'elements' is missing", "/blocks/0/elements/0"},
	{"link-without-address", section(`{"type": "link", "text": "a"}`), "'url' is missing", "/blocks/0/elements/0/elements/0"},
	{"date-without-format", section(`{"type": "date", "timestamp": 1773500343}`), "'format' is missing", "/blocks/0/elements/0/elements/0"},
	{"list-without-style", rich(`{"type": "rich_text_list", "elements": []}`), "'style' is missing", "/blocks/0/elements/0"},
	{"misspelt-style", section(`{"type": "text", "text": "a", "stile": {"bold": true}}`), `"stile"`, "/blocks/0/elements/0/elements/0"},
	{"misspelt-bold", section(`{"type": "text", "text": "a", "style": {"blod": true}}`), `"blod"`, "/blocks/0/elements/0/elements/0/style"},
	{"misspelt-border", rich(`{"type": "rich_text_quote", "elements": [], "boarder": 1}`), `"boarder"`, "/blocks/0/elements/0"},
	{"border-of-two", rich(`{"type": "rich_text_quote", "elements": [], "border": 2}`), "'2'", "/blocks/0/elements/0/border"},
	{"time-as-text", section(`{"type": "date", "timestamp": "1773500343", "format": "{time}"}`), "'number'", "/blocks/0/elements/0/elements/0/timestamp"},
	{"unknown-list", rich(`{"type": "rich_text_list", "style": "dashes", "elements": []}`), `"dashes"`, "/blocks/0/elements/0/style"},
	{"list-of-text", rich(`{"type": "rich_text_list", "style": "bullet", "elements": [{"type": "text", "text": "a"}]}`),
		"'RichTextSection'", "/blocks/0/elements/0/elements/0/type"},
	{"date-in-preformatted", rich(`{"type": "rich_text_preformatted", "elements": [{"type": "date", "timestamp": 1, "format": "{time}"}]}`),
		`"date"`, "/blocks/0/elements/0/elements/0/type"},
}

// rich is a block with one part, section one with a paragraph.
func rich(part string) string { return `{"type": "rich_text", "elements": [` + part + `]}` }
func section(items string) string {
	return rich(`{"type": "rich_text_section", "elements": [` + items + `]}`)
}
