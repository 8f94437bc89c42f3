package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
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

// inLoop tells that a function's loop is open, and that none of those that are
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
