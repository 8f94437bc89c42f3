package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/fn"
)

const (
	// alarmPeriod is the span that one figure of an alarm covers.
	alarmPeriod = 5 * time.Minute
	// slowQueue is how long a message may wait, beyond its delay, before
	// somebody should know: longer than a burst takes to be worked off.
	slowQueue = 10 * time.Minute
	// missedTicks is how many runs of a schedule may be missing.
	missedTicks = 3
)

// alarms makes alarms that all go to one topic.
type alarms struct {
	stack  awscdk.Stack
	prefix string
	topic  string
	made   bool
}

func newAlarms(stack awscdk.Stack, chosen settings.Settings) alarms {
	a := alarms{stack: stack, prefix: chosen.Prefix(), topic: chosen.AlarmTopicARN}
	if a.topic == "" {
		a.made = true
		a.topic = newTopic(stack, chosen)
	}
	return a
}

// newTopic makes a topic under a key of its own: CloudWatch cannot publish to
// a topic under the account's key for SNS (aws/sns), whose policy is fixed.
func newTopic(stack awscdk.Stack, chosen settings.Settings) string {
	cloudwatch := &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)}
	ours := &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()}}
	key := awskms.NewKey(stack, jsii.String("AlarmKey"), &awskms.KeyProps{
		Description:       jsii.String("Encrypts the alarms of " + chosen.StackName),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_DESTROY,
	})
	key.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("AlarmsEncrypt"),
		Principals: cloudwatch,
		Actions:    jsii.Strings("kms:Decrypt", "kms:GenerateDataKey*"),
		Resources:  jsii.Strings("*"), // in a key's policy: this key
		// SNS encrypts with the topic's ARN as the context (as in the key policies of
		// docs.aws.amazon.com/gamelift/latest/flexmatchguide/queue-notification-sns-sse.html).
		// The topic needs the key first, so its name is known by its beginning alone.
		Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()},
			"ArnLike": map[string]any{"kms:EncryptionContext:aws:sns:topicArn": "arn:" + *awscdk.Aws_PARTITION() + ":sns:" + *awscdk.Aws_REGION() + ":" + *awscdk.Aws_ACCOUNT_ID() +
				":" + chosen.StackName + "-AlarmTopic*"},
		},
	}), nil)
	topic := awssns.NewTopic(stack, jsii.String("AlarmTopic"), &awssns.TopicProps{
		DisplayName: jsii.String(chosen.StackName + " alarms"),
		MasterKey:   key,
		EnforceSSL:  jsii.Bool(true),
	})
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("AlarmsPublish"),
		Principals: cloudwatch,
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: ours,
	}))
	if chosen.AlarmEmail != "" {
		awssns.NewCfnSubscription(stack, jsii.String("AlarmEmail"), &awssns.CfnSubscriptionProps{
			TopicArn: topic.TopicArn(),
			Protocol: jsii.String("email"),
			Endpoint: chosen.AlarmEmail,
		})
	}
	return *topic.TopicArn()
}

// alarm is what differs from alarm to alarm.
type alarm struct {
	id          string
	description string
	namespace   string
	metric      string
	statistic   string
	dimensions  map[string]*string
	period      time.Duration
	threshold   float64
	// below makes it an alarm for figures under the threshold, or none at all.
	below bool
	// datapoints of periods must be beyond the threshold.
	datapoints, periods int
}

// watch makes the alarms of a function, its queue and its dead letters.
func (a alarms) watch(f function) {
	id, name := camel(f.spec.Name), a.prefix+"-"+f.spec.Name
	loss := "Meanwhile: " + f.spec.FailureImpact
	byName := map[string]*string{"FunctionName": f.lambda.FunctionName()}

	again, most := "; what was in work is tried again", "the account's Lambda concurrency is used up. %s Do: find what uses it (CloudWatch, ConcurrentExecutions by function) or ask for a higher quota."
	if f.spec.URL != nil { // it is called by somebody who waits
		again, most = "", "more call its address at once than are let in. %s Do: see the alarm on its refusals, and who calls (its log)."
	}
	a.add(alarm{
		id:          id + "Errors",
		description: fmt.Sprintf("%s failed in two of three periods of five minutes. %s Do: read the log group /aws/lambda/%s%s.", name, loss, name, again),
		namespace:   "AWS/Lambda", metric: "Errors", statistic: "Sum", dimensions: byName,
		period: alarmPeriod, threshold: 1, datapoints: 2, periods: 3,
	})
	a.add(alarm{
		id:          id + "Throttles",
		description: fmt.Sprintf("%s is not let run: "+most, name, loss),
		namespace:   "AWS/Lambda", metric: "Throttles", statistic: "Sum", dimensions: byName,
		period: alarmPeriod, threshold: 1, datapoints: 3, periods: 3,
	})
	if every := shortest(f.spec.Schedules); every > 0 {
		a.add(alarm{
			id:          id + "Silent",
			description: fmt.Sprintf("%s has not run for %s. %s Do: see whether its schedule is enabled, and the alarm on its throttles.", name, span(missedTicks*every), loss),
			namespace:   "AWS/Lambda", metric: "Invocations", statistic: "Sum", dimensions: byName,
			period: every, threshold: 1, below: true, datapoints: missedTicks, periods: missedTicks,
		})
	}
	for _, own := range f.spec.Alarms {
		a.add(alarm{
			id:          id + own.Metric,
			description: fmt.Sprintf("%s: %s %s Do: %s", name, own.Why, loss, own.Do),
			// The functions' own figures, as package run writes them.
			namespace: "Rollcall", metric: own.Metric, statistic: "Sum", dimensions: map[string]*string{"function": jsii.String(f.spec.Name)},
			period: alarmPeriod, threshold: float64(own.AtLeast), datapoints: 1, periods: 1,
		})
	}
	a.dead(id+"FailedLetters", f.failed, fmt.Sprintf("Events did not reach %s, or it failed on them. %s Do: read the messages in %s-failed (the error stands in each), mend the cause, then send again those that still matter and purge the queue.", name, loss, name))
	if f.queue == nil {
		return
	}
	own := a.prefix + "-" + string(f.queue.spec.Resource)
	a.dead(camel(string(f.queue.spec.Resource))+"DeadLetters", f.queue.dead, fmt.Sprintf("Messages of %s were tried %d times by %s and put aside. %s Do: read its log, mend the cause, then make redrive (it shows what %s-dead holds and moves it back).", own, f.queue.spec.Attempts, name, loss, own))
	a.add(alarm{
		id:          camel(string(f.queue.spec.Resource)) + "Age",
		description: fmt.Sprintf("Messages wait in %s for longer than %s. %s Do: see the alarms on the errors and throttles of %s; nothing is lost before %s.", own, span(maxAge(*f.queue)), loss, name, span(f.queue.spec.Retention)),
		namespace:   "AWS/SQS", metric: "ApproximateAgeOfOldestMessage", statistic: "Maximum",
		dimensions: map[string]*string{"QueueName": f.queue.main.QueueName()},
		period:     alarmPeriod, threshold: maxAge(*f.queue).Seconds(), datapoints: 1, periods: 1,
	})
}

// maxAge is how old a message may get. A queue with a delay is also written
// to with delays of up to SQS's longest, and the wait counts as age.
func maxAge(q queue) time.Duration {
	if q.delay > 0 {
		return maxDelay + slowQueue
	}
	return slowQueue
}

func (a alarms) dead(id string, q awssqs.Queue, description string) {
	a.add(alarm{
		id: id, description: description,
		namespace: "AWS/SQS", metric: "ApproximateNumberOfMessagesVisible", statistic: "Maximum",
		dimensions: map[string]*string{"QueueName": q.QueueName()},
		period:     alarmPeriod, threshold: 1, datapoints: 1, periods: 1,
	})
}

func (a alarms) add(it alarm) {
	comparison, missing := "GreaterThanOrEqualToThreshold", "notBreaching"
	if it.below {
		comparison, missing = "LessThanThreshold", "breaching"
	}
	var dimensions []any
	for name, value := range it.dimensions {
		dimensions = append(dimensions, &awscloudwatch.CfnAlarm_DimensionProperty{Name: jsii.String(name), Value: value})
	}
	awscloudwatch.NewCfnAlarm(a.stack, jsii.String(it.id+"Alarm"), &awscloudwatch.CfnAlarmProps{
		AlarmDescription:   jsii.String(it.description),
		Namespace:          jsii.String(it.namespace),
		MetricName:         jsii.String(it.metric),
		Statistic:          jsii.String(it.statistic),
		Dimensions:         dimensions,
		Period:             jsii.Number(it.period.Seconds()),
		Threshold:          jsii.Number(it.threshold),
		ComparisonOperator: jsii.String(comparison),
		TreatMissingData:   jsii.String(missing),
		DatapointsToAlarm:  jsii.Number(it.datapoints),
		EvaluationPeriods:  jsii.Number(it.periods),
		AlarmActions:       &[]any{a.topic},
		OkActions:          &[]any{a.topic},
	})
}

// span writes 15m0s as 15m and 24h0m0s as 24h.
func span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func shortest(schedules []fn.Schedule) time.Duration {
	var every time.Duration
	for _, s := range schedules {
		if every == 0 || s.Every < every {
			every = s.Every
		}
	}
	return every
}
