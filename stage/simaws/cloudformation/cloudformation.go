// Package cloudformation is AWS CloudFormation as the stage needs it: stacks that are made,
// changed and deleted through change sets, resource by resource, in the stage's time. What it
// refuses, and how a failed stack rolls back, is as CloudFormation does it.
package cloudformation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
)

// Config is what stacks are made of.
type Config struct {
	Account, Region string
	Now             func() time.Time
	// Pace is how long each resource takes.
	Pace time.Duration
	// Object reads an object of S3; false where there is none.
	Object func(bucket, key string) ([]byte, bool)
	// Create makes a resource, and Delete deletes it: an error is why it fails. Nil makes all.
	Create, Delete func(template.Resource) error
	// Output is an output's value as AWS has it; nil leaves it as the template says.
	Output func(value string) string
	// Deployed takes a stack that was created or updated, Deleted one that is gone, with the
	// resources that it left.
	Deployed func(Stack) error
	Deleted  func(Stack, []template.Resource)
}

// Stack is a stack as it was deployed.
type Stack struct {
	Name       string
	Source     []byte
	Parameters map[string]string
}

// API answers CloudFormation, one method for each operation.
type API struct {
	cfg Config

	mu     sync.Mutex
	stacks []*stack
	// taken are the names of resources that are there, by type and name: also those that a
	// deleted stack has left.
	taken map[string]bool
	made  int
}

// stack is a stack with what will happen to it.
type stack struct {
	Stack
	id                        string
	status                    types.StackStatus
	reason                    string
	tags                      []types.Tag
	capabilities              []types.Capability
	protected                 bool
	created, updated, deleted time.Time
	resources                 []*resource
	events                    []types.StackEvent // oldest first
	changeSets                []*changeSet
	steps                     []step
}

type resource struct {
	template.Resource
	status types.ResourceStatus
	reason string
	at     time.Time
}

type changeSet struct {
	name, id  string
	kind      types.ChangeSetType
	status    types.ChangeSetStatus
	execution types.ExecutionStatus
	reason    string
	next      Stack
	tags      []types.Tag
	resources []template.Resource
	changes   []types.Change
	created   time.Time
}

// step is something that happens to a stack at a time.
type step struct {
	at time.Time
	do func(at time.Time)
}

// New makes an account without stacks.
func New(cfg Config) *API { return &API{cfg: cfg, taken: map[string]bool{}} }

// page is how many events, resources or changes are in one answer. CloudFormation's own pages
// are limited by their size (API reference, "NextToken").
const page = 100

// enter brings all stacks to this moment and returns what leaves.
func (a *API) enter() func() {
	a.mu.Lock()
	now := a.cfg.Now()
	for _, s := range a.stacks {
		for len(s.steps) > 0 && !s.steps[0].at.After(now) {
			next := s.steps[0]
			s.steps = s.steps[1:]
			next.do(next.at)
		}
	}
	return a.mu.Unlock
}

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("ValidationError", format, args...)
}

// find returns the stack with a name or an id. A deleted one is found by its id alone
// (CloudFormation API reference, DescribeStacks, StackName).
func (a *API) find(name *string) *stack {
	for _, s := range slices.Backward(a.stacks) {
		if s.id == aws.ToString(name) || s.Name == aws.ToString(name) && s.status != types.StackStatusDeleteComplete {
			return s
		}
	}
	return nil
}

func (a *API) stackID(name string) string {
	a.made++
	return fmt.Sprintf("arn:aws:cloudformation:%s:%s:stack/%s/00000000-0000-4000-8000-%012d", a.cfg.Region, a.cfg.Account, name, a.made)
}

// CreateChangeSet makes a change set, for a stack that is there or for a new one, which is in
// REVIEW_IN_PROGRESS until the change set is executed.
func (a *API) CreateChangeSet(in *cloudformation.CreateChangeSetInput) (*cloudformation.CreateChangeSetOutput, error) {
	defer a.enter()()
	s := a.find(in.StackName)
	kind := cmp.Or(in.ChangeSetType, types.ChangeSetTypeUpdate)
	name := aws.ToString(in.StackName)
	switch {
	case kind == types.ChangeSetTypeCreate && s != nil && s.status != types.StackStatusReviewInProgress:
		return nil, invalid("Stack [%s] already exists and cannot be created again with the changeSet [%s].", name, aws.ToString(in.ChangeSetName))
	case kind == types.ChangeSetTypeUpdate && s == nil:
		return nil, invalid("Stack [%s] does not exist", name)
	case kind == types.ChangeSetTypeUpdate && !updatable(s.status):
		return nil, invalid("Stack:%s is in %s state and can not be updated.", s.id, s.status)
	}
	if s != nil {
		for _, c := range s.changeSets {
			if c.name == aws.ToString(in.ChangeSetName) {
				return nil, wire.Errorf("AlreadyExistsException", "ChangeSet %s already exists", c.name)
			}
		}
	}
	source, err := a.source(in, s)
	if err != nil {
		return nil, err
	}
	next := Stack{Name: name, Source: source, Parameters: map[string]string{}}
	for _, p := range in.Parameters {
		value := aws.ToString(p.ParameterValue)
		if aws.ToBool(p.UsePreviousValue) && s != nil {
			value = s.Parameters[aws.ToString(p.ParameterKey)]
		}
		next.Parameters[aws.ToString(p.ParameterKey)] = value
	}
	resources, err := template.Resources(source, a.options(next))
	if err != nil {
		return nil, invalid("Template format error: %s", err)
	}
	if needed := capability(resources); needed != "" && !slices.Contains(in.Capabilities, types.CapabilityCapabilityNamedIam) && !slices.Contains(in.Capabilities, needed) {
		return nil, wire.Errorf("InsufficientCapabilitiesException", "Requires capabilities : [%s]", needed)
	}
	if s == nil {
		s = &stack{Stack: Stack{Name: name}, id: a.stackID(name), status: types.StackStatusReviewInProgress, created: a.cfg.Now()}
		a.stacks = append(a.stacks, s)
		s.stackEvent(a.cfg.Now(), "User Initiated")
	}
	a.made++
	c := &changeSet{
		name: aws.ToString(in.ChangeSetName), kind: kind, next: next, tags: in.Tags, resources: resources, created: a.cfg.Now(),
		id:     fmt.Sprintf("arn:aws:cloudformation:%s:%s:changeSet/%s/00000000-0000-4000-8000-%012d", a.cfg.Region, a.cfg.Account, aws.ToString(in.ChangeSetName), a.made),
		status: types.ChangeSetStatusCreateInProgress, execution: types.ExecutionStatusUnavailable,
	}
	s.changeSets = append(s.changeSets, c)
	s.capabilities = in.Capabilities
	s.after(a.cfg.Now(), a.cfg.Pace, func(time.Time) { c.ready(s, in.Tags) })
	return &cloudformation.CreateChangeSetOutput{Id: &c.id, StackId: &s.id}, nil
}

// updatable reports whether a stack takes an update (CloudFormation user guide, "Stack status
// codes": of a stack in ROLLBACK_COMPLETE "only delete operations can be performed").
func updatable(s types.StackStatus) bool {
	return slices.Contains([]types.StackStatus{
		types.StackStatusCreateComplete, types.StackStatusUpdateComplete, types.StackStatusUpdateRollbackComplete, types.StackStatusImportComplete,
	}, s)
}

// options are what the template is read with.
func (a *API) options(s Stack) template.Options {
	return template.Options{AccountID: a.cfg.Account, Region: a.cfg.Region, StackName: s.Name, Parameters: s.Parameters}
}

// Sizes of a template in a request and in S3 (CloudFormation user guide, "Understand
// CloudFormation quotas").
const (
	mostBody   = 51200
	mostObject = 1 << 20
)

func (a *API) source(in *cloudformation.CreateChangeSetInput, s *stack) ([]byte, error) {
	switch {
	case aws.ToBool(in.UsePreviousTemplate):
		if s == nil {
			return nil, invalid("Stack [%s] does not exist", aws.ToString(in.StackName))
		}
		return s.Source, nil
	case in.TemplateBody != nil:
		if len(*in.TemplateBody) > mostBody {
			return nil, invalid("1 validation error detected: Value at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to %d", mostBody)
		}
		return []byte(*in.TemplateBody), nil
	}
	at, err := url.Parse(aws.ToString(in.TemplateURL))
	if err != nil || at.Host == "" || at.Path == "" {
		return nil, invalid("TemplateURL must be a supported URL.")
	}
	// S3 user guide, "Virtual hosting of buckets": the bucket begins the host, or the path.
	bucket, key := "", strings.TrimPrefix(at.Path, "/")
	if first, rest, _ := strings.Cut(at.Host, "."); strings.HasPrefix(rest, "s3.") {
		bucket = first
	} else {
		bucket, key, _ = strings.Cut(key, "/")
	}
	body, ok := a.cfg.Object(bucket, key)
	switch {
	case !ok:
		return nil, invalid("S3 error: The specified key does not exist.")
	case len(body) > mostObject:
		return nil, invalid("Template may not exceed %d bytes in size.", mostObject)
	}
	return body, nil
}

// capability is what a template's resources need (CloudFormation API reference,
// CreateChangeSet, Capabilities): roles with names need CAPABILITY_NAMED_IAM.
func capability(list []template.Resource) (needed types.Capability) {
	for _, r := range list {
		if !strings.HasPrefix(r.Type, "AWS::IAM::") {
			continue
		}
		if r.Named {
			return types.CapabilityCapabilityNamedIam
		}
		needed = types.CapabilityCapabilityIam
	}
	return needed
}

// noChanges is how CloudFormation says that a change set would change nothing.
const noChanges = "The submitted information didn't contain changes. Submit different information to create a change set."

// ready ends the making of a change set.
func (c *changeSet) ready(s *stack, tags []types.Tag) {
	c.changes = changes(s, c.resources)
	c.status, c.execution = types.ChangeSetStatusCreateComplete, types.ExecutionStatusAvailable
	if len(c.changes) == 0 && reflect.DeepEqual(tags, s.tags) {
		c.status, c.execution, c.reason = types.ChangeSetStatusFailed, types.ExecutionStatusUnavailable, noChanges
	}
}

// changes compares the resources of a stack with those of a template.
func changes(s *stack, next []template.Resource) (list []types.Change) {
	add := func(action types.ChangeAction, r template.Resource, physical string, replacement types.Replacement, scope []types.ResourceAttribute) {
		c := &types.ResourceChange{Action: action, LogicalResourceId: aws.String(r.LogicalID), ResourceType: aws.String(r.Type), Replacement: replacement, Scope: scope}
		if physical != "" {
			c.PhysicalResourceId = aws.String(physical)
		}
		if action == types.ChangeActionRemove && retained(r.Deletion, false) {
			c.PolicyAction = types.PolicyActionRetain
		}
		list = append(list, types.Change{Type: types.ChangeTypeResource, ResourceChange: c})
	}
	for _, r := range next {
		old := s.resource(r.LogicalID)
		switch {
		case old == nil:
			add(types.ChangeActionAdd, r, "", "", nil)
		case !reflect.DeepEqual(old.Properties, r.Properties):
			replacement := types.ReplacementFalse
			if replaces(old.Resource, r) {
				replacement = types.ReplacementTrue
			}
			add(types.ChangeActionModify, r, old.PhysicalID, replacement, []types.ResourceAttribute{types.ResourceAttributeProperties})
		}
	}
	for _, old := range s.resources {
		if !slices.ContainsFunc(next, func(r template.Resource) bool { return r.LogicalID == old.LogicalID }) {
			add(types.ChangeActionRemove, old.Resource, old.PhysicalID, "", nil)
		}
	}
	return list
}

// fixed are properties of which another value is another resource ("Update requires:
// Replacement" in the types' pages of the CloudFormation template reference), beside names.
func fixed() map[string][]string {
	return map[string][]string{
		"AWS::DynamoDB::Table":  {"KeySchema"},
		"AWS::SQS::Queue":       {"FifoQueue"},
		"AWS::Lambda::Function": {"PackageType"},
		"AWS::EKS::AccessEntry": {"ClusterName", "PrincipalArn", "Type"},
		"AWS::IAM::Role":        {"Path"},
	}
}

func replaces(old, next template.Resource) bool {
	if old.PhysicalID != next.PhysicalID {
		return true
	}
	return slices.ContainsFunc(fixed()[old.Type], func(p string) bool { return !reflect.DeepEqual(old.Properties[p], next.Properties[p]) })
}

// retained reports whether a resource stays when it leaves its stack (CloudFormation user guide,
// "DeletionPolicy attribute"); at a creation that rolls back, RetainExceptOnCreate deletes it.
func retained(policy string, creating bool) bool {
	return policy == "Retain" || policy == "RetainExceptOnCreate" && !creating
}

func (s *stack) resource(id string) *resource {
	for _, r := range s.resources {
		if r.LogicalID == id {
			return r
		}
	}
	return nil
}

func (s *stack) changeSet(name *string) *changeSet {
	for _, c := range s.changeSets {
		if c.name == aws.ToString(name) || c.id == aws.ToString(name) {
			return c
		}
	}
	return nil
}

// named finds a change set by its stack and name, or by its ARN.
func (a *API) named(stackName, name *string) (*stack, *changeSet, error) {
	for _, s := range a.stacks {
		if s.status == types.StackStatusDeleteComplete || stackName != nil && s.Name != *stackName && s.id != *stackName {
			continue
		}
		if c := s.changeSet(name); c != nil {
			return s, c, nil
		}
	}
	return nil, nil, &wire.Error{Code: "ChangeSetNotFound", Status: 404, Message: fmt.Sprintf("ChangeSet [%s] does not exist", aws.ToString(name))}
}

// DescribeChangeSet describes a change set, its changes in pages.
func (a *API) DescribeChangeSet(in *cloudformation.DescribeChangeSetInput) (*cloudformation.DescribeChangeSetOutput, error) {
	defer a.enter()()
	s, c, err := a.named(in.StackName, in.ChangeSetName)
	if err != nil {
		return nil, err
	}
	list, next, err := paged(c.changes, in.NextToken)
	if err != nil {
		return nil, err
	}
	out := &cloudformation.DescribeChangeSetOutput{
		ChangeSetName: &c.name, ChangeSetId: &c.id, StackId: &s.id, StackName: &s.Name, Status: c.status, ExecutionStatus: c.execution,
		CreationTime: &c.created, Changes: list, NextToken: next, Parameters: parameters(c.next.Parameters), Tags: c.tags, Capabilities: s.capabilities,
	}
	if c.reason != "" {
		out.StatusReason = &c.reason
	}
	return out, nil
}

func parameters(m map[string]string) (list []types.Parameter) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, types.Parameter{ParameterKey: aws.String(k), ParameterValue: aws.String(m[k])})
	}
	return list
}

// paged is one page of a list, and the token of the next one.
func paged[T any](list []T, token *string) ([]T, *string, error) {
	from := 0
	if token != nil {
		n, err := strconv.Atoi(*token)
		if err != nil || n < 0 || n > len(list) {
			return nil, nil, invalid("The token %s is not valid", *token)
		}
		from = n
	}
	list = list[from:]
	if len(list) <= page {
		return list, nil, nil
	}
	return list[:page], aws.String(strconv.Itoa(from + page)), nil
}

// DeleteChangeSet deletes a change set that is not being executed.
func (a *API) DeleteChangeSet(in *cloudformation.DeleteChangeSetInput) (*cloudformation.DeleteChangeSetOutput, error) {
	defer a.enter()()
	s, c, err := a.named(in.StackName, in.ChangeSetName)
	if err != nil {
		return &cloudformation.DeleteChangeSetOutput{}, nil // deleting what is not there succeeds (API reference)
	}
	if c.execution == types.ExecutionStatusExecuteInProgress {
		return nil, wire.Errorf("InvalidChangeSetStatus", "ChangeSet %s is in %s status", c.name, c.execution)
	}
	s.changeSets = slices.DeleteFunc(s.changeSets, func(x *changeSet) bool { return x == c })
	return &cloudformation.DeleteChangeSetOutput{}, nil
}

// ExecuteChangeSet begins to create or update a stack.
func (a *API) ExecuteChangeSet(in *cloudformation.ExecuteChangeSetInput) (*cloudformation.ExecuteChangeSetOutput, error) {
	defer a.enter()()
	s, c, err := a.named(in.StackName, in.ChangeSetName)
	if err != nil {
		return nil, err
	}
	if c.execution != types.ExecutionStatusAvailable {
		return nil, wire.Errorf("InvalidChangeSetStatus", "ChangeSet [%s] cannot be executed in its current status of [%s]", c.id, c.status)
	}
	// All change sets of the stack go with the execution of one (API reference,
	// ExecuteChangeSet).
	s.changeSets = nil
	now := a.cfg.Now()
	s.tags = c.tags
	if c.kind == types.ChangeSetTypeCreate {
		s.status, s.reason = types.StackStatusCreateInProgress, ""
		s.stackEvent(now, "User Initiated")
		a.create(s, c, now)
	} else {
		s.status, s.reason, s.updated = types.StackStatusUpdateInProgress, "", now
		s.stackEvent(now, "User Initiated")
		a.update(s, c, now)
	}
	return &cloudformation.ExecuteChangeSetOutput{}, nil
}

// after adds a step some time after the last one.
func (s *stack) after(now time.Time, pace time.Duration, do func(at time.Time)) {
	if n := len(s.steps); n > 0 {
		now = s.steps[n-1].at
	}
	s.steps = append(s.steps, step{now.Add(pace), do})
}

// stackEvent records the state of the stack itself.
func (s *stack) stackEvent(at time.Time, reason string) {
	s.event(at, s.Name, s.id, "AWS::CloudFormation::Stack", types.ResourceStatus(s.status), reason)
}

func (s *stack) event(at time.Time, logical, physical, kind string, status types.ResourceStatus, reason string) {
	e := types.StackEvent{
		EventId: aws.String(fmt.Sprintf("%s-%s-%d", logical, status, len(s.events))), StackId: aws.String(s.id), StackName: aws.String(s.Name),
		LogicalResourceId: aws.String(logical), PhysicalResourceId: aws.String(physical), ResourceType: aws.String(kind),
		ResourceStatus: status, Timestamp: aws.Time(at),
	}
	if reason != "" {
		e.ResourceStatusReason = aws.String(reason)
	}
	s.events = append(s.events, e)
}

// set records the state of a resource.
func (s *stack) set(at time.Time, r *resource, status types.ResourceStatus, reason string) {
	r.status, r.reason, r.at = status, reason, at
	physical := r.PhysicalID
	if status == types.ResourceStatusCreateFailed {
		physical = ""
	}
	s.event(at, r.LogicalID, physical, r.Type, status, reason)
}

// handler is how CloudFormation quotes a resource provider (CloudFormation CLI user guide,
// "Handler error codes").
func handler(message, code string) string {
	return fmt.Sprintf("Resource handler returned message: %q (RequestToken: 00000000-0000-4000-8000-000000000000, HandlerErrorCode: %s)", message, code)
}

// handlerCodes are those that handlers make of services' codes (CloudFormation CLI user guide,
// "Handler error codes"); other refusals are InvalidRequest.
func handlerCodes() map[string]string {
	return map[string]string{
		"AccessDenied": "AccessDenied", "AccessDeniedException": "AccessDenied",
		"ResourceInUseException": "AlreadyExists", "EntityAlreadyExists": "AlreadyExists", "ResourceNotFoundException": "NotFound",
		"LimitExceeded": "ServiceLimitExceeded", "ResourceLimitExceededException": "ServiceLimitExceeded",
	}
}

// try makes a resource, and returns why it cannot be made.
func (a *API) try(r template.Resource) string {
	if r.Named && a.taken[r.Type+" "+r.PhysicalID] {
		return handler(fmt.Sprintf("Resource of type '%s' with identifier '%s' already exists.", r.Type, r.PhysicalID), "AlreadyExists")
	}
	if code, ok := r.Properties["Code"].(map[string]any); ok && r.Type == "AWS::Lambda::Function" {
		bucket, _ := code["S3Bucket"].(string)
		key, _ := code["S3Key"].(string)
		if _, ok := a.cfg.Object(bucket, key); !ok {
			// Lambda API reference, CreateFunction, InvalidParameterValueException.
			return handler("Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist. (Service: Lambda, Status Code: 400)", "InvalidRequest")
		}
	}
	if a.cfg.Create != nil {
		if err := a.cfg.Create(r); err != nil {
			code := "GeneralServiceException"
			var refused *wire.Error
			if errors.As(err, &refused) {
				return handler(refused.Message, cmp.Or(handlerCodes()[refused.Code], "InvalidRequest"))
			}
			return handler(err.Error(), code)
		}
	}
	a.taken[r.Type+" "+r.PhysicalID] = true
	return ""
}

// create makes the resources of a new stack, one after the other.
func (a *API) create(s *stack, c *changeSet, now time.Time) {
	var next func(i int) func(time.Time)
	next = func(i int) func(time.Time) {
		return func(at time.Time) {
			if i == len(c.resources) {
				a.complete(s, c, at, types.StackStatusCreateComplete)
				return
			}
			r := &resource{Resource: c.resources[i]}
			s.resources = append(s.resources, r)
			s.set(at, r, types.ResourceStatusCreateInProgress, "")
			s.after(at, a.cfg.Pace, func(at time.Time) {
				if why := a.try(r.Resource); why != "" {
					s.set(at, r, types.ResourceStatusCreateFailed, why)
					// Those that are made at the same time are canceled.
					if i+1 < len(c.resources) {
						other := &resource{Resource: c.resources[i+1]}
						s.resources = append(s.resources, other)
						s.set(at, other, types.ResourceStatusCreateInProgress, "")
						s.set(at, other, types.ResourceStatusCreateFailed, "Resource creation cancelled")
					}
					a.rollBack(s, r, at)
					return
				}
				s.set(at, r, types.ResourceStatusCreateComplete, "")
				next(i + 1)(at)
			})
		}
	}
	s.after(now, a.cfg.Pace, next(0))
}

// complete ends a creation or an update.
func (a *API) complete(s *stack, c *changeSet, at time.Time, status types.StackStatus) {
	s.Source, s.Parameters = c.next.Source, c.next.Parameters
	s.status = status
	s.stackEvent(at, "")
	if a.cfg.Deployed != nil {
		if err := a.cfg.Deployed(s.Stack); err != nil {
			s.reason = "the stage cannot run it: " + err.Error()
		}
	}
}

// rollBack deletes what a failed creation made, but what its policy retains.
func (a *API) rollBack(s *stack, failed *resource, at time.Time) {
	s.status = types.StackStatusRollbackInProgress
	s.reason = fmt.Sprintf("The following resource(s) failed to create: [%s]. Rollback requested by user.", failed.LogicalID)
	s.stackEvent(at, s.reason)
	a.remove(s, true, at, func(at time.Time, _ []template.Resource) {
		s.status = types.StackStatusRollbackComplete
		s.stackEvent(at, "")
	})
}

// remove deletes the resources of a stack, the last one first.
func (a *API) remove(s *stack, creating bool, now time.Time, done func(at time.Time, left []template.Resource)) {
	var left []template.Resource
	var next func(at time.Time)
	next = func(at time.Time) {
		n := len(s.resources)
		if n == 0 {
			done(at, left)
			return
		}
		r := s.resources[n-1]
		if r.status == types.ResourceStatusCreateFailed {
			s.resources = s.resources[:n-1]
			next(at)
			return
		}
		if retained(r.Deletion, creating) {
			s.set(at, r, types.ResourceStatusDeleteSkipped, "")
			left, s.resources = append(left, r.Resource), s.resources[:n-1]
			next(at)
			return
		}
		s.set(at, r, types.ResourceStatusDeleteInProgress, "")
		s.after(at, a.cfg.Pace, func(at time.Time) {
			if a.cfg.Delete != nil {
				if err := a.cfg.Delete(r.Resource); err != nil {
					s.set(at, r, types.ResourceStatusDeleteFailed, handler(err.Error(), "GeneralServiceException"))
					s.status, s.reason = types.StackStatusDeleteFailed, fmt.Sprintf("The following resource(s) failed to delete: [%s]. ", r.LogicalID)
					s.stackEvent(at, s.reason)
					return
				}
			}
			s.set(at, r, types.ResourceStatusDeleteComplete, "")
			delete(a.taken, r.Type+" "+r.PhysicalID)
			s.resources = s.resources[:n-1]
			next(at)
		})
	}
	s.after(now, a.cfg.Pace, next)
}

// update changes a stack; what fails leaves it as it was.
func (a *API) update(s *stack, c *changeSet, now time.Time) {
	before := slices.Clone(s.resources)
	var todo []*types.ResourceChange
	for _, x := range c.changes {
		if x.ResourceChange.Action != types.ChangeActionRemove {
			todo = append(todo, x.ResourceChange)
		}
	}
	byID := map[string]template.Resource{}
	for _, r := range c.resources {
		byID[r.LogicalID] = r
	}
	var next func(i int) func(time.Time)
	next = func(i int) func(time.Time) {
		return func(at time.Time) {
			if i == len(todo) {
				s.status = types.StackStatusUpdateCompleteCleanupInProgress
				s.stackEvent(at, "")
				a.cleanUp(s, c, at)
				return
			}
			r := &resource{Resource: byID[*todo[i].LogicalResourceId]}
			doing, did, failed := types.ResourceStatusUpdateInProgress, types.ResourceStatusUpdateComplete, types.ResourceStatusUpdateFailed
			if todo[i].Action == types.ChangeActionAdd {
				doing, did, failed = types.ResourceStatusCreateInProgress, types.ResourceStatusCreateComplete, types.ResourceStatusCreateFailed
			}
			s.set(at, r, doing, "")
			s.after(at, a.cfg.Pace, func(at time.Time) {
				why := ""
				if todo[i].Action == types.ChangeActionAdd || todo[i].Replacement == types.ReplacementTrue {
					why = a.try(r.Resource)
				} else if r.Type == "AWS::Lambda::Function" {
					delete(a.taken, r.Type+" "+r.PhysicalID)
					why = a.try(r.Resource)
					a.taken[r.Type+" "+r.PhysicalID] = true
				}
				if why != "" {
					s.set(at, r, failed, why)
					s.status, s.reason = types.StackStatusUpdateRollbackInProgress, fmt.Sprintf("The following resource(s) failed to update: [%s]. ", r.LogicalID)
					s.stackEvent(at, s.reason)
					s.after(at, a.cfg.Pace, func(at time.Time) {
						s.resources = before
						s.status = types.StackStatusUpdateRollbackComplete
						s.stackEvent(at, "")
					})
					return
				}
				s.set(at, r, did, "")
				s.resources = slices.DeleteFunc(slices.Clone(s.resources), func(x *resource) bool { return x.LogicalID == r.LogicalID })
				s.resources = append(s.resources, r)
				next(i + 1)(at)
			})
		}
	}
	s.after(now, a.cfg.Pace, next(0))
}

// cleanUp deletes what an update has left out.
func (a *API) cleanUp(s *stack, c *changeSet, at time.Time) {
	for _, x := range c.changes {
		r := s.resource(*x.ResourceChange.LogicalResourceId)
		if x.ResourceChange.Action != types.ChangeActionRemove || r == nil {
			continue
		}
		if retained(r.Deletion, false) {
			s.set(at, r, types.ResourceStatusDeleteSkipped, "")
		} else {
			s.set(at, r, types.ResourceStatusDeleteComplete, "")
			delete(a.taken, r.Type+" "+r.PhysicalID)
			if a.cfg.Delete != nil {
				_ = a.cfg.Delete(r.Resource) // what cannot be deleted after an update stays, and the update is complete
			}
		}
		s.resources = slices.DeleteFunc(s.resources, func(o *resource) bool { return o == r })
	}
	a.complete(s, c, at, types.StackStatusUpdateComplete)
}

// DeleteStack begins to delete a stack. One that is not there is deleted.
func (a *API) DeleteStack(in *cloudformation.DeleteStackInput) (*cloudformation.DeleteStackOutput, error) {
	defer a.enter()()
	s := a.find(in.StackName)
	if s == nil || s.status == types.StackStatusDeleteComplete {
		return &cloudformation.DeleteStackOutput{}, nil
	}
	if s.protected {
		return nil, invalid("Stack [%s] cannot be deleted while TerminationProtection is enabled", s.Name)
	}
	if s.status == types.StackStatusDeleteInProgress {
		return &cloudformation.DeleteStackOutput{}, nil
	}
	now := a.cfg.Now()
	s.status, s.reason, s.steps = types.StackStatusDeleteInProgress, "", nil
	s.stackEvent(now, "User Initiated")
	for _, r := range s.resources {
		if slices.Contains(in.RetainResources, r.LogicalID) {
			r.Deletion = "Retain"
		}
	}
	a.remove(s, false, now, func(at time.Time, left []template.Resource) {
		s.status, s.deleted = types.StackStatusDeleteComplete, at
		s.stackEvent(at, "")
		if a.cfg.Deleted != nil {
			a.cfg.Deleted(s.Stack, left)
		}
	})
	return &cloudformation.DeleteStackOutput{}, nil
}

// UpdateTerminationProtection protects a stack from deletion, or no longer.
func (a *API) UpdateTerminationProtection(in *cloudformation.UpdateTerminationProtectionInput) (*cloudformation.UpdateTerminationProtectionOutput, error) {
	defer a.enter()()
	s := a.find(in.StackName)
	if s == nil {
		return nil, invalid("Stack [%s] does not exist", aws.ToString(in.StackName))
	}
	s.protected = aws.ToBool(in.EnableTerminationProtection)
	return &cloudformation.UpdateTerminationProtectionOutput{StackId: &s.id}, nil
}

// DescribeStacks describes one stack, or all that are not deleted.
func (a *API) DescribeStacks(in *cloudformation.DescribeStacksInput) (*cloudformation.DescribeStacksOutput, error) {
	defer a.enter()()
	out := &cloudformation.DescribeStacksOutput{}
	if in.StackName != nil {
		s := a.find(in.StackName)
		if s == nil {
			return nil, invalid("Stack with id %s does not exist", *in.StackName)
		}
		out.Stacks = append(out.Stacks, a.described(s))
		return out, nil
	}
	for _, s := range a.stacks {
		if s.status != types.StackStatusDeleteComplete {
			out.Stacks = append(out.Stacks, a.described(s))
		}
	}
	return out, nil
}

func (a *API) described(s *stack) types.Stack {
	d := types.Stack{
		StackName: aws.String(s.Name), StackId: aws.String(s.id), StackStatus: s.status, CreationTime: aws.Time(s.created),
		Parameters: parameters(s.Parameters), Tags: s.tags, Capabilities: s.capabilities, EnableTerminationProtection: aws.Bool(s.protected),
	}
	if s.reason != "" {
		d.StackStatusReason = aws.String(s.reason)
	}
	if !s.updated.IsZero() {
		d.LastUpdatedTime = aws.Time(s.updated)
	}
	if updatable(s.status) {
		if t, err := template.Parse(s.Source, a.options(s.Stack)); err == nil {
			for _, k := range slices.Sorted(maps.Keys(t.Outputs)) {
				value := t.Outputs[k]
				if a.cfg.Output != nil {
					value = a.cfg.Output(value)
				}
				d.Outputs = append(d.Outputs, types.Output{OutputKey: aws.String(k), OutputValue: aws.String(value)})
			}
		}
	}
	return d
}

// DescribeStackEvents lists a stack's events, the newest first.
func (a *API) DescribeStackEvents(in *cloudformation.DescribeStackEventsInput) (*cloudformation.DescribeStackEventsOutput, error) {
	defer a.enter()()
	s := a.find(in.StackName)
	if s == nil {
		return nil, invalid("Stack [%s] does not exist", aws.ToString(in.StackName))
	}
	newest := slices.Clone(s.events)
	slices.Reverse(newest)
	list, next, err := paged(newest, in.NextToken)
	return &cloudformation.DescribeStackEventsOutput{StackEvents: list, NextToken: next}, err
}

// ListStackResources lists a stack's resources.
func (a *API) ListStackResources(in *cloudformation.ListStackResourcesInput) (*cloudformation.ListStackResourcesOutput, error) {
	defer a.enter()()
	s := a.find(in.StackName)
	if s == nil {
		return nil, invalid("Stack with id %s does not exist", aws.ToString(in.StackName))
	}
	all := make([]types.StackResourceSummary, len(s.resources))
	for i, r := range s.resources {
		all[i] = types.StackResourceSummary{
			LogicalResourceId: aws.String(r.LogicalID), PhysicalResourceId: aws.String(r.PhysicalID), ResourceType: aws.String(r.Type),
			ResourceStatus: r.status, LastUpdatedTimestamp: aws.Time(r.at),
		}
	}
	list, next, err := paged(all, in.NextToken)
	return &cloudformation.ListStackResourcesOutput{StackResourceSummaries: list, NextToken: next}, err
}

// GetTemplate returns a stack's template.
func (a *API) GetTemplate(in *cloudformation.GetTemplateInput) (*cloudformation.GetTemplateOutput, error) {
	defer a.enter()()
	s := a.find(in.StackName)
	if s == nil {
		return nil, invalid("Stack with id %s does not exist", aws.ToString(in.StackName))
	}
	return &cloudformation.GetTemplateOutput{TemplateBody: aws.String(string(s.Source))}, nil
}
