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
	"strings"
	"unicode/utf8"
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

// The longest values of what a template does not know. Partitions:
// aws-us-gov; regions: ap-southeast-1 and others; names that CloudFormation
// makes: stack (30 characters at most, package settings), logical id and 13
// random characters, joined by hyphens.
const (
	partition = "aws-us-gov"
	region    = "ap-southeast-1"
	account   = "123456789012"
	suffix    = "amazonaws.com.cn"
	stack     = "stack-name-of-thirty-character"
	random    = "1ABCDEFGHIJKL"
)

// longest writes values with their references as long as they can get.
type longest struct{ resources map[string]resource }

// size is the characters of a value in JSON, without white space.
func (l longest) size(v any) int {
	if v == nil {
		return 0
	}
	return size(l.fill(v))
}

func size(v any) int {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("limits: what was read as JSON cannot be written as JSON: " + err.Error())
	}
	return utf8.RuneCountInString(strings.TrimSpace(b.String()))
}

func (l longest) fill(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = l.fill(x)
		}
		return out
	case map[string]any:
		if id, ok := v["Ref"].(string); ok && len(v) == 1 {
			return l.ref(id)
		}
		if at, ok := v["Fn::GetAtt"].([]any); ok && len(at) == 2 {
			id, _ := at[0].(string)
			return l.arn(id)
		}
		if join, ok := v["Fn::Join"].([]any); ok && len(join) == 2 {
			parts, _ := join[1].([]any)
			var b strings.Builder
			for _, part := range parts {
				text, _ := l.fill(part).(string)
				b.WriteString(text)
			}
			return b.String()
		}
		out := map[string]any{}
		for key, x := range v {
			out[key] = l.fill(x)
		}
		return out
	}
	return v
}

func (l longest) ref(id string) string {
	switch id {
	case "AWS::Partition":
		return partition
	case "AWS::Region":
		return region
	case "AWS::AccountId":
		return account
	case "AWS::URLSuffix":
		return suffix
	}
	switch l.resources[id].Type {
	case "AWS::SQS::Queue":
		return "https://sqs." + region + "." + suffix + "/" + account + "/" + l.name(id)
	case "AWS::SecretsManager::Secret", "AWS::SNS::Topic":
		return l.arn(id)
	}
	return l.name(id)
}

// arn is longer than any of the types that the template has: its longest parts
// are a service's name and a kind of resource ("secretsmanager", "log-group").
func (l longest) arn(id string) string {
	return "arn:" + partition + ":secretsmanager:" + region + ":" + account + ":event-bus/" + l.name(id) + ":*-AbCdEf"
}

func (l longest) name(id string) string {
	for _, key := range []string{"QueueName", "FunctionName", "LogGroupName", "TableName", "Name"} {
		if name, ok := l.resources[id].Properties[key].(string); ok {
			return name
		}
	}
	return stack + "-" + id + "-" + random
}

// Statement is the size of a policy's statement in which tokens of the CDK
// stand for what is not known yet.
func Statement(effect, sid string, actions, resources []string, conditions map[string]map[string][]string) int {
	s := map[string]any{"Sid": sid, "Effect": effect, "Action": actions, "Resource": untokened(resources)}
	if len(conditions) > 0 {
		filled := map[string]map[string][]string{}
		for operator, keys := range conditions {
			filled[operator] = map[string][]string{}
			for key, values := range keys {
				filled[operator][key] = untokened(values)
			}
		}
		s["Condition"] = filled
	}
	return size(s) + len(",")
}

// Document is the size of what stands around a policy's statements.
const Document = len(`{"Version":"2012-10-17","Statement":[]}`)

func untokened(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = Untokened(text)
	}
	return out
}

// Untokened is a text with the longest values for the CDK's tokens
// ("${Token[AWS.Region.4]}").
func Untokened(text string) string {
	const open = "${Token["
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, open)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "]}")
		switch {
		case strings.HasPrefix(name, "AWS.Partition."):
			b.WriteString(partition)
		case strings.HasPrefix(name, "AWS.Region."):
			b.WriteString(region)
		case strings.HasPrefix(name, "AWS.AccountId."):
			b.WriteString(account)
		default:
			// A resource's ARN or address.
			b.WriteString(longest{}.arn("LogicalIdWithItsHash12345678"))
		}
		text = after
	}
}
