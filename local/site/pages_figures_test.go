package site

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/demo"
)

// quoted is a figure that a page repeats of the code, or of a generated page: who changes
// it there is told to change it here.
type quoted struct {
	page, says string
	in, quote  string
}

func ofTheCode() []quoted {
	const (
		settings = "docs/settings.md"
		lookups  = "functions/change-check/changecheck/lookups.go"
		deliver  = "shared/target/deliver/"
		retries  = "functions/notify-targets/notifytargets/handler.go"
	)
	return []quoted{
		{"ask.md", "or 7 days, of 40 clusters at most", "functions/report/report/overview.go", "mostReported = 40\n"},
		{"ask.md", "late when nobody looked for 12 minutes", "shared/overview/overview.go", "const Late = 12 * time.Minute"},
		{"ask.md", "not looked at for more than 12 minutes", "shared/overview/overview.go", "const Late = 12 * time.Minute"},
		{"ask.md", "5 minutes to 30 days", "shared/silence/silence.go", "Shortest = 5 * time.Minute"},
		{"ask.md", "in the table for 30 days after", "shared/store/silences.go", "const keepSilences = 30 * 24 * time.Hour"},
		{"changes.md", "the 14 days before the first that did not join", "shared/trail/window.go", "Usual = 14 * 24 * time.Hour"},
		{"changes.md", "At most six things", "shared/trail/target.go", "mostTargets = 6\n"},
		{"changes.md", "at most ten), as CloudTrail", "shared/trail/lookup.go", "const mostCalls = 10\n"},
		{"changes.md", "others follow 5, 10 and 20 minutes after the opening", lookups, "{5 * time.Minute, 10 * time.Minute, 20 * time.Minute}"},
		{"changes.md", "The newest eight write calls", "shared/trail/changes.go", "const MaxChanges = 8\n"},
		{"cleanup.md", "`cleanupGrace` (30 minutes)", settings, "## cleanupGrace\n\n*default `30m`*"},
		{"deploy.md", "its age (five minutes, one ahead)", "shared/interaction/signature.go", "MaxAge = 5 * time.Minute"},
		{"deploy.md", "its age (five minutes, one ahead)", "shared/interaction/signature.go", "MaxAhead = time.Minute"},
		{"deploy.md", "It may run ten times at once, reserved", "functions/slack-actions/spec/spec.go", "Concurrency: 10,"},
		{"deploy.md", "A list's answer is handed on up to 4 MB", "shared/relay/relay.go", "MostBody  = 4 << 20"},
		{"deploy.md", "any external id of eight characters or more", "infra/spoke.go", `]{8,}$"`},
		{"deploy.md", "in the last 30 days", "shared/store/incidents.go", "const keepClosed = 30 * 24 * time.Hour"},
		{"diagnose.md", "looks again every ten seconds", "local/command/watch.go", "const again = 10 * time.Second"},
		{"diagnose.md", "for 30 days (the setting `evidence`", settings, "## evidence\n\n*default `30`*"},
		{"diagnose.md", "At most 4 MiB are kept of a look", "shared/evidence/archive.go", "const mostArchive = 4 << 20"},
		{"diagnose.md", "that hold more than 50 addresses", "shared/checks/ip/leaked_interfaces.go", "muchLeaked = 50\n"},
		{"faq.md", "five minutes after the launch, or less once 20 launches", settings,
			"*default `5m`*. How long after its launch an instance should be a Ready node (1m to 15m), until 20 launches"},
		{"functions.md", "again 5, 10 and 20 minutes later", lookups, "{5 * time.Minute, 10 * time.Minute, 20 * time.Minute}"},
		{"functions.md", "five minutes until then", settings, "## joinTime\n\n*default `5m`*"},
		{"remedies.md", "within an hour (3)", settings, "## remedyLimit\n\n*default `3`*"},
		{"remedies.md", "after it was made (1h)", settings, "## approvalTime\n\n*default `1h`*"},
		{"remedies.md", "tried again after 5, 10, 20 and 40 minutes, then each hour", "functions/remediate/remediate/wait.go", "firstLook = 5 * time.Minute\n\tlastLook  = time.Hour"},
		{"remedies.md", "does not answer for a quarter of an hour", "shared/incident/response/tick.go", "unheard = 15 * time.Minute"},
		{"remedies.md", "three minutes to join by themselves", "shared/remedy/replaceinstance/plan.go", "const Settle = 3 * time.Minute"},
		{"remedies.md", "At most five in one plan", "shared/remedy/replaceinstance/plan.go", "const Most = 5\n"},
		{"remedies.md", "Plans at most 200 interfaces", "shared/remedy/deleteleakedinterfaces/plan.go", "const MostInterfaces = 200\n"},
		{"routes.md", "more than ten minutes old", "shared/incident/line.go", "freshLine = 10 * time.Minute"},
		{"routes.md", "`remindAfter` (30 minutes; `0` for never), and three times again at most", settings, "## remindAfter\n\n*default `30m`*"},
		{"routes.md", "three times again at most", "shared/incident/response/call.go", "const MostCalls = 4\n"},
		{"targets.md", "ten targets at most", "shared/target/target.go", "const most = 10\n"},
		{"targets.md", "A new value is used within five minutes", deliver + "secret.go", "const keepSecret = 5 * time.Minute"},
		{"targets.md", "Answer with 2xx within ten seconds", deliver + "client.go", "timeout = 10 * time.Second"},
		{"targets.md", "after 5, 10, 20, … seconds, every five minutes at most", retries, "firstRetry = 5 * time.Second\n\tlastRetry  = 5 * time.Minute"},
	}
}

func TestPagesSayWhatTheCodeDoes(t *testing.T) {
	for _, q := range ofTheCode() {
		for file, text := range map[string]string{docs + q.page: q.says, root + "/" + q.in: q.quote} {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
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
		{"README.md", "plays %s stories on", "stories"},
		{"CONTRIBUTING.md", "make demo      # the %s stories", "stories"},
		{"Makefile", "demo: ## play the %s stories", "stories"},
		{"docs/operate.md", "[%s alarms at most](alarms.md)", "alarms"},
		{"docs/deploy.md", "(the output `ReaderRoleArn`): %s functions assume it", "readers"},
		{"docs/cleanup.md", "What %s other tools and a script", "tools"},
	}
}

func TestPagesCountWhatThereIs(t *testing.T) {
	counts := counted(t)
	for _, c := range countedOnPages() {
		raw, err := os.ReadFile(root + "/" + c.page)
		if err != nil {
			t.Fatal(err)
		}
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
	raw, err := os.ReadFile("../../docs/stories.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, m := range regexp.MustCompile("(?m)^`make demo STORY=([a-z]+)`, ").FindAllStringSubmatch(string(raw), -1) {
		told = append(told, m[1])
	}
	if diff := cmp.Diff(demo.Stories(), told); diff != "" {
		t.Errorf("docs/stories.md (-stories +page):\n%s", diff)
	}
}
