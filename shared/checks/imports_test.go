package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pure are the packages that decide: no client, no network, no clock, no
// environment (DESIGN, section 2).
func pure() []string {
	return []string{"checks", "diagnose", "path", "ipam", "snapshot", "outcome", "report", "event"}
}

func TestPurePackagesImportNoClient(t *testing.T) {
	forbidden := []string{"github.com/aws/", "github.com/slack-go/", "net/http"}
	// os is behind fmt in every program: only importing it directly is a choice.
	directly := []string{"os", "os/exec", "net", "syscall", "log", "log/slog"}
	for _, name := range pure() {
		out, err := exec.Command("go", "list", "-f", `{{.Dir}}|{{join .GoFiles ","}}|{{join .Imports ","}}|{{join .Deps ","}}`, "rollcall/shared/"+name).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", name, err)
		}
		parts := strings.Split(strings.TrimSpace(string(out)), "|")
		if len(parts) != 4 {
			t.Fatalf("go list %s said %q", name, out)
		}
		for dep := range strings.SplitSeq(parts[3], ",") {
			if slices.ContainsFunc(forbidden, func(f string) bool { return dep == f || strings.HasSuffix(f, "/") && strings.HasPrefix(dep, f) }) {
				t.Errorf("shared/%s depends on %s", name, dep)
			}
		}
		for dep := range strings.SplitSeq(parts[2], ",") {
			if slices.Contains(directly, dep) {
				t.Errorf("shared/%s imports %s", name, dep)
			}
		}
		for file := range strings.SplitSeq(parts[1], ",") {
			for _, call := range clockCalls(t, filepath.Join(parts[0], file)) {
				t.Errorf("shared/%s: %s calls %s; time comes in as an argument", name, file, call)
			}
		}
	}
}

// clockCalls finds what reads the clock or waits for it.
func clockCalls(t *testing.T, file string) []string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}
	var calls []string
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains(clock, s.Sel.Name) {
				calls = append(calls, "time."+s.Sel.Name)
			}
		}
		return true
	})
	return calls
}

func TestClockCallsFindsThem(t *testing.T) {
	file := filepath.Join(t.TempDir(), "late.go")
	source := "package late\n\nimport \"time\"\n\nvar a, b = time.Now(), time.Since(time.Time{})\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := clockCalls(t, file), []string{"time.Now", "time.Since"}; !slices.Equal(got, want) {
		t.Errorf("clockCalls = %q, want %q", got, want)
	}
}
