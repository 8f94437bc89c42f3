package main

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"rollcall/shared/spec"
)

// deadRetention is how long what could not be handled is kept: SQS's longest.
const deadRetention = 14 * 24 * time.Hour

// queue is a queue and where its messages go that were tried too often.
type queue struct {
	spec  spec.Queue
	delay time.Duration
	main  awssqs.Queue
	dead  awssqs.Queue
}

// newQueue makes a queue; failed takes what is tried too often of one that has no
// dead-letter queue of its own.
func newQueue(scope constructs.Construct, prefix string, spec spec.Queue, timeout, delay time.Duration, failed awssqs.Queue) queue {
	id := camel(string(spec.Resource))
	name := prefix + "-" + string(spec.Resource)
	props := queueProps(name, spec.FIFO)
	props.RetentionPeriod = seconds(spec.Retention)
	props.VisibilityTimeout = seconds(visibility(timeout, spec.Window))
	if delay > 0 {
		props.DeliveryDelay = seconds(delay)
	}
	dead := failed
	if !spec.NotRedriven {
		dead = newDeadLetters(scope, id+"Dead", name+"-dead", spec.FIFO)
	}
	props.DeadLetterQueue = &awssqs.DeadLetterQueue{Queue: dead, MaxReceiveCount: jsii.Number(spec.Attempts)}
	return queue{spec: spec, delay: delay, dead: dead, main: awssqs.NewQueue(scope, jsii.String(id), props)}
}

// visibility is how long a message in work stays hidden: at least six times
// the function's timeout, plus the batch window (Lambda, "Using Lambda with
// Amazon SQS"), so that a throttled poller has time to try again.
func visibility(timeout, window time.Duration) time.Duration { return 6*timeout + window }

func newDeadLetters(scope constructs.Construct, id, name string, fifo bool) awssqs.Queue {
	props := queueProps(name, fifo)
	props.RetentionPeriod = seconds(deadRetention)
	return awssqs.NewQueue(scope, jsii.String(id), props)
}

func queueProps(name string, fifo bool) *awssqs.QueueProps {
	props := &awssqs.QueueProps{
		QueueName:  jsii.String(name),
		Encryption: awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL: jsii.Bool(true),
	}
	if fifo {
		props.QueueName = jsii.String(name + ".fifo")
		props.Fifo = jsii.Bool(true)
		// The sender gives the deduplication id: two results with the same
		// words may be two looks.
		props.ContentBasedDeduplication = jsii.Bool(false)
		// High throughput: limits count per group, which is a cluster.
		props.DeduplicationScope = awssqs.DeduplicationScope_MESSAGE_GROUP
		props.FifoThroughputLimit = awssqs.FifoThroughputLimit_PER_MESSAGE_GROUP_ID
	}
	return props
}

// letRulesSend lets EventBridge put messages in, from these rules only.
func letRulesSend(q awssqs.Queue, sid string, rules []*string) {
	if len(rules) == 0 {
		return
	}
	q.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String(sid),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sqs:SendMessage"),
		Resources:  &[]*string{q.QueueArn()},
		Conditions: &map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": rules}},
	}))
}

func seconds(d time.Duration) awscdk.Duration {
	return awscdk.Duration_Seconds(jsii.Number(d.Seconds()))
}
