package template

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Statement is one statement of a policy.
type Statement struct {
	// Source is the logical id of the resource that holds it, or the ARN of
	// a managed policy.
	Source       string
	SID          string
	Effect       string
	Actions      []string
	NotActions   []string
	Resources    []string
	NotResources []string
	// Principals are "Service:events.amazonaws.com", "AWS:…" or "*"; only
	// resource and trust policies have them.
	Principals []string
	// Conditions are operator, key and values.
	Conditions map[string]map[string][]string
}

// attachedPolicy is a policy that names its roles.
type attachedPolicy struct {
	id         string
	roles      []string
	statements []Statement
}

// texts is a string or a list of strings; booleans and numbers, which JSON
// policies allow in conditions, become strings.
type texts []string

// UnmarshalJSON reads "a", ["a", "b"], true and 5.
func (t *texts) UnmarshalJSON(b []byte) error {
	var one any
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	list, ok := one.([]any)
	if !ok {
		list = []any{one}
	}
	for _, v := range list {
		switch v := v.(type) {
		case string:
			*t = append(*t, v)
		case bool, float64:
			*t = append(*t, fmt.Sprint(v))
		default:
			return fmt.Errorf("%s is not a string or a list of strings", b)
		}
	}
	return nil
}

// policyDocument is an IAM policy as written.
type policyDocument struct {
	Version, Id string
	Statement   statements
}

type statements []statement

// UnmarshalJSON reads one statement or a list.
func (s *statements) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		b = append(append([]byte("["), b...), ']')
	}
	var list []statement
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		return err
	}
	*s = list
	return nil
}

type statement struct {
	Sid, Effect                              string
	Action, NotAction, Resource, NotResource texts
	Principal                                principals
	Condition                                map[string]map[string]texts
}

type principals []string

// UnmarshalJSON reads "*" and {"Service": …, "AWS": …}.
func (p *principals) UnmarshalJSON(b []byte) error {
	var star string
	if json.Unmarshal(b, &star) == nil {
		*p = principals{star}
		return nil
	}
	var kinds map[string]texts
	if err := json.Unmarshal(b, &kinds); err != nil {
		return err
	}
	for _, kind := range sortedKeys(kinds) {
		for _, v := range kinds[kind] {
			*p = append(*p, kind+":"+v)
		}
	}
	return nil
}

// ReadPolicy reads a policy document, as JSON. source is what its statements are
// said to be of.
func ReadPolicy(source, document string) ([]Statement, error) {
	var d policyDocument
	if err := json.Unmarshal([]byte(document), &d); err != nil {
		return nil, fmt.Errorf("read the policy %s: %w", source, err)
	}
	return d.read(source), nil
}

func (d policyDocument) read(source string) []Statement {
	var out []Statement
	for _, s := range d.Statement {
		st := Statement{
			Source: source, SID: s.Sid, Effect: s.Effect, Actions: s.Action, NotActions: s.NotAction,
			Resources: s.Resource, NotResources: s.NotResource, Principals: s.Principal,
		}
		for operator, keys := range s.Condition {
			for key, values := range keys {
				if st.Conditions == nil {
					st.Conditions = map[string]map[string][]string{}
				}
				if st.Conditions[operator] == nil {
					st.Conditions[operator] = map[string][]string{}
				}
				st.Conditions[operator][key] = values
			}
		}
		out = append(out, st)
	}
	return out
}

func (t *Template) addRole(id string, n named, properties map[string]any) ([]attachedPolicy, error) {
	var p struct {
		RoleName, Description, Path string
		AssumeRolePolicyDocument    policyDocument
		Policies                    []struct {
			PolicyName     string
			PolicyDocument policyDocument
		}
		ManagedPolicyArns                       []string
		Tags                                    tags
		MaxSessionDuration, PermissionsBoundary inert
	}
	if err := decode(id, properties, &p); err != nil {
		return nil, err
	}
	role := Role{LogicalID: id, Name: n.name, ARN: n.arn, Managed: p.ManagedPolicyArns, Trust: p.AssumeRolePolicyDocument.read(id)}
	for _, inline := range p.Policies {
		role.Statements = append(role.Statements, inline.PolicyDocument.read(id)...)
	}
	if len(p.PermissionsBoundary) > 0 {
		return nil, place{id, "Properties.PermissionsBoundary"}.refuse("permissions boundaries are not understood")
	}
	role.Tags = p.Tags.read()
	t.Roles = append(t.Roles, role)
	return nil, nil
}

// tags are those of a resource.
type tags []struct{ Key, Value string }

func (t tags) read() map[string]string {
	var all map[string]string
	for _, tag := range t {
		if all == nil {
			all = map[string]string{}
		}
		all[tag.Key] = tag.Value
	}
	return all
}

func attached(id string, n named, properties map[string]any) ([]attachedPolicy, error) {
	var p struct {
		PolicyName, ManagedPolicyName, Description, Path string
		PolicyDocument                                   policyDocument
		Roles                                            []string
		Users, Groups                                    inert
	}
	if err := decode(id, properties, &p); err != nil {
		return nil, err
	}
	return []attachedPolicy{{id: id, roles: p.Roles, statements: p.PolicyDocument.read(id)}}, nil
}

// attach gives policies to the roles that they name, and to the roles that
// name AWS's managed policies.
func (t *Template) attach(policies []attachedPolicy) error {
	sort.Slice(policies, func(i, j int) bool { return policies[i].id < policies[j].id })
	for _, p := range policies {
		for _, name := range p.roles {
			i := t.role(name)
			if i < 0 {
				return place{p.id, "Properties.Roles"}.refuse("role %q is not in the template", name)
			}
			t.Roles[i].Statements = append(t.Roles[i].Statements, p.statements...)
		}
	}
	for i := range t.Roles {
		for _, arn := range t.Roles[i].Managed {
			_, name, _ := strings.Cut(arn, ":policy/")
			actions, known := managedActions(name)
			if known {
				t.Roles[i].Statements = append(t.Roles[i].Statements, Statement{
					Source: arn, Effect: "Allow", Actions: actions, Resources: []string{"*"},
				})
			} else if t.usedByFunction(t.Roles[i].ARN) {
				return place{t.Roles[i].LogicalID, "Properties.ManagedPolicyArns"}.refuse("what %q allows is not known here", arn)
			}
		}
	}
	return nil
}

// managedActions lists what AWS's managed policies for functions allow, on
// all resources.
func managedActions(name string) ([]string, bool) {
	logs := []string{"logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"}
	switch name {
	case "service-role/AWSLambdaBasicExecutionRole":
		return logs, true
	case "service-role/AWSLambdaSQSQueueExecutionRole":
		return append([]string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}, logs...), true
	case "AWSXRayDaemonWriteAccess":
		return []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSamplingRules",
			"xray:GetSamplingTargets", "xray:GetSamplingStatisticSummaries"}, true
	}
	return nil, false
}

func (t *Template) role(nameOrARN string) int {
	for i, r := range t.Roles {
		if r.Name == nameOrARN || r.ARN == nameOrARN {
			return i
		}
	}
	return -1
}

func (t *Template) usedByFunction(roleARN string) bool {
	for _, f := range t.Functions {
		if f.RoleARN == roleARN {
			return true
		}
	}
	return false
}

func (t *Template) addQueuePolicy(id string, properties map[string]any) error {
	var p struct {
		Queues         []string
		PolicyDocument policyDocument
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	t.QueuePolicies = append(t.QueuePolicies, QueuePolicy{LogicalID: id, QueueURLs: p.Queues, Statements: p.PolicyDocument.read(id)})
	return nil
}

// addBusPolicy reads a statement of a bus's policy. Its resource is the bus.
func (t *Template) addBusPolicy(id string, properties map[string]any) error {
	var p struct {
		EventBusName, StatementId string
		Statement                 statements
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	t.BusPolicies = append(t.BusPolicies, policyDocument{Statement: p.Statement}.read(id)...)
	return nil
}
