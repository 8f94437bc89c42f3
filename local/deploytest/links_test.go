package deploytest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// link is a link or a picture of a page, heading a line that others link to.
var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+?)\s*$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	noWord  = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

// anchors are the names by which GitHub links to a page's headings: in lower case, a
// hyphen for each space, without what is neither letter, digit, hyphen nor underscore.
func anchors(page string) []string {
	var list []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		name := strings.ToLower(link.ReplaceAllString(m[1], ""))
		list = append(list, strings.ReplaceAll(noWord.ReplaceAllString(name, ""), " ", "-"))
	}
	return list
}

func TestAnchors(t *testing.T) {
	got := anchors("# Top\n## Where is the code that …\n```\n# none\n```\n## `policy`, and ip/no-space\n")
	if want := []string{"top", "where-is-the-code-that-", "policy-and-ipno-space"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A link of a page within the repository leads to a file that is there, and to a heading
// that it has.
func TestLinks(t *testing.T) {
	const root = "../.."
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/checks/*.md", "docs/checks/*/*.md", "events/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	count := 0
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			count++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
				continue
			}
			if anchor == "" || filepath.Ext(to) != ".md" {
				continue
			}
			page, err := os.ReadFile(to)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(anchors(string(page)), anchor) {
				t.Errorf("%s links to %s, and %s has no such heading", path, m[1], to)
			}
		}
	}
	if count < 900 {
		t.Errorf("%d links: this test looks for the wrong thing", count)
	}
}
