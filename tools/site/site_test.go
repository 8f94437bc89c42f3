package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/checks"
	"rollcall/shared/lambda"
	"rollcall/stage/demo"
	"rollcall/tools/site/page"
	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

const (
	root = "../.."
	docs = root + "/docs/"
)

// The committed pages are what generate writes; the examples, which take a look at a world
// each, are held by TestExamplesAreFresh.
func TestPagesAreFresh(t *testing.T) {
	checks, _, err := checksIn(root)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := pagesOf(root, checks, func(i int) (string, error) {
		file := docs + "checks/" + page.Path(checks.List[i].ID)
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		old, found := page.Between(string(text))
		if !found {
			return "", fmt.Errorf("%s has no example", file)
		}
		return old, nil
	})
	if err != nil {
		t.Fatalf("%v: run make generate", err)
	}
	for name, want := range pages {
		got, err := os.ReadFile(docs + name)
		if err != nil {
			t.Errorf("%v: run make generate", err)
			continue
		}
		if diff := cmp.Diff(string(got), want); diff != "" {
			t.Errorf("docs/%s is not fresh: run make generate (-got +want):\n%s", name, diff)
		}
	}
	var there []string
	err = filepath.WalkDir(docs+"checks", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			there = append(there, strings.TrimPrefix(filepath.ToSlash(path), docs))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range there {
		if _, known := pages[name]; !known {
			t.Errorf("docs/%s is of no check: run make generate", name)
		}
	}
}

// A few of the examples are made anew, of each way in which something is shown; all of
// them where there is time.
func TestExamplesAreFresh(t *testing.T) {
	t.Chdir(root) // the stage finds its template from there
	checks, worlds, err := checksIn(".")
	if err != nil {
		t.Fatal(err)
	}
	few := []string{"route/no-egress", "zone/volume-stranded", "sg/efa-self-rule", "spot/few-pools"}
	if testfull.Asked() {
		few = nil
	}
	for _, c := range checks.List {
		if few != nil && !slices.Contains(few, string(c.ID)) {
			continue
		}
		e, found, err := exampleOf(t.Context(), c.ID, worlds[c.ID])
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		got, _ := page.Between(string(testfile.Read(t, "docs/checks/"+page.Path(c.ID))))
		if diff := cmp.Diff(strings.TrimSpace(got), strings.TrimSpace(page.ExampleSection(c, e, found))); diff != "" {
			t.Errorf("the example of %s is not fresh: run make generate (-got +want):\n%s", c.ID, diff)
		}
	}
}

// Every page is in the site's menu, and all that the menu names is there: no reader finds a
// page that only a search brings.
func TestEveryPageIsInTheMenu(t *testing.T) {
	menu := string(testfile.Read(t, docs+"site/.vitepress/sidebar.mjs"))
	files, err := filepath.Glob(docs + "*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if name == "README" {
			continue // the first page
		}
		named[name] = true
		if !strings.Contains(menu, `"/`+name+`"`) {
			t.Errorf("docs/%s.md is not in the menu, docs/site/.vitepress/sidebar.mjs", name)
		}
	}
	if len(named) < 25 {
		t.Errorf("%d pages: this test looks for the wrong thing", len(named))
	}
	for _, part := range strings.Split(menu, `"/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if name != "" && name != "checks/" && !named[name] {
			t.Errorf("the menu names %s, which is no page; there are %v", name, slices.Sorted(maps.Keys(named)))
		}
	}
}

// held is by what a figure of README.md is held.
type held struct {
	// says is what stands around it; %s is the figure.
	says string
	// in is a file of the code that says quote, which has the figure at its %s.
	in, quote string
	// count is what this test counts anew.
	count string
}

// measured are the pages that a program or a test writes whole, or whose tables it writes.
func measured() []string {
	return []string{
		"bill.md", "load.md", "interfaces.md", "leaks.md", "runway.md", "spot.md", "factor.md", "scale.md", "runbook.md", "slack.md", "lambda.md",
		"measured.md", "alarms.md", "texts.md", "settings.md", "checks/README.md", "workshop.md",
	}
}

// guides are linked pages that tell what to do: their numbers are settings, limits of AWS
// or steps, and measured ones stand in a page of measured.
func guides() []string {
	return []string{
		"README.md", "figures.md", "events.md", "functions.md", "cleanup.md", "deploy.md", "diagnose.md", "release.md", "remedies.md", "routes.md", "stage.md", "stories.md",
		"channel.md", "command.md", "faq.md", "install.md", "message.md", "operate.md", "security.md", "start.md",
	}
}

func table() []held {
	return []held{
		{says: "[%s checks](docs/checks/README.md)", count: "checks"},
		{says: "You need Go %s and", in: "go.mod", quote: "\ngo %s."},
		{says: "Node %s and", in: "infra/package-lock.json", quote: `"node": ">=%s.0.0"`},
		{says: "[the %s stories](docs/stories.md)", count: "stories"},
		{says: "it exits %s only", in: "stage/program/program.go", quote: "Exit status: %s all steps were verified;"},
	}
}

var (
	codeSpan = regexp.MustCompile("`[^`]*`")
	picture  = regexp.MustCompile(`!\[[^\]]*\]`)
	linkTo   = regexp.MustCompile(`\]\([^)]*\)`)
	linked   = regexp.MustCompile(`\]\((?:docs/)?([a-z/-]+(?:/README)?\.md|README\.md)(?:#[^)]*)?\)`)
	figure   = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?|(?i)\b(?:three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand)\b`)
	// filled is a length that is measured (docs/measured.md).
	filled = regexp.MustCompile(`It ends by itself after [a-z0-9 ]+?;`)
	// names are words with digits that are no figures.
	names = regexp.MustCompile(`arm64|amd64|EC2|S3\b|\bIPv[46]\b|Apache-2\.0|\b[a-z]\d[a-z]*\.[a-z0-9]+|^\d+\. `)
)

// TestFiguresAreHeld: each number of README.md, in digits or in words, is of a line of the
// table beside this test, and is what holds it says now. Its table of figures has few, and
// links the pages of what measured them.
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
	if seen < 5 {
		t.Errorf("%d figures: this test looks for the wrong thing", seen)
	}
}

// TestReadmeIsForAFirstVisit: a reader of two minutes finds the command that needs no
// deployment first, no names of functions, nothing that GitHub cuts off at the right, and where
// all of it was measured. A bare make lists what a person uses.
func TestReadmeIsForAFirstVisit(t *testing.T) {
	readme := string(testfile.Read(t, "../../README.md"))
	rest := readme
	for _, part := range []string{
		"docs/pictures/narrow.png", "There was no node.", "rollcall`, for the cluster that has a problem now", "## Debug a cluster right now", "from a [release](docs/release.md)",
		"rollcall diagnose --cluster prod", "## Try it without an AWS account", "## Deploy", "## Figures", "None of it was measured in a real AWS account or a real Slack workspace.", "## Read on",
	} {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Errorf("README.md has no %q after what comes before it", part)
			continue
		}
		rest = after
	}
	for _, f := range specs.All() {
		if strings.Contains(readme, "`"+f.Name+"`") || strings.Contains(readme, " "+f.Name+",") {
			t.Errorf("README.md names the function %s", f.Name)
		}
	}
	if n := strings.Count(readme, "\n"); n > 130 || strings.Contains(readme, "mermaid") {
		t.Errorf("README.md has %d lines, or a diagram", n)
	}
	code := false
	for line := range strings.SplitSeq(readme, "\n") {
		if code = code != strings.HasPrefix(line, "```"); len(line) > 140 && !strings.HasPrefix(line, "|") || code && len(line) > 80 {
			t.Errorf("README.md has a line of %d characters: %s", len(line), line)
		}
	}
	if n := strings.Count(string(testfile.Read(t, "../../Makefile")), ": ## "); n < 5 || n > 20 {
		t.Errorf("make lists %d targets", n)
	}
}

// prose are the lines of README.md without blocks of code, and without the table of figures.
func prose(t *testing.T) (lines []string) {
	t.Helper()
	raw := testfile.Read(t, "../../README.md")
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
			t.Fatalf("nothing counts %q", h.count)
		}
		if n == fmt.Sprint(is) || is < len(inWords()) && strings.EqualFold(n, inWords()[is]) {
			return ""
		}
		return fmt.Sprintf("there are %d", is)
	}
	raw := testfile.Read(t, "../../"+h.in)
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
	alarms := testfile.Read(t, docs+"alarms.md")
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
	_, read, _ := strings.Cut(string(testfile.Read(t, docs+"interfaces.md")), "\n## How each rule was read\n")
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^- [^(]+\(([^,)]+)`).FindAllStringSubmatch(read, -1) {
		all[m[1]] = true
	}
	maps.DeleteFunc(all, func(from string, _ bool) bool {
		return from == "shared/network/leak" || strings.HasSuffix(from, "of the ips story") // ours, and a script
	})
	return len(all)
}

// A page to which README.md and the page of figures lead is written by what measures it,
// and names it, or is a guide.
func TestLinkedPagesAreMeasuredOrGuides(t *testing.T) {
	for _, page := range []string{"README.md", "docs/figures.md"} {
		raw := testfile.Read(t, "../../"+page)
		for _, m := range linked.FindAllStringSubmatch(string(raw), -1) {
			if !slices.Contains(measured(), m[1]) && !slices.Contains(guides(), m[1]) {
				t.Errorf("%s links to %s, which is neither measured nor a guide", page, m[1])
			}
		}
	}
	for _, page := range measured() {
		raw := testfile.Read(t, docs+page)
		if !regexp.MustCompile("`go (run|test) |Written by|Generated|Measured by|\\.ci/run ").Match(raw) {
			t.Errorf("docs/%s does not say by what it is written", page)
		}
	}
}

// Each command of a measured page is of a folder that there is.
func TestFiguresNameWhatMeasuresThem(t *testing.T) {
	for _, page := range append(measured(), "figures.md") {
		raw := testfile.Read(t, docs+page)
		for _, m := range regexp.MustCompile(`go (?:run|test) (?:-[a-z=]+ )*\./([a-z/-]+)`).FindAllStringSubmatch(string(raw), -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("docs/%s: %v", page, err)
			}
		}
	}
}

// quoted is a figure that a page repeats of the code, or of a generated page: who changes
// it there has to change it here.
type quoted struct {
	page, says string
	in, quote  string
}

func ofTheCode() []quoted {
	const (
		settings = "docs/settings.md"
		lookups  = "functions/change-check/changecheck/changecheck.go"
		deliver  = "shared/target/deliver/"
		retries  = "functions/notify-targets/notifytargets/notifytargets.go"
	)
	return []quoted{
		{"ask.md", "or 7 days, of 40 clusters at most", "functions/report/report/overview.go", "mostReported = 40\n"},
		{"ask.md", "late when it was not checked for 12 minutes", "shared/overview/overview.go", "const Late = 12 * time.Minute"},
		{"ask.md", "not checked for more than 12 minutes", "shared/overview/overview.go", "const Late = 12 * time.Minute"},
		{"ask.md", "5 minutes to 30 days", "shared/silence/silence.go", "Shortest = 5 * time.Minute"},
		{"ask.md", "in the table for 30 days after", "shared/store/remedy_runs.go", "const keepSilences = 30 * 24 * time.Hour"},
		{"changes.md", "the 14 days before the first that did not join", "shared/trail/trail.go", "Usual = 14 * 24 * time.Hour"},
		{"changes.md", "At most six things", "shared/trail/trail.go", "mostTargets = 6\n"},
		{"changes.md", "at most ten), as CloudTrail", "shared/trail/trail.go", "const mostCalls = 10\n"},
		{"changes.md", "others follow 5, 10 and 20 minutes after the opening", lookups, "{5 * time.Minute, 10 * time.Minute, 20 * time.Minute}"},
		{"changes.md", "The newest eight write calls", "shared/trail/trail.go", "const MaxChanges = 8\n"},
		{"cleanup.md", "`cleanupGrace` (30 minutes)", settings, "## cleanupGrace\n\n*default `30m`*"},
		{"deploy.md", "its age (at most five minutes old, or one minute in the future)", "shared/interaction/interaction.go", "MaxAge = 5 * time.Minute"},
		{"deploy.md", "its age (at most five minutes old, or one minute in the future)", "shared/interaction/interaction.go", "MaxAhead = time.Minute"},
		{"deploy.md", "It handles at most ten requests at once; these ten are reserved", "functions/slack-actions/spec/spec.go", "Concurrency: 10,"},
		{"deploy.md", "Each response is forwarded up to 4 MB", "shared/relay/relay.go", "MostBody  = 4 << 20"},
		{"deploy.md", "any external id of eight characters or more", "infra/spoke.go", `]{8,}$"`},
		{"deploy.md", "in the last 30 days", "shared/store/outgoing/outgoing.go", "const KeepClosed = 30 * 24 * time.Hour"},
		{"diagnose.md", "looks again every ten seconds", "command/replay.go", "const again = 10 * time.Second"},
		{"diagnose.md", "for 30 days (the setting `evidence`", settings, "## evidence\n\n*default `30`*"},
		{"diagnose.md", "At most 4 MiB are kept per run", "shared/evidence/evidence.go", "const mostArchive = 4 << 20"},
		{"diagnose.md", "that hold more than 50 addresses", "shared/checks/ip/subnet_exhausted.go", "muchLeaked = 50\n"},
		{"faq.md", "five minutes after the launch, or less once 20 launches", settings,
			"*default `5m`*. How long after its launch an instance should be a Ready node (1m to 15m), until 20 launches"},
		{"functions.md", "again 5, 10 and 20 minutes later", lookups, "{5 * time.Minute, 10 * time.Minute, 20 * time.Minute}"},
		{"functions.md", "five minutes until then", settings, "## joinTime\n\n*default `5m`*"},
		{"remedies.md", "within an hour (3)", settings, "## remedyLimit\n\n*default `3`*"},
		{"remedies.md", "after it was made (1h)", settings, "## approvalTime\n\n*default `1h`*"},
		{"remedies.md", "tried again after 5, 10, 20 and 40 minutes, then each hour", "functions/remediate/remediate/remediate.go", "firstLook = 5 * time.Minute\n\tlastLook  = time.Hour"},
		{"remedies.md", "does not answer for a quarter of an hour", "shared/incident/response/response.go", "unheard = 15 * time.Minute"},
		{"remedies.md", "three minutes to join by themselves", "shared/remedy/replaceinstance/replaceinstance.go", "const Settle = 3 * time.Minute"},
		{"remedies.md", "At most five in one plan", "shared/remedy/replaceinstance/replaceinstance.go", "const Most = 5\n"},
		{"remedies.md", "Plans at most 200 interfaces", "shared/remedy/deleteleakedinterfaces/deleteleakedinterfaces.go", "const MostInterfaces = 200\n"},
		{"routes.md", "at most once an hour, with how many are held back", "shared/incident/offer.go", "longAgo = time.Hour"},
		{"routes.md", "`remindAfter` (30 minutes; `0` for never), and three times again at most", settings, "## remindAfter\n\n*default `30m`*"},
		{"routes.md", "three times again at most", "shared/incident/response/response.go", "const MostCalls = 4\n"},
		{"targets.md", "ten targets at most", "shared/target/target.go", "const most = 10\n"},
		{"targets.md", "A new value is used within five minutes", deliver + "deliver.go", "const keepSecret = 5 * time.Minute"},
		{"targets.md", "Answer with 2xx within ten seconds", deliver + "deliver.go", "timeout = 10 * time.Second"},
		{"targets.md", "after 5, 10, 20, … seconds, every five minutes at most", retries, "firstRetry = 5 * time.Second\n\tlastRetry  = 5 * time.Minute"},
	}
}

func TestPagesSayWhatTheCodeDoes(t *testing.T) {
	for _, q := range ofTheCode() {
		for file, text := range map[string]string{docs + q.page: q.says, root + "/" + q.in: q.quote} {
			raw := testfile.Read(t, file)
			if !strings.Contains(string(raw), text) {
				t.Errorf("docs/%s says %q because %s has %q: %s has not %q any more", q.page, q.says, q.in, q.quote, file, text)
			}
		}
	}
}

// Counts that pages have in words, beside those of README.md; %s is the count.
func countedOnPages() []struct{ page, says, count string } {
	return []struct{ page, says, count string }{
		{"docs/stories.md", "# The %s stories\n", "stories"},
		{"docs/start.md", "[All %s stories](stories.md)", "stories"},
		{"README.md", "`make demo STORY=all` plays [the %s stories]", "stories"},
		{"CONTRIBUTING.md", "STORY=all plays the %s stories", "stories"},
		{"Makefile", "STORY=all the %s;", "stories"},
		{"docs/operate.md", "[%s alarms at most](alarms.md)", "alarms"},
		{"docs/deploy.md", "or these %s functions in its VPC", "readers"},
		{"docs/deploy.md", "(the output `ReaderRoleArn`): %s functions assume it", "readers"},
		{"docs/cleanup.md", "What %s other tools and a script", "tools"},
	}
}

func TestPagesCountWhatThereIs(t *testing.T) {
	counts := counted(t)
	for _, c := range countedOnPages() {
		raw := testfile.Read(t, root+"/"+c.page)
		before, after, _ := strings.Cut(c.says, "%s")
		found := regexp.MustCompile(regexp.QuoteMeta(before) + `([A-Za-z0-9]+)` + regexp.QuoteMeta(after)).FindStringSubmatch(string(raw))
		if found == nil {
			t.Errorf("%s does not say %q any more: take it off the list", c.page, c.says)
			continue
		}
		if says := (held{count: c.count}).holds(t, found[1], counts); says != "" {
			t.Errorf("%s says %q: %s", c.page, fmt.Sprintf(c.says, found[1]), says)
		}
	}
}

// Each story has its paragraph, in the order in which they play: what measures their lengths
// goes by it.
func TestEachStoryHasItsParagraph(t *testing.T) {
	raw := testfile.Read(t, "../../docs/stories.md")
	var told []string
	for _, m := range regexp.MustCompile("(?m)^`make demo STORY=([a-z]+)`, ").FindAllStringSubmatch(string(raw), -1) {
		told = append(told, m[1])
	}
	if diff := cmp.Diff(demo.Stories(), told); diff != "" {
		t.Errorf("docs/stories.md (-stories +page):\n%s", diff)
	}
}

// Each message that the page of troubles quotes is one of the program's: a part between
// two … stands in the code as it stands on the page. Slack's own codes do, too.
func TestTroublesQuoteTheCode(t *testing.T) {
	raw := testfile.Read(t, docs+"troubleshoot.md")
	var source strings.Builder
	for _, folder := range []string{"shared", "functions", "infra", "command", "stage", "tools"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	code := source.String()
	quoted := 0
	for _, heading := range regexp.MustCompile("(?m)^### .*$").FindAllString(string(raw), -1) {
		for _, quote := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(heading, -1) {
			quoted++
			for _, part := range strings.Split(quote[1], "…") {
				if part = strings.TrimSpace(part); len(part) > 2 && !strings.Contains(code, part) {
					t.Errorf("docs/troubleshoot.md quotes %q, and no code says %q", quote[1], part)
				}
			}
		}
	}
	if quoted < 30 {
		t.Errorf("%d quotes: this test looks for the wrong thing", quoted)
	}
}

// Every metric that is written stands on its page.
func TestMetricsAreTold(t *testing.T) {
	page := testfile.Read(t, docs+"metrics.md")
	found := 0
	for _, pattern := range []string{"functions/*/*/*.go", "shared/lambda/lambda.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text := testfile.Read(t, file)
			for _, m := range regexp.MustCompile(`(?i)gauge\("(\w+)"`).FindAllStringSubmatch(string(text), -1) {
				found++
				if !strings.Contains(string(page), "`"+m[1]+"`") {
					t.Errorf("docs/metrics.md does not tell of %s (%s)", m[1], file)
				}
			}
		}
	}
	for _, fault := range []string{"Failures", "Undelivered", "RemediesFailed", "NotPassedOn", "RefusedRequests", "StrayMessages", "TargetsUndelivered"} {
		if name, ok := lambda.Fault(fault); !ok || !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/metrics.md does not tell of %s, or it is no metric", fault)
		}
	}
	if found < 8 {
		t.Errorf("%d metrics: this test looks for the wrong thing", found)
	}
}

// TestEveryRoleIsOnThePage: whoever reviews the permissions finds each role that a template makes.
func TestEveryRoleIsOnThePage(t *testing.T) {
	extra, err := extraRoles(root)
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, s := range specs.All() {
		known = append(known, strings.ReplaceAll(s.Name, "-", "")+"role")
	}
	for _, e := range extra {
		for id, r := range e.Template.Resources {
			is := func(name string) bool { return strings.HasPrefix(strings.ToLower(id), strings.ToLower(name)) }
			of := slices.ContainsFunc(known, is) || slices.ContainsFunc(extra, func(e page.Extra) bool { return e.Role != "" && is(e.Role) })
			if r.Type == "AWS::IAM::Role" && !of {
				t.Errorf("role %s is on no page", id)
			}
		}
	}
}
