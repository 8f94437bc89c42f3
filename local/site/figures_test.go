package site

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rollcall/infra/specs"
	"rollcall/local/demo"
	"rollcall/shared/checks"
)

var (
	codeSpan = regexp.MustCompile("`[^`]*`")
	picture  = regexp.MustCompile(`!\[[^\]]*\]`)
	linkTo   = regexp.MustCompile(`\]\([^)]*\)`)
	linked   = regexp.MustCompile(`\]\((?:docs/)?([a-z/-]+(?:/README)?\.md|README\.md)(?:#[^)]*)?\)`)
	figure   = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?|(?i)\b(?:three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand)\b`)
	// filled is written by make generate (local/site/figures).
	filled = regexp.MustCompile(`It ends by itself after [a-z ]+? minutes;`)
	// names are words with digits that are no figures.
	names = regexp.MustCompile(`arm64|amd64|EC2|S3\b|\bIPv[46]\b|Apache-2\.0|\b[a-z]\d[a-z]*\.[a-z0-9]+|^\d+\. `)
)

// TestFiguresAreHeld: each number of README.md, in digits or in words, is of a line of the
// table beside this test, and is what holds it says now. Its table of figures is filled
// from docs/figures.md, which has no typed number (local/site/figures).
func TestFiguresAreHeld(t *testing.T) {
	counts := counted(t)
	used := map[string]bool{}
	seen := 0
	for _, line := range prose(t) {
		numbers := figure.FindAllString(names.ReplaceAllString(linkTo.ReplaceAllString(picture.ReplaceAllString(codeSpan.ReplaceAllString(line, ""), "]"), "]"), ""), -1)
		for _, n := range numbers {
			seen++
			at := slices.IndexFunc(table(), func(h held) bool { return strings.Contains(line, fmt.Sprintf(h.says, n)) })
			if at < 0 {
				t.Errorf("README.md has a figure %q that nothing holds; add it to the table:\n%s", n, line)
				continue
			}
			h := table()[at]
			used[h.says] = true
			if says := h.holds(t, n, counts); says != "" {
				t.Errorf("README.md says %q: %s", fmt.Sprintf(h.says, n), says)
			}
		}
	}
	for _, h := range table() {
		if !used[h.says] {
			t.Errorf("README.md has no %q", h.says)
		}
	}
	if seen < 8 {
		t.Errorf("%d figures: this test looks for the wrong thing", seen)
	}
}

// prose are the lines of README.md without blocks of code, and without the table that is
// filled.
func prose(t *testing.T) (lines []string) {
	t.Helper()
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	code, skip := false, false
	for line := range strings.SplitSeq(string(raw), "\n") {
		if strings.HasPrefix(line, "## ") {
			skip = line == "## Figures"
		}
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if !code && !skip {
			lines = append(lines, filled.ReplaceAllString(line, ""))
		}
	}
	return lines
}

// holds is empty where a figure is what holds it says.
func (h held) holds(t *testing.T, n string, counts map[string]int) string {
	t.Helper()
	if h.count != "" {
		is, known := counts[h.count]
		if !known {
			t.Fatalf("nobody counts %q", h.count)
		}
		if n == fmt.Sprint(is) || is < len(inWords()) && strings.EqualFold(n, inWords()[is]) {
			return ""
		}
		return fmt.Sprintf("there are %d", is)
	}
	raw, err := os.ReadFile("../../" + h.in)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), fmt.Sprintf(h.quote, n)) {
		return fmt.Sprintf("%s does not say %q", h.in, fmt.Sprintf(h.quote, n))
	}
	return ""
}

func inWords() []string {
	return []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
}

// counted are figures that are counted here, from what they are of.
func counted(t *testing.T) map[string]int {
	t.Helper()
	alarms, err := os.ReadFile(docs + "alarms.md")
	if err != nil {
		t.Fatal(err)
	}
	readers := 0
	for _, s := range specs.All() {
		if len(s.Kube) > 0 {
			readers++
		}
	}
	return map[string]int{"readers": readers, "checks": len(checks.All()), "stories": len(demo.Stories()), "alarms": strings.Count(string(alarms), "\n## "), "tools": tools(t)}
}

// tools are those of other people on docs/interfaces.md, each once: by what its rule was
// read from.
func tools(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile(docs + "interfaces.md")
	if err != nil {
		t.Fatal(err)
	}
	_, read, _ := strings.Cut(string(raw), "\n## How each rule was read\n")
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^- [^(]+\(([^,)]+)`).FindAllStringSubmatch(read, -1) {
		all[m[1]] = true
	}
	maps.DeleteFunc(all, func(from string, _ bool) bool {
		return from == "shared/network/leak" || strings.HasSuffix(from, "of the ips story") // ours, and a script
	})
	return len(all)
}

// target is empty where make has it.
func target(t *testing.T, name string) string {
	t.Helper()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `:`).Match(makefile) {
		return ""
	}
	return "there is no make " + name
}

// TestLinkedPagesAreMeasuredOrGuides: a page to which the figures lead is written by a
// target, which it names or which names it, or is a guide.
func TestLinkedPagesAreMeasuredOrGuides(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"README.md", "docs/figures.md"} {
		raw, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linked.FindAllStringSubmatch(string(raw), -1) {
			by, is := measured()[m[1]]
			switch {
			case is && target(t, by) != "":
				t.Errorf("%s: %s", m[1], target(t, by))
			case is, slices.Contains(guides(), m[1]):
			default:
				t.Errorf("%s links to %s, which is neither measured nor a guide", page, m[1])
			}
		}
	}
	for page, by := range measured() {
		raw, err := os.ReadFile(docs + page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(raw), "make "+by) && !strings.Contains(string(raw), "Generated") && !strings.Contains(string(raw), "Measured by") &&
			!strings.Contains(string(makefile), "docs/"+page) {
			t.Errorf("docs/%s does not say by what it is written (%s)", page, by)
		}
	}
}
