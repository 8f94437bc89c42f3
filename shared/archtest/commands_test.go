package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestOneBuilderOfCommands holds that a command to paste is built of words by
// package shell, which quotes each: nowhere else is a text that begins like one
// put together with another. A whole command as a constant holds nothing that
// somebody else has chosen.
func TestOneBuilderOfCommands(t *testing.T) {
	begins := func(s string) bool {
		for _, program := range []string{"aws ", "kubectl ", "eksctl ", "for id in "} {
			if strings.HasPrefix(s, program) {
				return true
			}
		}
		return false
	}
	text := func(n ast.Expr) string {
		l, ok := n.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return ""
		}
		s, err := strconv.Unquote(l.Value)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	uses := 0
	for _, p := range packages(t) {
		if p.name() == "shared/shell" || !strings.HasPrefix(p.name(), "shared/") && !strings.HasPrefix(p.name(), "functions/") {
			continue
		}
		for _, path := range p.Imports {
			if path == module+"/shared/shell" {
				uses++
			}
		}
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BinaryExpr:
					if n.Op == token.ADD && begins(text(n.X)) {
						t.Errorf("%s: a command is put together without package shell", fset.Position(n.Pos()))
					}
				case *ast.BasicLit:
					if s := text(n); begins(s) && strings.Contains(s, "%") {
						t.Errorf("%s: a command is formatted without package shell", fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
	if uses < 3 {
		t.Errorf("%d packages use shell: this test looks for the wrong thing", uses)
	}
}
