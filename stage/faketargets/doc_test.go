package faketargets

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/shared/target/message"
)

// TestThePagesExample: what docs/targets.md has to be copied is what the stand-in runs.
func TestThePagesExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/targets.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("faketargets.go")
	if err != nil {
		t.Fatal(err)
	}
	_, function, ok := strings.Cut(string(source), "func Verify(")
	function, _, _ = strings.Cut(function, "\n}\n")
	if !ok || !strings.Contains(string(page), "func Verify("+function+"\n}\n") {
		t.Error("the example in Go is not the stand-in's")
	}
}

// TestThePagesPython runs the page's example where there is a Python.
func TestThePagesPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("there is no python3 here: the example in Python was not run")
		return
	}
	page, err := os.ReadFile("../../docs/targets.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```python\n")
	example, _, _ := strings.Cut(rest, "```")
	key, body := strings.Repeat("k", 32), `{"ü":1}`
	h := message.Headers(key, "webhook=x", "e", []byte(body), time.Now())
	run := func(timestamp, signature, body string) string {
		file := filepath.Join(t.TempDir(), "try.py")
		program := example + "\nimport sys\nprint(verify(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4].encode()))\n"
		if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(python, file, key, timestamp, signature, body).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	timestamp, signature := h[message.HeaderTimestamp], h[message.HeaderSignature]
	old := strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)
	for name, test := range map[string]struct{ timestamp, signature, body, want string }{
		"signed":       {timestamp, signature, body, "True"},
		"another body": {timestamp, signature, body + " ", "False"},
		"old":          {old, "v1=" + message.Sign(key, old, []byte(body)), body, "False"},
		"no time":      {"x", signature, body, "False"},
	} {
		if got := run(test.timestamp, test.signature, test.body); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
