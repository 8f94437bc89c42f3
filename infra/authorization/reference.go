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
