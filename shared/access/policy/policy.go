// Package policy decides what IAM policies and VPC endpoint policies say of a
// request: allowed, denied, or that it hangs on something that cannot be known
// from here. It never guesses: a condition, variable or pattern that cannot be
// decided is named in the decision.
package policy

import "fmt"

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

// Request is what somebody wants to do.
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

// Caller is who asks: a role, or an AWS service. Nothing set means somebody
// who is not known.
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
