// Mutants changes the code of packages in small ways, one at a time, and sees
// that a test fails each time. The score is how many of 100 changes a test
// notices; a change that no test reaches is not noticed.
//
//	go run ./tools/mutants shared/network/leak shared/incident/reconcile+shared/incident/correlate
//
// tries all mutants of leak with leak's own tests, and those of reconcile with its own and
// correlate's; without a name what decides and what deletes. A package with all its
// mutants is compiled once, as to link a test for each of thousands takes hours, and each
// is chosen when the tests are run; only the tests that it makes a difference to are run.
// (gremlins v0.6.0 was used before: it asks go's coverage whether a place is reached, where
// the condition of a case stands in no block, and so calls each of them not covered; and it
// compiles once for each mutant.)
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/go/packages"
)

var errScore = errors.New("under the least score")

// options are what a run is asked for.
type options struct {
	Least   float64 // score, of 100
	Workers int
	Excused string
	Listing bool // only list the mutants
}

// decides is what decides and what deletes.
func decides() []string {
	return []string{
		"shared/network/leak", "shared/network/path", "shared/network/filter", "shared/node/outcome", "shared/diagnose",
		// A plan's words are data, and tested by what plans them.
		"shared/remedy+shared/remedy/remedies+shared/remedy/addnatroute+shared/remedy/replaceinstance+shared/remedy/openendpointsecuritygroup+shared/remedy/coverzones+" +
			"shared/remedy/deleteleakedinterfaces+shared/remedy/createaccessentry",
		"shared/remedy/remedies", "shared/remedy/action", "shared/remedy/optin", "shared/remedy/addnatroute", "shared/remedy/replaceinstance",
		"shared/remedy/openendpointsecuritygroup", "shared/remedy/coverzones", "shared/remedy/deleteleakedinterfaces", "shared/remedy/createaccessentry", "shared/remedy/awscall",
		"shared/incident", "shared/incident/correlate", "shared/incident/reconcile+shared/incident/correlate", "shared/incident/response",
		"shared/silence", "shared/relay", "shared/target/message", "functions/eni-cleanup/enicleanup", "functions/remediate/remediate",
	}
}

func main() {
	var o options
	flag.Float64Var(&o.Least, "least", 95, "the least `score` of each package, of 100")
	flag.IntVar(&o.Workers, "workers", 2, "how many tests run at a time")
	flag.StringVar(&o.Excused, "excused", "tools/mutants/excused.yaml", "the `file` of mutants that nothing can notice")
	flag.BoolVar(&o.Listing, "list", false, "only list the mutants")
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = decides()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := mutants(ctx, o, names, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func mutants(ctx context.Context, o options, names []string, out io.Writer) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	list, err := readExemptions(filepath.Join(root, o.Excused))
	if err != nil {
		return err
	}
	var all score
	var under []error
	for _, name := range names {
		name, by, _ := strings.Cut(name, "+")
		name = filepath.Clean(name)
		tested := append([]string{name}, strings.FieldsFunc(by, func(r rune) bool { return r == '+' })...)
		s, err := one(ctx, o, root, name, tested, list, out)
		if err != nil {
			return err
		}
		all.sum(s)
		if s.Of100() < o.Least {
			under = append(under, fmt.Errorf("%s: %.1f of 100 is %w, %.0f", name, s.Of100(), errScore, o.Least))
		}
	}
	if !o.Listing {
		fmt.Fprintf(out, "\nOf each change of the code, whether a test fails (least score %.0f):\n   all: %s\n", o.Least, all)
	}
	return errors.Join(under...)
}

// one tries the mutants of one package, with the tests of some.
func one(ctx context.Context, o options, root, name string, tested []string, list []*exemption, out io.Writer) (score, error) {
	began := time.Now()
	pkg, err := load(ctx, root, name)
	if err != nil {
		return score{}, err
	}
	changed, err := mutate(pkg, root, name)
	if err != nil {
		return score{}, err
	}
	if o.Listing {
		for _, m := range changed.Mutants {
			fmt.Fprintln(out, m)
		}
		return score{}, nil
	}
	fmt.Fprintf(out, "== %s: %d mutants; noticed by the tests of %s\n", name, len(changed.Mutants), strings.Join(tested, ", "))
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return score{}, err
	}
	defer os.RemoveAll(scratch)
	binaries, err := compile(ctx, root, scratch, changed.Files, tested)
	if err != nil {
		return score{}, err
	}
	tests, err := record(ctx, binaries, scratch, o.Workers)
	if err != nil {
		return score{}, err
	}
	fmt.Fprintf(out, "   %d tests pass without a mutant (%s so far)\n", len(tests), since(began))
	results := make([]result, len(changed.Mutants))
	err = each(ctx, o.Workers, len(results), func(ctx context.Context, i int) (err error) {
		results[i], err = try(ctx, changed.Mutants[i], tests)
		return err
	})
	if err != nil {
		return score{}, err
	}
	if err := applyExemptions(results, changed.Mutants, list, name); err != nil {
		return score{}, err
	}
	var s score
	for _, r := range results {
		s.add(r)
		if r.Fate == lived && r.Reason == "" {
			fmt.Fprintf(out, "   LIVED %s (%s)\n", r.mutant, seen(r.Tests))
		}
	}
	fmt.Fprintf(out, "   %s: %s (%s)\n", name, s, since(began))
	return s, nil
}

func since(t time.Time) string { return time.Since(t).Round(time.Second).String() }

func seen(tests int) string {
	switch tests {
	case 0:
		return "it makes no difference in any test"
	case 1:
		return "one test passes with it"
	}
	return fmt.Sprintf("%d tests pass with it", tests)
}

// binary is a compiled test of a package, with the mutants in it.
type binary struct {
	Package string // its import path
	Path    string
	Dir     string // where its tests expect to run
}

// load reads a package with its types. The name is a path below the module, as
// the go command takes it.
func load(ctx context.Context, root, name string) (*packages.Package, error) {
	list, err := packages.Load(&packages.Config{
		Context: ctx, Dir: root,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
	}, "./"+name)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("load %s: %d packages, want one", name, len(list))
	}
	for _, e := range list[0].Errors {
		return nil, fmt.Errorf("load %s: %w", name, e)
	}
	return list[0], nil
}

// compile builds the tests of packages with the changed files in the place of
// those on the disk.
func compile(ctx context.Context, root, into string, files map[string][]byte, tested []string) ([]binary, error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range files {
		copied := filepath.Join(into, fmt.Sprintf("%d-%s", len(overlay.Replace), filepath.Base(path)))
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			return nil, err
		}
		overlay.Replace[path] = copied
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	overlayPath := filepath.Join(into, "overlay.json")
	if err := os.WriteFile(overlayPath, list, 0o600); err != nil {
		return nil, err
	}
	var out []binary
	for i, name := range tested {
		b := binary{Package: name, Path: filepath.Join(into, fmt.Sprintf("test%d", i)), Dir: filepath.Join(root, name)}
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlayPath, "-o", b.Path, "./"+name)
		cmd.Dir = root
		if said, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("compile the tests of %s with its mutants: %w\n%s", name, err, said)
		}
		if _, err := os.Stat(b.Path); err != nil {
			return nil, fmt.Errorf("%s has no tests", name)
		}
		out = append(out, b)
	}
	return out, nil
}

// moduleRoot is the directory of go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// exemption is a mutant that no test can tell from the code, and why.
type exemption struct {
	Package  string
	Function string
	Operator operator
	Before   string
	After    string
	Again    int
	Reason   string
}

// readExemptions reads the file of excused mutants.
func readExemptions(path string) ([]*exemption, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []*exemption
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	for _, e := range list {
		if strings.TrimSpace(e.Reason) == "" {
			return nil, fmt.Errorf("%s: %s has no reason", filepath.Base(path), e)
		}
	}
	return list, nil
}

func (e *exemption) String() string {
	return fmt.Sprintf("%s: %s: %s: %s → %s", e.Package, e.Function, e.Operator, e.Before, e.After)
}

func (e *exemption) matches(m mutant) bool {
	return e.Package == m.Package && e.Function == m.Function && e.Operator == m.Operator && e.Before == m.Before && e.After == m.After && e.Again == m.Again
}

// applyExemptions gives a package's mutants their reasons. An entry for a mutant that is
// no longer there is refused: it would excuse the next one that looks like it.
// So is one for a mutant that a test notices.
func applyExemptions(results []result, all []mutant, list []*exemption, name string) error {
	var wrong []error
	for _, e := range list {
		if e.Package != name {
			continue
		}
		if !slices.ContainsFunc(all, e.matches) {
			wrong = append(wrong, fmt.Errorf("excused, but no mutant: %s", e))
		}
		for i := range results {
			if !e.matches(results[i].mutant) {
				continue
			}
			results[i].Reason = e.Reason
			if results[i].Fate != lived {
				wrong = append(wrong, fmt.Errorf("excused, but a test notices it: %s", e))
			}
		}
	}
	return errors.Join(wrong...)
}

// find finds the mutants of the file that is open.
func (w *writer) find() {
	ast.PreorderStack(w.file, nil, func(n ast.Node, stack []ast.Node) bool {
		w.function = functionOf(n, stack)
		switch n := n.(type) {
		case *ast.GenDecl:
			// The compiler needs constants, types and imports as they are.
			return n.Tok == token.VAR
		case *ast.ArrayType:
			return false
		case *ast.CallExpr:
			// No test of behaviour asks for what is logged, and for room that is kept.
			return !w.calls(n, "log/slog") && !w.keepsRoom(n)
		case *ast.BinaryExpr:
			w.binary(n)
		case *ast.Ident:
			w.truth(n, stack)
		case *ast.BasicLit:
			w.number(n, stack)
		case *ast.CompositeLit:
			w.list(n)
		case *ast.ReturnStmt:
			w.returned(n, stack)
		case *ast.IfStmt:
			w.condition(n.Cond)
			w.otherwise(n.Else)
		case *ast.ForStmt:
			w.condition(n.Cond)
		case *ast.CaseClause:
			w.clause(n, stack)
		case ast.Stmt:
			w.statement(n, stack)
		}
		return true
	})
}

// functionOf names the function that a node is in: "ranking.hide", or the
// variable that is declared.
func functionOf(n ast.Node, stack []ast.Node) string {
	for _, n := range append(stack[:len(stack):len(stack)], n) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil || len(n.Recv.List) == 0 {
				return n.Name.Name
			}
			t := n.Recv.List[0].Type
			for {
				switch of := t.(type) {
				case *ast.StarExpr:
					t = of.X
					continue
				case *ast.IndexExpr:
					t = of.X
					continue
				case *ast.Ident:
					return of.Name + "." + n.Name.Name
				}
				return n.Name.Name
			}
		case *ast.ValueSpec:
			return n.Names[0].Name
		}
	}
	return ""
}

// helpers are the functions of the chooser by what they do.
var helpers = map[token.Token]struct {
	name    string
	instead token.Token
	op      operator
}{
	token.LSS: {"mutantLess", token.LEQ, boundary},
	token.LEQ: {"mutantLessOrEqual", token.LSS, boundary},
	token.GTR: {"mutantMore", token.GEQ, boundary},
	token.GEQ: {"mutantMoreOrEqual", token.GTR, boundary},
	token.ADD: {"mutantAdd", token.SUB, arithmetic},
	token.SUB: {"mutantSubtract", token.ADD, arithmetic},
	token.MUL: {"mutantMultiply", token.QUO, arithmetic},
	token.QUO: {"mutantDivide", token.MUL, arithmetic},
	token.REM: {"mutantRemainder", token.MUL, arithmetic},
}

func (w *writer) binary(n *ast.BinaryExpr) {
	if w.isConstant(n) {
		return
	}
	switch n.Op {
	case token.LAND, token.LOR:
		w.both(n)
		return
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		w.condition(n)
	}
	h, ok := helpers[n.Op]
	if !ok {
		return
	}
	basic, ok := w.typeOf(n.X).Underlying().(*types.Basic)
	if !ok || h.op == arithmetic && basic.Info()&types.IsNumeric == 0 || basic.Info()&types.IsComplex != 0 {
		return
	}
	id := w.add(n.OpPos, h.op, w.sides(n, n.Op), w.sides(n, h.instead))
	w.place(n).base = func() string {
		return fmt.Sprintf("%s(%d, %s, %s)", h.name, id, w.write(n.X), w.write(n.Y))
	}
}

// sides is what stands on both sides of an operator, as much as a line of the
// report holds.
func (w *writer) sides(n *ast.BinaryExpr, op token.Token) string {
	return tail(w.raw(n.X)) + " " + op.String() + " " + head(w.raw(n.Y))
}

// both drops each operand of a chain of && or of || in its turn.
func (w *writer) both(n *ast.BinaryExpr) {
	if !isBool(w.typeOf(n)) {
		return
	}
	left, right := 0, 0
	if inner, ok := ast.Unparen(n.X).(*ast.BinaryExpr); !ok || inner.Op != n.Op {
		left = w.add(n.X.Pos(), dropped, w.raw(n.X)+" "+n.Op.String(), "nothing")
	}
	if inner, ok := ast.Unparen(n.Y).(*ast.BinaryExpr); !ok || inner.Op != n.Op {
		right = w.add(n.Y.Pos(), dropped, n.Op.String()+" "+w.raw(n.Y), "nothing")
	}
	w.asked[ast.Unparen(n.X)], w.asked[ast.Unparen(n.Y)] = true, true
	helper := "mutantAnd"
	if n.Op == token.LOR {
		helper = "mutantOr"
	}
	w.place(n).base = func() string {
		return fmt.Sprintf("%s(%d, %d, %s, func() bool { return %s })", helper, left, right, w.write(n.X), w.write(n.Y))
	}
}

func isBool(t types.Type) bool {
	b, ok := types.Unalias(t).(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// truth turns true and false, where they are given on. To set a key's value is
// not to be true, or not to be set: taken away already.
func (w *writer) truth(n *ast.Ident, stack []ast.Node) {
	if _, ok := stack[len(stack)-1].(*ast.AssignStmt); ok || w.besideError(stack[len(stack)-1]) || !w.isConstant(n) || w.pkg.TypesInfo.Uses[n].Parent() != types.Universe {
		return
	}
	w.condition(n)
}

// condition negates a condition that is not put together of others, whose
// operands are dropped, once.
func (w *writer) condition(e ast.Expr) {
	if e == nil || !isBool(w.typeOf(e)) || w.asked[ast.Unparen(e)] {
		return
	}
	w.asked[ast.Unparen(e)] = true
	switch inner := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		if inner.Op == token.LAND || inner.Op == token.LOR {
			return
		}
	case *ast.UnaryExpr:
		if _, ok := ast.Unparen(inner.X).(*ast.BinaryExpr); ok {
			w.condition(inner.X)
			return
		}
		w.asked[ast.Unparen(inner.X)] = true
	}
	id := w.add(e.Pos(), negate, w.raw(e), negated(w.raw(e), e))
	w.around(e, "mutantNegate(%d, ", id)
}

func negated(text string, e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return text[1:]
		}
	case *ast.BinaryExpr:
		return "!(" + text + ")"
	}
	return "!" + text
}

// operator is a kind of change.
type operator string

// The operators. Those that another one makes needless are left out: whoever
// sees an operand dropped from "a && b" also sees the operand negated, and && in
// the place of || (Just, Kapfhammer, Schweiggert, "Do redundant mutants affect
// the effectiveness and efficiency of mutation analysis?", 2012).
const (
	negate      operator = "negate"     // a condition, or a truth that is returned, is its opposite
	boundary    operator = "boundary"   // < is <=, > is >=, and back
	dropped     operator = "dropped"    // an operand of && or || is not asked
	arithmetic  operator = "arithmetic" // + is -, * is /, % is *, and back
	wholeNumber operator = "number"     // a whole number is one more, or one less
	step        operator = "step"       // i++ is i--, and back
	loop        operator = "loop"       // continue is break, and back
	removed     operator = "removed"    // a call for its effect, an assignment, a case or an else is not done
	zero        operator = "zero"       // what is returned is its type's zero value; an error is nil
	element     operator = "element"    // one of a list of strings is missing
)

// mutant is one change of one place.
type mutant struct {
	ID       int // what the environment names it by; from 1
	Package  string
	Position token.Position // File is relative to the module
	Function string
	Operator operator
	Before   string
	After    string
	// Again counts the mutants of the same function, operator and text before
	// this one.
	Again int
}

func (m mutant) String() string {
	again := ""
	if m.Again > 0 {
		again = fmt.Sprintf(" (again %d)", m.Again)
	}
	return fmt.Sprintf("%s:%d: %s: %s: %s → %s%s", m.Position.Filename, m.Position.Line, m.Function, m.Operator, m.Before, m.After, again)
}

// maxText is how many characters of code are shown of a mutant, and maxSide how
// many on each side of an operator.
const (
	maxText = 90
	maxSide = 44
)

// oneLine is a piece of code in one line, cut to what a line can hold.
func oneLine(code string) string { return cut(code, maxText, false) }

// head and tail are the beginning and the end of a piece of code.
func head(code string) string { return cut(code, maxSide, false) }
func tail(code string) string { return cut(code, maxSide, true) }

func cut(code string, most int, end bool) string {
	runes := []rune(strings.Join(strings.Fields(code), " "))
	switch n := len(runes); {
	case n <= most:
		return string(runes)
	case end:
		return "…" + string(runes[n-most+1:])
	}
	return string(runes[:most-1]) + "…"
}

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

// score is what came of mutants.
type score struct {
	Killed int
	// TimedOut are those with which the tests did not end. They count as noticed.
	TimedOut int
	Lived    int
	Excused  int
}

func (s *score) sum(of score) {
	s.Killed, s.TimedOut, s.Lived, s.Excused = s.Killed+of.Killed, s.TimedOut+of.TimedOut, s.Lived+of.Lived, s.Excused+of.Excused
}

func (s *score) add(r result) {
	switch {
	case r.Reason != "":
		s.Excused++
	case r.Fate == killed:
		s.Killed++
	case r.Fate == timedOut:
		s.TimedOut++
	default:
		s.Lived++
	}
}

func (s score) noticed() int { return s.Killed + s.TimedOut }

func (s score) tried() int { return s.noticed() + s.Lived }

// Of100 is how many of 100 were noticed. Where there is nothing to notice, all
// of it was.
func (s score) Of100() float64 {
	if s.tried() == 0 {
		return 100
	}
	return 100 * float64(s.noticed()) / float64(s.tried())
}

func (s score) String() string {
	return fmt.Sprintf("%.1f of 100 (%d of %d noticed, %d of them by a time limit; %d excused)", s.Of100(), s.noticed(), s.tried(), s.TimedOut, s.Excused)
}
