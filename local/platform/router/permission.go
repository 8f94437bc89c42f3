package router

import (
	"errors"
	"fmt"
	"strings"

	"rollcall/local/platform/template"
)

// checkPermissions finds deliveries that AWS would refuse at run time, or
// event source mappings that Lambda would refuse to create.
func checkPermissions(t *template.Template) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, r := range t.Rules {
		for _, x := range r.Targets {
			switch {
			case service(x.ARN) == "lambda" && !mayInvoke(t, r.ARN, x.ARN):
				add("rule %s: no AWS::Lambda::Permission lets it invoke %s", r.LogicalID, x.ARN)
			case service(x.ARN) == "sqs":
				errs = append(errs, maySend(t, r, x.ARN))
			}
			if x.DeadLetterARN != "" {
				errs = append(errs, maySend(t, r, x.DeadLetterARN))
			}
		}
	}
	role := func(what, roleARN, resource string, actions ...string) {
		for _, action := range actions {
			ok, err := roleAllows(t, roleARN, action, resource)
			if err != nil {
				add("%s: %w", what, err)
			} else if !ok {
				add("%s: its role may not %s on %s", what, action, resource)
			}
		}
	}
	for _, s := range t.Schedules {
		action := map[string]string{"lambda": "lambda:InvokeFunction", "sqs": "sqs:SendMessage", "events": "events:PutEvents"}[service(s.Target.ARN)]
		role("schedule "+s.LogicalID, s.Target.RoleARN, s.Target.ARN, action)
		if s.Target.DeadLetterARN != "" {
			role("schedule "+s.LogicalID, s.Target.RoleARN, s.Target.DeadLetterARN, "sqs:SendMessage")
		}
	}
	for _, m := range t.Mappings {
		if f, ok := t.Function(m.FunctionName); ok {
			role("event source mapping "+m.LogicalID, f.RoleARN, m.QueueARN, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
		}
	}
	for _, f := range t.Functions {
		if f.DeadLetterARN != "" {
			role("function "+f.LogicalID, f.RoleARN, f.DeadLetterARN, "sqs:SendMessage")
		}
	}
	for _, c := range t.InvokeConfigs {
		f, ok := t.Function(c.FunctionName)
		if ok && c.OnFailureARN != "" {
			role("event invoke config "+c.LogicalID, f.RoleARN, c.OnFailureARN, "sqs:SendMessage")
		}
	}
	return errors.Join(errs...)
}

// mayInvoke tells if a permission of the function lets the rule in.
func mayInvoke(t *template.Template, ruleARN, functionARN string) bool {
	f, ok := t.Function(functionARN)
	if !ok {
		return false
	}
	for _, p := range t.Permissions {
		if p.FunctionName == f.Name && p.Principal == "events.amazonaws.com" &&
			(p.Action == "lambda:InvokeFunction" || p.Action == "lambda:*") && (p.SourceARN == "" || p.SourceARN == ruleARN) {
			return true
		}
	}
	return false
}

// maySend says why the queue's policy does not let the rule's events in.
func maySend(t *template.Template, r template.Rule, queueARN string) error {
	q, ok := t.Queue(queueARN)
	if !ok {
		return fmt.Errorf("rule %s: queue %q is not in the template", r.LogicalID, queueARN)
	}
	var mine []template.Statement
	for _, p := range t.QueuePolicies {
		for _, url := range p.QueueURLs {
			if url != q.URL {
				continue
			}
			for _, s := range p.Statements {
				if s.Effect == "Deny" || forEvents(s.Principals) {
					mine = append(mine, s)
				}
			}
		}
	}
	allowed, err := template.Allows(mine, "sqs:SendMessage", queueARN, map[string][]string{
		"aws:SourceArn": {r.ARN}, "aws:SourceAccount": {t.AccountID}, "aws:SecureTransport": {"true"},
	})
	if err != nil {
		return fmt.Errorf("rule %s: policy of queue %s: %w", r.LogicalID, q.LogicalID, err)
	}
	if !allowed {
		return fmt.Errorf("rule %s: no AWS::SQS::QueuePolicy lets its events into queue %s", r.LogicalID, q.LogicalID)
	}
	return nil
}

func forEvents(principals []string) bool {
	for _, p := range principals {
		if p == "*" || p == "Service:events.amazonaws.com" || p == "AWS:*" {
			return true
		}
	}
	return false
}

func roleAllows(t *template.Template, roleARN, action, resource string) (bool, error) {
	for _, r := range t.Roles {
		if r.ARN == roleARN {
			return template.Allows(r.Statements, action, resource, map[string][]string{
				"aws:SecureTransport": {"true"}, "aws:RequestedRegion": {t.Region},
			})
		}
	}
	return false, fmt.Errorf("role %q is not in the template", strings.TrimSpace(roleARN))
}
