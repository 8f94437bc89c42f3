package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The table takes the place of the one before; what stands around it stays. What was
// not measured is not a figure.
func TestReplace(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("above\n"+begin+"old\n"+end+"below\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := []measured{{nodes: 2000, broken: 200, diagnose: took{1500 * time.Millisecond, 82, 14}, capture: took{2 * time.Second, 90, 10}}}
	if err := replace(page, table(rows)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := "above\n" + begin + table(nil) + "| 2,000 | 200 | 1.5 | 82 | 14 | 2.0 | 100 | — | — |\n" + end + "below\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := replace("page.go", "x"); err == nil {
		t.Error("a page without lines was written")
	}
}
