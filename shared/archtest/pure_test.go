package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// decides are the packages that decide: no client, no network, no clock, no
// environment (DESIGN, section 2).
func decides(t *testing.T) []string {
	t.Helper()
	list := []string{
		"access/policy",
		"backoff",
		"chart",
		"checkid",
		"checks",
		"diagnose",
		"event",
		"incident",
		"incident/correlate",
		"incident/reconcile",
		"incident/response",
		"interaction",
		"network/address",
		"network/filter",
		"network/leak",
		"network/path",
		"node/activity",
		"node/autolog",
		"node/console",
		"node/exact",
		"node/factor",
		"node/outcome",
		"node/refusal",
		"node/spot",
		"node/text",
		"node/userdata",
		"node/vpccni",
		"outbox",
		"overview",
		"preflight",
		"remedy",
		"report",
		"routing",
		"shell",
		"silence",
		"slashcommand",
		"snapshot",
		"spec",
	}
	for _, p := range packages(t) {
		// What writes files of checks is run by people, and is in no function.
		if name, ok := strings.CutPrefix(p.name(), "shared/checks/"); ok && name != "checktest" && name != "new" && !within(name, "generate") {
			list = append(list, "checks/"+name)
		}
		// What makes the calls of remedies stands in one package.
		if name, ok := strings.CutPrefix(p.name(), "shared/remedy/"); ok && name != "awscall" && name != "remedytest" {
			list = append(list, "remedy/"+name)
		}
	}
	return list
}

// silent are those that reach nobody either, but may know the time: settings
// hold the clock.
func silent(t *testing.T) []string {
	t.Helper()
	return append(decides(t), "config")
}

func TestDecidingPackagesReachNobody(t *testing.T) {
	forbidden := []string{"github.com/aws", "github.com/slack-go", "net/http"}
	left := silent(t)
	for _, p := range packages(t) {
		i := slices.IndexFunc(left, func(name string) bool { return p.name() == "shared/"+name })
		if i < 0 {
			continue
		}
		left = slices.Delete(left, i, i+1)
		for _, dep := range p.Deps {
			if slices.ContainsFunc(forbidden, func(f string) bool { return within(dep, f) }) {
				t.Errorf("%s depends on %s", p.name(), dep)
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("there are no packages %q", left)
	}
}

func TestDecidingPackagesKnowNoTimeNorPlace(t *testing.T) {
	// os is behind fmt in every program: only importing it is a choice.
	forbidden := []string{"os", "os/exec", "net", "syscall", "log", "log/slog"}
	for _, p := range packages(t) {
		if !slices.ContainsFunc(decides(t), func(name string) bool { return p.name() == "shared/"+name }) {
			continue
		}
		for _, path := range p.Imports {
			if slices.Contains(forbidden, path) {
				t.Errorf("%s imports %s", p.name(), path)
			}
		}
		for _, file := range p.GoFiles {
			for _, call := range clockCalls(t, filepath.Join(p.Dir, file)) {
				t.Errorf("%s: %s calls %s; time comes in as an argument", p.name(), file, call)
			}
		}
	}
}

// clockCalls finds what reads the clock or waits for it.
func clockCalls(t *testing.T, file string) []string {
	t.Helper()
	clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}
	var calls []string
	ast.Inspect(parse(t, file), func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains(clock, s.Sel.Name) {
				calls = append(calls, "time."+s.Sel.Name)
			}
		}
		return true
	})
	return calls
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// source writes a file for a test of the laws themselves.
func source(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.go")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestClockCallsFindsThem(t *testing.T) {
	file := source(t, "package late\n\nimport \"time\"\n\nvar a, b = time.Now(), time.Since(time.Time{})\n")
	if got, want := clockCalls(t, file), []string{"time.Now", "time.Since"}; !slices.Equal(got, want) {
		t.Errorf("clockCalls = %q, want %q", got, want)
	}
}
