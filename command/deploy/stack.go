package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"
)

// poll is how often CloudFormation is asked while it works.
const poll = 3 * time.Second

// coded reports whether an error has an AWS code.
func coded(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}

// stack reads a stack; nil where there is none.
func (d *Deployment) stack(ctx context.Context, name string) (*types.Stack, error) {
	out, err := d.CloudFormation.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	// A stack that is not there is a ValidationError, and so is a name that no stack can have: the
	// model has no other code (CloudFormation API reference, DescribeStacks).
	if coded(err, "ValidationError") {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the stack %s: %w", name, err)
	}
	if len(out.Stacks) == 0 || out.Stacks[0].StackStatus == types.StackStatusDeleteComplete {
		return nil, nil
	}
	return &out.Stacks[0], nil
}

// current reports whether a stack is as this run would make it.
func (d *Deployment) current(ctx context.Context, s *types.Stack) (bool, error) {
	if s.StackStatus == types.StackStatusReviewInProgress {
		return false, nil
	}
	has := map[string]string{}
	for _, p := range s.Parameters {
		has[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	for name, value := range d.Parameters {
		if was, ok := has[name]; !ok || was != value {
			return false, nil
		}
	}
	tags := map[string]string{}
	for _, t := range s.Tags {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	if !maps.Equal(tags, d.Tags) {
		return false, nil
	}
	out, err := d.CloudFormation.GetTemplate(ctx, &cloudformation.GetTemplateInput{StackName: s.StackName})
	if err != nil {
		return false, fmt.Errorf("read the template of the stack %s: %w", *s.StackName, err)
	}
	return bytes.Equal(bytes.TrimSpace([]byte(aws.ToString(out.TemplateBody))), bytes.TrimSpace(d.template)), nil
}

// errNoChanges is that a change set would change nothing.
var errNoChanges = errors.New("nothing would change")

// changeSet makes a change set, and returns what it would do. Those that earlier runs have left go
// when one is executed (CloudFormation API reference, ExecuteChangeSet).
func (d *Deployment) changeSet(ctx context.Context, s *types.Stack) (id string, changes []types.Change, err error) {
	kind := types.ChangeSetTypeUpdate
	if s == nil || s.StackStatus == types.StackStatusReviewInProgress {
		kind = types.ChangeSetTypeCreate
	}
	in := &cloudformation.CreateChangeSetInput{
		StackName: &d.Stack, ChangeSetType: kind, ChangeSetName: aws.String("rollcall-" + d.Now().UTC().Format("20060102-150405")),
		TemplateURL: aws.String(d.Bucket.URL(templateKey(d.Template, d.template))), Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam},
	}
	for _, name := range slices.Sorted(maps.Keys(d.Parameters)) {
		in.Parameters = append(in.Parameters, types.Parameter{ParameterKey: aws.String(name), ParameterValue: aws.String(d.Parameters[name])})
	}
	for _, key := range slices.Sorted(maps.Keys(d.Tags)) {
		in.Tags = append(in.Tags, types.Tag{Key: aws.String(key), Value: aws.String(d.Tags[key])})
	}
	made, err := d.CloudFormation.CreateChangeSet(ctx, in)
	var exists *types.AlreadyExistsException // of an earlier request of this second that was not answered
	switch {
	case errors.As(err, &exists):
		id = *in.ChangeSetName
	case err != nil:
		return "", nil, fmt.Errorf("make a change set of the stack %s: %w", d.Stack, err)
	default:
		id = aws.ToString(made.Id)
	}
	for {
		in := &cloudformation.DescribeChangeSetInput{ChangeSetName: &id, StackName: &d.Stack}
		var out *cloudformation.DescribeChangeSetOutput
		changes = nil
		for {
			if out, err = d.CloudFormation.DescribeChangeSet(ctx, in); err != nil {
				return id, nil, fmt.Errorf("read the change set: %w", err)
			}
			changes = append(changes, out.Changes...)
			if in.NextToken = out.NextToken; in.NextToken == nil {
				break
			}
		}
		switch out.Status {
		case types.ChangeSetStatusCreateComplete:
			return id, changes, nil
		case types.ChangeSetStatusFailed:
			d.dropChangeSet(ctx, id)
			// Only the reason says so (aws-cli, awscli/customizations/cloudformation/deployer.py,
			// wait_for_changeset, tells it in the same way).
			reason := aws.ToString(out.StatusReason)
			if strings.Contains(reason, "The submitted information didn't contain changes.") || strings.Contains(reason, "No updates are to be performed") {
				return "", nil, errNoChanges
			}
			return "", nil, fmt.Errorf("CloudFormation refuses the change set: %s", reason)
		}
		if err := d.Sleep(ctx, poll); err != nil {
			return id, nil, err
		}
	}
}

// dropChangeSet deletes a change set that is not executed. One that stays does no harm.
func (d *Deployment) dropChangeSet(ctx context.Context, id string) {
	_, _ = d.CloudFormation.DeleteChangeSet(ctx, &cloudformation.DeleteChangeSetInput{ChangeSetName: &id, StackName: &d.Stack})
}

// events are a stack's since its present operation began, oldest first, without those that are known.
func (d *Deployment) events(ctx context.Context, id string, known map[string]bool) (list []types.StackEvent, err error) {
	in := &cloudformation.DescribeStackEventsInput{StackName: &id}
	for {
		out, err := d.CloudFormation.DescribeStackEvents(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("read the events of the stack: %w", err)
		}
		for _, e := range out.StackEvents {
			if known[aws.ToString(e.EventId)] {
				slices.Reverse(list)
				return list, nil
			}
			list = append(list, e)
			if begins(e) {
				slices.Reverse(list)
				return list, nil
			}
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			slices.Reverse(list)
			return list, nil
		}
	}
}

// begins reports whether an event begins an operation of the stack.
func begins(e types.StackEvent) bool {
	return aws.ToString(e.LogicalResourceId) == aws.ToString(e.StackName) && slices.Contains([]types.ResourceStatus{
		types.ResourceStatusCreateInProgress, types.ResourceStatusUpdateInProgress, types.ResourceStatusDeleteInProgress,
	}, e.ResourceStatus)
}

// FailedError is a stack that did not become what it was to be.
type FailedError struct {
	Stack    string
	Status   types.StackStatus
	Failures []Failure
}

func (f *FailedError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("the stack %s is in %s\n%s", f.Stack, f.Status, failureText(f.Failures)), "\n")
}

// wait prints a stack's events until CloudFormation is done with it. The stack is found by its id:
// a deleted one has no other name.
func (d *Deployment) wait(ctx context.Context, id string) error {
	seen := map[string]bool{}
	var all []types.StackEvent
	for {
		out, err := d.CloudFormation.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &id})
		if err != nil {
			return fmt.Errorf("read the stack %s: %w", d.Stack, err)
		}
		list, err := d.events(ctx, id, seen)
		if err != nil {
			return err
		}
		for _, e := range list {
			seen[aws.ToString(e.EventId)] = true
			d.say("%s", progress(e))
		}
		all = append(all, list...)
		switch status := out.Stacks[0].StackStatus; {
		case inProgress(status):
		case slices.Contains([]types.StackStatus{types.StackStatusCreateComplete, types.StackStatusUpdateComplete, types.StackStatusDeleteComplete}, status):
			return nil
		default:
			return &FailedError{d.Stack, status, failures(all)}
		}
		if err := d.Sleep(ctx, poll); err != nil {
			return err
		}
	}
}
