package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// chooser is the file that is compiled with a package that holds its mutants:
// each place asks it whether it is the one that is changed.
//
//go:embed chooser.go.txt
var chooser string

// schemata is a package with all its mutants in it (Untch, Offutt, Harrold,
// "Mutation analysis using mutant schemata", 1993): compiled once, and one of
// them chosen when it is run.
type schemata struct {
	Mutants []mutant
	// Files are the changed source files by their path, and the chooser.
	Files map[string][]byte
}

// place is what is written where a node stands.
type place struct {
	// before is put before the node as it is; around takes the node's own text,
	// its parts changed already, and gives what is written instead. The first is
	// the innermost.
	before string
	base   func() string
	around []func(text string) string
}

// writer finds the mutants of one package.
type writer struct {
	pkg     *packages.Package
	root    string // of the module
	name    string // of the package, below the module
	mutants []mutant
	seen    map[string]int // how often a mutant's text came, by function

	file     *ast.File
	source   []byte
	function string
	places   map[ast.Node]*place
	asked    map[ast.Expr]bool // negated, or an operand that is dropped
}

// mutate finds the mutants of a package's own files.
func mutate(pkg *packages.Package, root, name string) (schemata, error) {
	w := &writer{pkg: pkg, root: root, name: name, seen: map[string]int{}}
	out := schemata{Files: map[string][]byte{}}
	for i, file := range pkg.Syntax {
		path := pkg.CompiledGoFiles[i]
		if ast.IsGenerated(file) {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return schemata{}, err
		}
		w.file, w.source = file, source
		w.places, w.asked = map[ast.Node]*place{}, map[ast.Expr]bool{}
		before := len(w.mutants)
		w.find()
		if len(w.mutants) > before {
			// Directives and the package's clause are in what no place covers.
			out.Files[path] = []byte(w.text(file, 0, len(source)))
		}
	}
	out.Mutants = w.mutants
	if len(pkg.CompiledGoFiles) > 0 {
		dir := filepath.Dir(pkg.CompiledGoFiles[0])
		out.Files[filepath.Join(dir, "zz_mutants.go")] = bytes.ReplaceAll([]byte(chooser), []byte("package chooser"), []byte("package "+pkg.Name))
	}
	return out, nil
}

// add notes a mutant, and gives its number.
func (w *writer) add(at token.Pos, op operator, before, after string) int {
	p := w.pkg.Fset.Position(at)
	if rel, err := filepath.Rel(w.root, p.Filename); err == nil {
		p.Filename = rel
	}
	m := mutant{
		ID: len(w.mutants) + 1, Package: w.name, Position: p,
		Function: w.function, Operator: op, Before: oneLine(before), After: oneLine(after),
	}
	name := strings.Join([]string{m.Function, string(m.Operator), m.Before, m.After}, "\n")
	m.Again = w.seen[name]
	w.seen[name]++
	w.mutants = append(w.mutants, m)
	return m.ID
}

func (w *writer) place(n ast.Node) *place {
	p := w.places[n]
	if p == nil {
		p = &place{}
		w.places[n] = p
	}
	return p
}

// around writes a call of the chooser around a node.
func (w *writer) around(n ast.Node, format string, args ...any) {
	p := w.place(n)
	prefix := fmt.Sprintf(format, args...)
	p.around = append(p.around, func(text string) string { return prefix + text + ")" })
}

// raw is a node's source.
func (w *writer) raw(n ast.Node) string { return string(w.source[w.offset(n.Pos()):w.offset(n.End())]) }

func (w *writer) offset(p token.Pos) int { return w.pkg.Fset.Position(p).Offset }

// write is a node's text with all its mutants.
func (w *writer) write(n ast.Node) string {
	p := w.places[n]
	if p == nil {
		return w.text(n, w.offset(n.Pos()), w.offset(n.End()))
	}
	var text string
	if p.base != nil {
		text = p.base()
	} else {
		text = w.text(n, w.offset(n.Pos()), w.offset(n.End()))
	}
	for _, around := range p.around {
		text = around(text)
	}
	return p.before + text
}

// text is the source between two places of a node, with the changed nodes below
// it written in.
func (w *writer) text(n ast.Node, from, to int) string {
	var changed []ast.Node
	ast.Inspect(n, func(child ast.Node) bool {
		if child == nil || child == n {
			return true
		}
		if w.places[child] != nil {
			changed = append(changed, child)
			return false
		}
		return true
	})
	slices.SortFunc(changed, func(a, b ast.Node) int { return int(a.Pos() - b.Pos()) })
	var out strings.Builder
	for _, child := range changed {
		start, end := w.offset(child.Pos()), w.offset(child.End())
		out.Write(w.source[from:start])
		out.WriteString(w.write(child))
		from = end
	}
	out.Write(w.source[from:to])
	return out.String()
}

// typeOf is the type of an expression; nil where there is none.
func (w *writer) typeOf(e ast.Expr) types.Type { return w.pkg.TypesInfo.TypeOf(e) }

// isConstant tells an expression that the compiler computes.
func (w *writer) isConstant(e ast.Expr) bool { return w.pkg.TypesInfo.Types[e].Value != nil }

// typeName is how this file writes a type at a place; false where it cannot.
func (w *writer) typeName(at token.Pos, t types.Type) (string, bool) {
	known := true
	scope := w.pkg.Types.Scope().Innermost(at)
	name := types.TypeString(t, func(p *types.Package) string {
		if p == w.pkg.Types {
			return ""
		}
		for _, i := range w.file.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err != nil || path != p.Path() {
				continue
			}
			name := p.Name()
			if i.Name != nil {
				name = i.Name.Name
			}
			// A variable of that name may stand before it.
			_, found := scope.LookupParent(name, at)
			if _, ok := found.(*types.PkgName); ok {
				return name
			}
		}
		known = false
		return p.Name()
	})
	return name, known
}
