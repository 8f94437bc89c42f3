// Package template reads a synthesised CloudFormation template into the plain
// structs that the local stage runs: functions, event source mappings,
// queues, rules, buses, schedules, tables, secrets and the permissions of
// each role.
//
// What runs locally is to be what would be deployed, so nothing is guessed:
// an intrinsic function, a property or a reference that is not understood is
// an error that names the logical id and the path. Resource types that the
// stage does not run (dashboards, log groups) are resolved like all
// others, so that a broken reference in them is found, and listed in Ignored.
package template

import (
	"errors"
	"fmt"
	"sort"
)

// Options are what CloudFormation would know about the place of the stack.
type Options struct {
	AccountID string // default 123456789012
	Region    string // default us-west-2
	StackName string // default Rollcall
	// Parameters override the defaults of the template's parameters.
	Parameters map[string]string
	// QueueURL is the start of queue URLs, without a slash at the end;
	// default https://sqs.<region>.amazonaws.com.
	QueueURL string
}

// Error says what in a template is not understood, and where.
type Error struct {
	LogicalID string
	// Path is the place in the resource, steps joined by dots.
	Path   string
	Reason string
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	if e.LogicalID == "" {
		return "template: " + e.Reason
	}
	return fmt.Sprintf("template: %s at %s: %s", e.LogicalID, e.Path, e.Reason)
}

// Parse reads a template in JSON. Its errors are *Error, joined if there are
// several.
func Parse(source []byte, o Options) (*Template, error) {
	if o.AccountID == "" {
		o.AccountID = "123456789012"
	}
	if o.Region == "" {
		o.Region = "us-west-2"
	}
	if o.StackName == "" {
		o.StackName = "Rollcall"
	}
	if o.QueueURL == "" {
		o.QueueURL = "https://sqs." + o.Region + ".amazonaws.com"
	}
	doc, err := readDocument(source)
	if err != nil {
		return nil, &Error{Reason: err.Error()}
	}
	r, err := newResolver(doc, o)
	if err != nil {
		return nil, err
	}
	t := &Template{AccountID: o.AccountID, Region: o.Region, StackName: o.StackName, Outputs: map[string]string{}}
	var errs []error
	var policies []attachedPolicy
	for _, id := range r.ids() {
		properties, err := r.properties(id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		more, err := t.add(r, id, properties)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		policies = append(policies, more...)
	}
	outputs, err := r.outputs()
	if err != nil {
		errs = append(errs, err)
	}
	t.Outputs = outputs
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if err := t.attach(policies); err != nil {
		return nil, err
	}
	return t, t.checkReferences()
}

// Function returns the function with that name or ARN.
func (t *Template) Function(nameOrARN string) (Function, bool) {
	for _, f := range t.Functions {
		if f.Name == nameOrARN || f.ARN == nameOrARN {
			return f, true
		}
	}
	return Function{}, false
}

// Queue returns the queue with that ARN.
func (t *Template) Queue(arn string) (Queue, bool) {
	for _, q := range t.Queues {
		if q.ARN == arn {
			return q, true
		}
	}
	return Queue{}, false
}

// Policy returns all statements that the role of the function with that name
// holds; none for a function that does not exist.
func (t *Template) Policy(functionName string) []Statement {
	f, ok := t.Function(functionName)
	if !ok {
		return nil
	}
	for _, r := range t.Roles {
		if r.ARN == f.RoleARN {
			return r.Statements
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
