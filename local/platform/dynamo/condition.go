package dynamo

import (
	"regexp"
	"strings"
)

// condition is an expression as Rollcall writes them: attribute_not_exists(#a), and
// comparisons of an attribute with a value (=, <=, >=, BETWEEN), joined by AND and OR.
type condition struct {
	op   string // "AND", "OR", "attribute_not_exists", "=", "<=", ">=" or "BETWEEN"
	args []condition
	name string
	// low is what a comparison is with, high the other end of BETWEEN.
	low, high value
}

// words are the tokens of an expression.
var words = regexp.MustCompile(`[#:]\w+|\w+|<=|>=|<>|[<>=(),]|\S`)

type parser struct {
	words  []string
	names  map[string]string
	values map[string]value
	// usedNames and usedValues are the placeholders that stood in the expression:
	// DynamoDB refuses a request with others.
	usedNames, usedValues map[string]bool
}

// parse reads an expression, and refuses names and values that do not stand in it.
func parse(text string, names map[string]string, values map[string]value) (condition, error) {
	p := &parser{words: words.FindAllString(text, -1), names: names, values: values, usedNames: map[string]bool{}, usedValues: map[string]bool{}}
	c, err := p.or()
	if err != nil {
		return condition{}, err
	}
	if len(p.words) > 0 {
		return condition{}, unknown("%q in the expression %q", p.words[0], text)
	}
	return c, unused(names, values, p.usedNames, p.usedValues)
}

func unused(names map[string]string, values map[string]value, usedNames, usedValues map[string]bool) error {
	for _, name := range sorted(names) {
		if !usedNames[name] {
			return invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", name)
		}
	}
	for _, name := range sorted(values) {
		if !usedValues[name] {
			return invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", name)
		}
	}
	return nil
}

func (p *parser) or() (condition, error) { return p.joined("OR", p.and) }

func (p *parser) and() (condition, error) { return p.joined("AND", p.single) }

// joined reads what stands between one operator. AND binds tighter than OR
// (Developer Guide, "Condition and filter expressions, operators, and functions").
func (p *parser) joined(op string, next func() (condition, error)) (condition, error) {
	c, err := next()
	if err != nil {
		return c, err
	}
	all := condition{op: op, args: []condition{c}}
	for p.take(op) {
		if c, err = next(); err != nil {
			return c, err
		}
		all.args = append(all.args, c)
	}
	if len(all.args) == 1 {
		return c, nil
	}
	return all, nil
}

// take takes a word, if it is the next.
func (p *parser) take(word string) bool {
	if len(p.words) == 0 || !strings.EqualFold(p.words[0], word) {
		return false
	}
	p.words = p.words[1:]
	return true
}

func (p *parser) single() (c condition, err error) {
	if p.take("attribute_not_exists") {
		c.op = "attribute_not_exists"
		if !p.take("(") {
			return c, unknown("attribute_not_exists without a bracket")
		}
		if c.name, err = p.name(); err != nil {
			return c, err
		}
		if !p.take(")") {
			return c, unknown("attribute_not_exists of more than a name")
		}
		return c, nil
	}
	if c.name, err = p.name(); err != nil {
		return c, err
	}
	for _, op := range []string{"=", "<=", ">=", "BETWEEN"} {
		if !p.take(op) {
			continue
		}
		c.op = op
		if c.low, err = p.value(); err != nil || op != "BETWEEN" {
			return c, err
		}
		if !p.take("AND") {
			return c, unknown("BETWEEN without AND")
		}
		c.high, err = p.value()
		return c, err
	}
	return c, unknown("the comparison %q", strings.Join(p.words[:min(1, len(p.words))], ""))
}

// name reads a placeholder of a name. A name itself could be a reserved word, of
// which DynamoDB has hundreds: Rollcall writes none.
func (p *parser) name() (string, error) {
	if len(p.words) == 0 || !strings.HasPrefix(p.words[0], "#") {
		return "", unknown("the name %q", strings.Join(p.words[:min(1, len(p.words))], ""))
	}
	word := p.words[0]
	p.words = p.words[1:]
	name, ok := p.names[word]
	if !ok {
		return "", invalid("Invalid expression: An expression attribute name used in the document path is not defined; attribute name: %s", word)
	}
	p.usedNames[word] = true
	return name, nil
}

func (p *parser) value() (value, error) {
	if len(p.words) == 0 || !strings.HasPrefix(p.words[0], ":") {
		return value{}, unknown("the value %q", strings.Join(p.words[:min(1, len(p.words))], ""))
	}
	word := p.words[0]
	p.words = p.words[1:]
	v, ok := p.values[word]
	if !ok {
		return value{}, invalid("Invalid expression: An expression attribute value used in expression is not defined; attribute value: %s", word)
	}
	p.usedValues[word] = true
	return v, nil
}

// holds tells whether a condition is true of an item; nil is one that is not there.
// What an item does not have compares with nothing.
func (c condition) holds(it item) bool {
	switch c.op {
	case "AND":
		for _, arg := range c.args {
			if !arg.holds(it) {
				return false
			}
		}
		return true
	case "OR":
		for _, arg := range c.args {
			if arg.holds(it) {
				return true
			}
		}
		return false
	}
	v, there := it[c.name]
	if c.op == "attribute_not_exists" {
		return !there
	}
	order, comparable := v.compare(c.low)
	if !there || !comparable {
		return false
	}
	switch c.op {
	case "=":
		return order == 0
	case "<=":
		return order <= 0
	case ">=":
		return order >= 0
	}
	above, comparable := v.compare(c.high)
	return comparable && order >= 0 && above <= 0
}

// keyCondition takes a query's condition apart: the value of the hash key, and what
// is asked of the range key.
func keyCondition(c condition, hash, ranged string) (of value, asked []condition, err error) {
	parts := []condition{c}
	if c.op == "AND" {
		parts = c.args
	}
	found := false
	for _, part := range parts {
		switch {
		case part.op == "OR" || part.op == "attribute_not_exists":
			return value{}, nil, invalid("Invalid operator used in KeyConditionExpression: %s", part.op)
		case part.name == hash && part.op == "=" && !found:
			of, found = part.low, true
		case part.name == hash:
			return value{}, nil, invalid("Query key condition not supported")
		case part.name == ranged && len(asked) == 0:
			asked = append(asked, part)
		default:
			return value{}, nil, invalid("Query condition missed key schema element")
		}
	}
	if !found {
		return value{}, nil, invalid("Query condition missed key schema element: %s", hash)
	}
	if of.kind != "S" || len(asked) == 1 && (asked[0].low.kind != "S" || asked[0].op == "BETWEEN" && asked[0].high.kind != "S") {
		return value{}, nil, invalid("One or more parameter values were invalid: Condition parameter type does not match schema type")
	}
	return of, asked, nil
}
