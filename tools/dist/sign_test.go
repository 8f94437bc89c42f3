package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rollcall/tools/testfile"
)

// TestSignature: the commands of the page make a key, sign the sums and verify them, and refuse
// sums that were changed.
func TestSignature(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	page := string(testfile.Read(t, "../../docs/release.md"))
	inline := regexp.MustCompile("`(openssl [^`]+)`").FindAllStringSubmatch(page, -1)
	lines := regexp.MustCompile(`(?m)^openssl .+$`).FindAllString(page, -1)
	if len(inline) != 2 || len(lines) != 2 {
		t.Fatalf("%d and %d commands: this test looks for the wrong thing", len(inline), len(lines))
	}
	dir := t.TempDir()
	run := func(command string) (string, error) {
		c := exec.Command("sh", "-ec", command)
		c.Dir = dir
		out, err := c.CombinedOutput()
		return string(out), err
	}
	testfile.Write(t, filepath.Join(dir, sumsFile), sumsOf(members()))
	for _, command := range []string{inline[0][1], inline[1][1], lines[0]} {
		if out, err := run(command); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	if out, err := run(lines[1]); err != nil || !strings.Contains(out, "Verified OK") {
		t.Errorf("what was signed: %v, prints %q", err, out)
	}
	testfile.Write(t, filepath.Join(dir, sumsFile), sumsOf(members()[:1]))
	if out, err := run(lines[1]); err == nil || !strings.Contains(out, "Verification failure") {
		t.Errorf("what was changed: %v, prints %q", err, out)
	}
}
