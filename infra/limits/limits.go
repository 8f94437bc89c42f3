// Package limits tells what of a template AWS would refuse for its size, before
// anything is deployed: CloudFormation itself says so in the middle of a
// deployment, and rolls it back.
package limits

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// What AWS takes.
const (
	// Resources of a stack (CloudFormation quotas, "Resources").
	Resources = 500
	// TemplateBytes are those of a template in S3. CloudFormation's quotas and
	// the model of CreateStack (TemplateURL) say "1 MB"; cfn-lint, which AWS
	// keeps, reads it as 1,000,000 (E1002, cfnlint.helpers.LIMITS), the
	// smaller of the two readings.
	TemplateBytes = 1_000_000
	// InlinePolicies are the characters of a role's inline policies together,
	// ManagedPolicy those of a managed one, white space not counted in either
	// (IAM and STS quotas, "IAM and STS character limits").
	InlinePolicies = 10_240
	ManagedPolicy  = 6_144
	// ManagedPolicies of a role, unless the quota is raised.
	ManagedPolicies = 10
	// TrustPolicy is of characters too; the quota can be raised to 4,096.
	TrustPolicy = 2_048
	// Environment is in bytes, names and values together (Lambda quotas,
	// "Environment variables": 4 KB).
	Environment = 4_096
)

// Exceeded is something that is larger than AWS takes.
type Exceeded struct {
	What      string
	Has, Most int
	// Unit is what is counted.
	Unit string
	// Do says what an operator can do about it.
	Do string
}

// Error says the number, the limit and what to do.
func (e *Exceeded) Error() string {
	return fmt.Sprintf("%s: %d %s, AWS takes %d. %s", e.What, e.Has, e.Unit, e.Most, e.Do)
}

const (
	fewer       = "Name fewer clusters in this setting, or deploy a second stack for some of them (stackName=…)."
	fewerRights = "Let fewer clusters opt in to remedies and cleanup, or deploy a second stack for some of them (stackName=…)."
)

// Template is what is counted of a template.
type Template struct {
	Bytes     int
	Resources map[string]int // by type
	// By logical id.
	Roles        map[string]Role
	Environments map[string]int
}

// Role is how large a role's policies are.
type Role struct {
	Trust, Inline int
	// Managed are those that the template attaches to it.
	Managed []int
}

type resource struct {
	Type       string
	Properties map[string]any
}

// Measure counts. References are taken for as long as they can get.
func Measure(source []byte) (Template, error) {
	var doc struct{ Resources map[string]resource }
	if err := json.Unmarshal(source, &doc); err != nil {
		return Template{}, fmt.Errorf("read the template: %w", err)
	}
	t := Template{Bytes: len(source), Resources: map[string]int{}, Roles: map[string]Role{}, Environments: map[string]int{}}
	l := longest{doc.Resources}
	managed := map[string][]int{}
	for _, id := range slices.Sorted(maps.Keys(doc.Resources)) {
		r := doc.Resources[id]
		t.Resources[r.Type]++
		switch r.Type {
		case "AWS::IAM::Role":
			role := Role{Trust: l.size(r.Properties["AssumeRolePolicyDocument"])}
			policies, _ := r.Properties["Policies"].([]any)
			for _, p := range policies {
				policy, _ := p.(map[string]any)
				role.Inline += l.size(policy["PolicyDocument"])
			}
			t.Roles[id] = role
		case "AWS::IAM::ManagedPolicy":
			roles, _ := r.Properties["Roles"].([]any)
			for _, of := range roles {
				ref, _ := of.(map[string]any)
				to, _ := ref["Ref"].(string)
				managed[to] = append(managed[to], l.size(r.Properties["PolicyDocument"]))
			}
		case "AWS::Lambda::Function":
			environment, _ := r.Properties["Environment"].(map[string]any)
			t.Environments[id] = l.size(environment["Variables"])
		}
	}
	for id, sizes := range managed {
		role, ok := t.Roles[id]
		if !ok {
			return Template{}, fmt.Errorf("a managed policy is attached to %q, which is no role of the template", id)
		}
		role.Managed = sizes
		t.Roles[id] = role
	}
	return t, nil
}

// Check says all that is too large in a template; its errors are of type
// *Exceeded, joined.
func Check(source []byte) error {
	t, err := Measure(source)
	if err != nil {
		return err
	}
	var wrong []error
	over := func(what string, has, most int, unit, do string) {
		if has > most {
			wrong = append(wrong, &Exceeded{what, has, most, unit, do})
		}
	}
	if err := CheckResources(t.Resources); err != nil {
		wrong = append(wrong, err)
	}
	over("the template", t.Bytes, TemplateBytes, "bytes", fewer)
	for _, id := range slices.Sorted(maps.Keys(t.Roles)) {
		r := t.Roles[id]
		over("the trust policy of role "+id, r.Trust, TrustPolicy, "characters", "This is a fault of Rollcall's: please report it.")
		over("the inline policies of role "+id, r.Inline, InlinePolicies, "characters", fewerRights)
		over("role "+id, len(r.Managed), ManagedPolicies, "managed policies", fewerRights)
		for _, size := range r.Managed {
			over("a managed policy of role "+id, size, ManagedPolicy, "characters", fewerRights)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.Environments)) {
		over("the environment of function "+id, t.Environments[id], Environment, "bytes", `Watch all clusters (clusters=all) instead of naming them, or let fewer opt in; `+
			`or deploy a second stack for some of them (stackName=…).`)
	}
	return errors.Join(wrong...)
}

const accessEntry = "AWS::EKS::AccessEntry"

// CheckResources says when a stack has more resources than CloudFormation
// takes, and which of them can be left out.
func CheckResources(byType map[string]int) error {
	total := 0
	for _, n := range byType {
		total += n
	}
	if total <= Resources {
		return nil
	}
	do := fewer
	if entries := byType[accessEntry]; entries > 0 {
		do = fmt.Sprintf("%d of them are access entries, one for each function that reads in a cluster. Leave them out with kubernetesAccess=none, "+
			"and run the stack's output KubernetesAccessCommand once for each cluster; or name fewer clusters in accessClusters.", entries)
	}
	return &Exceeded{"the stack", total, Resources, "resources", do}
}
