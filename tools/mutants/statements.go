package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// statement takes away what is done for its effect, and turns steps and jumps.
func (w *writer) statement(n ast.Stmt, stack []ast.Node) {
	if len(stack) == 0 || !inList(n, stack[len(stack)-1]) {
		return
	}
	switch n := n.(type) {
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok || w.noRemoval(call) {
			return
		}
		w.remove(n)
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE || allBlank(n.Lhs) {
			return
		}
		w.remove(n)
	case *ast.IncDecStmt:
		instead := token.DEC
		if n.Tok == token.DEC {
			instead = token.INC
		}
		changed := w.raw(n.X) + instead.String()
		w.swap(n, step, changed)
	case *ast.BranchStmt:
		w.jump(n, stack)
	}
}

// inList tells a statement that stands in a list of them, where another may.
func inList(n ast.Stmt, parent ast.Node) bool {
	switch parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		if p, ok := parent.(*ast.CommClause); ok && p.Comm == n {
			return false
		}
		return true
	}
	return false
}

func allBlank(list []ast.Expr) bool {
	for _, e := range list {
		if i, ok := e.(*ast.Ident); !ok || i.Name != "_" {
			return false
		}
	}
	return true
}

// noRemoval tells calls that no test of behaviour asks for: what is logged, and
// locks. A panic ends a function, which the compiler wants to know.
func (w *writer) noRemoval(call *ast.CallExpr) bool {
	if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "panic" {
		return true
	}
	return w.calls(call, "log/slog") || w.calls(call, "log") || w.calls(call, "sync")
}

func (w *writer) remove(n ast.Stmt) {
	id := w.add(n.Pos(), removed, w.raw(n), "nothing")
	p := w.place(n)
	p.around = append(p.around, func(text string) string { return fmt.Sprintf("if !mutantOn(%d) { %s }", id, text) })
}

func (w *writer) swap(n ast.Stmt, op operator, changed string) {
	id := w.add(n.Pos(), op, w.raw(n), changed)
	p := w.place(n)
	p.around = append(p.around, func(text string) string {
		return fmt.Sprintf("if mutantOn(%d) { %s } else { %s }", id, changed, text)
	})
}

// jump turns continue into break and back, where a loop that can end otherwise
// is what both belong to.
func (w *writer) jump(n *ast.BranchStmt, stack []ast.Node) {
	instead := token.BREAK
	if n.Tok == token.BREAK {
		instead = token.CONTINUE
	} else if n.Tok != token.CONTINUE {
		return
	}
	if !inLoop(stack) {
		return
	}
	changed := instead.String()
	if n.Label != nil {
		changed += " " + n.Label.Name
		if n.Tok == token.BREAK && !labelsLoop(n, stack) {
			return
		}
	}
	w.swap(n, loop, changed)
}

// inLoop reports whether a function's loop is open, and that none of those that are
// is without a condition: with no break in it the compiler takes its end for the
// function's.
func inLoop(stack []ast.Node) bool {
	found := false
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return found
		case *ast.ForStmt:
			if n.Cond == nil {
				return false
			}
			found = true
		case *ast.RangeStmt:
			found = true
		}
	}
	return found
}

func labelsLoop(n *ast.BranchStmt, stack []ast.Node) bool {
	for _, s := range stack {
		if l, ok := s.(*ast.LabeledStmt); ok && l.Label.Name == n.Label.Name {
			switch l.Stmt.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				return true
			}
		}
	}
	return false
}

// clause negates the condition of a case, or, where a value is compared or a
// type asked, does nothing in it.
func (w *writer) clause(n *ast.CaseClause, stack []ast.Node) {
	if len(stack) < 2 || len(n.Body) == 0 {
		return
	}
	body := stack[len(stack)-1].(*ast.BlockStmt)
	if s, ok := stack[len(stack)-2].(*ast.SwitchStmt); ok && s.Tag == nil {
		for _, e := range n.List {
			w.condition(e)
		}
		if n.List != nil {
			return
		}
	}
	w.listed(n, stack[len(stack)-2])
	// A break takes from the compiler the certainty that a switch returns.
	if ends(n.Body) && hasDefault(body) {
		return
	}
	text := "default"
	if n.List != nil {
		text = "case " + string(w.source[w.offset(n.List[0].Pos()):w.offset(n.List[len(n.List)-1].End())])
	}
	id := w.add(n.Pos(), removed, text, "nothing")
	w.place(n.Body[0]).before = fmt.Sprintf("if mutantOn(%d) { break }\n", id)
}

// listed leaves each of a case's several texts out.
func (w *writer) listed(n *ast.CaseClause, parent ast.Node) {
	s, ok := parent.(*ast.SwitchStmt)
	if !ok || s.Tag == nil || len(n.List) < 2 {
		return
	}
	t := w.typeOf(s.Tag)
	basic, ok := t.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsString == 0 {
		return
	}
	name, known := w.typeName(n.Pos(), t)
	if !known {
		return
	}
	for _, e := range n.List {
		if !w.isConstant(e) {
			continue
		}
		id := w.add(e.Pos(), element, w.raw(e), "without it")
		p := w.place(e)
		p.around = append(p.around, func(text string) string { return fmt.Sprintf("mutantPick[%s](%d, %s, %q)", name, id, text, none) })
	}
}

// none is a text that nothing is.
const none = "\x00none"

func hasDefault(body *ast.BlockStmt) bool {
	for _, s := range body.List {
		if c, ok := s.(*ast.CaseClause); ok && c.List == nil {
			return true
		}
	}
	return false
}

// ends tells statements behind which nothing is reached.
func ends(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch n := list[len(list)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.LabeledStmt:
		return true
	case *ast.BlockStmt:
		return ends(n.List)
	case *ast.IfStmt:
		return n.Else != nil
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		f, ok := call.Fun.(*ast.Ident)
		return ok && f.Name == "panic"
	}
	return false
}

// otherwise does nothing in an else. Where it is one statement, that one is
// taken away already.
func (w *writer) otherwise(s ast.Stmt) {
	block, ok := s.(*ast.BlockStmt)
	if !ok || len(block.List) < 2 || ends(block.List) {
		return
	}
	id := w.add(block.Pos(), removed, "else "+w.raw(block), "nothing")
	p := w.place(block)
	p.around = append(p.around, func(text string) string { return fmt.Sprintf("{ if !mutantOn(%d) %s }", id, text) })
}

// test is one test function, and what is known of it.
type test struct {
	Binary binary
	Name   string
	Takes  time.Duration // alone, of the processor
	// Reaches are the mutants that make a difference in what it runs: a test that
	// never compares equals cannot tell < from <=.
	Reaches map[int]bool
}

// limits of a try. The processor's time is what an endless loop is known by, as
// other work on the machine does not spend it; the clock's is for what waits for
// ever.
const (
	processorTimes = 4
	processorLeast = time.Second
	clockTimes     = 30
	clockLeast     = 30 * time.Second
	// memory is what a process may reserve, as a mutant may append for ever; Go
	// itself reserves about one gigabyte.
	memoryKiB = 6 << 20
)

// ending is how a test process ended.
type ending int

const (
	passed ending = iota
	failed
	outOfTime
)

// run runs tests of one binary in one process until the first fails.
func run(ctx context.Context, b binary, names []string, allowed time.Duration, environment ...string) (ending, time.Duration, string, error) {
	processor := max(processorLeast, processorTimes*allowed)
	clock := max(clockLeast, clockTimes*allowed)
	ctx, cancel := context.WithTimeout(ctx, clock)
	defer cancel()
	script := fmt.Sprintf(`ulimit -v %d; ulimit -t %d; exec "$0" "$@"`, memoryKiB, int(processor.Seconds())+1)
	cmd := exec.CommandContext(ctx, "sh", "-c", script, b.Path,
		"-test.run", "^("+strings.Join(names, "|")+")$", "-test.failfast", "-test.timeout", "0", "-test.count", "1")
	cmd.Dir = b.Dir
	cmd.Env = append(os.Environ(), environment...)
	// What a test started and left behind holds the pipes open.
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	var took time.Duration
	if cmd.ProcessState != nil {
		took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return passed, took, string(said), nil
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed, took, "", ctx.Err()
	case ctx.Err() != nil, took >= processor:
		return outOfTime, took, "", nil
	case errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return failed, took, string(said), nil
	}
	return failed, took, "", err
}

// record runs each test alone, and learns how long it takes and which mutants it
// reaches.
func record(ctx context.Context, binaries []binary, scratch string, workers int) ([]*test, error) {
	var tests []*test
	for _, b := range binaries {
		list := exec.CommandContext(ctx, b.Path, "-test.list", ".")
		list.Dir = b.Dir
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("list the tests of %s: %w", b.Package, err)
		}
		for name := range strings.FieldsSeq(string(out)) {
			if !strings.HasPrefix(name, "Benchmark") {
				tests = append(tests, &test{Binary: b, Name: name})
			}
		}
	}
	err := each(ctx, workers, len(tests), func(ctx context.Context, i int) error {
		t := tests[i]
		path := filepath.Join(scratch, "reached"+strconv.Itoa(i))
		how, took, said, err := run(ctx, t.Binary, []string{t.Name}, time.Minute, "MUTANTS_REACHED="+path)
		if err != nil {
			return err
		}
		if how != passed {
			return fmt.Errorf("%s of %s fails without a mutant:\n%s", t.Name, t.Binary.Package, said)
		}
		t.Takes, t.Reaches = took, map[int]bool{}
		reached, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for line := range strings.FieldsSeq(string(reached)) {
			id, err := strconv.Atoi(line)
			if err != nil {
				return err
			}
			t.Reaches[id] = true
		}
		return nil
	})
	slices.SortStableFunc(tests, func(a, b *test) int { return cmp.Compare(a.Takes, b.Takes) })
	return tests, err
}

// each does something for each of n, with some workers; the first error ends it.
func each(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return group.Wait()
}

// fate is what came of a mutant.
type fate int

const (
	lived fate = iota
	killed
	timedOut
)

// result is a mutant, and what came of it.
type result struct {
	mutant
	Fate  fate
	Tests int // that reach it
	// Reason is why it is excused; empty where it is not.
	Reason string
}

// batch is how long the tests of one process may take together: to start a
// process costs more than most tests.
const batch = 500 * time.Millisecond

// try runs the tests that reach a mutant, quickest first, until one fails.
func try(ctx context.Context, m mutant, tests []*test) (result, error) {
	r := result{mutant: m}
	var reaching []*test
	for _, t := range tests {
		if t.Reaches[m.ID] {
			reaching = append(reaching, t)
		}
	}
	r.Tests = len(reaching)
	for len(reaching) > 0 {
		b := reaching[0].Binary
		var names []string
		var together time.Duration
		n := 0
		for n < len(reaching) && reaching[n].Binary == b && (n == 0 || together+reaching[n].Takes <= batch) {
			names = append(names, reaching[n].Name)
			together += reaching[n].Takes
			n++
		}
		how, _, _, err := run(ctx, b, names, together, fmt.Sprintf("MUTANT=%d", m.ID))
		if err != nil {
			return r, fmt.Errorf("%s: %w", m, err)
		}
		switch how {
		case failed:
			r.Fate = killed
			return r, nil
		case outOfTime:
			r.Fate = timedOut
			return r, nil
		}
		reaching = reaching[n:]
	}
	return r, nil
}

// number makes a whole number one more and one less. A bound that it is compared
// with by < or > is moved by that operator already.
func (w *writer) number(n *ast.BasicLit, stack []ast.Node) {
	if n.Kind != token.INT {
		return
	}
	// The largest expression that the compiler computes, as it needs to.
	var whole ast.Expr = n
	var parent ast.Node
	at := len(stack) - 1
	for ; at >= 0; at-- {
		e, ok := stack[at].(ast.Expr)
		if !ok || !w.isConstant(e) {
			break
		}
		whole = e
	}
	for ; at >= 0; at-- {
		parent = stack[at]
		if _, ok := parent.(*ast.ParenExpr); !ok {
			break
		}
	}
	if w.besideError(parent) {
		return
	}
	switch p := parent.(type) {
	case *ast.BinaryExpr:
		switch p.Op {
		case token.LSS, token.LEQ, token.GTR, token.GEQ, token.SHL, token.SHR:
			return
		}
	case *ast.CallExpr:
		if w.calls(p, "time", "Date") {
			return
		}
	case *ast.KeyValueExpr:
		if p.Key == whole {
			return
		}
	}
	value, ok := constant.Int64Val(constant.MakeFromLiteral(n.Value, token.INT, 0))
	if !ok {
		return
	}
	basic, isBasic := w.typeOf(whole).Underlying().(*types.Basic)
	name, known := w.typeName(n.Pos(), types.Default(w.typeOf(whole)))
	if !isBasic || basic.Info()&types.IsNumeric == 0 || !known {
		return
	}
	start := w.offset(whole.Pos())
	text := w.raw(whole)
	changed := func(v int64) string {
		return text[:w.offset(n.Pos())-start] + strconv.FormatInt(v, 10) + text[w.offset(n.End())-start:]
	}
	values := []int64{value + 1}
	if value > 0 {
		values = append(values, value-1)
	}
	for _, v := range values {
		after := changed(v)
		id := w.add(n.Pos(), wholeNumber, text, after)
		p := w.place(whole)
		p.around = append(p.around, func(text string) string { return fmt.Sprintf("mutantPick[%s](%d, %s, %s)", name, id, text, after) })
	}
}

// list leaves each of a list's strings out.
func (w *writer) list(n *ast.CompositeLit) {
	s, ok := w.typeOf(n).Underlying().(*types.Slice)
	if !ok || len(n.Elts) < 2 || n.Type == nil {
		return
	}
	if b, ok := s.Elem().Underlying().(*types.Basic); !ok || b.Info()&types.IsString == 0 {
		return
	}
	first := 0
	for i, e := range n.Elts {
		if _, ok := e.(*ast.KeyValueExpr); ok {
			return
		}
		id := w.add(e.Pos(), element, w.raw(e), "without it")
		if i == 0 {
			first = id
		}
	}
	w.around(n, "mutantWithout(%d, ", first)
}

// returned gives back nothing in the place of what is returned, and the opposite
// of a truth.
func (w *writer) returned(n *ast.ReturnStmt, stack []ast.Node) {
	results := w.resultsOf(stack)
	if results == nil || len(n.Results) != results.Len() {
		return
	}
	for i, e := range n.Results {
		t := results.At(i).Type()
		switch {
		case isBool(t) && isBool(w.typeOf(e)):
			if !w.isConstant(e) || !w.besideError(n) {
				w.condition(e)
			}
		case isError(t):
			if isError(w.typeOf(e)) {
				w.zero(e, "error", "nil")
			}
		default:
			if tv := w.pkg.TypesInfo.Types[e]; tv.IsNil() || tv.Value != nil && isZero(tv.Value) {
				continue
			}
			if c, ok := ast.Unparen(e).(*ast.CompositeLit); ok && len(c.Elts) == 0 {
				continue
			}
			if _, isInterface := t.Underlying().(*types.Interface); isInterface {
				continue
			}
			if name, ok := w.typeName(e.Pos(), t); ok {
				w.zero(e, name, "its zero value")
			}
		}
	}
}

// besideError reports what returns an error too: the constants beside it are
// not looked at.
func (w *writer) besideError(n ast.Node) bool {
	r, ok := n.(*ast.ReturnStmt)
	if !ok || len(r.Results) < 2 {
		return false
	}
	last := r.Results[len(r.Results)-1]
	return isError(w.typeOf(last)) || types.Implements(w.typeOf(last), errorType)
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

func (w *writer) zero(e ast.Expr, typeName, after string) {
	id := w.add(e.Pos(), zero, "return "+w.raw(e), after)
	w.around(e, "mutantZero[%s](%d, ", typeName, id)
}

func isZero(v constant.Value) bool {
	switch v.Kind() {
	case constant.String:
		return constant.StringVal(v) == ""
	case constant.Int, constant.Float:
		return constant.Sign(v) == 0
	}
	return false
}

func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// resultsOf are what the function returns that is open.
func (w *writer) resultsOf(stack []ast.Node) *types.Tuple {
	for i := len(stack) - 1; i >= 0; i-- {
		var t types.Type
		switch f := stack[i].(type) {
		case *ast.FuncLit:
			t = w.typeOf(f)
		case *ast.FuncDecl:
			t = w.typeOf(f.Name)
		default:
			continue
		}
		if signature, ok := t.(*types.Signature); ok {
			return signature.Results()
		}
		return nil
	}
	return nil
}

// keepsRoom tells a make whose sizes are room that is kept: of a map, or of a
// slice that has a length too.
func (w *writer) keepsRoom(call *ast.CallExpr) bool {
	if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "make" {
		return false
	}
	_, isMap := w.typeOf(call).Underlying().(*types.Map)
	return isMap || len(call.Args) == 3
}

// calls tells a call of a function of a package, by the package's path.
func (w *writer) calls(call *ast.CallExpr, path string, names ...string) bool {
	f := w.called(call)
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != path {
		return false
	}
	for _, name := range names {
		if f.Name() == name {
			return true
		}
	}
	return len(names) == 0
}

// called is the function or method that is called; nil where it is none by name.
func (w *writer) called(call *ast.CallExpr) types.Object {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return w.pkg.TypesInfo.Uses[f]
	case *ast.SelectorExpr:
		return w.pkg.TypesInfo.Uses[f.Sel]
	}
	return nil
}
