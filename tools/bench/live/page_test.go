package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/tools/expect"
)

// The table takes the place of the one before; what stands around it stays. What was
// not measured is not a figure.
func TestReplace(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	expect.OK(t, os.WriteFile(page, []byte("above\n"+begin+"old\n"+end+"below\n"), 0o600))
	rows := []measured{{nodes: 2000, broken: 200, diagnose: took{1500 * time.Millisecond, 82, 14}, capture: took{2 * time.Second, 90, 10}}}
	expect.OK(t, replace(page, table(rows)))
	got, err := os.ReadFile(page)
	expect.OK(t, err)
	want := "above\n" + begin + table(nil) + "| 2,000 | 200 | 1.5 | 82 | 14 | 2.0 | 100 | — | — |\n" + end + "below\n"
	expect.Same(t, "got", string(got), want)
	if err := replace("page.go", "x"); err == nil {
		t.Error("a page without lines was written")
	}
}
