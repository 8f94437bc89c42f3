// Package authorization decides what a session of a role may do in the simulated
// account: by the organisation's service control policies, the role's permissions
// boundary and its own policies. What it may not is said in EC2's words.
package authorization

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/local/platform/template"
	"rollcall/local/simaws/iam"
	"rollcall/local/simaws/state"
)

// Resource is something that a call is about, with the condition keys that the
// request has for it.
type Resource struct {
	ARN  string
	Keys map[string][]string
}

// layer is a set of policies that are judged together, and what IAM calls it.
type layer struct {
	name       string
	statements []template.Statement
}

// Check is EC2's refusal of an action on resources, nil where all of it is
// allowed. caller is the ARN of a role's session; anybody else may do everything.
//
// A Deny of any layer wins; then every layer must allow it (IAM user guide,
// "Policy evaluation logic"). A role that the world does not list, or one of whose
// managed policies it does not know, is bound by service control policies alone.
func Check(w *state.State, caller, action string, resources []Resource) error {
	role, ok := roleOf(caller)
	if !ok {
		return nil
	}
	layers, err := layersOf(w, role)
	if err != nil {
		return err
	}
	for _, r := range resources {
		keys := map[string][]string{
			"aws:RequestedRegion": {w.Region}, "aws:PrincipalAccount": {w.Account}, "aws:PrincipalArn": {"arn:aws:iam::" + w.Account + ":role/" + role},
			"ec2:Region": {w.Region},
		}
		for key, values := range r.Keys {
			keys[key] = values
		}
		why, err := refusal(layers, action, r.ARN, keys)
		if err != nil {
			return fmt.Errorf("judge %s on %s: %w", action, r.ARN, err)
		}
		if why.text != "" {
			return denied(w, request{caller, action, r.ARN, keys}, why)
		}
	}
	return nil
}

func roleOf(caller string) (string, bool) {
	_, session, ok := strings.Cut(caller, ":assumed-role/")
	role, _, _ := strings.Cut(session, "/")
	return role, ok && role != ""
}

// layersOf are those that a role's session is judged by.
func layersOf(w *state.State, name string) ([]layer, error) {
	control := layer{"service control policy", []template.Statement{everything("FullAWSAccess")}}
	for _, p := range w.ControlPolicies {
		list, err := template.ReadPolicy(p.Name, p.Document)
		if err != nil {
			return nil, err
		}
		control.statements = append(control.statements, list...)
	}
	layers := []layer{control}
	role := w.Roles.Get(name)
	if role == nil {
		return layers, nil
	}
	if b := role.PermissionsBoundary; b != nil {
		if text, known := iam.Document(w, b.PermissionsBoundaryArn); known {
			list, err := template.ReadPolicy("boundary", text)
			if err != nil {
				return nil, err
			}
			layers = append(layers, layer{"permissions boundary", list})
		}
	}
	own := layer{name: "identity-based policy"}
	for _, p := range role.RolePolicyList {
		list, err := template.ReadPolicy(*p.PolicyName, iam.Plain(p.PolicyDocument))
		if err != nil {
			return nil, err
		}
		own.statements = append(own.statements, list...)
	}
	for _, p := range role.AttachedManagedPolicies {
		text, known := iam.Document(w, p.PolicyArn)
		if !known {
			own.statements = append(own.statements, everything(*p.PolicyArn))
			continue
		}
		list, err := template.ReadPolicy(*p.PolicyArn, text)
		if err != nil {
			return nil, err
		}
		own.statements = append(own.statements, list...)
	}
	return append(layers, own), nil
}

func everything(source string) template.Statement {
	return template.Statement{Source: source, Effect: "Allow", Actions: []string{"*"}, Resources: []string{"*"}}
}

// request is what somebody asks IAM for.
type request struct {
	caller, action, resource string
	keys                     map[string][]string
}

// reason is why a request is not allowed, in IAM's words, and the statements that
// deny it, if any do.
type reason struct {
	text       string
	statements []template.Statement
}

// refusal is why an action is not allowed (IAM user guide, "Troubleshoot access denied
// error messages"); without a text it is.
func refusal(layers []layer, action, resource string, keys map[string][]string) (reason, error) {
	for _, l := range layers {
		var found []template.Statement
		for _, s := range l.statements {
			if s.Effect != "Deny" {
				continue
			}
			ok, err := template.Allows([]template.Statement{s, everything("")}, action, resource, keys)
			if err != nil {
				return reason{}, err
			}
			if !ok {
				found = append(found, s)
			}
		}
		if len(found) > 0 {
			return reason{"with an explicit deny in " + article(l) + l.name, found}, nil
		}
	}
	for _, l := range slices.Backward(layers) {
		ok, err := template.Allows(l.statements, action, resource, keys)
		if err != nil {
			return reason{}, err
		}
		if !ok {
			return reason{text: "because no " + l.name + " allows the " + action + " action"}, nil
		}
	}
	return reason{}, nil
}

func article(l layer) string {
	if strings.HasPrefix(l.name, "i") {
		return "an "
	}
	return "a "
}
