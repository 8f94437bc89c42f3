package figures

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../../.."

// The page, and what other pages have of it, say what was measured.
func TestFiguresAreFresh(t *testing.T) {
	texts, err := Texts(root)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range texts {
		got, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), want); diff != "" {
			t.Errorf("%s does not say what was measured: run make generate (-got +want):\n%s", file, diff)
		}
	}
}

// No figure of the page is typed: what is left of its text without the places of values
// has no number, in digits or in words, but those that are names or are said to be held.
func TestNoFigureIsTyped(t *testing.T) {
	typed := regexp.MustCompile(`\d[\d,.]*|(?i)\b(?:three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand)\b`)
	left := name.ReplaceAllString(text, "")
	left = regexp.MustCompile(`(?s)<!--.*?-->`).ReplaceAllString(left, "")
	left = regexp.MustCompile("`[^`]*`").ReplaceAllString(left, "")
	left = regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(left, "]")
	for _, n := range []string{
		"EC2", "arm64", "amd64", "us-east-1", "/28", "/16 to", // names
		"nine of ten within", "by the hundred", "by the thousand", // labels and units
		"eight /16",           // phrases() holds it
		"a thousand clusters", // its row has the number
	} {
		if !strings.Contains(left, n) {
			t.Errorf("the page has no %q: take it off this list", n)
		}
		left = strings.ReplaceAll(left, n, "")
	}
	for line := range strings.Lines(left) {
		for _, n := range typed.FindAllString(line, -1) {
			t.Errorf("%s is typed; read it from what it is of (values.go):\n%s", n, line)
		}
	}
	if n := len(name.FindAllString(text, -1)); n < 100 {
		t.Errorf("%d figures: this test looks for the wrong thing", n)
	}
}

// Each row of figures that do not flatter leads to what measures it.
func TestWeakRowsLeadSomewhere(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := regexp.MustCompile("`make ([a-z-]+)[^`]*`").FindAllStringSubmatch(text, -1)
	if len(targets) < 20 {
		t.Errorf("%d targets: this test looks for the wrong thing", len(targets))
	}
	for _, target := range targets {
		if !strings.Contains(string(makefile), "\n"+target[1]+":") {
			t.Errorf("there is no make %s", target[1])
		}
	}
	_, section, _ := strings.Cut(text, "\n## Rows that do not flatter\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| where ") {
			continue
		}
		rows++
		if !strings.Contains(line, "`make ") {
			t.Errorf("nothing measures this:\n%s", line)
		}
	}
	if rows < 7 {
		t.Errorf("%d rows that do not flatter", rows)
	}
}

func TestFill(t *testing.T) {
	for what, tt := range map[string]struct {
		text   string
		values map[string]value
		want   string
		says   string
	}{
		"filled":            {"a {{n}} b {{n}}", map[string]value{"n": {file: "page.md", like: "(7) doors"}}, "a 7 b 7", ""},
		"nothing of a name": {"{{m}}", nil, "", `there is no value "m"`},
		"asked for nowhere": {"", map[string]value{"n": {file: "page.md", like: "(7) doors"}}, "", `no text has "n"`},
		"reworded":          {"{{n}}", map[string]value{"n": {file: "page.md", like: "(7) gates"}}, "", "page.md has nothing like (7) gates"},
		"two things":        {"{{n}}", map[string]value{"n": {file: "page.md", like: `(\d) \w+`}}, "", "it says several things"},
		"of a table":        {"{{n}}", map[string]value{"n": {file: "page.md", like: `^\| b \|`, column: "most"}}, "1,234", ""},
		"another column":    {"{{n}}", map[string]value{"n": {file: "page.md", like: `^\| b \|`, column: "least"}}, "", "page.md has nothing like"},
		"another heading":   {"{{n}}", map[string]value{"n": {file: "page.md", under: "## Else", like: `x`}}, "", `page.md has no "## Else"`},
		"no such page":      {"{{n}}", map[string]value{"n": {file: "none.md", like: `x`}}, "", "no such file"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "page.md"), []byte("7 doors, 8 windows\n\n| | most |\n|---|---|\n| a | 1 |\n| b | **1,234** |\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := fill(dir, tt.text, tt.values, nil)
			switch {
			case tt.says == "" && (err != nil || got != tt.want):
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
	if _, err := fill(t.TempDir(), "", nil, []phrase{{"page.md", "so"}}); err == nil {
		t.Error("a page that is gone says what was made of it")
	}
	if _, err := fill(root, "", nil, []phrase{{"go.mod", "go 0.9"}}); err == nil || !strings.Contains(err.Error(), "does not say") {
		t.Errorf("what is not said any more: %v", err)
	}
}

func TestOf(t *testing.T) {
	for what, tt := range map[string]struct {
		of    func([]string) (string, error)
		found []string
		want  string
	}{
		"same":                 {same, []string{"a", "a"}, "a"},
		"sum":                  {each(sum, 0), []string{"1,000", "24"}, "1,024"},
		"product":              {each(product, 0), []string{"4", "50"}, "200"},
		"least":                {each(least, 1), []string{"8.2", "3.94"}, "3.9"},
		"most, of a text":      {each(most, 0), []string{"23 launches, 12 h", "17 launches"}, "23"},
		"in another unit":      {each(times(0.001), 1), []string{"580 (612)"}, "0.6"},
		"not one":              {each(times(1), 1), []string{"1", "2"}, ""},
		"no number":            {each(most, 0), []string{"–"}, ""},
		"span":                 {span(1), []string{"0.14", "0.22"}, "0.1 to 0.2"},
		"span of one":          {span(1), []string{"0.14", "0.11"}, "0.1"},
		"minutes":              {minutes, []string{"at once", "21m4s", "22m55s"}, "21 to 23"},
		"at once":              {minutes, []string{"at once"}, ""},
		"share":                {share, []string{"100.0 % of 2", "95.3 % of 150"}, "95.3 %"},
		"above":                {above, []string{"+2.9 %"}, "2.9 %"},
		"below":                {above, []string{"-2.9 %"}, ""},
		"halves":               {halves, []string{"201.3"}, "three and a half"},
		"whole":                {halves, []string{"240"}, "four"},
		"nobody waits so long": {halves, []string{"3000"}, ""},
		"a moment":             {spoken, []string{"1.2"}, "five seconds"},
		"seconds":              {spoken, []string{"11.9"}, "ten seconds"},
		"more of them":         {spoken, []string{"19.6"}, "20 seconds"},
		"half a minute":        {spoken, []string{"32.4"}, "half a minute"},
		"three quarters":       {spoken, []string{"43.1"}, "45 seconds"},
		"nearly a minute":      {spoken, []string{"57.4"}, "55 seconds"},
		"a minute":             {spoken, []string{"58.0"}, "a minute"},
		"a minute and more":    {spoken, []string{"70.0"}, "a minute"},
		"a minute and a half":  {spoken, []string{"84.0"}, "a minute and a half"},
		"two minutes":          {spoken, []string{"112.0"}, "two minutes"},
		"not one story":        {spoken, []string{"1", "2"}, ""},
		"no time":              {spoken, []string{"0.0"}, ""},
		"prices":               {prices, []string{"20.39", "4.99"}, "$4.99 to $20.39 a month"},
		"a cent":               {cents, []string{"0.0116"}, "about a cent"},
		"cents":                {cents, []string{"0.0251"}, "about 3 cents"},
		"less":                 {cents, []string{"0.0049"}, "less than a cent"},
		"one price":            {prices, []string{"4.99"}, ""},
	} {
		got, err := tt.of(tt.found)
		if got != tt.want && tt.want != "" || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v, want %q", what, got, err, tt.want)
		}
	}
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n, 0); got != want {
			t.Errorf("%g: %s, want %s", n, got, want)
		}
	}
}

// README.md takes the rows that it has from the page, whatever their figures are now.
func TestRows(t *testing.T) {
	page := "| what | figure |\n|---|---|\n| speed of 20 | 7 s ([a](a.md)) |\n| size | 1 MB |\n\n## How\n\n| speed of 20 | a clock | |\n"
	got, err := rows("x\n## Figures\n\n| what | figure |\n|---|---|\n| speed of 10 | 3 s ([a](docs/a.md)) |\n\n## Else\n", page)
	want := "x\n## Figures\n\n| what | figure |\n|---|---|\n| speed of 20 | 7 s ([a](docs/a.md)) |\n\n## Else\n"
	if diff := cmp.Diff(got, want); err != nil || diff != "" {
		t.Errorf("%v (-got +want):\n%s", err, diff)
	}
	if _, err := rows("\n## Figures\n\n| weight | 3 |\n\n## Else\n", page); err == nil {
		t.Error("a row that the page does not have is left as it was")
	}
	if _, err := rows("", page); err == nil {
		t.Error("a README without figures is filled")
	}
}

// What is put into a page stands in one place; a page in which it has none, or several,
// is not left as it was without a word.
func TestPut(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "page.md"), []byte("It costs $1 to $2 today, and takes a year.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	is := func(text string) value { return value{is: func(string) (string, error) { return text, nil }} }
	cost := place{"page.md", regexp.MustCompile(`(It costs )[^,]+?( today)`), is("$3.10 to $4.00")}
	took := place{"page.md", regexp.MustCompile(`(takes )[a-z ]+(\.)`), is("ten seconds")}
	texts := map[string]string{}
	if err := put(dir, []place{cost, took}, texts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"page.md": "It costs $3.10 to $4.00 today, and takes ten seconds.\n"}, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for what, p := range map[string]place{
		"0 places in page.md": {"page.md", regexp.MustCompile(`(weighs )x(\.)`), is("")},
		"2 places in page.md": {"page.md", regexp.MustCompile(`(\$)(\d)`), is("")},
		"read none.md":        {"none.md", cost.like, is("")},
		"what page.md says":   {"page.md", cost.like, value{file: "page.md", like: "(x)"}},
	} {
		if err := put(dir, []place{p}, map[string]string{}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
}
