package stage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
	"rollcall/local/simaws"
)

// judged tells whether IAM is asked about a call: all of EC2, CloudTrail, CloudWatch Logs, SNS and Secrets Manager, and
// what changes something in Auto Scaling, EKS and DynamoDB or invokes in Lambda. What those tell is held
// against the grants by the functions' own tests.
func judged(service, operation string) bool {
	switch service {
	case "ec2", "cloudtrail", "cloudwatchlogs", "sns", "secretsmanager":
		return true
	case "autoscaling", "eks", "dynamodb", "s3", "lambda":
		return !reads(operation)
	case "iam":
		return operation == "ListAccountAliases"
	}
	return false
}

// admitCall decides whether AWS takes a call: its request buckets first, then IAM.
func (s *Stage) admitCall(ctx context.Context, call *wire.Call, in any) error {
	if s.Buckets != nil {
		if err := s.Buckets.Admit(ctx, call, in); err != nil {
			return err
		}
	}
	if put, is := in.(*eventbridge.PutEventsInput); is {
		if ok, err := s.mayPut(call.Principal, put); err != nil || !ok {
			return cmp.Or(err, error(wire.Denied))
		}
	}
	if !judged(call.Service, call.Operation) || s.World == nil {
		return nil
	}
	i := -1
	for n, f := range s.Template.Functions {
		if f.Name == call.Principal.Name {
			i = n
		}
	}
	if i < 0 {
		return nil // the person at the keyboard, who may do everything
	}
	policy, assumed := s.assumedPolicy(call.Principal)
	if !assumed {
		policy = s.Policy(s.Template.Functions[i].Name)
	}
	if o, is := in.(wire.Object); is {
		policy = slices.Concat(policy, s.things().bucketPolicy(o.Bucket))
	}
	ok, err := mayCall(policy, call.Action(), in, s.things())
	if err != nil {
		return fmt.Errorf("the policy of %s: %w", call.Principal.Name, err)
	}
	if !ok {
		s.log.Warn("IAM does not allow a call", "function", call.Principal.Name, "action", call.Action())
		return wire.Denied
	}
	return nil
}

// mayPut reports whether no policy of a bus denies events to a caller.
func (s *Stage) mayPut(caller wire.Principal, in *eventbridge.PutEventsInput) (bool, error) {
	principal := caller.ARN
	for _, f := range s.Template.Functions {
		if f.Name == caller.Name {
			principal = f.RoleARN
		}
	}
	allow := template.Statement{Effect: "Allow", Actions: []string{"*"}, Resources: []string{"*"}}
	for _, e := range in.Entries {
		name := aws.ToString(e.EventBusName)
		bus := "arn:aws:events:" + s.Template.Region + ":" + s.Template.AccountID + ":event-bus/" + name[strings.LastIndex(name, "/")+1:]
		ok, err := template.Allows(append([]template.Statement{allow}, s.Template.BusPolicies...), "events:PutEvents", bus, map[string][]string{
			"aws:PrincipalArn": {principal}, "events:detail-type": {aws.ToString(e.DetailType)}, "events:source": {aws.ToString(e.Source)},
		})
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// mayCall tells whether policies allow a call. Writes are judged by their
// resource and its condition keys, as in AWS (service authorization reference
// of each service), and so is who reads which secret. Other reads are judged by their
// action: which resource each takes is held by the functions' own tests.
func mayCall(policy []template.Statement, action string, in any, t things) (bool, error) {
	_, operation, _ := strings.Cut(action, ":")
	keys := map[string][]string{"aws:RequestedRegion": {t.region}, "aws:PrincipalAccount": {t.account}}
	if reads(operation) && action != "secretsmanager:GetSecretValue" {
		anywhere := make([]template.Statement, len(policy))
		for i, st := range policy {
			anywhere[i] = st
			if st.Effect == "Allow" {
				anywhere[i].Resources, anywhere[i].NotResources = []string{"*"}, nil
			}
		}
		return template.Allows(anywhere, action, "*", keys)
	}
	resource, more, ok := t.resource(in)
	if !ok {
		return template.Allows(policy, action, "*", keys)
	}
	maps.Copy(keys, more)
	return template.Allows(policy, action, resource, keys)
}

func reads(operation string) bool {
	for _, verb := range []string{"Describe", "Get", "Search", "List", "Lookup", "Query", "Scan", "BatchGet", "Filter"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}

// buckets are EC2's request buckets, if the stage has them.
func (s *Stage) buckets() *simaws.Buckets {
	if s.options.Unlimited {
		return nil
	}
	return simaws.NewBuckets(s.now, s.options.Rivals...)
}

// now is the stage time: the clock's, or the world's where a test has moved it
// ahead by hand.
func (s *Stage) now() time.Time {
	now := s.Clock.Now()
	if s.World != nil {
		if w := s.World.Now(); w.After(now) {
			return w
		}
	}
	return now
}
