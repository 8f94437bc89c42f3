// Package authorization decides what a session of a role may do in the simulated
// account: by the organisation's service control policies, the role's permissions
// boundary and its own policies. What it may not is said in EC2's words.
package authorization

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
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
	// limits tells that the layer grants nothing by itself, but bounds what others do.
	limits bool
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
		if why != "" {
			return denied(caller, action, r.ARN, why, keys)
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
	var control layer
	control.name, control.limits = "service control policy", true
	control.statements = []template.Statement{everything("FullAWSAccess")}
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
			layers = append(layers, layer{"permissions boundary", list, true})
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

// refusal is why an action is not allowed, in IAM's words (IAM user guide,
// "Troubleshoot access denied error messages"); empty where it is.
func refusal(layers []layer, action, resource string, keys map[string][]string) (string, error) {
	for _, l := range layers {
		denies := slices.DeleteFunc(slices.Clone(l.statements), func(s template.Statement) bool { return s.Effect != "Deny" })
		ok, err := template.Allows(append(denies, everything("")), action, resource, keys)
		if err != nil || !ok {
			return "with an explicit deny in " + article(l) + l.name, err
		}
	}
	for _, l := range slices.Backward(layers) {
		ok, err := template.Allows(l.statements, action, resource, keys)
		if err != nil || !ok {
			return "because no " + l.name + " allows the " + action + " action", err
		}
	}
	return "", nil
}

func article(l layer) string {
	if strings.HasPrefix(l.name, "i") {
		return "an "
	}
	return "a "
}

// denied is the error as EC2 has it (aws/karpenter-provider-aws#7370,
// kubernetes-sigs/karpenter#2813). The encoded message is for
// sts:DecodeAuthorizationMessage, and another one for each request.
func denied(caller, action, resource, why string, keys map[string][]string) error {
	var encoded strings.Builder
	for i := range 8 {
		sum := sha256.Sum256(fmt.Append(nil, i, caller, action, resource, why, keys))
		encoded.WriteString(base64.RawURLEncoding.EncodeToString(sum[:]))
	}
	e := wire.Errorf("UnauthorizedOperation", "You are not authorized to perform this operation. User: %s is not authorized to perform: %s on resource: %s %s. Encoded authorization failure message: %s",
		caller, action, resource, why, encoded.String())
	e.Status = 403
	return e
}
