// Package deployment is a deployed template as Lambda, EventBridge and CloudWatch describe it to
// who asks: functions with their settings, the queues that wake them, and rules. What
// a test changes by hand (a rule that is disabled, a function that is deleted) is
// described from then on; it changes nothing of what the stage delivers.
package deployment

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/cloudwatch"
)

// API answers for a deployment.
type API struct {
	template    *template.Template
	environment func(template.Function) map[string]string
	role        func(template.Function) string

	mu sync.Mutex
	// deleted and disabled are ARNs of functions, roles and rules, and logical ids of event
	// source mappings.
	deleted, disabled map[string]bool
	failed            map[string]string // why a function's last update failed, by its ARN
	mute              map[string]bool   // alarms without actions, by name
	rings             map[string]alarmState
	made              time.Time // when it was deployed
	// remade are roles that were made again since, by ARN.
	remade map[string]generation
	// policies are those of event buses that are not in the template, by their names.
	policies map[string]string
	// rules are those of such buses.
	rules []template.Rule
	// others are stacks beside it in the account.
	others []*template.Template
}

// generation is how often a role was made again under its name, and when last.
type generation struct {
	times int
	at    time.Time
}

// New describes a template. The environment of a function is asked for each time:
// settings change. Role is the ARN of the role in which it runs, made when it was deployed.
func New(t *template.Template, environment func(template.Function) map[string]string, role func(template.Function) string, made time.Time) *API {
	return &API{template: t, environment: environment, role: role, deleted: map[string]bool{}, disabled: map[string]bool{}, failed: map[string]string{}, mute: map[string]bool{}, rings: map[string]alarmState{}, made: made, remade: map[string]generation{}}
}

// Replace describes another template from now on, as a deployment brings it about. Roles
// that the template before did not have are made: with another id than any role of their
// name had (IAM user guide, "IAM identifiers", unique identifiers).
func (a *API) Replace(t *template.Template, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range t.Roles {
		before, known := a.remade[r.ARN]
		switch {
		case slices.ContainsFunc(a.template.Roles, func(o template.Role) bool { return o.ARN == r.ARN }):
		case known:
			a.remade[r.ARN] = generation{before.times + 1, now}
		default:
			a.remade[r.ARN] = generation{}
		}
	}
	a.template = t
}

// Remake deletes a role, by its ARN, and makes it again under its name.
func (a *API) Remake(role string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remade[role] = generation{a.remade[role].times + 1, now}
}

// RoleID is the id of a role, by its ARN.
func (a *API) RoleID(arn string) (id string, there bool) {
	role, there, known := a.Role(arn[strings.LastIndex(arn, "/")+1:])
	return aws.ToString(role.RoleId), there && known && aws.ToString(role.Arn) == arn
}

// identify gives a role its id and the time since when it is there. An id is that of one
// role for all time.
func (a *API) identify(r iamtypes.Role) iamtypes.Role {
	g := a.remade[*r.Arn]
	if g.at.IsZero() { // with the stack, which was there before the world began
		g.at = a.made.Add(-24 * time.Hour)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", *r.Arn, g.times))
	r.RoleId, r.CreateDate = aws.String("AROA"+base32.StdEncoding.EncodeToString(sum[:])[:17]), aws.Time(g.at.Truncate(time.Second))
	return r
}

// AddBus adds an event bus that the template does not have, with its policy; without one it
// is taken away.
func (a *API) AddBus(name, policy string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.policies == nil {
		a.policies = map[string]string{}
	}
	if a.policies[name] = policy; policy == "" {
		delete(a.policies, name)
	}
}

// AddRules adds rules of such buses.
func (a *API) AddRules(rules []template.Rule) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rules = append(a.rules, rules...)
}

// ChangeRule changes what is returned of a rule, by its ARN.
func (a *API) ChangeRule(arn string, how func(*template.Rule)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	told := *a.template
	told.Rules = slices.Clone(told.Rules)
	a.template = &told
	for _, list := range [][]template.Rule{told.Rules, a.rules} {
		for i := range list {
			if list[i].ARN == arn {
				how(&list[i])
			}
		}
	}
}

// Tag gives a role, or a function of a stack beside it (by its ARN), other tags.
func (a *API) Tag(arn string, tags map[string]string) {
	a.change(arn, func(r *template.Role) { r.Tags = tags })
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.others {
		for i := range t.Functions {
			if t.Functions[i].ARN == arn {
				t.Functions[i].Tags = tags
			}
		}
	}
}

// ListTags are the tags of a function, by its ARN: Lambda API reference, ListTags.
func (a *API) ListTags(in *lambda.ListTagsInput) (*lambda.ListTagsOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	arn := aws.ToString(in.Resource)
	name := arn[strings.LastIndex(arn, ":")+1:]
	f, ok := a.template.Function(name)
	if !ok {
		_, f, ok = a.other(name)
	}
	if !ok || f.ARN != arn || a.deleted[arn] {
		return nil, notFound("Function not found: " + arn)
	}
	out := &lambda.ListTagsOutput{Tags: map[string]string{}}
	maps.Copy(out.Tags, f.Tags)
	return out, nil
}

// Distrust takes a role out of what another role (both by ARN) trusts.
func (a *API) Distrust(role, who string) {
	a.change(role, func(r *template.Role) {
		for _, st := range r.Trust {
			for _, keys := range st.Conditions {
				for key, values := range keys {
					keys[key] = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == who })
				}
			}
		}
	})
}

// change changes a role of the template.
func (a *API) change(role string, how func(*template.Role)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.template.Roles {
		if a.template.Roles[i].ARN == role {
			how(&a.template.Roles[i])
		}
	}
}

// Beside describes the functions of another stack of the account too.
func (a *API) Beside(t *template.Template) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.others = append(a.others, t)
}

// Apart describes no longer what Beside did.
func (a *API) Apart(t *template.Template) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.others = slices.DeleteFunc(a.others, func(o *template.Template) bool {
		return slices.ContainsFunc(t.Functions, func(f template.Function) bool { _, has := o.Function(f.ARN); return has })
	})
}

// other is a function of another stack, the last that has one of the name.
func (a *API) other(name string) (*template.Template, template.Function, bool) {
	for _, t := range slices.Backward(a.others) {
		if f, ok := t.Function(name); ok && !a.deleted[f.ARN] {
			return t, f, true
		}
	}
	return nil, template.Function{}, false
}

// GetPolicy is a function's own policy, if it has one: Lambda API reference, GetPolicy.
func (a *API) GetPolicy(in *lambda.GetPolicyInput) (*lambda.GetPolicyOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, f, ok := a.other(aws.ToString(in.FunctionName))
	if !ok {
		t = a.template
		if f, ok = t.Function(aws.ToString(in.FunctionName)); !ok || a.deleted[f.ARN] {
			return nil, notFound("Function not found: " + a.arn(aws.ToString(in.FunctionName)))
		}
	}
	var statements []any
	for _, p := range t.Permissions {
		if p.FunctionName == f.Name {
			statements = append(statements, map[string]any{"Sid": p.LogicalID, "Effect": "Allow", "Principal": map[string]any{"AWS": p.Principal}, "Action": p.Action, "Resource": f.ARN})
		}
	}
	if statements == nil {
		return nil, notFound("The resource you requested does not exist.")
	}
	text, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Id": "default", "Statement": statements})
	if err != nil {
		return nil, err
	}
	return &lambda.GetPolicyOutput{Policy: aws.String(string(text))}, nil
}

// Delete deletes a function, a role, a rule, an event bus, an alarm (by ARN) or an event source
// mapping (by logical id).
func (a *API) Delete(id string) { a.set(a.deleted, id) }

// Disable disables a rule, the trust in a function's role, the actions of an alarm (by ARN) or an
// event source mapping (by logical id).
func (a *API) Disable(id string) { a.set(a.disabled, id) }

func (a *API) set(m map[string]bool, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m[id] = true
}

// FailUpdate lets the last update of a function have failed.
func (a *API) FailUpdate(arn, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed[arn] = why
}

// GetFunctionConfiguration describes a function: Lambda API reference,
// GetFunctionConfiguration; the error's words are those that the AWS CLI prints in
// public threads.
func (a *API) GetFunctionConfiguration(in *lambda.GetFunctionConfigurationInput) (*lambda.GetFunctionConfigurationOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := aws.ToString(in.FunctionName)
	f, ok := a.template.Function(name)
	environment, role := a.environment, a.role
	if !ok {
		_, f, ok = a.other(name)
		environment, role = func(f template.Function) map[string]string { return f.Environment }, func(f template.Function) string { return f.RoleARN }
	}
	if !ok || a.deleted[f.ARN] {
		return nil, notFound("Function not found: " + a.arn(name))
	}
	out := &lambda.GetFunctionConfigurationOutput{
		FunctionName: aws.String(f.Name), FunctionArn: aws.String(f.ARN), Role: aws.String(role(f)), Handler: aws.String(f.Handler), Runtime: lambdatypes.Runtime(f.Runtime),
		MemorySize: aws.Int32(int32(f.Memory)), Timeout: aws.Int32(int32(f.Timeout.Seconds())), Environment: &lambdatypes.EnvironmentResponse{Variables: environment(f)},
		State: lambdatypes.StateActive, LastUpdateStatus: lambdatypes.LastUpdateStatusSuccessful, Version: aws.String("$LATEST"),
	}
	if why, failed := a.failed[f.ARN]; failed {
		out.LastUpdateStatus, out.LastUpdateStatusReason = lambdatypes.LastUpdateStatusFailed, aws.String(why)
	}
	return out, nil
}

// Role is the role of a function by its name; known is false for a name that is none of
// theirs, and there for one that was deleted.
func (a *API) Role(name string) (role iamtypes.Role, there, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.template.Functions {
		if arn := a.role(f); strings.HasSuffix(arn, "/"+name) {
			return a.identify(iamtypes.Role{RoleName: aws.String(name), Arn: aws.String(arn), Path: aws.String("/")}), !a.deleted[arn], true
		}
	}
	for _, r := range a.template.Roles {
		if r.Name == name {
			role := iamtypes.Role{RoleName: aws.String(name), Arn: aws.String(r.ARN), Path: aws.String("/"), AssumeRolePolicyDocument: aws.String(a.trust(r))}
			for _, key := range slices.Sorted(maps.Keys(r.Tags)) {
				role.Tags = append(role.Tags, iamtypes.Tag{Key: aws.String(key), Value: aws.String(r.Tags[key])})
			}
			return a.identify(role), !a.deleted[r.ARN], true
		}
	}
	return iamtypes.Role{}, false, false
}

// trust is a role's trust policy as IAM gives it, encoded for a URL (IAM API reference,
// GetRole). Whom it names are the functions' roles, but for those of whom a test took
// the trust away.
func (a *API) trust(r template.Role) string {
	if len(a.template.Functions) == 0 { // of a spoke: it trusts an account, on conditions
		return url.QueryEscape(policy(r.Trust, "sts:AssumeRole"))
	}
	var names []string
	for _, s := range r.Trust {
		for _, p := range s.Principals {
			for _, f := range a.template.Functions {
				if role := a.role(f); p == "AWS:"+f.RoleARN && !a.disabled[role] {
					names = append(names, role)
				}
			}
		}
	}
	document, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{
		map[string]any{"Effect": "Allow", "Principal": map[string]any{"AWS": names}, "Action": "sts:AssumeRole"},
	}})
	if err != nil {
		panic(err) // text alone
	}
	return url.QueryEscape(string(document))
}

// policy is the policy of a role or a bus for one action. An account is given by the ARN of its root
// user, also where the template has its id (IAM user guide, "AWS JSON policy elements: Principal").
func policy(statements []template.Statement, action string) string {
	type statement struct {
		Effect    string
		Principal any
		Action    string
		Condition map[string]map[string][]string
	}
	var list []statement
	for _, s := range statements {
		for _, p := range s.Principals {
			if p == "*" {
				list = append(list, statement{s.Effect, p, action, s.Conditions})
				continue
			}
			kind, who, _ := strings.Cut(p, ":")
			if kind == "AWS" && !strings.Contains(who, ":") {
				who = "arn:aws:iam::" + who + ":root"
			}
			list = append(list, statement{s.Effect, map[string]string{kind: who}, action, s.Conditions})
		}
	}
	document, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": list})
	if err != nil {
		panic(err) // text alone
	}
	return string(document)
}

func (a *API) arn(function string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", a.template.Region, a.template.AccountID, function)
}

// notFound is Lambda's and EventBridge's error for what is not there; of the two only
// Lambda's has the status 404 (their API references, "Errors").
func notFound(message string) *wire.Error {
	return &wire.Error{Code: "ResourceNotFoundException", Status: http.StatusNotFound, Message: message}
}

// ListEventSourceMappings lists what wakes a function: Lambda API reference.
func (a *API) ListEventSourceMappings(in *lambda.ListEventSourceMappingsInput) (*lambda.ListEventSourceMappingsOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, ok := a.template.Function(aws.ToString(in.FunctionName))
	if in.FunctionName != nil && (!ok || a.deleted[f.ARN]) {
		return nil, notFound("Function not found: " + a.arn(aws.ToString(in.FunctionName)))
	}
	out := &lambda.ListEventSourceMappingsOutput{EventSourceMappings: []lambdatypes.EventSourceMappingConfiguration{}}
	for _, m := range a.template.Mappings {
		if in.FunctionName != nil && m.FunctionName != f.Name || a.deleted[m.LogicalID] {
			continue
		}
		state := "Enabled"
		if a.disabled[m.LogicalID] || !m.Enabled {
			state = "Disabled"
		}
		out.EventSourceMappings = append(out.EventSourceMappings, lambdatypes.EventSourceMappingConfiguration{
			UUID: aws.String(m.LogicalID), EventSourceArn: aws.String(m.QueueARN), FunctionArn: aws.String(a.arn(m.FunctionName)), State: aws.String(state), BatchSize: aws.Int32(int32(m.BatchSize)),
		})
	}
	return out, nil
}

// alarmState is a state that a test gave an alarm.
type alarmState struct {
	value, reason string
	at            time.Time
}

// Ring puts an alarm (by its name) into a state, since a time.
func (a *API) Ring(name, state, reason string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rings[name] = alarmState{state, reason, at}
}

// Mute takes the actions of an alarm (by its name) away.
func (a *API) Mute(name string) { a.set(a.mute, name) }

// DescribeAlarms lists alarms by name: CloudWatch API reference, DescribeAlarms. At most
// 100 are on a page, 50 if nothing is said.
func (a *API) DescribeAlarms(in *cloudwatch.DescribeAlarmsInput) (*cloudwatch.DescribeAlarmsOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(a.template.Alarms), func(x template.Alarm) bool {
		return a.deleted[x.ARN] || !strings.HasPrefix(x.Name, aws.ToString(in.AlarmNamePrefix))
	})
	slices.SortFunc(list, func(x, y template.Alarm) int { return strings.Compare(x.Name, y.Name) })
	begin, size := 0, 50
	if in.MaxRecords != nil {
		if size = int(*in.MaxRecords); size < 1 || size > 100 {
			return nil, wire.Errorf("ValidationError", "1 validation error detected: Value '%d' at 'maxRecords' failed to satisfy constraint: Member must have value between 1 and 100", size)
		}
	}
	if in.NextToken != nil {
		var err error
		if begin, err = strconv.Atoi(*in.NextToken); err != nil || begin < 0 || begin > len(list) {
			return nil, wire.Errorf("InvalidNextToken", "The next token specified is invalid.")
		}
	}
	out := &cloudwatch.DescribeAlarmsOutput{}
	for _, x := range list[begin:min(begin+size, len(list))] {
		out.MetricAlarms = append(out.MetricAlarms, a.alarm(x))
	}
	if begin+size < len(list) {
		out.NextToken = aws.String(fmt.Sprint(begin + size))
	}
	return out, nil
}

func (a *API) alarm(x template.Alarm) cloudwatch.MetricAlarm {
	state, rings := a.rings[x.Name]
	if !rings {
		state = alarmState{cloudwatch.OK, "Threshold not crossed", a.made}
	}
	out := cloudwatch.MetricAlarm{
		AlarmName: x.Name, AlarmArn: x.ARN, AlarmDescription: x.Description, ActionsEnabled: x.Enabled && !a.disabled[x.ARN],
		AlarmActions: x.Actions, InsufficientDataActions: x.SilentActions, StateValue: state.value, StateReason: state.reason, Updated: state.at, Configured: a.made,
	}
	if a.mute[x.Name] {
		out.AlarmActions, out.InsufficientDataActions = nil, nil
	}
	return out
}

// ListRuleNamesByTarget lists the rules of a bus that have a target: EventBridge API
// reference. An unknown target has none.
func (a *API) ListRuleNamesByTarget(in *eventbridge.ListRuleNamesByTargetInput) (*eventbridge.ListRuleNamesByTargetOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	bus := busNamed(in.EventBusName)
	if !a.hasBus(bus) {
		err := notFound("Event bus " + bus + " does not exist.")
		err.Status = http.StatusBadRequest
		return nil, err
	}
	out := &eventbridge.ListRuleNamesByTargetOutput{RuleNames: []string{}}
	for _, r := range slices.Concat(a.template.Rules, a.rules) {
		if a.deleted[r.ARN] || busOf(r) != bus {
			continue
		}
		if slices.ContainsFunc(r.Targets, func(t template.Target) bool { return t.ARN == aws.ToString(in.TargetArn) }) {
			out.RuleNames = append(out.RuleNames, r.Name)
		}
	}
	return out, nil
}

// DescribeRule describes a rule: EventBridge API reference.
func (a *API) DescribeRule(in *eventbridge.DescribeRuleInput) (*eventbridge.DescribeRuleOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name, bus := aws.ToString(in.Name), busNamed(in.EventBusName)
	for _, r := range slices.Concat(a.template.Rules, a.rules) {
		if r.Name != name || busOf(r) != bus || a.deleted[r.ARN] {
			continue
		}
		out := &eventbridge.DescribeRuleOutput{Name: aws.String(r.Name), Arn: aws.String(r.ARN), EventBusName: aws.String(bus), State: eventtypes.RuleStateEnabled}
		if !r.Enabled || a.disabled[r.ARN] {
			out.State = eventtypes.RuleStateDisabled
		}
		if r.Schedule != "" {
			out.ScheduleExpression = aws.String(r.Schedule)
		}
		if len(r.Pattern) > 0 {
			out.EventPattern = aws.String(string(r.Pattern))
		}
		return out, nil
	}
	err := notFound(fmt.Sprintf("Rule %s does not exist on EventBus %s.", name, bus))
	err.Status = http.StatusBadRequest
	return nil, err
}

// DescribeEventBus describes a bus and its policy: EventBridge API reference.
func (a *API) DescribeEventBus(in *eventbridge.DescribeEventBusInput) (*eventbridge.DescribeEventBusOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	bus := busNamed(in.Name)
	if !a.hasBus(bus) {
		err := notFound("Event bus " + bus + " does not exist.")
		err.Status = http.StatusBadRequest
		return nil, err
	}
	out := &eventbridge.DescribeEventBusOutput{Name: aws.String(bus), Arn: aws.String(fmt.Sprintf("arn:aws:events:%s:%s:event-bus/%s", a.template.Region, a.template.AccountID, bus))}
	if text := a.policies[bus]; text != "" {
		out.Policy = aws.String(text)
		return out, nil
	}
	var own []template.Statement
	for _, s := range a.template.BusPolicies {
		if slices.Contains(s.Resources, *out.Arn) {
			own = append(own, s)
		}
	}
	if len(own) > 0 {
		out.Policy = aws.String(policy(own, "events:PutEvents"))
	}
	return out, nil
}

func (a *API) hasBus(name string) bool {
	return a.policies[name] != "" || name == "default" || slices.ContainsFunc(a.template.Buses, func(b template.EventBus) bool { return b.Name == name && !a.deleted[b.ARN] })
}

func busOf(r template.Rule) string {
	if r.Bus == "" {
		return "default"
	}
	return r.Bus
}

// busNamed is a bus by its name or its ARN.
func busNamed(name *string) string {
	text := aws.ToString(name)
	if i := strings.LastIndex(text, "/"); i >= 0 {
		text = text[i+1:]
	}
	if text == "" {
		return "default"
	}
	return text
}
