package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/lambda"
	"rollcall/shared/spec"
)

const (
	// alarmPeriod is the span that one figure of an alarm covers.
	alarmPeriod = 5 * time.Minute
	// slowQueue is how long a message may wait before somebody should know: longer
	// than a burst takes to be worked off.
	slowQueue = 10 * time.Minute
	// missedTicks is how many runs of a schedule may be missing.
	missedTicks = 3
	// mathMetrics is how many metrics an alarm's expression may have
	// (CloudWatch, "Limits that apply to alarms based on metric math
	// expressions": 10, which cannot be raised). Each is billed as an alarm.
	mathMetrics = 10
	// fillPeriods is of how many periods one must reach the threshold where an
	// expression fills: if the newest figure comes late, FILL puts its value there,
	// which can leave the alarm stuck in OK; "you can work around this by using an M
	// out of N alarm" (CloudWatch, "Using math expressions", FILL). What it makes of a
	// metric that never had a figure is not said; either way nothing rings, as what
	// is missing does not count.
	fillPeriods = 3
)

// alarms are few, and each says what to do. None rings when it is made, nor on
// missing data that is no fault: what is missing counts as well, and nobody is
// told that all is well (a new alarm goes from INSUFFICIENT_DATA to OK).
type alarms struct {
	stack  awscdk.Stack
	prefix string
	topic  string
	// made are those that there are.
	made *[]awscloudwatch.CfnAlarm
}

func newAlarms(stack awscdk.Stack, chosen settings.Settings) alarms {
	a := alarms{stack: stack, prefix: chosen.Prefix(), topic: chosen.AlarmTopicARN, made: &[]awscloudwatch.CfnAlarm{}}
	if a.topic == "" {
		a.topic = newTopic(stack, chosen)
	}
	return a
}

// newTopic makes a topic without a key of its own: "By default, SNS stores messages
// and files using disk encryption" (Security Hub user guide, control SNS.1, which
// wants a KMS key all the same; it left the standard FSBP in April 2024, and is in
// NIST SP 800-53). An alarm's text holds no secret, and a key would be the largest
// part of a small bill, growing with each rotation. Who wants one gives a topic:
// CloudWatch publishes to it if the key is a customer's, whose policy allows
// cloudwatch.amazonaws.com kms:GenerateDataKey* and kms:Decrypt (SNS developer
// guide, "Key management", compatibility of event sources with encrypted topics).
func newTopic(stack awscdk.Stack, chosen settings.Settings) string {
	topic := awssns.NewTopic(stack, jsii.String("AlarmTopic"), &awssns.TopicProps{
		DisplayName: jsii.String(chosen.StackName + " alarms"),
		EnforceSSL:  jsii.Bool(true),
	})
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("AlarmsPublish"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()}},
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

// countCrashes counts Lambda's own lines about a function's processes that died
// or ran out of time, who can say nothing themselves, with the failures that the
// functions count (package run). A metric costs only in hours in which something
// is counted, as no default value is given.
func countCrashes(scope constructs.Construct, logs awslogs.LogGroup, chosen settings.Settings) {
	awslogs.NewCfnMetricFilter(scope, jsii.String("Crashes"), &awslogs.CfnMetricFilterProps{
		LogGroupName: logs.LogGroupName(),
		// "… Task timed out after 60.00 seconds"; "RequestId: … Error: Runtime
		// exited with error: signal: killed"; "REPORT … Error Type:
		// Runtime.OutOfMemory" (samples and sources: platformLines in the test).
		// Any of them counts: ?"…" is OR, and what is not alphanumeric stands in
		// quotes (CloudWatch Logs, "Filter pattern syntax for metric filters").
		// Lambda writes these lines in the log format Text, which the functions
		// have (function.go); in JSON it writes platform.report instead.
		FilterPattern: jsii.String(`?"Task timed out after" ?"Runtime exited" ?"Runtime.OutOfMemory"`),
		MetricTransformations: []any{&awslogs.CfnMetricFilter_MetricTransformationProperty{
			MetricNamespace: jsii.String(lambda.StackNamespace(chosen.Prefix())),
			MetricName:      jsii.String(lambda.Failures),
			MetricValue:     jsii.String("1"),
		}},
	})
}

// alarm is what differs from alarm to alarm.
type alarm struct {
	id          string
	description string
	// figures are one metric, or several with an expression of m1, m2, ….
	figures    []figure
	expression string
	threshold  float64
	// datapoints of periods must reach the threshold.
	datapoints, periods int
	// whenSilent makes it an alarm for the end of data instead: it rings when it
	// comes into INSUFFICIENT_DATA from another state, which a new alarm does
	// not (CloudWatch, PutMetricAlarm, InsufficientDataActions).
	whenSilent bool
}

type figure struct {
	namespace, metric, statistic string
	dimension                    string // "" for none
	value                        *string
}

// watch makes all alarms of the stack.
func (a alarms) watch(r resources, functions []function) {
	a.add(alarm{
		id: "FunctionsFail",
		description: "Functions of " + a.prefix + " failed in two of three periods of five minutes, or clusters' turns came too late to be taken. Meanwhile: what they were to do waits or is tried again; what is tried too often is put aside, for which there is another alarm. " +
			"Do: find which, and why: CloudWatch, Lambda, Errors by function, then its log group /aws/lambda/" + a.prefix + "-… (lines with level ERROR, \"Task timed out\", \"Runtime exited\"; \"a turn is dropped\" in that of sweep: see its Throttles).",
		figures:   []figure{{namespace: lambda.StackNamespace(a.prefix), metric: lambda.Failures, statistic: "Sum"}},
		threshold: 1, datapoints: 2, periods: 3,
	})
	a.deadLetters(r.failed, functions)
	a.late(functions)
	for _, f := range functions {
		if f.spec.Queue != nil && f.spec.Queue.Resource == spec.SweepQueue {
			a.silent(f)
		}
		for _, own := range f.spec.Alarms {
			a.add(alarm{
				id:          camel(f.spec.Name) + own.Metric,
				description: fmt.Sprintf("%s-%s: %s Meanwhile: %s Do: %s", a.prefix, f.spec.Name, own.Why, f.spec.FailureImpact, own.Do),
				figures:     []figure{{namespace: lambda.StackNamespace(a.prefix), metric: own.Metric, statistic: "Sum"}},
				threshold:   float64(own.AtLeast), datapoints: 1, periods: 1,
			})
		}
	}
}

// deadLetters rings on anything that was put aside.
func (a alarms) deadLetters(failed awssqs.Queue, functions []function) {
	queues := []awssqs.Queue{failed}
	for _, f := range functions {
		if f.queue != nil && f.queue.dead != failed {
			queues = append(queues, f.queue.dead)
		}
	}
	n := 0
	for list := range slices.Chunk(queues, mathMetrics) {
		var figures []figure
		var parts []string
		for _, q := range list {
			figures = append(figures, queueFigure(q, "ApproximateNumberOfMessagesVisible"))
			parts = append(parts, fmt.Sprintf("FILL(m%d,0)", len(figures)))
		}
		id := "DeadLetters"
		if n++; n > 1 {
			id += fmt.Sprint(n)
		}
		a.add(alarm{
			id: id,
			description: fmt.Sprintf("Something was put aside: messages in a queue %[1]s-…-dead (tried too often, or unreadable), or events and clusters' turns in %[1]s-failed (they did not reach a function, or it failed on them). Meanwhile: it is not done; it is kept for 14 days. "+
				"Do: make redrive shows which; read the log of the function, and the messages (those in %[1]s-failed name the rule or the function, and the error); mend the cause, then make redrive MOVE=1 puts messages back; what matters in %[1]s-failed is sent again by hand, and the rest purged.", a.prefix),
			figures: figures, expression: "SUM([" + strings.Join(parts, ",") + "])",
			threshold: 1, datapoints: 1, periods: fillPeriods,
		})
	}
}

// onTime are the queues that somebody waits for: between a launch and what is
// said of it. A roll that join-check does not call in time the cluster's turn
// calls within five minutes, and turns that come too late are counted. In the
// others a message that is not read is put aside after its attempts, which rings
// too, later.
func onTime(q spec.Resource) bool { return q == spec.LaunchQueue || q == spec.ResultQueue }

// late rings when a message has waited for longer than it may.
func (a alarms) late(functions []function) {
	var figures []figure
	var parts, names []string
	for _, f := range functions {
		if f.queue == nil || !onTime(f.queue.spec.Resource) {
			continue
		}
		figures = append(figures, queueFigure(f.queue.main, "ApproximateAgeOfOldestMessage"))
		parts = append(parts, fmt.Sprintf("FILL(m%d,0)/%.0f", len(figures), slowQueue.Seconds()))
		names = append(names, string(f.queue.spec.Resource))
	}
	a.add(alarm{
		id: "QueuesLate",
		description: fmt.Sprintf("Messages wait for longer than they should (%s) in one of the queues %s. Meanwhile: launches are looked at, or said, late; nothing is lost for a day. "+
			"Do: find the queue (SQS, ApproximateAgeOfOldestMessage by queue), then why its function does not read it: its log, and Lambda, Throttles by function (the account's concurrency may be used up: ask for a higher quota).", span(slowQueue), strings.Join(names, ", ")),
		figures: figures, expression: "MAX([" + strings.Join(parts, ",") + "])",
		threshold: 1, datapoints: 1, periods: fillPeriods,
	})
}

// silent rings when the function has not run any more. It is for sweep, which gives
// each cluster its turn every five minutes and finds what events did not bring. Other
// schedules that do not reach their functions leave letters (deadLetters), and
// what their functions send waits in queues (late).
func (a alarms) silent(f function) {
	a.add(alarm{
		id: "Silent",
		description: fmt.Sprintf("%[1]s-%[2]s has not run for %[3]s, and its tick is due every five minutes. Meanwhile: %[4]s "+
			"Do: see whether its schedule is enabled (EventBridge, rules), then Lambda, Invocations and Throttles of %[1]s-%[2]s, and its log.", a.prefix, f.spec.Name, span(missedTicks*alarmPeriod), f.spec.FailureImpact),
		figures:   []figure{{"AWS/Lambda", "Invocations", "Sum", "FunctionName", f.lambda.FunctionName()}},
		threshold: 0, datapoints: missedTicks, periods: missedTicks, whenSilent: true,
	})
}

func queueFigure(q awssqs.Queue, metric string) figure {
	return figure{"AWS/SQS", metric, "Maximum", "QueueName", q.QueueName()}
}

func (f figure) dimensions() []any {
	if f.dimension == "" {
		return nil
	}
	return []any{&awscloudwatch.CfnAlarm_DimensionProperty{Name: jsii.String(f.dimension), Value: f.value}}
}

func (a alarms) add(it alarm) {
	props := &awscloudwatch.CfnAlarmProps{
		AlarmDescription:   jsii.String(it.description),
		Threshold:          jsii.Number(it.threshold),
		ComparisonOperator: jsii.String("GreaterThanOrEqualToThreshold"),
		TreatMissingData:   jsii.String("notBreaching"),
		DatapointsToAlarm:  jsii.Number(it.datapoints),
		EvaluationPeriods:  jsii.Number(it.periods),
		AlarmActions:       &[]any{a.topic},
	}
	if it.whenSilent {
		// No count is below zero: this one is never in ALARM.
		props.ComparisonOperator = jsii.String("LessThanThreshold")
		props.TreatMissingData = jsii.String("missing")
		props.AlarmActions = nil
		props.InsufficientDataActions = &[]any{a.topic}
	}
	period := jsii.Number(alarmPeriod.Seconds())
	if it.expression == "" {
		f := it.figures[0]
		props.Namespace, props.MetricName, props.Statistic = jsii.String(f.namespace), jsii.String(f.metric), jsii.String(f.statistic)
		props.Period = period
		if d := f.dimensions(); d != nil {
			props.Dimensions = d
		}
	} else {
		queries := []any{&awscloudwatch.CfnAlarm_MetricDataQueryProperty{Id: jsii.String("e1"), Expression: jsii.String(it.expression), ReturnData: jsii.Bool(true)}}
		for i, f := range it.figures {
			queries = append(queries, &awscloudwatch.CfnAlarm_MetricDataQueryProperty{
				Id: jsii.String(fmt.Sprint("m", i+1)), ReturnData: jsii.Bool(false),
				MetricStat: &awscloudwatch.CfnAlarm_MetricStatProperty{
					Metric: &awscloudwatch.CfnAlarm_MetricProperty{Namespace: jsii.String(f.namespace), MetricName: jsii.String(f.metric), Dimensions: f.dimensions()},
					Period: period, Stat: jsii.String(f.statistic),
				},
			})
		}
		props.Metrics = queries
	}
	*a.made = append(*a.made, awscloudwatch.NewCfnAlarm(a.stack, jsii.String(it.id+"Alarm"), props))
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
