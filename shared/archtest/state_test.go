package archtest

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// constants are package-level values that Go cannot call constant, and that
// nothing changes.
func constants() map[string]string {
	return map[string]string{
		"shared/catalog.entries": "the catalog, which Go has no constant for",

		"shared/node/activity.known": "the rows of launches and their automaton, made once",
		"shared/node/console.known":  "the rows of consoles and their automaton, made once",
		"shared/node/text.known":     "the rows of texts and their automaton, made once",

		"shared/slack/slacktext.rooms": "an array of sizes, which Go has no constant for",
	}
}

// TestNoState holds that packages keep nothing: no init, and no variable but
// errors, compiled expressions and assertions. State lives in values that are
// handed on.
func TestNoState(t *testing.T) {
	known := constants()
	for _, p := range packages(t) {
		if testHelper(p.name()) {
			continue // its scenes are values that tests share
		}
		for _, file := range p.GoFiles {
			for _, name := range state(parse(t, filepath.Join(p.Dir, file))) {
				if _, ok := known[p.name()+"."+name]; ok {
					delete(known, p.name()+"."+name)
					continue
				}
				t.Errorf("%s: %s keeps state: %s", p.name(), file, name)
			}
		}
	}
	for name := range known {
		t.Errorf("%s is excepted and does not exist", name)
	}
}

// state finds init functions and package-level variables that could change.
func state(file *ast.File) []string {
	var found []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				found = append(found, "init")
			}
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				found = append(found, variables(spec.(*ast.ValueSpec))...)
			}
		}
	}
	return found
}

func variables(v *ast.ValueSpec) []string {
	var found []string
	for i, name := range v.Names {
		if name.Name == "_" || i < len(v.Values) && fixed(v.Values[i]) {
			continue
		}
		found = append(found, name.Name)
	}
	return found
}

// fixed tells that a value is an error or a compiled expression: nobody
// assigns to those, and they have no methods that change them.
func fixed(value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return ok && slices.Contains([]string{"errors.New", "regexp.MustCompile", "lazyregexp.New"}, pkg.Name+"."+s.Sel.Name)
}

func TestStateFindsIt(t *testing.T) {
	file := source(t, `package x

import ("errors"; "regexp"; "rollcall/shared/lazyregexp")

var ErrX, cache = errors.New("x"), map[string]int{}

var (
	_       error = ErrX
	pattern       = regexp.MustCompile("x")
	later         = lazyregexp.New("x")
	count   int
)

func init() { count++ }

type t struct{}

func (t) init() { var local int; _ = local }
`)
	if got, want := state(parse(t, file)), []string{"cache", "count", "init"}; !slices.Equal(got, want) {
		t.Errorf("state = %q, want %q", got, want)
	}
}
