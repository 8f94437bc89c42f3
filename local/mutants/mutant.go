package main

import (
	"fmt"
	"go/token"
	"strings"
)

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
