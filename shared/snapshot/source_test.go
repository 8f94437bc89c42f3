package snapshot

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAllNamesEverySource holds the list beside the names.
func TestAllNamesEverySource(t *testing.T) {
	want := declared(t)
	got := append(All(), LaunchHistory, RefusedLaunches, DenialsOf, AutoModeLogsOf)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-constants +All):\n%s", diff)
	}
}

// declared are the constants of type Source, sorted.
func declared(t *testing.T) []Source {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "source.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []Source
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := v.Type.(*ast.Ident); ok && of.Name == "Source" {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, Source(text))
		}
		return true
	})
	slices.Sort(list)
	return list
}
