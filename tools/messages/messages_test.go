package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mostOpen is how many messages may still be without a row and a rule.
const mostOpen = 0

// The lists are whole: each reference once and in one class, each rule known and used, and
// the page counts what they hold. Codes are names and not hashes: the engine is asked again.
func TestListsAreWhole(t *testing.T) {
	t.Chdir("../..")
	classes := map[class]bool{classRow: true, classHealthy: true, classOpen: true}
	used := map[class]int{}
	for _, r := range rules() {
		if r.why == "" || r.class != classHealthy && r.class != classNothing {
			t.Errorf("rule %s has no reason, or the class %q", r.name, r.class)
		}
		if name := r.class + ":" + class(r.name); !classes[name] {
			classes[name] = true
		} else {
			t.Errorf("rule %s is there twice", r.name)
		}
	}
	var all []listed
	open := 0
	files := map[string]bool{}
	for _, p := range slices.Concat(programs(), services()) {
		l, err := read(".", p)
		if err != nil {
			t.Fatal(err)
		}
		all, files[p.slug()] = append(all, l), true
		seen := map[string]bool{}
		for _, m := range l.messages {
			if !classes[m.class] {
				t.Errorf("%s: %s %s has the class %q", p.name, m.pkg, m.fn, m.class)
			}
			used[m.class]++
			if ref := strings.Join([]string{m.pkg, m.fn, string(m.kind), m.level, m.at}, " "); seen[ref] {
				t.Errorf("%s: %s is there twice", p.name, ref)
			} else {
				seen[ref] = true
			}
			if row := m.class == classRow; m.kind == kindCode && known(m.line(p)) != row {
				t.Errorf("%s: %s is listed as %s, and the engine does not agree", p.name, m.fn, m.class)
			}
		}
		open += countOf(l).open
	}
	if open > mostOpen {
		t.Errorf("%d messages have no row and no rule, at most %d may: go run ./tools/messages open", open, mostOpen)
	}
	for name := range classes {
		if used[name] == 0 && name != classOpen {
			t.Errorf("%s is the class of no message: take the rule away", name)
		}
	}
	found, err := filepath.Glob(lists + "/*.txt")
	if err != nil || len(found) != len(files) {
		t.Errorf("%d lists, %d programs: %v", len(found), len(files), err)
	}
	raw, err := os.ReadFile("docs/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(raw), page(all)); diff != "" {
		t.Errorf("docs/messages.md is not what the lists say (-have +want):\n%s", diff)
	}
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	source := `package kubelet

import ("errors"; "fmt"; "example.com/m/events")

const reason = "CreateFailed"

var errGone = errors.New("it is gone")

func (k *Kubelet) register(ctx context.Context) error {
	klog.V(5).InfoS("looking", "err", err)
	logger.Error(err, "Unable to register " + "node", "node", name)
	log.Warnf("retry %d", n)
	msg := fmt.Sprintf("no subnet %s", id)
	k.recorder.Event(node, v1.EventTypeWarning, events.NotReady, msg)
	nodeClaim.StatusConditions().SetFalse(v1.Launched, reason, "it failed")
	cond := v1.NodeCondition{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is ready"}
	return fmt.Errorf("register %q: %w", name, err)
}

func wrap(err error) error { return fmt.Errorf("%w", err) }
`
	for name, text := range map[string]string{"k/k.go": source, "k/k_test.go": "package broken(", "k/k_windows.go": "package kubelet\n\nvar e = errors.New(\"on Windows\")\n",
		"events/e.go": "package events\n\nconst NotReady = \"NodeNotReady\"\n"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := walk(dir, program{module: "example.com/m", packages: []walked{{"k", "it registers"}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range found {
		got = append(got, strings.Join([]string{m.fn, string(m.kind), m.level, m.words}, "|"))
	}
	slices.Sort(got)
	want := []string{
		"-|error|-|it is gone",
		"Kubelet.register|condition|False|Launched CreateFailed it failed",
		"Kubelet.register|condition|True|Ready KubeletReady kubelet is ready",
		`Kubelet.register|error|-|register %q: %w`,
		"Kubelet.register|event|Warning|NodeNotReady no subnet %s",
		"Kubelet.register|log|debug|looking",
		"Kubelet.register|log|error|Unable to register node",
		"Kubelet.register|log|warn|retry %d",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := walk(dir, program{packages: []walked{{"gone", ""}}}); err == nil {
		t.Error("a folder that is gone is no error")
	}
}

func TestClassify(t *testing.T) {
	kubelet, c := program{name: "kubelet", line: klogForm}, newClassifier()
	for _, test := range []struct {
		message
		want class
	}{
		{message{kind: kindLog, level: "info", words: "Attempting to register node", at: "pkg/kubelet/kubelet_node_status.go:1"}, classHealthy},
		{message{kind: kindEvent, level: "Normal", words: "NodeReady", at: "pkg/kubelet/kubelet_node_status.go:1"}, classHealthy},
		{message{kind: kindLog, level: "info", words: "Skipping %s", at: "pkg/kubelet/kubelet_node_status.go:1"}, "healthy:a-step"},
		{message{kind: kindError, level: "-", words: "bad --node-ip %q: %v", fn: "RunKubelet", at: "cmd/kubelet/app/server.go:1"}, classRow},
		{message{kind: kindLog, level: "error", words: "Unable to write event", fn: "Server.getExec", at: "pkg/kubelet/server/server.go:1"}, "nothing:server-requests"},
		{message{kind: kindError, level: "-", words: "the moon is in the wrong house", fn: "f", at: "pkg/kubelet/moon.go:1"}, classOpen},
	} {
		if got := c.classify(kubelet, test.message); got != test.want {
			t.Errorf("%s: %s, want %s", test.words, got, test.want)
		}
	}
}

func TestFill(t *testing.T) {
	for format, want := range map[string]string{
		"instance %s is %q, %d of %d: %w": "instance i-0123456789abcdef0 is something, 3 of 3: some error",
		"%v":                              "something",
		"no holes":                        "no holes",
	} {
		if got := fill(format); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
}

func TestRun(t *testing.T) {
	for _, args := range [][]string{{}, {"walk", "-new", "module"}, {"walk", "-such"}, {"walk", "more"}} {
		if err := run(args, &strings.Builder{}); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
	l := listed{program: program{name: "a b", module: "m", version: "v1"}, messages: []classed{{message{pkg: "p", fn: "f", kind: kindError, level: "-", words: "w"}, classOpen}}}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(lists, 0o755); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := compare(".", []listed{l}, &out); err == nil || !strings.Contains(out.String(), "not listed so: open") {
		t.Errorf("a message that is in no list: %v, %s", err, out.String())
	}
	if err := os.MkdirAll("docs", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeLists(".", []listed{l}); err != nil {
		t.Fatal(err)
	}
	if err := compare(".", []listed{l}, &out); err != nil {
		t.Errorf("what was written is not the same: %v", err)
	}
	back, err := read(".", l.program)
	if err != nil || len(back.messages) != 1 || back.messages[0].pkg != "p" {
		t.Errorf("read %+v, %v", back, err)
	}
}
