// Package authorization knows AWS's service authorization reference, as far as
// the stack's policies touch it, and finds what in a policy could not work:
// an action that does not exist, a resource that the action does not take, a
// condition key that is not in its requests.
package authorization

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed reference.txt
var referenceText string

// Reference is the table.
type Reference struct {
	services  []string
	actions   map[string]action  // by the action's name
	resources map[string]string  // ARN patterns, by service:type
	keys      map[string]keyType // by the key, which may end in a place to fill in
	global    map[string]keyType // keys that are in every request
}

// action is one action: its own condition keys, and the resources it takes.
type action struct {
	keys []string
	on   []resource
}

// resource is a type of resource that an action takes, and the keys that count
// for the action on it.
type resource struct {
	name     string
	required bool
	keys     []string
}

// keyType is the type of a condition key as the reference names it, e.g.
// "String", "ARN", "Bool" or "ArrayOfString".
type keyType string

// globalKeys are the keys of the IAM User Guide's "AWS global condition context
// keys" that may stand in the stack's policies. Tags of the resource and of the
// request are no such keys: a service has them or not.
func globalKeys() map[string]keyType {
	return map[string]keyType{
		"aws:PrincipalAccount": "String", "aws:PrincipalArn": "ARN", "aws:PrincipalOrgID": "String",
		"aws:RequestedRegion": "String", "aws:ResourceAccount": "String", "aws:SecureTransport": "Bool",
		"aws:SourceAccount": "String", "aws:SourceArn": "ARN", "aws:ViaAWSService": "Bool",
		// Lambda puts it into every request that is signed with the credentials
		// of a function's environment (Lambda Developer Guide, "Using source
		// function ARN to control function access behavior").
		"lambda:SourceFunctionArn": "ARN",
	}
}

// Load reads the table.
func Load() (*Reference, error) { return parse(referenceText) }

func parse(text string) (*Reference, error) {
	r := &Reference{actions: map[string]action{}, resources: map[string]string{}, keys: map[string]keyType{}, global: globalKeys()}
	var last string
	for n, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case f[0] == "service" && len(f) == 2:
			r.services = append(r.services, f[1])
		case f[0] == "action" && len(f) >= 2:
			last = f[1]
			r.actions[last] = action{keys: f[2:]}
		case f[0] == "on" && len(f) >= 2 && last != "":
			a := r.actions[last]
			name, required := strings.CutSuffix(f[1], "!")
			a.on = append(a.on, resource{name: name, required: required, keys: f[2:]})
			r.actions[last] = a
		case f[0] == "resource" && len(f) == 3:
			r.resources[f[1]] = f[2]
		case f[0] == "key" && len(f) == 3:
			r.keys[f[1]] = keyType(f[2])
		default:
			return nil, fmt.Errorf("reference.txt line %d is not understood: %q", n+1, line)
		}
	}
	return r, nil
}

// expand gives the actions that a name of a policy stands for. The name of an
// action is compared as it is written: IAM does not look at its case, but a
// person who searches does.
func (r *Reference) expand(name string) (actions []string, known bool) {
	service, rest, _ := strings.Cut(name, ":")
	if rest == "*" {
		return nil, slices.Contains(r.services, service)
	}
	for _, a := range sorted(r.actions) {
		if ok, _ := path.Match(name, a); ok {
			actions = append(actions, a)
		}
	}
	return actions, len(actions) > 0
}

func sorted[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// token is one sign of a pattern, or a run of signs.
type token struct {
	sign byte
	// any is "*": any signs or none. place is a place of the reference to fill
	// in: one sign or more, and no slash unless slashes is set.
	any, place, slashes bool
}

// places whose values may hold slashes.
var slashed = []string{"WithPath", "LogGroupName", "LogStreamName", "SecretId"}

// tokensOf reads an ARN of a policy, whose "*" stand for anything.
func tokensOf(arn string) []token {
	var out []token
	for i := range len(arn) {
		out = append(out, token{sign: arn[i], any: arn[i] == '*'})
	}
	return out
}

// placesOf reads an ARN of the reference, with its places of the form ${Name}.
func placesOf(arn string) []token {
	var out []token
	for arn != "" {
		if rest, ok := strings.CutPrefix(arn, "${"); ok {
			name, after, _ := strings.Cut(rest, "}")
			t := token{place: true}
			for _, end := range slashed {
				t.slashes = t.slashes || strings.HasSuffix(name, end)
			}
			out, arn = append(out, t), after
			continue
		}
		out, arn = append(out, token{sign: arn[0], any: arn[0] == '*'}), arn[1:]
	}
	return out
}

// holds reports whether a place may hold a sign. A colon parts the ARN.
func (t token) holds(sign byte) bool { return sign != ':' && (t.slashes || sign != '/') }

// overlap reports whether some ARN fits both: one written in a policy, and one
// of the reference.
func overlap(written, known []token) bool {
	switch {
	case len(written) == 0 && len(known) == 0:
		return true
	case len(written) > 0 && written[0].any:
		return overlap(written[1:], known) || len(known) > 0 && overlap(written, known[1:])
	case len(known) > 0 && known[0].any:
		return overlap(written, known[1:]) || len(written) > 0 && overlap(written[1:], known)
	case len(written) == 0 || len(known) == 0:
		return false
	case known[0].place:
		return known[0].holds(written[0].sign) && (overlap(written[1:], known[1:]) || overlap(written[1:], known))
	}
	return written[0].sign == known[0].sign && overlap(written[1:], known[1:])
}

// Statement is one statement of a policy, with its ARNs filled in as far as
// they are known: what is not is "*".
type Statement struct {
	// Where names the policy and the statement, for problems.
	Where   string
	Actions []string
	// Deny is set where the statement takes away: from everything is then right.
	Deny bool
	// Resources is empty in the policy that says who may take on a role.
	Resources []string
	// OfResource is set where the policy is a resource's own. "*" is then that
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

// fits reports whether a key of a policy is one of the reference, whose last part
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
