package site

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The rows that do not flatter say what the measured pages say now: each figure of a row
// stands in the page that the row links to.
func TestWeakRowsAreMeasured(t *testing.T) {
	raw, err := os.ReadFile(docs + "figures.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(raw), "\n## Rows that do not flatter\n")
	if !found {
		t.Fatal("docs/figures.md has no rows that do not flatter")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	figures := 0
	for _, row := range strings.Split(section, "\n") {
		says, where, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		page := regexp.MustCompile(`\]\((\w+\.md)\)`).FindStringSubmatch(where)
		if page == nil || page[1] == "threads.md" {
			continue
		}
		measured, err := os.ReadFile(docs + page[1])
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(measured), ",", "")
		for _, figure := range regexp.MustCompile(`\d[\d,]*(\.\d+)?( %| min \d\d s)?`).FindAllString(says, -1) {
			figures++
			if !strings.Contains(text, strings.ReplaceAll(figure, ",", "")) {
				t.Errorf("docs/figures.md says %q, and docs/%s does not have %q", says, page[1], figure)
			}
		}
	}
	if figures < 12 {
		t.Errorf("%d figures: this test looks for the wrong thing", figures)
	}
}
