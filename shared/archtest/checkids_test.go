package archtest

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rollcall/shared/checks"
)

// TestCheckIDsAreSpelledOnce holds that the id of a check is spelled in the check's
// own file: everything else names it by its constant, or asks the check what it
// means. To look how an id begins is to spell its family.
func TestCheckIDsAreSpelledOnce(t *testing.T) {
	spelled := map[string]bool{}
	prefixes := map[string]bool{}
	for _, c := range checks.All() {
		spelled[string(c.ID)] = false
		prefixes[string(c.ID.Family())+"/"] = true
	}
	for _, p := range packages(t) {
		if p.name() == "shared/checkid" {
			continue // generated from what is spelled
		}
		own := within(p.name(), "shared/checks")
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			ast.Inspect(parse(t, path), func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, prefix := range cutPrefixes(call) {
						if prefixes[prefix] {
							t.Errorf("%s/%s looks for %q: use the id's Family, or a property of the check", p.name(), name, prefix)
						}
					}
				}
				l, ok := n.(*ast.BasicLit)
				if !ok || l.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(l.Value)
				if err != nil {
					t.Fatal(err)
				}
				done, known := spelled[text]
				switch {
				case known && !own:
					t.Errorf("%s/%s spells %q: use its constant in checkid, or a property of the check", p.name(), name, text)
				case known && done:
					t.Errorf("%s/%s spells %q a second time", p.name(), name, text)
				case known && strings.TrimSuffix(name, ".go") != strings.ReplaceAll(text[strings.Index(text, "/")+1:], "-", "_"):
					t.Errorf("%s/%s spells %q, whose file is another one", p.name(), name, text)
				case known:
					spelled[text] = true
				}
				return true
			})
		}
	}
	for id, done := range spelled {
		if !done {
			t.Errorf("%s is spelled nowhere: this test looks for the wrong thing", id)
		}
	}
}

// cutPrefixes are the texts that a call looks for at the beginning of another.
func cutPrefixes(call *ast.CallExpr) []string {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) != 2 || f.Sel.Name != "HasPrefix" && f.Sel.Name != "CutPrefix" && f.Sel.Name != "TrimPrefix" {
		return nil
	}
	l, ok := call.Args[1].(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return nil
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return nil
	}
	return []string{text}
}
