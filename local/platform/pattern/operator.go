package pattern

import (
	"net/netip"
	"strconv"
	"strings"
)

// compilePredicate reads one alternative of a field's array: a plain value or
// an object with one operator.
func compilePredicate(path string, n node) (predicate, error) {
	switch n.kind {
	case kindObject:
		return compileOperator(path, n)
	case kindArray:
		return nil, refuse(path, "a match value must be a string, number, true, false, null or an operator")
	case kindNumber:
		return exactNumber(n.text), nil
	default:
		return exact{kind: n.kind, text: n.text}, nil
	}
}

func compileOperator(path string, n node) (predicate, error) {
	op, arg, err := single(path, n)
	if err != nil {
		return nil, err
	}
	at := join(path, op)
	switch op {
	case "prefix", "suffix":
		return compileAffix(at, op == "suffix", arg)
	case "equals-ignore-case":
		if arg.kind != kindString {
			return nil, refuse(at, "must be a string")
		}
		return equalFold{arg.text}, nil
	case "wildcard":
		return compileWildcard(at, arg)
	case "anything-but":
		return compileAnythingBut(at, arg)
	case "numeric":
		return compileNumeric(at, arg)
	case "cidr":
		return compileCIDR(at, arg)
	case "exists":
		if arg.kind != kindBool {
			return nil, refuse(at, "must be true or false")
		}
		return exists{want: arg.text == "true"}, nil
	default:
		return nil, refuse(path, "unknown operator %q", op)
	}
}

func single(path string, n node) (string, node, error) {
	if len(n.members) != 1 {
		return "", node{}, refuse(path, "exactly one operator is allowed, found %d", len(n.members))
	}
	return n.members[0].name, n.members[0].value, nil
}

func compileAffix(path string, suffix bool, arg node) (predicate, error) {
	switch arg.kind {
	case kindString:
		return affix{text: arg.text, suffix: suffix}, nil
	case kindObject:
		op, inner, err := single(path, arg)
		if err != nil {
			return nil, err
		}
		if op != "equals-ignore-case" {
			return nil, refuse(path, "unknown operator %q", op)
		}
		if inner.kind != kindString {
			return nil, refuse(join(path, op), "must be a string")
		}
		return affix{text: inner.text, suffix: suffix, fold: true}, nil
	default:
		return nil, refuse(path, "must be a string or {\"equals-ignore-case\": string}")
	}
}

func compileWildcard(path string, arg node) (predicate, error) {
	if arg.kind != kindString {
		return nil, refuse(path, "must be a string")
	}
	var parts []string
	var part strings.Builder
	star := false
	for i := 0; i < len(arg.text); i++ {
		c := arg.text[i]
		if c == '*' {
			if star {
				return nil, refuse(path, "consecutive wildcard characters are not allowed")
			}
			star = true
			parts = append(parts, part.String())
			part.Reset()
			continue
		}
		star = false
		if c == '\\' {
			i++
			if i == len(arg.text) || (arg.text[i] != '*' && arg.text[i] != '\\') {
				return nil, refuse(path, `a backslash may escape only "*" and "\"`)
			}
			c = arg.text[i]
		}
		part.WriteByte(c)
	}
	return wildcard{parts: append(parts, part.String())}, nil
}

// compileAnythingBut reads all forms: a string, a number, a list of either,
// or one of four operators on a string or a list of strings.
func compileAnythingBut(path string, arg node) (predicate, error) {
	if arg.kind == kindObject {
		op, inner, err := single(path, arg)
		if err != nil {
			return nil, err
		}
		return compileAnythingButOperator(join(path, op), op, inner)
	}
	values := arg.items
	if arg.kind != kindArray {
		values = []node{arg}
	}
	if len(values) == 0 {
		return nil, refuse(path, "an empty list is not allowed")
	}
	out := anythingBut{}
	for _, v := range values {
		if v.kind != kindString && v.kind != kindNumber {
			return nil, refuse(path, "must be a string, a number, or a list of one of them")
		}
		if v.kind != values[0].kind {
			return nil, refuse(path, "strings and numbers cannot be mixed in one list")
		}
		if v.kind == kindNumber {
			if _, ok := bounded(v.text); !ok {
				return nil, refuse(path, "number %s is out of range", v.text)
			}
			out.none = append(out.none, exactNumber(v.text))
			continue
		}
		out.none = append(out.none, exact{kind: kindString, text: v.text})
	}
	return out, nil
}

func compileAnythingButOperator(path, op string, arg node) (predicate, error) {
	values := arg.items
	if arg.kind != kindArray {
		values = []node{arg}
	}
	if len(values) == 0 {
		return nil, refuse(path, "an empty list is not allowed")
	}
	out := anythingBut{}
	for _, v := range values {
		if v.kind != kindString {
			return nil, refuse(path, "must be a string or a list of strings")
		}
		if v.text == "" && op != "equals-ignore-case" {
			return nil, refuse(path, "an empty string is not allowed")
		}
		switch op {
		case "prefix", "suffix":
			out.none = append(out.none, affix{text: v.text, suffix: op == "suffix"})
		case "equals-ignore-case":
			out.none = append(out.none, equalFold{v.text})
		case "wildcard":
			w, err := compileWildcard(path, v)
			if err != nil {
				return nil, err
			}
			out.none = append(out.none, w)
		default:
			return nil, refuse(path, "anything-but does not know operator %q", op)
		}
	}
	return out, nil
}

func compileNumeric(path string, arg node) (predicate, error) {
	if arg.kind != kindArray || (len(arg.items) != 2 && len(arg.items) != 4) {
		return nil, refuse(path, "must be an array of one or two comparisons")
	}
	out := numeric{}
	for i := 0; i < len(arg.items); i += 2 {
		op, val := arg.items[i], arg.items[i+1]
		if op.kind != kindString {
			return nil, refuse(path, "a comparison must start with an operator")
		}
		if val.kind != kindNumber {
			return nil, refuse(path, "the value of %q must be a number", op.text)
		}
		f, ok := bounded(val.text)
		if !ok {
			return nil, refuse(path, "number %s is not between -5.0e9 and 5.0e9", val.text)
		}
		switch op.text {
		case "=", "<", "<=", ">", ">=":
		default:
			return nil, refuse(path, "unknown comparison %q", op.text)
		}
		out = append(out, comparison{op: op.text, value: f})
	}
	if len(out) == 2 {
		// A range goes from below to above, in this order only.
		if out[0].op[0] != '>' || out[1].op[0] != '<' {
			return nil, refuse(path, `a range must be ">" or ">=" followed by "<" or "<="`)
		}
		if out[0].value >= out[1].value {
			return nil, refuse(path, "the lower bound must be less than the upper bound")
		}
	}
	return out, nil
}

func compileCIDR(path string, arg node) (predicate, error) {
	if arg.kind != kindString {
		return nil, refuse(path, "must be a string")
	}
	p, err := netip.ParsePrefix(arg.text)
	if err != nil {
		return nil, refuse(path, "%q is not a CIDR block", arg.text)
	}
	// event-ruler refuses a block of one address ("mask bits must be < 32").
	if p.IsSingleIP() {
		return nil, refuse(path, "mask bits must be less than %d", p.Addr().BitLen())
	}
	return cidr{p.Masked()}, nil
}

// maxNumber is the documented range of EventBridge's numeric matching:
// -5.0e9 to 5.0e9 inclusive.
const maxNumber = 5.0e9

// bounded returns the value of a JSON number if it is in the range in which
// EventBridge compares numbers by value.
func bounded(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < -maxNumber || f > maxNumber {
		return 0, false
	}
	return f, true
}

func exactNumber(text string) predicate {
	f, ok := bounded(text)
	return number{text: text, value: f, byValue: ok}
}
