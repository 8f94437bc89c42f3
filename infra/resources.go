package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/store"
	"rollcall/shared/target/message"
)

// resources are what the functions share, by the names that specs use.
type resources struct {
	// reader is the ARN of the role that reads in the clusters.
	reader string
	table  awsdynamodb.Table
	bus    awsevents.EventBus
	// spokes is the bus of what spokes forward; nil where there are none.
	spokes  awsevents.CfnEventBus
	secrets map[spec.Resource]secret
	queues  map[spec.Resource]queue
	// failed keeps the events that did not reach a function or its queue, those of
	// asynchronous invocations that failed, and messages that nobody would put back: one queue for all functions, because
	// each would have an alarm of its own to be paid for. A letter says whose it is:
	// those of rules name the rule and its target, the others the function.
	failed awssqs.Queue
	// targets is the topic of mail to people; nil where no target is one of the stack's.
	targets awssns.Topic
	// evidence is nil where none is kept.
	evidence awss3.Bucket
}

func newResources(stack awscdk.Stack, chosen settings.Settings, list []spec.Spec) (resources, error) {
	r := resources{
		reader:  readerARN(chosen),
		table:   newTable(stack),
		bus:     newBus(stack, chosen),
		spokes:  newSpokesBus(stack, chosen, list),
		secrets: newSecrets(stack, chosen, list),
		queues:  map[spec.Resource]queue{},
		targets: newTargetTopic(stack, chosen),
		failed:  newDeadLetters(stack, "Failed", chosen.Prefix()+"-failed", false),
	}
	var err error
	if r.evidence, err = newEvidence(stack, chosen); err != nil {
		return resources{}, err
	}
	for _, spec := range list {
		if spec.Queue == nil {
			continue
		}
		delay, err := delayOf(*spec.Queue, chosen)
		if err != nil {
			return resources{}, fmt.Errorf("queue %s: %w", spec.Queue.Resource, err)
		}
		r.queues[spec.Queue.Resource] = newQueue(stack, chosen.Prefix(), *spec.Queue, spec.Timeout, delay, r.failed)
	}
	return r, nil
}

func newBus(stack awscdk.Stack, chosen settings.Settings) awsevents.EventBus {
	return awsevents.NewEventBus(stack, jsii.String("Bus"), &awsevents.EventBusProps{
		EventBusName: jsii.String(chosen.Prefix()),
		Description:  jsii.String("Incidents that Rollcall opened, changed or resolved (schema in events/)."),
	})
}

// guardBus refuses events on the bus of whoever is not one of the functions that put them
// there, within the account too: what stands on it wakes functions and is published to
// targets. A test message (rollcall doctor --test-message) says nothing of its own.
// Keys: service authorization reference, "Amazon EventBridge", PutEvents.
func guardBus(stack awscdk.Stack, bus awsevents.EventBus, functions []function) {
	var roles []*string
	for _, f := range functions {
		if slices.ContainsFunc(f.spec.Grants, func(g spec.Grant) bool {
			return slices.Contains(g.Actions, putEvents) && slices.Contains(g.Resources, spec.Bus)
		}) {
			roles = append(roles, f.role.RoleArn())
		}
	}
	awsevents.NewCfnEventBusPolicy(stack, jsii.String("BusPolicy"), &awsevents.CfnEventBusPolicyProps{
		EventBusName: bus.EventBusName(),
		StatementId:  jsii.String("FunctionsAlone"),
		Statement: map[string]any{
			"Sid":       "FunctionsAlone",
			"Effect":    "Deny",
			"Principal": "*",
			"Action":    putEvents,
			"Resource":  bus.EventBusArn(),
			"Condition": map[string]any{
				"ArnNotEquals":                map[string]any{"aws:PrincipalArn": roles},
				"ForAnyValue:StringNotEquals": map[string]any{"events:detail-type": message.Test},
			},
		},
	})
}

const putEvents = "events:PutEvents"

// maxDelay is SQS's longest delay (CreateQueue, DelaySeconds).
const maxDelay = 15 * time.Minute

func delayOf(q spec.Queue, chosen settings.Settings) (time.Duration, error) {
	if q.DelayFrom == "" {
		return 0, nil
	}
	delay, err := time.ParseDuration(chosen.Environment[q.DelayFrom])
	if err != nil {
		return 0, fmt.Errorf("delay from %s: %w", q.DelayFrom, err)
	}
	if delay < 0 || delay > maxDelay {
		return 0, fmt.Errorf("delay from %s: %s is outside 0 to %s", q.DelayFrom, delay, maxDelay)
	}
	return delay, nil
}

// arn resolves the name of a resource.
func (r resources) arn(name spec.Resource) (string, error) {
	switch name {
	case spec.Table:
		return *r.table.TableArn(), nil
	case spec.TableIndex:
		return *r.table.TableArn() + "/index/" + store.OpenIndex, nil
	case spec.EndedIndex:
		return *r.table.TableArn() + "/index/" + store.EndedIndex, nil
	case spec.ReaderRole:
		return r.reader, nil
	case spec.Bus:
		return *r.bus.EventBusArn(), nil
	case spec.TargetTopic:
		if r.targets != nil {
			return *r.targets.TopicArn(), nil
		}
	case spec.EvidenceObjects:
		if r.evidence != nil {
			return *r.evidence.ArnForObjects(jsii.String("*")), nil
		}
	}
	if s, ok := r.secrets[name]; ok {
		return s.arn, nil
	}
	if q, ok := r.queues[name]; ok {
		return *q.main.QueueArn(), nil
	}
	for dead, of := range map[spec.Resource]spec.Resource{spec.ResultDead: spec.ResultQueue, spec.TargetDead: spec.TargetQueue} {
		if q, ok := r.queues[of]; ok && name == dead {
			return *q.dead.QueueArn(), nil
		}
	}
	return "", fmt.Errorf("the stack has no resource %q", name)
}

// environment gives each variable that a function reads its value.
func (r resources) environment(wanted []spec.Variable, chosen settings.Settings) (map[string]*string, error) {
	values := map[string]*string{}
	for _, v := range wanted {
		value, err := r.value(v, chosen)
		if err != nil {
			return nil, err
		}
		values[string(v)] = value
	}
	return fit(values), nil
}

func (r resources) value(v spec.Variable, chosen settings.Settings) (*string, error) {
	switch v {
	case config.ReaderRole:
		return jsii.String(r.reader), nil
	case config.InVPC: // who is told it reads in clusters, and so is there
		if chosen.VPC.Given() {
			return jsii.String("on"), nil
		}
		return jsii.String("off"), nil
	case config.HubAccount:
		return awscdk.Aws_ACCOUNT_ID(), nil
	case config.RolePrefix:
		return jsii.String(chosen.Prefix()), nil
	case config.TableName:
		return r.table.TableName(), nil
	case config.BusName:
		return r.bus.EventBusName(), nil
	case config.SlackSecretARN:
		return r.secretARN(spec.SlackSecret, v)
	case config.SigningARN:
		return r.secretARN(spec.SigningSecret, v)
	case config.JoinQueueURL:
		return r.url(spec.JoinQueue, v)
	case config.ResultQueueURL:
		return r.url(spec.ResultQueue, v)
	case config.ResultDeadURL:
		if q, ok := r.queues[spec.ResultQueue]; ok {
			return q.dead.QueueUrl(), nil
		}
	case config.NodegroupQueueURL:
		return r.url(spec.NodegroupQueue, v)
	case config.ChangeQueueURL:
		return r.url(spec.ChangeQueue, v)
	case config.RemedyQueueURL:
		return r.url(spec.RemedyQueue, v)
	case config.SweepQueueURL:
		return r.url(spec.SweepQueue, v)
	case config.TargetQueueURL:
		return r.url(spec.TargetQueue, v)
	case config.TargetDeadURL:
		if q, ok := r.queues[spec.TargetQueue]; ok {
			return q.dead.QueueUrl(), nil
		}
	case config.TargetTopicARN:
		if r.targets == nil {
			return jsii.String(""), nil
		}
		return r.targets.TopicArn(), nil
	case config.EvidenceBucket:
		if r.evidence == nil {
			return jsii.String(""), nil
		}
		return r.evidence.BucketName(), nil
	}
	text, ok := chosen.Environment[v]
	if !ok {
		return nil, fmt.Errorf("nobody sets %s", v)
	}
	return jsii.String(text), nil
}

func (r resources) url(name spec.Resource, v spec.Variable) (*string, error) {
	q, ok := r.queues[name]
	if !ok {
		return nil, fmt.Errorf("%s: no function reads the queue %s", v, name)
	}
	return q.main.QueueUrl(), nil
}

func (r resources) secretARN(name spec.Resource, v spec.Variable) (*string, error) {
	s, ok := r.secrets[name]
	if !ok {
		return nil, fmt.Errorf("%s: the stack has no secret %s", v, name)
	}
	return jsii.String(s.arn), nil
}

// camel turns "launch-watch" into "LaunchWatch", the form of construct ids.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}
