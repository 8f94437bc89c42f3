package site

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/local/simaws/worldfile"
	"rollcall/local/worldgen"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
)

var (
	codeSpan = regexp.MustCompile("`[^`]*`")
	linkTo   = regexp.MustCompile(`\]\([^)]*\)`)
	linked   = regexp.MustCompile(`\]\((?:docs/)?([a-z/-]+(?:/README)?\.md|README\.md)(?:#[^)]*)?\)`)
	figure   = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)
	// names are words with digits that are no figures.
	names = regexp.MustCompile(`/\d+\b|arm64|amd64|EC2|S3\b|\bIPv[46]\b|Apache-2\.0|#\d+|\b[a-z]\d[a-z]*\.[a-z0-9]+|^\d+\. `)
)

// TestFiguresAreHeld: each number of README.md and docs/figures.md is of a row of the table
// beside this test, and is what holds it says now. Rows that do not flatter and how each was
// measured have TestWeakRowsAreMeasured and commands of their own.
func TestFiguresAreHeld(t *testing.T) {
	counts := counted(t)
	used := map[int]bool{}
	seen := 0
	for _, page := range []string{"README.md", "docs/figures.md"} {
		for _, line := range prose(t, page) {
			numbers := figure.FindAllString(names.ReplaceAllString(linkTo.ReplaceAllString(codeSpan.ReplaceAllString(line, ""), "]"), ""), -1)
			if len(numbers) == 0 {
				continue
			}
			at := slices.IndexFunc(table(), func(h held) bool { return h.page == page && strings.Contains(line, h.says) })
			if at < 0 {
				t.Errorf("%s has figures %q that nothing holds; add them to the table:\n%s", page, numbers, line)
				continue
			}
			used[at] = true
			for _, n := range numbers {
				seen++
				if says := table()[at].holds(t, strings.Trim(n, ","), counts); says != "" {
					t.Errorf("%s says %s (%s): %s", page, n, table()[at].says, says)
				}
			}
		}
	}
	for n, h := range table() {
		if !used[n] {
			t.Errorf("%s has no figures of %q", h.page, h.says)
		}
	}
	if seen < 60 {
		t.Errorf("%d figures: this test looks for the wrong thing", seen)
	}
}

// prose are the lines of a page without blocks of code, and without the sections that
// other tests hold.
func prose(t *testing.T, page string) (lines []string) {
	t.Helper()
	raw, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	code, skip := false, false
	for line := range strings.SplitSeq(string(raw), "\n") {
		if strings.HasPrefix(line, "## ") {
			skip = line == "## Rows that do not flatter" || line == "## How each was measured"
		}
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if !code && !skip {
			lines = append(lines, line)
		}
	}
	return lines
}

// holds is empty where a figure is what holds it says.
func (h held) holds(t *testing.T, n string, counts map[string]string) string {
	t.Helper()
	for _, name := range h.counts {
		if counts[name] == strings.ReplaceAll(n, ",", "") {
			return ""
		}
	}
	plain := regexp.MustCompile(`(?:^|[^\d.])` + regexp.QuoteMeta(strings.ReplaceAll(n, ",", "")) + `(?:[^\d]|$)`)
	for _, in := range h.in {
		file, quoted, has := strings.Cut(in, "#")
		raw, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if has {
			if !strings.Contains(text, quoted) {
				t.Errorf("%s does not say %q any more", file, quoted)
			}
			text = quoted
		}
		if plain.MatchString(strings.NewReplacer(",", "", "_", "").Replace(text)) {
			return ""
		}
	}
	if h.by != "" {
		return target(t, h.by)
	}
	return fmt.Sprintf("it is not in %v, nor counted %v of %v", h.in, h.counts, counts)
}

// target is empty where make has it.
func target(t *testing.T, name string) string {
	t.Helper()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(name, "go run ") || regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+`:`).Match(makefile) {
		return ""
	}
	return "there is no make " + name
}

// counted are figures that are counted here, from what they are of.
func counted(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../worlds/corpus/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	broken, healthy := 0, 0
	for _, path := range paths {
		if filepath.Base(path) == "unseen.yaml" {
			continue
		}
		file, err := worldfile.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		switch { // as make corpus counts them
		case file.Expect.Unknown:
		case file.Expect.Healthy:
			healthy++
		default:
			broken++
		}
	}
	return map[string]string{
		"checks": fmt.Sprint(len(checks.All())), "broken worlds": fmt.Sprint(broken), "healthy worlds": fmt.Sprint(healthy),
		"kills": killed(t), "faults": faulty(), "histories of factor": histories(t),
	}
}

// killed is how often the test of eni-cleanup kills it at its full number, in all.
func killed(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../functions/eni-cleanup/enicleanup/kill_test.go")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`worlds, kills := testfull\.Of\((\d+), \d+\), testfull\.Of\((\d+), \d+\)`).FindSubmatch(raw)
	if m == nil {
		t.Fatal("the test that kills eni-cleanup does not say how often any more")
	}
	worlds, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	kills, err := strconv.Atoi(string(m[2]))
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(worlds * kills)
}

// histories are those of healthy clusters that docs/factor.md tells of: as many of each
// kind.
func histories(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(docs + "factor.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "## Healthy clusters")
	section, _, _ = strings.Cut(section, "\n## ")
	each := regexp.MustCompile(`([\d,]+) histories of 90 days each`).FindStringSubmatch(section)
	if each == nil {
		t.Fatal("docs/factor.md does not say how many histories there are of each kind")
	}
	n, err := strconv.Atoi(strings.ReplaceAll(each[1], ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	kinds := strings.Count(section, "\n| ") - 1 // less the heading
	return strconv.Itoa(n * kinds)
}

// faulty is how many checks have a fault that is put into generated worlds.
func faulty() string {
	ids := map[checkid.ID]bool{}
	for _, f := range worldgen.Faults() {
		ids[f.Check] = true
	}
	return strconv.Itoa(len(ids))
}

// TestLinkedPagesAreMeasuredOrGuides: a page to which the figures lead is written by a
// target, which it names or which names it, or is a guide.
func TestLinkedPagesAreMeasuredOrGuides(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"README.md", "docs/figures.md", "docs/evidence.md"} {
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
