// Package authorization decides what a session of a role may do in the simulated
// account: by the organization's service control policies, the role's permissions
// boundary and its own policies. What it may not is said in EC2's words.
package authorization

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/iam"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/worldfile"
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

// request is what a caller asks IAM for.
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

// denied is the error as EC2 has it (aws/karpenter-provider-aws#7370,
// kubernetes-sigs/karpenter#2813), with an encoded message that STS decodes from
// then on. It is another one for each request, and the same for the same.
func denied(w *state.State, r request, why reason) error {
	var encoded strings.Builder
	for i := range 8 {
		sum := sha256.Sum256(fmt.Append(nil, i, r, why.text))
		encoded.WriteString(base64.RawURLEncoding.EncodeToString(sum[:]))
	}
	known := func(m worldfile.AuthorizationMessage) bool { return m.Encoded == encoded.String() }
	if !slices.ContainsFunc(w.File.STS.AuthorizationMessages, known) {
		text, err := decoded(r, why)
		if err != nil {
			return err
		}
		w.File.STS.AuthorizationMessages = append(w.File.STS.AuthorizationMessages, worldfile.AuthorizationMessage{Encoded: encoded.String(), Decoded: text})
	}
	e := wire.Errorf("UnauthorizedOperation", "You are not authorized to perform this operation. User: %s is not authorized to perform: %s on resource: %s %s. "+
		"Encoded authorization failure message: %s",
		r.caller, r.action, r.resource, why.text, encoded.String())
	e.Status = 403
	return e
}

// items is a list as STS writes it.
type items[T any] struct {
	Items []T `json:"items"`
}

type value struct {
	Value string `json:"value"`
}

type conditionKey struct {
	Key    string       `json:"key"`
	Values items[value] `json:"values"`
}

type matchedStatement struct {
	StatementID     string              `json:"statementId"`
	Effect          string              `json:"effect"`
	Principals      items[value]        `json:"principals"`
	PrincipalGroups items[value]        `json:"principalGroups"`
	Actions         items[value]        `json:"actions"`
	Resources       items[value]        `json:"resources"`
	Conditions      items[conditionKey] `json:"conditions"`
}

// decoded is what STS says of it (AWS CLI reference, sts decode-authorization-message;
// aws/karpenter-provider-aws#3176). A statement's conditions have no operator there.
func decoded(r request, why reason) (string, error) {
	_, session, _ := strings.Cut(r.caller, ":assumed-role/")
	role, session, _ := strings.Cut(session, "/")
	id := "AROA" + strings.ToUpper(ids.SHA256(role)[:17]) + ":" + session
	matched := items[matchedStatement]{Items: []matchedStatement{}}
	for _, s := range why.statements {
		m := matchedStatement{
			StatementID: s.SID, Effect: "DENY", Principals: valuesOf(strings.SplitN(id, ":", 2)[:1]), PrincipalGroups: valuesOf(nil),
			Actions: valuesOf(s.Actions), Resources: valuesOf(s.Resources), Conditions: items[conditionKey]{Items: []conditionKey{}},
		}
		for _, operator := range slices.Sorted(maps.Keys(s.Conditions)) {
			m.Conditions.Items = append(m.Conditions.Items, keysIn(s.Conditions[operator])...)
		}
		matched.Items = append(matched.Items, m)
	}
	text, err := json.Marshal(map[string]any{
		"allowed": false, "explicitDeny": len(why.statements) > 0, "matchedStatements": matched, "failures": items[value]{Items: []value{}},
		"context": map[string]any{
			"principal": map[string]any{"id": id, "arn": r.caller}, "action": r.action, "resource": r.resource, "conditions": items[conditionKey]{Items: keysIn(r.keys)},
		},
	})
	if err != nil {
		return "", fmt.Errorf("write an authorization message: %w", err)
	}
	return string(text), nil
}

func keysIn(keys map[string][]string) []conditionKey {
	list := []conditionKey{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		list = append(list, conditionKey{Key: key, Values: valuesOf(keys[key])})
	}
	return list
}

func valuesOf(list []string) items[value] {
	out := items[value]{Items: []value{}}
	for _, v := range list {
		out.Items = append(out.Items, value{v})
	}
	return out
}

// Launch is an instance that a caller wants to start.
type Launch struct {
	Type, Subnet, Image string
	Groups              []string
	Spot                bool
	// Tags are those of the request, by the kind of what they are for.
	Tags []ec2types.TagSpecification
	// Template is the id of its launch template, ProfileARN its instance profile.
	Template, ProfileARN string
	// TokensRequired is set where its metadata service wants a session token.
	TokensRequired bool
}

// Run is EC2's refusal of a RunInstances, nil where it is allowed (Service
// Authorization Reference, Amazon EC2, RunInstances). The role of the instance
// profile is passed with it, and tags are created with it.
func Run(w *state.State, caller string, l Launch) error {
	return launch(w, caller, "RunInstances", l, resource(w, "instance/*", "instance", l.Tags, map[string][]string{
		"ec2:InstanceType": {l.Type}, "ec2:MetadataHttpTokens": {map[bool]string{true: "required", false: "optional"}[l.TokensRequired]},
		"ec2:InstanceMarketType": {map[bool]string{true: "spot", false: "on-demand"}[l.Spot]},
	}))
}

// Fleet is EC2's refusal of a CreateFleet as a whole, before it starts anything
// (Service Authorization Reference, Amazon EC2, CreateFleet: a launch template on
// kubernetes-sigs/karpenter#2813, a subnet on aws/karpenter-provider-aws#5185).
func Fleet(w *state.State, caller string, l Launch) error {
	return launch(w, caller, "CreateFleet", l, resource(w, "fleet/*", "fleet", l.Tags, nil), resource(w, "instance/*", "instance", l.Tags, nil))
}

// Template is EC2's refusal of a CreateLaunchTemplate.
func Template(w *state.State, caller string, tags []ec2types.TagSpecification) error {
	return creates(w, caller, "CreateLaunchTemplate", []Resource{resource(w, "launch-template/*", "launch-template", tags, nil)}, nil)
}

// On is EC2's refusal of an action on instances that are there.
func On(w *state.State, caller, action string, instances []string, tags []ec2types.Tag) error {
	var list []Resource
	for _, id := range instances {
		r := Resource{ARN: w.ARN("ec2", "instance/"+id), Keys: map[string][]string{}}
		if in := w.Instances.Get(id); in != nil {
			tagged(r.Keys, "aws:ResourceTag/", in.Tags)
		}
		tagged(r.Keys, "aws:RequestTag/", tags)
		if len(tags) > 0 {
			r.Keys["aws:TagKeys"] = keysOf(tags)
		}
		list = append(list, r)
	}
	return Check(w, caller, action, list)
}

func launch(w *state.State, caller, action string, l Launch, own ...Resource) error {
	made := slices.Clone(own)
	for _, kind := range []string{"volume", "network-interface"} {
		made = append(made, resource(w, kind+"/*", kind, l.Tags, nil))
	}
	if l.Spot && action == "RunInstances" {
		made = append(made, resource(w, "spot-instances-request/*", "spot-instances-request", l.Tags, nil))
	}
	var used []Resource
	has := func(path string, tags []ec2types.Tag) {
		r := Resource{ARN: w.ARN("ec2", path), Keys: map[string][]string{}}
		tagged(r.Keys, "aws:ResourceTag/", tags)
		used = append(used, r)
	}
	if l.Template != "" {
		has("launch-template/"+l.Template, templateTags(w, l.Template))
	}
	if s := w.Subnets.Get(l.Subnet); s != nil {
		has("subnet/"+l.Subnet, s.Tags)
	}
	for _, id := range l.Groups {
		if g := w.SecurityGroups.Get(id); g != nil {
			has("security-group/"+id, g.Tags)
		}
	}
	if l.Image != "" {
		// Images have no account in their ARN.
		used = append(used, Resource{ARN: "arn:aws:ec2:" + w.Region + "::image/" + l.Image})
	}
	if err := creates(w, caller, action, made, used); err != nil {
		return err
	}
	if p := w.ProfileNamed("", l.ProfileARN); action == "RunInstances" && p != nil && len(p.Roles) > 0 {
		return Check(w, caller, "iam:PassRole", []Resource{{ARN: aws.ToString(p.Roles[0].Arn), Keys: map[string][]string{"iam:PassedToService": {"ec2.amazonaws.com"}}}})
	}
	return nil
}

// creates asks for an action, and for the tags that it gives what it makes.
func creates(w *state.State, caller, action string, made, used []Resource) error {
	if err := Check(w, caller, "ec2:"+action, slices.Concat(made, used)); err != nil {
		return err
	}
	for _, r := range made {
		if len(r.Keys["aws:TagKeys"]) == 0 {
			continue
		}
		r.Keys["ec2:CreateAction"] = []string{action}
		if err := Check(w, caller, "ec2:CreateTags", []Resource{r}); err != nil {
			return err
		}
	}
	return nil
}

// resource is what a call makes: it has no id yet.
func resource(w *state.State, path, kind string, specs []ec2types.TagSpecification, keys map[string][]string) Resource {
	r := Resource{ARN: w.ARN("ec2", path), Keys: map[string][]string{}}
	for key, values := range keys {
		r.Keys[key] = values
	}
	for _, s := range specs {
		if string(s.ResourceType) == kind && len(s.Tags) > 0 {
			tagged(r.Keys, "aws:RequestTag/", s.Tags)
			r.Keys["aws:TagKeys"] = keysOf(s.Tags)
		}
	}
	return r
}

func templateTags(w *state.State, id string) []ec2types.Tag {
	if t := w.Templates.Get(id); t != nil {
		return t.Tags
	}
	return nil
}

func tagged(keys map[string][]string, prefix string, tags []ec2types.Tag) {
	for _, t := range tags {
		keys[prefix+aws.ToString(t.Key)] = []string{aws.ToString(t.Value)}
	}
}

func keysOf(tags []ec2types.Tag) []string {
	var out []string
	for _, t := range tags {
		out = append(out, aws.ToString(t.Key))
	}
	return out
}
