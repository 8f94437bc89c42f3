package deployment

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"rollcall/local/platform/template"
)

// ListRuleNamesByTarget lists the rules of a bus that have a target: EventBridge API
// reference. A target that nobody has has none.
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

// DescribeEventBus tells of a bus and its policy: EventBridge API reference.
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
	if policy := a.policies[bus]; policy != "" {
		out.Policy = aws.String(policy)
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
