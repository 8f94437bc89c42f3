package authorization

import (
	"fmt"
	"slices"
	"strings"
)

// Statement is one statement of a policy, with its ARNs filled in as far as
// they are known: what is not is "*".
type Statement struct {
	// Where names the policy and the statement, for problems.
	Where   string
	Actions []string
	// Deny tells that the statement takes away: from everything is then right.
	Deny bool
	// Resources is empty in the policy that says who may take on a role.
	Resources []string
	// OfResource tells that the policy is a resource's own. "*" is then that
	// resource: a key's policy has to say so.
	OfResource bool
	// Conditions are the values by operator and key.
	Conditions map[string]map[string][]string
}

// Fault is what kind of problem was found.
type Fault string

// The faults.
const (
	UnknownAction     Fault = "there is no such action"
	TakesNoResource   Fault = `the action takes no resource: its Resource must be "*"`
	NeedsResource     Fault = "the action needs such a resource, and the statement has none"
	TooWide           Fault = `the action takes resources, and is granted on "*"`
	ForeignResource   Fault = "no action of the statement takes this resource"
	ForeignKey        Fault = "the condition key is not in the action's requests"
	WrongOperator     Fault = "the operator does not compare keys of this type"
	NeedsSetOperator  Fault = "the key has several values: ForAllValues or ForAnyValue is needed"
	UnknownOperator   Fault = "there is no such operator"
	UnknownKeyOfTable Fault = "the table has the key without a type"
)

// Problem is something in a statement that cannot work as it stands.
type Problem struct {
	Where string
	Fault Fault
	// About is the action, resource, key or operator.
	About string
}

// String is the problem in one line.
func (p Problem) String() string { return fmt.Sprintf("%s: %s: %s", p.Where, p.About, p.Fault) }

// Check finds what is wrong with a statement.
func (r *Reference) Check(s Statement) []Problem {
	c := checker{reference: r, statement: s}
	used := map[string]bool{}
	for _, name := range s.Actions {
		actions, known := r.expand(name)
		if !known {
			c.add(UnknownAction, name)
		}
		for _, a := range actions {
			c.action(a, used)
		}
		// All that a service does, on what it is granted on.
		if known && len(actions) == 0 {
			for _, arn := range s.Resources {
				used[arn] = true
			}
			c.conditions(name, nil)
		}
	}
	for _, arn := range s.Resources {
		if arn != "*" && !used[arn] && !slices.ContainsFunc(c.problems, func(p Problem) bool { return p.Fault == UnknownAction || p.Fault == TakesNoResource }) {
			c.add(ForeignResource, arn)
		}
	}
	return c.problems
}

type checker struct {
	reference *Reference
	statement Statement
	problems  []Problem
}

func (c *checker) add(f Fault, about string) {
	c.problems = append(c.problems, Problem{Where: c.statement.Where, Fault: f, About: about})
}

// inPolicy is the ARN of a resource as policies name it. The reference leaves out the ":*"
// that those of CloudWatch Logs have for a log group (botocore, logs/2014-03-28, LogGroup,
// arn).
func inPolicy(resource, arn string) string {
	if resource == "logs:log-group" {
		return arn + ":*"
	}
	return arn
}

// action looks at one action on the statement's resources.
func (c *checker) action(name string, used map[string]bool) {
	a := c.reference.actions[name]
	service, _, _ := strings.Cut(name, ":")
	all := slices.Contains(c.statement.Resources, "*")
	switch {
	case len(c.statement.Resources) == 0: // whose role it is stands nowhere
		c.conditions(name, a.keys)
		return
	case len(a.on) == 0:
		if !slices.Equal(c.statement.Resources, []string{"*"}) {
			c.add(TakesNoResource, name)
		}
		c.conditions(name, a.keys)
		return
	case all && !c.statement.OfResource && !c.statement.Deny:
		c.add(TooWide, name)
	}
	var keys [][]string
	found := map[string]bool{}
	for _, on := range a.on {
		known := placesOf(inPolicy(service+":"+on.name, c.reference.resources[service+":"+on.name]))
		for _, arn := range c.statement.Resources {
			if overlap(tokensOf(arn), known) { // "*" is on all of them
				used[arn], found[on.name] = true, true
			}
		}
		switch {
		case found[on.name]:
			keys = append(keys, on.keys)
		case on.required:
			c.add(NeedsResource, name+" "+on.name)
		}
	}
	if len(found) == 0 && !slices.ContainsFunc(a.on, func(r resource) bool { return r.required }) {
		c.add(NeedsResource, name)
	}
	c.conditions(name, append(slices.Clone(a.keys), inAll(keys)...))
}

// inAll are the keys that are in every one of the lists.
func inAll(lists [][]string) []string {
	if len(lists) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(lists[0]), func(key string) bool {
		return slices.ContainsFunc(lists[1:], func(l []string) bool { return !slices.Contains(l, key) })
	})
}

// conditions looks at the statement's keys, of which an action's requests have
// some.
func (c *checker) conditions(name string, keys []string) {
	for _, operator := range sorted(c.statement.Conditions) {
		for _, key := range sorted(c.statement.Conditions[operator]) {
			kind, ok := c.reference.global[key]
			if !ok {
				i := slices.IndexFunc(keys, func(k string) bool { return fits(key, k) })
				if i < 0 {
					c.add(ForeignKey, name+" "+key)
					continue
				}
				if kind = c.reference.keys[keys[i]]; kind == "" {
					c.add(UnknownKeyOfTable, keys[i])
					continue
				}
			}
			// What a service encrypts for may be an ARN: AWS compares it so itself
			// (CloudWatch Logs User Guide, "Encrypt log data in CloudWatch Logs
			// using AWS KMS": ArnEquals on kms:EncryptionContext:aws:logs:arn).
			if strings.HasPrefix(key, "kms:EncryptionContext:") && kind == "String" {
				kind = "ARN"
			}
			if f := compares(operator, kind); f != "" {
				c.add(f, fmt.Sprintf("%s %s (%s)", operator, key, kind))
			}
		}
	}
}

// fits tells whether a key of a policy is one of the reference, whose last part
// may be a place to fill in.
func fits(key, known string) bool {
	before, _, place := strings.Cut(known, "${")
	if place {
		return len(key) > len(before) && strings.EqualFold(key[:len(before)], before)
	}
	return strings.EqualFold(key, known)
}

// compares tells what is wrong with comparing keys of a type so. The operators
// are those of the IAM User Guide, "IAM JSON policy elements: condition
// operators"; a String operator compares an ARN too, as a text.
func compares(operator string, kind keyType) Fault {
	set, plain, isSet := strings.Cut(operator, ":")
	if !isSet {
		plain = operator
	} else if set != "ForAllValues" && set != "ForAnyValue" {
		return UnknownOperator
	}
	plain = strings.TrimSuffix(plain, "IfExists")
	element, array := strings.CutPrefix(string(kind), "ArrayOf")
	if plain == "Null" {
		return ""
	}
	var takes []string
	switch plain {
	case "StringEquals", "StringNotEquals", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase", "StringLike", "StringNotLike":
		takes = []string{"String", "ARN"}
	case "ArnEquals", "ArnNotEquals", "ArnLike", "ArnNotLike":
		takes = []string{"ARN"}
	case "Bool":
		takes = []string{"Bool"}
	case "NumericEquals", "NumericNotEquals", "NumericLessThan", "NumericLessThanEquals", "NumericGreaterThan", "NumericGreaterThanEquals":
		takes = []string{"Numeric", "Long"}
	case "DateEquals", "DateNotEquals", "DateLessThan", "DateLessThanEquals", "DateGreaterThan", "DateGreaterThanEquals":
		takes = []string{"Date"}
	case "IpAddress", "NotIpAddress":
		takes = []string{"IPAddress"}
	default:
		return UnknownOperator
	}
	if !slices.Contains(takes, element) {
		return WrongOperator
	}
	if array && !isSet {
		return NeedsSetOperator
	}
	return ""
}
