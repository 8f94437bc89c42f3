package deploytest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pages are those whose commands a reader types to try, deploy and work on Rollcall.
func pages() []string {
	var list []string
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "docs/deploy.md", "docs/stories.md", "docs/functions.md", "docs/cleanup.md", "docs/events.md", "docs/stage.md", "docs/install.md", "docs/operate.md"} {
		list = append(list, "../../"+name)
	}
	return list
}

// commandsOf are the commands of a page: each line of a block without a
// language, a comment behind it left out, and what stands in the text between
// backquotes and begins with a program and a word for it.
func commandsOf(page string) []string {
	var commands []string
	block, language := false, ""
	for _, line := range strings.Split(strings.ReplaceAll(page, "\\\n", " "), "\n") {
		if mark, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); ok {
			block, language = !block, mark
			continue
		}
		switch {
		case block && language == "":
			if command := begins.FindString(line); command != "" {
				commands = append(commands, strings.TrimSpace(comment.ReplaceAllString(line, "")))
			}
		case !block:
			for _, span := range inline.FindAllStringSubmatch(line, -1) {
				// "aws … describe-…" is a kind of command.
				if begins.MatchString(span[1]) && !strings.HasPrefix(span[1], "aws …") {
					commands = append(commands, span[1])
				}
			}
		}
	}
	return commands
}

var (
	begins  = regexp.MustCompile(`^(make|npm|npx|aws|kubectl|go|sh|bash|cdk|curl|git|local/capture\.sh)( |$)`)
	comment = regexp.MustCompile(`\s+#.*$`)
	inline  = regexp.MustCompile("`([^`]+)`")
)

func TestCommandsOf(t *testing.T) {
	page := "Run `make deploy CHANNEL=C0` and read `aws-auth`.\n\n```\nmake demo     # plays\naws lambda invoke --out \\\n  --payload '{}'\nevent.Parse → x\n```\n```json\nmake no\n```\n`cleanup=prod` and `kubectl -n x get y`, `go.mod`"
	want := []string{"make deploy CHANNEL=C0", "make demo", "aws lambda invoke --out    --payload '{}'", "kubectl -n x get y"}
	if diff := cmp.Diff(want, commandsOf(page)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// Every command of the pages has a rule that says how it is held: nobody adds
// one that is never run. The programs are run by make test-commands.
func TestEveryCommandHasARule(t *testing.T) {
	gate, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range pages() {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range commandsOf(string(page)) {
			found++
			r, ok := ruleOf(command)
			switch {
			case !ok:
				t.Errorf("%s: nobody says what %q does without credentials", path, command)
			case r.gate != "" && !slices.ContainsFunc(strings.Split(string(gate), "\n"), func(line string) bool { return strings.TrimSpace(line) == r.gate }):
				t.Errorf("%s: %q is said to be run by .ci/run as %q, which it is not", path, command, r.gate)
			}
		}
	}
	if found < 40 {
		t.Errorf("%d commands: this test looks for the wrong thing", found)
	}
}

// rule says how the commands that begin so are held. Exactly one of the others
// is set.
type rule struct {
	prefix string
	// stops is what a command says that needs AWS or a cluster, and has neither.
	stops string
	// gate is the line of .ci/run that runs it to its end.
	gate string
	// says is what a command says that needs neither.
	says string
	// target tells that make must know it, and that it needs no AWS: a program
	// of many minutes that writes a page of figures, or one of .ci/run's own.
	target bool
}

const (
	noCredentials = "there are no AWS credentials: none in the environment, in ~/.aws or of this machine's role"
	noCLI         = "Unable to locate credentials"
	noCluster     = "localhost:8080"
)

// rules, the longest prefix first where one begins another.
func rules() []rule {
	return []rule{
		{prefix: "make bootstrap", stops: noCredentials},
		{prefix: "make deploy", stops: noCredentials},
		{prefix: "make diff", stops: noCredentials},
		{prefix: "make destroy", stops: noCredentials},
		{prefix: "make redrive", stops: noCredentials},
		{prefix: "make demo", gate: "make demo"},
		{prefix: "make test-infra", target: true}, {prefix: "make test-cli", gate: "make test-cli"}, {prefix: "make test-slack", gate: "make test-slack"},
		{prefix: "make test-moto", target: true}, {prefix: "make test-kube", target: true}, {prefix: "make test-commands", gate: "make test-commands"},
		{prefix: "make test-full", gate: "make test-full"}, {prefix: "make test", gate: "make test"},
		{prefix: "make corpus", gate: "make corpus"}, {prefix: "make lint", gate: "make lint"}, {prefix: "make generate", gate: "make generate"},
		{prefix: "make synth", gate: "make synth"}, {prefix: "make check-template", gate: "make check-template"}, {prefix: "make race", gate: "make race"},
		{prefix: "make fuzz", gate: "make fuzz TIME=1s"},
		{prefix: "make ", target: true},
		{prefix: "aws ", stops: noCLI},
		{prefix: "kubectl ", stops: noCluster},
		{prefix: "go run ./cmd/rollcall capture", says: "rollcall: there are no AWS credentials"},
		{prefix: "go run ./cmd/rollcall diagnose --cluster", says: "rollcall: there are no AWS credentials"},
		{prefix: "go run ./cmd/rollcall preflight --file", says: "rollcall: --file nodegroup.json: there is no such file"},
		{prefix: "go run ./cmd/rollcall diagnose capture", says: "rollcall: capture: there is no such folder or file"},
		{prefix: "go run ./cmd/rollcall doctor", says: "rollcall: there are no AWS credentials"},
		{prefix: "go run ./cmd/rollcall explain", says: "launch/vcpu-limit"},
		{prefix: "go run ./shared/checks/new FAMILY/NAME", says: "FAMILY/NAME"},
		{prefix: "go test ./shared/checks/route", says: "ok"},
		{prefix: "make", says: "make deploy"},
	}
}

func ruleOf(command string) (rule, bool) {
	for _, r := range rules() {
		if command == strings.TrimSpace(r.prefix) || strings.HasPrefix(command, r.prefix) && (r.prefix != "make") {
			return r, true
		}
	}
	return rule{}, false
}
