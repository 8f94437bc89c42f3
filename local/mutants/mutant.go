package main

import (
	"fmt"
	"go/token"
	"strings"
	"unicode/utf8"
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

// maxText is how long a text of code may be in a line of the report.
const maxText = 90

// oneLine is a piece of code in one line, cut to what a line can hold.
func oneLine(code string) string {
	code = strings.Join(strings.Fields(code), " ")
	if utf8.RuneCountInString(code) > maxText {
		return string([]rune(code)[:maxText-1]) + "…"
	}
	return code
}
