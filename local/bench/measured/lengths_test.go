package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What was measured before stays as it is where the stories alone are measured.
func TestPutLengths(t *testing.T) {
	const before, after = "# Measured\n\n## The stories\n\nAll stories: 188 s\n", "\n## Functions\n\n| report | 5.0 | 15.0 | 3 |\n"
	old := before + "\n" + lengthsSection([]length{{"route", 30 * time.Second}, {"gone", time.Second}}) + after
	got, err := putLengths(old, []length{{"route", 19640 * time.Millisecond}, {"spot", 2 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	want := before + "\n" + lengthsSection([]length{{"route", 19640 * time.Millisecond}, {"spot", 2 * time.Minute}}) + after
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(got, "| story | s |\n|---|---|\n| route | 19.6 |\n| spot | 120.0 |\n\n## Functions\n") {
		t.Error(got)
	}
	for what, page := range map[string]string{"no section": before + after, "the last one": before + "\n" + lengthsSection(nil)} {
		if _, err := putLengths(page, nil); err == nil || !strings.Contains(err.Error(), "no section of each story") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Nothing is played where the page could not take it.
func TestLengthsAloneLooksFirst(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := lengthsAlone(t.Context(), page); err == nil || !strings.Contains(err.Error(), "read the page") {
		t.Errorf("no page: %v", err)
	}
	if err := os.WriteFile(page, []byte("# Measured\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := lengthsAlone(t.Context(), page); err == nil || !strings.Contains(err.Error(), "no section of each story") {
		t.Errorf("a page without the section: %v", err)
	}
}

// The page has the length of each story that there is, and of no other.
func TestEachStoryIsOnThePage(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/measured.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "\n"+lengthsHeading)
	section, _, _ = strings.Cut(section, "\n## ")
	var told []string
	for line := range strings.Lines(section) {
		if name, _, is := strings.Cut(strings.TrimPrefix(line, "| "), " | "); is && strings.HasPrefix(line, "| ") && name != "story" {
			told = append(told, name)
		}
	}
	stories, err := os.ReadFile("../../../docs/stories.md")
	if err != nil {
		t.Fatal(err)
	}
	// That these are all is held where the page is (local/site).
	if diff := cmp.Diff(storiesOf(string(stories)), told); diff != "" {
		t.Errorf("run make figures ONLY=stories (-stories +page):\n%s", diff)
	}
}
