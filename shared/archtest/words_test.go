package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestStandardTerms: comments, log messages and names use the terms of the field, so that
// they can be searched for. Texts for users are not its subject.
func TestStandardTerms(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (slices.Contains([]string{"testdata", "node_modules", "build"}, d.Name()) || d.Name()[0] == '.'):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		files++
		for _, found := range unclear(t, path, nil) {
			t.Errorf("%s: %s", path, found)
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Errorf("looked at %d files: %v", files, err)
	}
}

// unclear lists what a file says in other words than the field's: what a component does is
// to report, return, post or publish, and a name is a noun or a verb.
func unclear(t *testing.T, path string, src any) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`(?i)\b(tells (that|whether)|(is|are) told|no` + `body|some` + `body|whose it is)\b`)
	var found []string
	name := func(id *ast.Ident, method bool) {
		list := []string{"told", "says", "of", "had"}
		if method {
			list = append(list, "in", "at", "is", "about")
		}
		if slices.Contains(list, strings.ToLower(id.Name)) {
			found = append(found, "name "+id.Name)
		}
	}
	for _, group := range file.Comments {
		for _, said := range words.FindAllString(strings.Join(strings.Fields(group.Text()), " "), -1) {
			found = append(found, "comment "+said)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			name(n.Name, n.Recv != nil)
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				for _, id := range m.Names {
					name(id, true)
				}
			}
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, strings.TrimSuffix(s.Sel.Name, "Context")) {
				return true
			}
			message := 0
			if strings.HasSuffix(s.Sel.Name, "Context") {
				message = 1 // the context comes first
			}
			if len(n.Args) <= message {
				return true
			}
			if l, ok := n.Args[message].(*ast.BasicLit); ok && words.MatchString(l.Value) {
				found = append(found, "log "+l.Value)
			}
		}
		return true
	})
	return found
}

func TestUnclearFindsIt(t *testing.T) {
	got := unclear(t, "x.go", `package x

// f tells
// whether it is so. No`+`body waits.
func f() { log.WarnContext(ctx, "the caller is told"); log.Info("ok", "is told") }

func of() {}
func in() {}

type t interface{ At() }

func (t) Is() { print("is told") }
`)
	want := []string{"comment tells whether", "comment No" + "body", `log "the caller is told"`, "name of", "name At", "name Is"}
	if !slices.Equal(got, want) {
		t.Errorf("unclear = %q, want %q", got, want)
	}
}
