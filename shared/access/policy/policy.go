// Package policy decides what IAM policies and VPC endpoint policies say of a
// request: allowed, denied, or that it hangs on something that cannot be known
// from here. It never guesses: a condition, variable or pattern that cannot be
// decided is named in the decision.
package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Document is a policy document.
type Document struct {
	// Name is what the document is called where it was found; a decision
	// names it. Parse leaves it empty.
	Name       string
	Statements []Statement
}

// Statement is one statement of a document.
type Statement struct {
	// Sid is empty for most statements; Place is then what tells them apart,
	// from 1.
	Sid   string
	Place int
	Deny  bool
	// Actions and Resources hold the patterns of Action and Resource, or, with
	// the flag beside it, of NotAction and NotResource. No resource at all (a
	// role's trust policy) means every resource.
	Actions         []string
	ExceptActions   bool
	Resources       []string
	ExceptResources bool
	// Principals is nil where the statement names none, as in a role's own
	// policies: it is then about whoever has the policy.
	Principals       []Principal
	ExceptPrincipals bool
	Conditions       []Condition
}

// Principal is one principal that a statement names.
type Principal struct {
	Kind  string // "AWS", "Service", "Federated", "CanonicalUser", or "*" for everybody
	Value string
}

// Condition is one key of a statement's Condition: any of the values will do,
// and all conditions must hold.
type Condition struct {
	Operator string // as written: "StringEquals", "ForAnyValue:StringLike", …
	Key      string
	Values   []string
}

// String is how a person finds the statement: its Sid, else its place.
func (s Statement) String() string {
	if s.Sid != "" {
		return s.Sid
	}
	return fmt.Sprintf("statement %d", s.Place)
}

// String is the condition as a person would say it.
func (c Condition) String() string { return "condition " + c.Operator + " " + c.Key }

// Request is what a caller wants to do.
type Request struct {
	// Action is one action, "ec2:DescribeInstances"; case does not matter.
	Action string
	// Resource is an ARN. A * in it stands for a part that is not known, "*"
	// alone for any resource: a statement about only some of those is neither
	// matched nor passed over. Unscoped is for actions that know no resource.
	Resource string
	// Caller is who asks.
	Caller Caller
	// Facts are the condition keys whose values are known, in any case
	// ("aws:RequestedRegion"). No values means that the request is known not
	// to carry the key. A key that is not here is not known.
	Facts map[string][]string
}

// Unscoped is the resource of an action without resource-level permissions,
// such as ec2:DescribeInstances or ecr:GetAuthorizationToken: only a statement
// about all resources ("*") is about it (Service Authorization Reference).
const Unscoped = ""

// Caller is a role or an AWS service. Nothing set means that it is not known.
type Caller struct {
	ARN     string // of the role, with its path
	Account string // taken from the ARN when it is empty
	Service string // "ec2.amazonaws.com"
}

// Verdict is what a policy says of a request.
type Verdict string

// The verdicts.
const (
	Allowed Verdict = "allowed"
	Denied  Verdict = "denied"      // by a Deny statement
	Silent  Verdict = "not granted" // nothing allows it, which denies it
	Depends Verdict = "depends"     // on what cannot be known from here
)

// Decision is a verdict and the statement that it rests on.
type Decision struct {
	Verdict Verdict
	// Document and Statement name what decided: the statement that allows,
	// denies or might. Empty for Silent, except for the name of a boundary
	// that grants too little.
	Document  string
	Statement string
	// On is what a Depends hangs on: "condition StringEquals aws:SourceVpc",
	// "resource arn:aws:s3:::bucket/*".
	On []string
}

// String is the decision in a few words.
func (d Decision) String() string {
	text := string(d.Verdict)
	switch {
	case d.Verdict == Depends && len(d.On) > 0:
		text += fmt.Sprintf(" on %s", d.On[0])
	case d.Verdict == Silent && d.Document != "":
		return text + " by " + d.Document
	}
	if d.Statement == "" {
		return text
	}
	text += ": " + d.Statement
	if d.Document != "" {
		text += " of " + d.Document
	}
	return text
}

// holds reports whether a condition holds for a request.
func (c Condition) holds(facts map[string][]string) truth {
	known, ok := facts[strings.ToLower(c.Key)]
	if !ok {
		return maybe
	}
	operator := strings.ToLower(c.Operator)
	if operator == "null" {
		return c.null(len(known) == 0)
	}
	operator, optional := strings.CutSuffix(operator, "ifexists")
	test, negated, ok := comparison(operator)
	if !ok {
		// Dates, numbers, addresses, and sets (ForAllValues, ForAnyValue).
		return maybe
	}
	switch {
	case len(known) == 0 && (optional || negated):
		return yes
	case len(known) == 0:
		return no
	case len(known) > 1:
		return maybe // several values need a set operator, whose meaning differs
	}
	is := anyOf(c.Values, func(value string) truth {
		open, variable := variables(value)
		switch {
		case variable && Matches(open, known[0]):
			return maybe
		case !variable && test(value, known[0]):
			return yes
		}
		return no
	})
	if negated {
		return is.not()
	}
	return is
}

// null decides the operator Null: "true" wants the key to be absent.
func (c Condition) null(absent bool) truth {
	return anyOf(c.Values, func(value string) truth {
		want, err := strconv.ParseBool(value)
		switch {
		case err != nil:
			return maybe
		case want == absent:
			return yes
		}
		return no
	})
}

// comparison is the test behind an operator, and whether it is the opposite
// of that test (IAM user guide, "IAM JSON policy elements: Condition operators").
func comparison(operator string) (test func(value, known string) bool, negated, ok bool) {
	equal := func(value, known string) bool { return value == known }
	switch operator {
	case "stringequals":
		return equal, false, true
	case "stringnotequals":
		return equal, true, true
	case "stringequalsignorecase", "bool":
		return strings.EqualFold, false, true
	case "stringnotequalsignorecase":
		return strings.EqualFold, true, true
	case "stringlike":
		return Matches, false, true
	case "stringnotlike":
		return Matches, true, true
	case "arnequals", "arnlike":
		return arnLike, false, true
	case "arnnotequals", "arnnotlike":
		return arnLike, true, true
	}
	return nil, false, false
}

// arnLike compares ARNs part by part: a * does not reach past a colon, except
// in the last part.
func arnLike(pattern, arn string) bool {
	p, a := strings.SplitN(pattern, ":", arnParts), strings.SplitN(arn, ":", arnParts)
	return len(p) == len(a) && slices.EqualFunc(p, a, Matches)
}

// Decide tells what the document alone says of a request.
func (d Document) Decide(r Request) Decision { return decide([]Document{d}, r) }

// Effective returns what a role's own policies together say of a request, within
// limits that each must allow it too: its permissions boundary, a session policy.
// Service control policies and the resource's own policy are not in it: they cannot
// be read with the role.
func Effective(policies, limits []Document, r Request) Decision {
	own := decide(policies, r)
	if own.Verdict == Denied {
		return own
	}
	var open *Decision
	for _, l := range limits {
		limit := decide([]Document{l}, r)
		switch {
		case limit.Verdict == Denied:
			return limit
		case limit.Verdict == Silent && own.Verdict != Silent:
			own = Decision{Verdict: Silent, Document: l.Name}
		case limit.Verdict == Depends && open == nil:
			open = &limit
		}
	}
	if open != nil && own.Verdict != Silent {
		return *open
	}
	return own
}

// decide follows IAM: a Deny wins, then an Allow, and nothing is a denial
// (IAM user guide, "Policy evaluation logic").
func decide(documents []Document, r Request) Decision {
	r.Facts = r.facts()
	var allow, mayAllow, mayDeny *Decision
	for _, d := range documents {
		for _, s := range d.Statements {
			is, on := s.matches(r)
			found := &Decision{Document: d.Name, Statement: s.String()}
			switch {
			case is == yes && s.Deny:
				found.Verdict = Denied
				return *found
			case is == yes && allow == nil:
				found.Verdict = Allowed
				allow = found
			case is == maybe:
				found.Verdict, found.On = Depends, on
				if s.Deny && mayDeny == nil {
					mayDeny = found
				}
				if !s.Deny && mayAllow == nil {
					mayAllow = found
				}
			}
		}
	}
	switch {
	case allow == nil && mayAllow == nil:
		return Decision{Verdict: Silent}
	case mayDeny != nil:
		return *mayDeny
	case allow != nil:
		return *allow
	}
	return *mayAllow
}

// facts are the request's, with those that follow from who asks.
func (r Request) facts() map[string][]string {
	all := map[string][]string{}
	if r.Caller.ARN != "" {
		all["aws:principalarn"] = []string{r.Caller.ARN}
	}
	if account := r.Caller.account(); account != "" {
		all["aws:principalaccount"] = []string{account}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Facts)) {
		all[strings.ToLower(key)] = r.Facts[key]
	}
	return all
}

// matches reports whether a statement applies to a request, and if that is not
// known, the context keys on which it depends.
func (s Statement) matches(r Request) (truth, []string) {
	action := anyOf(s.Actions, func(pattern string) truth {
		if Matches(strings.ToLower(pattern), strings.ToLower(r.Action)) {
			return yes
		}
		return no
	})
	if s.ExceptActions {
		action = action.not()
	}
	if action == no {
		return no, nil
	}
	var on []string
	resource := yes
	if len(s.Resources) > 0 {
		resource = anyOf(s.Resources, func(pattern string) truth { return about(pattern, r.Resource) })
	}
	if s.ExceptResources {
		resource = resource.not()
	}
	if resource == maybe {
		on = append(on, "resource "+strings.Join(s.Resources, ", "))
	}
	caller := s.names(r.Caller)
	if caller == maybe {
		on = append(on, "the principal")
	}
	is := min(resource, caller)
	for _, c := range s.Conditions {
		met := c.holds(r.Facts)
		if met == maybe {
			on = append(on, c.String())
		}
		is = min(is, met)
	}
	if is != maybe {
		return is, nil
	}
	return is, on
}

// arnParts is how many parts an ARN has: arn:partition:service:region:account:resource.
const arnParts = 6

// truth is yes, no, or "cannot be decided from here".
type truth int

const (
	no truth = iota
	maybe
	yes
)

func (t truth) not() truth { return yes - t }

// anyOf is yes when one of the list is.
func anyOf[T any](list []T, is func(T) truth) truth {
	best := no
	for _, v := range list {
		best = max(best, is(v))
	}
	return best
}

// Matches reports whether a pattern with * and ? matches a text. It takes time in
// proportion to the product of their lengths, whatever the pattern.
func Matches(pattern, text string) bool { return covers(pattern, text, false) }

// covers reports whether a pattern matches a text; with wild, every text that the
// second pattern matches. That is on the safe side: patterns exist that cover
// another one without this seeing it, such as "?*" over "*?".
func covers(pattern, text string, wild bool) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == text[t] || pattern[p] == '?') && !(wild && text[t] == '*'):
			p++
			t++
		case star >= 0:
			p, mark = star+1, mark+1
			t = mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// overlap reports whether some text is matched by both patterns.
func overlap(a, b string) bool {
	// row[j] reports whether a[i:] and b[j:] overlap; rows are made from the end.
	row := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		next := row
		row = make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && a[i] == '*':
				row[j] = next[j] || j < len(b) && row[j+1]
			case j < len(b) && b[j] == '*':
				row[j] = row[j+1] || i < len(a) && next[j]
			case i < len(a) && j < len(b):
				row[j] = (a[i] == b[j] || a[i] == '?' || b[j] == '?') && next[j+1]
			}
		}
	}
	return row[0]
}

// about reports whether a statement's resource pattern is about a request's
// resource, either of which can stand for many.
func about(pattern, resource string) truth {
	if resource == Unscoped {
		if strings.Trim(pattern, "*") == "" && pattern != "" {
			return yes
		}
		return no
	}
	// A policy variable is what the request makes of it, which is not known.
	open, variable := variables(pattern)
	switch {
	case !variable && covers(pattern, resource, true):
		return yes
	case overlapARN(open, resource):
		return maybe
	}
	return no
}

// overlapARN reports whether some ARN is matched by both patterns. The parts of an
// ARN are compared one by one: a * for an id does not stand for "a:subnet/b".
func overlapARN(a, b string) bool {
	p, q := strings.SplitN(a, ":", arnParts), strings.SplitN(b, ":", arnParts)
	if len(p) != arnParts || len(q) != arnParts {
		return overlap(a, b)
	}
	return slices.EqualFunc(p, q, overlap)
}

// variables replaces the policy variables of a text, ${aws:username}, by *.
func variables(text string) (open string, has bool) {
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			return text, has
		}
		end := strings.IndexByte(text[start:], '}')
		if end < 0 {
			return text[:start] + "*", true
		}
		text, has = text[:start]+"*"+text[start+end+1:], true
	}
}

// The largest document that AWS keeps is an endpoint's, 20,480 characters
// (VPC quotas); URL encoding makes at most three of each.
const maxDocument = 3 * 20_480

// Parse reads a policy document as IAM gives it (URL-encoded) or as EC2 does
// (not encoded). What is no policy is an error.
func Parse(document string) (Document, error) {
	if len(document) > maxDocument {
		return Document{}, fmt.Errorf("parse a policy: %d bytes, and AWS keeps none over %d", len(document), maxDocument)
	}
	text := strings.TrimSpace(document)
	if strings.HasPrefix(text, "%") {
		plain, err := url.PathUnescape(text)
		if err != nil {
			return Document{}, fmt.Errorf("decode a policy: %w", err)
		}
		text = plain
	}
	var raw struct{ Statement many[rawStatement] }
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return Document{}, fmt.Errorf("parse a policy: %w", err)
	}
	if len(raw.Statement) == 0 {
		return Document{}, errors.New("parse a policy: it has no statement")
	}
	var d Document
	for i, r := range raw.Statement {
		s, err := r.statement(i + 1)
		if err != nil {
			return Document{}, fmt.Errorf("parse statement %d of a policy: %w", i+1, err)
		}
		d.Statements = append(d.Statements, s)
	}
	return d, nil
}

// rawStatement is a statement as it is written.
type rawStatement struct {
	Sid                     string
	Effect                  string
	Action, NotAction       many[string]
	Resource, NotResource   many[string]
	Principal, NotPrincipal principals
	Condition               map[string]map[string]many[scalar]
}

func (r rawStatement) statement(place int) (Statement, error) {
	s := Statement{Sid: r.Sid, Place: place}
	switch strings.ToLower(r.Effect) {
	case "allow":
	case "deny":
		s.Deny = true
	default:
		return Statement{}, fmt.Errorf("the effect is %q", r.Effect)
	}
	if (len(r.Action) == 0) == (len(r.NotAction) == 0) {
		return Statement{}, errors.New("it needs one of Action and NotAction")
	}
	if len(r.Resource) > 0 && len(r.NotResource) > 0 {
		return Statement{}, errors.New("it has both Resource and NotResource")
	}
	if len(r.Principal) > 0 && len(r.NotPrincipal) > 0 {
		return Statement{}, errors.New("it has both Principal and NotPrincipal")
	}
	s.Actions, s.ExceptActions = either(r.Action, r.NotAction)
	s.Resources, s.ExceptResources = either(r.Resource, r.NotResource)
	s.Principals, s.ExceptPrincipals = either(r.Principal, r.NotPrincipal)
	for operator, keys := range r.Condition {
		for key, values := range keys {
			c := Condition{Operator: operator, Key: key}
			for _, v := range values {
				c.Values = append(c.Values, string(v))
			}
			s.Conditions = append(s.Conditions, c)
		}
	}
	slices.SortFunc(s.Conditions, func(a, b Condition) int { return strings.Compare(a.String(), b.String()) })
	return s, nil
}

// either is the one of two lists that is set, and whether it is the second.
func either[T any](list, not []T) ([]T, bool) {
	if len(not) > 0 {
		return not, true
	}
	return list, false
}

// many is one value or a list of them.
type many[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (m *many[T]) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]T)(m))
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	if string(data) != "null" {
		*m = many[T]{one}
	}
	return nil
}

// scalar is a string, or a number or a boolean as it is written.
type scalar string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(data []byte) error {
	switch {
	case len(data) > 0 && data[0] == '"':
		return json.Unmarshal(data, (*string)(s))
	case len(data) > 0 && (data[0] == '{' || data[0] == '[') || string(data) == "null":
		return fmt.Errorf("%.20q is no value of a condition", data)
	}
	*s = scalar(data)
	return nil
}

// principals is "*", or lists by kind.
type principals []Principal

// UnmarshalJSON implements json.Unmarshaler.
func (p *principals) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var all string
		if err := json.Unmarshal(data, &all); err != nil {
			return err
		}
		if all != "*" {
			return fmt.Errorf("the principal is %q", all)
		}
		*p = principals{{Kind: "*", Value: "*"}}
		return nil
	}
	var kinds map[string]many[string]
	if err := json.Unmarshal(data, &kinds); err != nil {
		return err
	}
	for kind, values := range kinds {
		for _, v := range values {
			*p = append(*p, Principal{Kind: kind, Value: v})
		}
	}
	if len(*p) == 0 {
		return errors.New("the principal is nobody")
	}
	slices.SortFunc(*p, func(a, b Principal) int { return strings.Compare(a.Kind+" "+a.Value, b.Kind+" "+b.Value) })
	return nil
}

// names reports whether a statement is about a caller.
func (s Statement) names(c Caller) truth {
	if s.Principals == nil {
		return yes
	}
	is := anyOf(s.Principals, c.matches)
	if s.ExceptPrincipals {
		return is.not()
	}
	return is
}

// matches reports whether a principal of a statement is the caller.
func (c Caller) matches(p Principal) truth {
	switch {
	case p.Kind == "*":
		return yes
	case c.Service != "":
		return c.service(p)
	case c.ARN == "" && c.account() == "":
		if p.Kind == "AWS" && p.Value == "*" {
			return yes
		}
		return maybe
	case p.Kind != "AWS":
		return no
	}
	return c.role(p.Value)
}

// service decides for a caller that is an AWS service.
func (c Caller) service(p Principal) truth {
	switch {
	case p.Kind == "AWS" && p.Value == "*":
		// The same as "*" in a policy of a resource (IAM user guide, "AWS JSON
		// policy elements: Principal"), but it is written with people in mind.
		return maybe
	case p.Kind == "Service" && strings.EqualFold(p.Value, c.Service):
		return yes
	}
	return no
}

// role decides for a caller that is a role, or anybody of an account.
func (c Caller) role(value string) truth {
	account := c.account()
	switch {
	case value == "*":
		return yes
	case value == account:
		return yes
	case accountOf(value) == account && resourceOf(value) == "root":
		return yes
	case c.ARN == "":
		if accountOf(value) == account {
			return maybe
		}
		return no
	case value == c.ARN:
		return yes
	case strings.HasPrefix(resourceOf(value), "assumed-role/") && accountOf(value) == account:
		// One session of a role; the path is not part of its ARN.
		name, _, _ := strings.Cut(strings.TrimPrefix(resourceOf(value), "assumed-role/"), "/")
		if strings.HasSuffix(c.ARN, "/"+name) {
			return maybe
		}
	}
	return no
}

func (c Caller) account() string {
	if c.Account != "" {
		return c.Account
	}
	return accountOf(c.ARN)
}

// accountOf and resourceOf are parts of an ARN:
// arn:aws:iam::123456789012:role/workers.
func accountOf(arn string) string {
	if parts := strings.SplitN(arn, ":", arnParts); len(parts) == arnParts {
		return parts[4]
	}
	return ""
}

func resourceOf(arn string) string {
	if parts := strings.SplitN(arn, ":", arnParts); len(parts) == arnParts {
		return parts[5]
	}
	return ""
}
