//go:build slacktypes

package types

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// settings are the compiler's. types keeps global types of other packages out.
const settings = `{
  "compilerOptions": {
    "strict": true, "noEmit": true, "skipLibCheck": true, "target": "es2022", "lib": ["es2022", "dom"],
    "module": "preserve", "moduleResolution": "bundler", "types": []
  },
  "include": ["*.ts"]
}
`

// sent says what a message is, in Slack's types, and that the methods take it.
// Excess properties are looked for in literals only, so each message is one.
const sent = `import type { KnownBlock, MessageMetadata } from '@slack/types';
import type { ChatPostMessageArguments, ChatUpdateArguments, ViewsPublishArguments } from '@slack/web-api';

// Documented, yet not in the types: docs.slack.dev/reference/block-kit/block-elements/rich-text-list-element.
declare module '@slack/types' {
  interface RichTextList { offset?: number }
}

export interface Sent { text: string; blocks: KnownBlock[]; metadata: MessageMetadata }

export const post = (channel: string, m: Sent): ChatPostMessageArguments => ({ channel, ...m });
export const reply = (channel: string, thread_ts: string, m: Sent): ChatPostMessageArguments => ({ channel, thread_ts, ...m });
export const home = (user_id: string, hash: string, m: Sent): ViewsPublishArguments => ({ user_id, hash, view: { type: 'home', blocks: m.blocks } });
export const update = (channel: string, ts: string, m: Sent): ChatUpdateArguments => ({ channel, ts, ...m });
`

// literal is a program with messages in it.
func literal(messages []byte) string {
	return "import type { Sent } from './sent';\n\nexport default " + strings.TrimSpace(string(messages)) + " satisfies Sent[];\n"
}

// wrongOutside are messages with a mistake outside their blocks, each with a
// piece of the compiler's error.
var wrongOutside = []struct{ name, message, says string }{
	{"no-text", `{"blocks": [], "metadata": {"event_type": "a", "event_payload": {}}}`, "'text' is missing"},
	{"misspelt-text", `{"text": "a", "txt": "a", "blocks": [], "metadata": {"event_type": "a", "event_payload": {}}}`, `"txt"`},
	{"no-event-type", `{"text": "a", "blocks": [], "metadata": {"event_payload": {}}}`, "'event_type' is missing"},
	{"deep-payload", `{"text": "a", "blocks": [], "metadata": {"event_type": "a", "event_payload": {"key": {"of": {"too": "deep"}}}}}`, "too: string"},
}

// TestTypes compiles every golden message, and the wrong ones: exactly those
// are refused.
func TestTypes(t *testing.T) {
	files := map[string]string{"tsconfig.json": settings, "sent.ts": sent}
	_, texts := played(t)
	for name, text := range texts {
		files["golden-"+name+".ts"] = literal(text)
	}
	// A home page is made of the same blocks, and views.publish takes it.
	files["home.ts"] = "import pages from './golden-asked-home';\nimport { home } from './sent';\n\nexport default pages.map((m) => home('U0ONCALL01', '1.a', m));\n"
	want := map[string]string{}
	for _, w := range wrong {
		file := "wrong-" + w.name + ".ts"
		files[file] = literal([]byte(`[{"text": "a", "blocks": [` + w.block + `], "metadata": {"event_type": "a", "event_payload": {}}}]`))
		want[file] = w.says
	}
	for _, w := range wrongOutside {
		file := "wrong-" + w.name + ".ts"
		files[file], want[file] = literal([]byte("["+w.message+"]")), w.says
	}
	refused := map[string]bool{}
	for _, r := range compile(t, files) {
		refused[r.file] = true
		if says, ok := want[r.file]; !ok || !strings.Contains(r.text, says) {
			t.Errorf("%s: got %q, want %q", r.file, r.text, says)
		}
	}
	for file, says := range want {
		if !refused[file] {
			t.Errorf("%s compiles, want %q", file, says)
		}
	}
}

// refusal is one error of the compiler.
type refusal struct{ file, text string }

// refusalLine is how the compiler starts an error; its details follow, indented.
var refusalLine = regexp.MustCompile(`^([^(\s]+)\(\d+,\d+\): error (TS\d+: .*)$`)

// compile writes a project into a temporary folder and compiles it.
func compile(t *testing.T, files map[string]string) []refusal {
	t.Helper()
	modules, node := packages(t)
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), node, filepath.Join(modules, "typescript", "bin", "tsc"), "--pretty", "false", "-p", ".")
	c.Dir = dir
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run the TypeScript compiler: %v", err)
	}
	var found []refusal
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\r\n")
		m := refusalLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			found = append(found, refusal{m[1], m[2]})
		case len(found) > 0 && strings.HasPrefix(line, " "):
			found[len(found)-1].text += "\n" + line
		case line != "":
			t.Fatalf("the compiler failed (%v):\n%s", err, out)
		}
	}
	if (err != nil) != (len(found) > 0) {
		t.Fatalf("the compiler ended with %v and %d errors:\n%s", err, len(found), out)
	}
	return found
}
