package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

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
