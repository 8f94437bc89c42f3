package template

import (
	"errors"
	"strings"
)

// functionName returns the name in a function's name or ARN.
func functionName(nameOrARN string) string {
	if _, name, ok := strings.Cut(nameOrARN, ":function:"); ok {
		name, _, _ = strings.Cut(name, ":") // without a qualifier
		return name
	}
	return nameOrARN
}

// checkReferences finds what CloudFormation would accept and what then fails
// quietly at run time: targets and sources that are not there, and the rules
// by which Lambda and SQS refuse resources that do not fit together.
func (t *Template) checkReferences() error {
	var errs []error
	refuse := func(id, path, format string, args ...any) {
		errs = append(errs, place{id, path}.refuse(format, args...))
	}
	for _, f := range t.Functions {
		if t.role(f.RoleARN) < 0 {
			refuse(f.LogicalID, "Properties.Role", "role %q is not in the template", f.RoleARN)
		}
		t.checkQueue(f.LogicalID, "Properties.DeadLetterConfig.TargetArn", f.DeadLetterARN, refuse)
	}
	for _, m := range t.Mappings {
		f, ok := t.Function(m.FunctionName)
		if !ok {
			refuse(m.LogicalID, "Properties.FunctionName", "function %q is not in the template", m.FunctionName)
		}
		q, found := t.Queue(m.QueueARN)
		switch {
		case !found:
			refuse(m.LogicalID, "Properties.EventSourceArn", "queue %q is not in the template", m.QueueARN)
		case q.Visibility < f.Timeout:
			refuse(q.LogicalID, "Properties.VisibilityTimeout", "%v is less than the timeout of function %s, %v", q.Visibility, f.Name, f.Timeout)
		case q.FIFO && m.BatchSize > 10:
			refuse(m.LogicalID, "Properties.BatchSize", "%d is more than 10, the limit for FIFO queues", m.BatchSize)
		case q.FIFO && m.Window > 0:
			refuse(m.LogicalID, "Properties.MaximumBatchingWindowInSeconds", "a FIFO queue has no batching window")
		}
	}
	for _, q := range t.Queues {
		if q.DeadLetterARN == "" {
			continue
		}
		dead, ok := t.Queue(q.DeadLetterARN)
		if !ok || dead.FIFO != q.FIFO {
			refuse(q.LogicalID, "Properties.RedrivePolicy", "dead-letter queue %q is not in the template or not of the same kind", q.DeadLetterARN)
		}
	}
	for _, r := range t.Rules {
		if !t.hasBus(r.Bus) {
			refuse(r.LogicalID, "Properties.EventBusName", "bus %q is not in the template", r.Bus)
		}
		for _, x := range r.Targets {
			t.checkTarget(r.LogicalID, "Properties.Targets", x, refuse)
		}
	}
	for _, s := range t.Schedules {
		t.checkTarget(s.LogicalID, "Properties.Target", s.Target, refuse)
	}
	for _, c := range t.InvokeConfigs {
		if _, ok := t.Function(c.FunctionName); !ok {
			refuse(c.LogicalID, "Properties.FunctionName", "function %q is not in the template", c.FunctionName)
		}
		t.checkQueue(c.LogicalID, "Properties.DestinationConfig.OnFailure", c.OnFailureARN, refuse)
		t.checkQueue(c.LogicalID, "Properties.DestinationConfig.OnSuccess", c.OnSuccessARN, refuse)
	}
	for _, p := range t.Permissions {
		if _, ok := t.Function(p.FunctionName); !ok {
			refuse(p.LogicalID, "Properties.FunctionName", "function %q is not in the template", p.FunctionName)
		}
	}
	for _, u := range t.URLs {
		t.checkURL(u, refuse)
	}
	return errors.Join(errs...)
}

// checkQueue refuses an optional ARN that is no queue of the template.
func (t *Template) checkQueue(id, path, arn string, refuse func(id, path, format string, args ...any)) {
	if _, ok := t.Queue(arn); arn != "" && !ok {
		refuse(id, path, "%q is no queue of the template", arn)
	}
}

func (t *Template) hasBus(name string) bool {
	if name == "default" {
		return true
	}
	for _, b := range t.Buses {
		if b.Name == name {
			return true
		}
	}
	return false
}

func (t *Template) checkTarget(id, path string, x Target, refuse func(id, path, format string, args ...any)) {
	t.checkQueue(id, path+".DeadLetterConfig.Arn", x.DeadLetterARN, refuse)
	if x.Input != "" && x.InputPath != "" || x.InputTransformer != nil && (x.Input != "" || x.InputPath != "") {
		refuse(id, path, "only one of Input, InputPath and InputTransformer is allowed")
	}
	service := ""
	if parts := strings.SplitN(x.ARN, ":", 6); len(parts) == 6 {
		service = parts[2]
	}
	switch service {
	case "lambda":
		if _, ok := t.Function(x.ARN); !ok {
			refuse(id, path+".Arn", "function %q is not in the template", x.ARN)
		}
	case "sqs":
		q, ok := t.Queue(x.ARN)
		if !ok {
			refuse(id, path+".Arn", "queue %q is not in the template", x.ARN)
		} else if q.FIFO != (x.MessageGroupID != "") {
			refuse(id, path+".SqsParameters.MessageGroupId", "must be set for FIFO queues, and only for them")
		}
	case "events":
		// Another account's or region's is not this template's to hold.
		here := strings.HasPrefix(x.ARN, "arn:aws:events:"+t.Region+":"+t.AccountID+":")
		if here && !t.hasBus(busName(x.ARN)) {
			refuse(id, path+".Arn", "bus %q is not in the template", x.ARN)
		}
	default:
		refuse(id, path+".Arn", "the stage cannot deliver to %q", x.ARN)
	}
}
