package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
)

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

// besideError tells what returns an error too: nobody looks at the constants
// beside it.
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
