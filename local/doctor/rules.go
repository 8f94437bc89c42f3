package doctor

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// rules looks at the rules and schedules that wake the functions. CloudFormation makes
// their names of the stack's and the logical id, which begins as infra writes it; the
// stack's name is what stands before it.
func (c Clients) rules(ctx context.Context, d Deployment, there []functionOf) (list []Finding, stack string) {
	bus := busOf(there)
	stack = defaultStack
	for _, f := range there {
		if len(f.spec.Rules)+len(f.spec.Schedules) == 0 {
			continue
		}
		for _, on := range busesOf(f.spec, bus) {
			found, err := c.rulesOf(ctx, f, on)
			if coded(err, "ResourceNotFoundException") { // of the bus: a target without rules has none
				gone := redeploy(Finding{Part: "event bus", Name: on, Says: "is not there: nobody hears of incidents, and no approved remedy is run"})
				if !slices.Contains(list, gone) {
					list = append(list, gone)
				}
				continue
			}
			if err != nil {
				list = append(list, unseen("rule", Prefix+"-"+f.spec.Name, "events:ListRuleNamesByTarget", err))
				continue
			}
			for _, w := range wakers(f.spec) {
				if w.on(bus) == on {
					list = append(list, c.rule(ctx, f, w, on, found))
					for _, name := range found {
						if begin, _, ok := strings.Cut(name, "-"+w.id); ok {
							stack = begin
						}
					}
				}
			}
		}
	}
	return list, stack
}

// busOf is the name of Rollcall's own bus, which several functions are told.
func busOf(there []functionOf) string {
	bus := ""
	for _, f := range there {
		if name := f.setting(config.BusName); name != "" {
			bus = name
		}
	}
	return bus
}

// defaultStack is the stack's name where no setting changes it (infra/settings).
const defaultStack = "Rollcall"

// waker is a rule or a schedule of a function.
type waker struct {
	id  string // how its logical id begins
	why string
	own bool // on the stack's bus
	// pattern is what the rule is to match; empty of a schedule.
	pattern string
}

func (w waker) on(bus string) string {
	if w.own {
		return bus
	}
	return ""
}

func wakers(s spec.Spec) []waker {
	var list []waker
	for _, r := range s.Rules {
		list = append(list, waker{id: camel(s.Name) + camel(r.Name) + "Rule", why: r.Why, own: r.Bus == spec.Bus, pattern: r.Pattern})
	}
	for _, x := range s.Schedules {
		list = append(list, waker{id: camel(s.Name) + camel(x.Name) + "Schedule", why: x.Why})
	}
	return list
}

// busesOf are the buses on which a function has rules; "" is the account's default.
func busesOf(s spec.Spec, bus string) []string {
	var list []string
	seen := map[string]bool{}
	for _, w := range wakers(s) {
		if on := w.on(bus); !seen[on] {
			seen[on] = true
			list = append(list, on)
		}
	}
	return list
}

// rulesOf are the names of the rules of a bus that wake a function, itself or through
// its queue.
func (c Clients) rulesOf(ctx context.Context, f functionOf, bus string) ([]string, error) {
	targets := []string{f.arn}
	if q := f.spec.Queue; q != nil {
		// arn:aws:lambda:us-west-2:111122223333:function:rollcall-report
		part := strings.SplitN(f.arn, ":", 6)
		name := Prefix + "-" + string(q.Resource)
		if q.FIFO {
			name += ".fifo"
		}
		if len(part) == 6 {
			targets = append(targets, strings.Join([]string{"arn", part[1], "sqs", part[3], part[4], name}, ":"))
		}
	}
	var names []string
	for _, arn := range targets {
		in := &eventbridge.ListRuleNamesByTargetInput{TargetArn: aws.String(arn)}
		if bus != "" {
			in.EventBusName = aws.String(bus)
		}
		for {
			out, err := c.Rules.ListRuleNamesByTarget(ctx, in)
			if err != nil {
				return nil, err
			}
			names = append(names, out.RuleNames...)
			if in.NextToken = out.NextToken; in.NextToken == nil {
				break
			}
		}
	}
	return names, nil
}

// rule looks at one of them.
func (c Clients) rule(ctx context.Context, f functionOf, w waker, bus string, names []string) Finding {
	name := ""
	for _, n := range names {
		if strings.Contains(n, w.id) {
			name = n
		}
	}
	if name == "" {
		return redeploy(Finding{Part: "rule", Name: w.id, Says: "is not there, or does not lead to " + Prefix + "-" + f.spec.Name + ". " + w.why})
	}
	in := &eventbridge.DescribeRuleInput{Name: aws.String(name)}
	more := ""
	if bus != "" {
		in.EventBusName = aws.String(bus)
		more = " --event-bus-name '" + bus + "'"
	}
	out, err := c.Rules.DescribeRule(ctx, in)
	if err != nil {
		return unseen("rule", name, "events:DescribeRule", err)
	}
	if out.State == types.RuleStateDisabled {
		return Finding{
			Part: "rule", Name: name, State: Wrong, Says: "is disabled. " + w.why, Do: "Enable it.", Command: "aws events enable-rule --name '" + name + "'" + more,
		}
	}
	if w.pattern != "" && !samePattern(w.pattern, aws.ToString(out.EventPattern)) {
		// PutRule takes a rule's targets as they are (EventBridge API reference, PutRule).
		return redeploy(Finding{
			Part: "rule", Name: name, Says: "has another pattern than this release's. " + w.why,
			Do: "Deploy this release again. If CloudFormation finds nothing to change, somebody changed it by hand: aws events put-rule --name '" + name + "'" + more +
				" --event-pattern '" + w.pattern + "'",
		})
	}
	return Finding{Part: "rule", Name: name, State: Well, Says: "is enabled"}
}

// samePattern compares two patterns as JSON: white space and the order of keys say nothing.
func samePattern(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// camel is a name as the logical ids of the stack have it.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}
