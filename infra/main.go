// Command infra is Rollcall's CDK app: it turns the functions' specs and the
// operator's settings into a CloudFormation template, without an AWS account
// and without a network.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/clusterrole"
	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/lambda"
	"rollcall/shared/spec"
)

func main() {
	file := flag.String("standard", "", "write the standard template here, and no other")
	flag.Parse()
	stderr := os.Stderr
	write := synth
	if *file != "" {
		write = func() error { return writeStandard(*file) }
	}
	if err := write(); err != nil {
		fmt.Fprintf(stderr, "Rollcall cannot be synthesised:\n%v\n", err)
		os.Exit(1)
	}
}

func synth() error {
	defer quit()
	app := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false)})
	// The line alone says which stack it is.
	relay, spoke := given(app, relayTemplate), given(app, settings.SpokeTemplate)
	tags, err := fill(app, os.Getenv)
	if err != nil {
		return err
	}
	if relay {
		NewRelayStack(app)
	} else if spoke {
		err = NewSpokeStack(app, specs.All())
	} else {
		err = NewStack(app, specs.All(), packages(os.Getenv))
	}
	if err != nil {
		return err
	}
	tag(app, tags)
	_, err = assemble(app)
	return err
}

// settingsFile names the settings file of the make line (SETTINGS=).
const settingsFile = "ROLLCALL_SETTINGS"

// pagesFile is where a release says where its pages are (tools/dist), beside its functions.
const pagesFile = "pages"

// fill puts into the app's context what the settings file says, and the address of a release's
// pages, where the line does not say it, and returns the tags of the stack.
func fill(app awscdk.App, getenv func(string) string) (map[string]string, error) {
	file, err := settings.ReadFile(getenv(settingsFile))
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	var pages string
	if dir := getenv(prebuilt); dir != "" {
		text, err := os.ReadFile(filepath.Join(dir, pagesFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the address of the pages: %w", err)
		}
		pages = strings.TrimSpace(string(text))
	}
	context, _ := app.Node().GetAllContext(nil).(map[string]any)
	more, tags, wrong := settings.Line{File: file}.Below(context, pages)
	for key, value := range more {
		app.Node().SetContext(jsii.String(key), value)
	}
	return tags, errors.Join(wrong...)
}

// tag gives the app's stacks tags, which CloudFormation puts on every resource that takes
// tags (API reference, CreateStack, Tags).
func tag(app awscdk.App, tags map[string]string) {
	for _, child := range *app.Node().Children() {
		if stack, ok := child.(awscdk.Stack); ok {
			for _, key := range slices.Sorted(maps.Keys(tags)) {
				stack.AddStackTag(jsii.String(key), jsii.String(tags[key]))
			}
		}
	}
}

// given reports whether the context has a key.
func given(app awscdk.App, key string) bool {
	text, ok := app.Node().TryGetContext(jsii.String(key)).(string)
	return ok && text != ""
}

// quit ends the library's Node process and removes its temporary folder.
// Two of the library's goroutines wait for that process, and when the wrong
// one is second it prints "Runtime process exited abnormally" over a synth
// that went well (jsii-runtime-go 1.139.0): that line is not shown.
func quit() {
	if nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = nowhere
	}
	jsii.Close()
}

// assistantPolicy is the narrowest of EKS's access policies that can list
// nodes: it reads, and has no secrets, but every pod's log and every ConfigMap
// (settings.AIOpsGives). AmazonEKSViewPolicy has no nodes.
func assistantPolicy() string { return accessPolicy(settings.AssistantPolicy) }

// viewPolicy reads service accounts, which tell whose role aws-node uses; it is
// given for the namespace kube-system alone. It has no secrets either.
func viewPolicy() string { return accessPolicy(settings.ViewPolicy) }

func accessPolicy(name string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":eks::aws:cluster-access-policy/" + name
}

// admit makes an EKS access entry for the reader in each named cluster. In a cluster of authentication mode CONFIG_MAP
// it makes none: EKS would refuse it ("The cluster's authentication mode must
// be set to one of [API, API_AND_CONFIG_MAP] to perform this operation."), and
// CloudFormation would roll the whole stack back.
func admit(chosen settings.Settings, who reader) {
	for _, cluster := range entryClusters(chosen) {
		properties := map[string]any{
			"ClusterName":  cluster,
			"PrincipalArn": who.role.RoleArn(),
			"Type":         "STANDARD",
			"Tags":         []any{map[string]any{"Key": settings.TagKey, "Value": settings.TagValue}},
		}
		if chosen.Access == settings.AccessPolicy {
			properties["AccessPolicies"] = []any{
				map[string]any{"PolicyArn": assistantPolicy(), "AccessScope": map[string]any{"Type": "cluster"}},
				map[string]any{"PolicyArn": viewPolicy(), "AccessScope": map[string]any{"Type": "namespace", "Namespaces": []any{"kube-system"}}},
			}
		} else {
			properties["KubernetesGroups"] = []any{clusterrole.Group}
		}
		awscdk.NewCfnResource(who.scope, jsii.String("Access-"+cluster), &awscdk.CfnResourceProps{
			Type:       jsii.String("AWS::EKS::AccessEntry"),
			Properties: &properties,
		})
	}
}

// readers are the functions that need Kubernetes rights.
func readers(functions []function) []function {
	var list []function
	for _, f := range functions {
		if len(f.spec.Kube) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// entryClusters are the clusters in which the stack makes access entries.
func entryClusters(chosen settings.Settings) []string {
	if chosen.Access == settings.AccessNone {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(chosen.AccessClusters), func(c string) bool { return slices.Contains(chosen.ConfigMapClusters, c) })
}

// roleClusters are the named clusters whose rights come from the ClusterRole:
// an operator must apply it there.
func roleClusters(chosen settings.Settings) []string {
	var list []string
	if chosen.Access == settings.AccessGroup {
		list = entryClusters(chosen)
	}
	if chosen.Access != settings.AccessNone {
		list = append(list, chosen.ConfigMapClusters...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

const (
	// alarmPeriod is the span that one figure of an alarm covers.
	alarmPeriod = 5 * time.Minute
	// slowQueue is how long a message may wait before an operator should know: longer
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

// alarms are few, and each says what to do. None fires on deployment, nor on
// missing data that is no fault: what is missing counts as well, and there is no
// message that all is well (a new alarm goes from INSUFFICIENT_DATA to OK).
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
	// figures are one metric, or several with an expression of their ids.
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
	// id is what an expression calls it; "" where there is none. It is the queue's own name:
	// with a number, one queue more or less would change those of all others.
	id string

	namespace, metric, statistic string
	dimension                    string // "" for none
	value                        *string
}

// watch makes all alarms of the stack.
func (a alarms) watch(r resources, functions []function) {
	a.add(alarm{
		id: "FunctionsFail",
		description: "Functions of " + a.prefix + " failed in two of three periods of five minutes, or checks of clusters came too late and were dropped. Meanwhile: their work waits or is retried; after too many attempts it goes to a dead-letter queue, which has its own alarm. " +
			"Do: find the function (CloudWatch, Lambda, Errors by function), then read its log group /aws/lambda/" + a.prefix + "-… (lines with level ERROR, \"Task timed out\", \"Runtime exited\"; for sweep \"a turn is dropped\": check its Throttles).",
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
				description: fmt.Sprintf("%s-%s: %s Meanwhile: %s Do: %s", a.prefix, f.spec.Name, own.Why, own.Meanwhile, own.Do),
				figures:     []figure{{namespace: lambda.StackNamespace(a.prefix), metric: own.Metric, statistic: "Sum"}},
				threshold:   float64(own.AtLeast), datapoints: 1, periods: 1,
			})
		}
	}
}

// deadLetters rings on anything that was put aside.
func (a alarms) deadLetters(failed awssqs.Queue, functions []function) {
	type named struct {
		name spec.Resource
		dead awssqs.Queue
	}
	queues := []named{{"failed", failed}}
	for _, f := range functions {
		if f.queue != nil && f.queue.dead != failed {
			queues = append(queues, named{f.queue.spec.Resource, f.queue.dead})
		}
	}
	n := 0
	for list := range slices.Chunk(queues, mathMetrics) {
		var figures []figure
		var parts []string
		for _, q := range list {
			f := queueFigure(q.name, q.dead, "ApproximateNumberOfMessagesVisible")
			figures = append(figures, f)
			parts = append(parts, fmt.Sprintf("FILL(%s,0)", f.id))
		}
		id := "DeadLetters"
		if n++; n > 1 {
			id += fmt.Sprint(n)
		}
		a.add(alarm{
			id: id,
			description: fmt.Sprintf("Work was given up: messages in a queue %[1]s-…-dead (tried too often, or unreadable), or events and checks of clusters in %[1]s-failed (they did not reach a function, or it failed on them). Meanwhile: this work is not done. The messages are kept for 14 days. "+
				"Do: list them with make redrive. Read the function's log and the messages (those in %[1]s-failed name the rule or the function, and the error). Fix the cause, then put the messages back with make redrive MOVE=1. In %[1]s-failed, send what matters again by hand and purge the rest.", a.prefix),
			figures: figures, expression: "SUM([" + strings.Join(parts, ",") + "])",
			threshold: 1, datapoints: 1, periods: fillPeriods,
		})
	}
}

// onTime are the queues whose delay an operator notices: between a launch and what is
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
		age := queueFigure(f.queue.spec.Resource, f.queue.main, "ApproximateAgeOfOldestMessage")
		figures = append(figures, age)
		parts = append(parts, fmt.Sprintf("FILL(%s,0)/%.0f", age.id, slowQueue.Seconds()))
		names = append(names, string(f.queue.spec.Resource))
	}
	a.add(alarm{
		id: "QueuesLate",
		description: fmt.Sprintf("Messages wait longer than they should (%s) in one of the queues %s. Meanwhile: launches are checked or reported late; nothing is lost for a day. "+
			"Do: find the queue (SQS, ApproximateAgeOfOldestMessage by queue). Then find out why its function does not read it: its log, and Lambda, Throttles by function (if the account's concurrency is used up, request a higher quota).", span(slowQueue), strings.Join(names, ", ")),
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
		description: fmt.Sprintf("%[1]s-%[2]s has not run for %[3]s; it is scheduled every five minutes. Meanwhile: %[4]s "+
			"Do: check whether its schedule is enabled (EventBridge, Rules), then Invocations and Throttles of %[1]s-%[2]s (Lambda), and its log.", a.prefix, f.spec.Name, span(missedTicks*alarmPeriod), f.spec.FailureImpact),
		figures:   []figure{{"", "AWS/Lambda", "Invocations", "Sum", "FunctionName", f.lambda.FunctionName()}},
		threshold: 0, datapoints: missedTicks, periods: missedTicks, whenSilent: true,
	})
}

// queueFigure is a metric of a queue. An id begins with a small letter and has letters,
// digits and low lines (CloudWatch API reference, MetricDataQuery, Id).
func queueFigure(name spec.Resource, q awssqs.Queue, metric string) figure {
	return figure{"m" + camel(string(name)), "AWS/SQS", metric, "Maximum", "QueueName", q.QueueName()}
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
		for _, f := range it.figures {
			queries = append(queries, &awscloudwatch.CfnAlarm_MetricDataQueryProperty{
				Id: jsii.String(f.id), ReturnData: jsii.Bool(false),
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

// The commands among the outputs are pasted into bash and into zsh, the shell
// of macOS: no `read -p` (in zsh it reads from a coprocess), no unquoted
// pattern, no variable that relies on being split into words. TestCommands
// runs each of them in both.

// placeholder stands where an operator writes a cluster's name.
const placeholder = "CLUSTER"

// applyRole is a command that applies the ClusterRole to clusters by name,
// whatever cluster kubectl is at: with a kubeconfig of its own.
func applyRole(clusters ...string) string {
	return "for cluster in " + strings.Join(clusters, " ") + `; do config=$(mktemp) && aws eks update-kubeconfig --region ` + *awscdk.Aws_REGION() +
		` --name "$cluster" --kubeconfig "$config" && kubectl --kubeconfig "$config" apply -f deploy/clusterrole.yaml; rm -f "$config"; done`
}

// admitByRole is a command that gives the reader the ClusterRole's rights in one
// more cluster.
func admitByRole(role string) string {
	entry := " --region " + *awscdk.Aws_REGION() + " --cluster-name " + placeholder + " --principal-arn " + role
	return renew(entry) + "aws eks create-access-entry" + entry + " --kubernetes-groups " + clusterrole.Group + "; " + applyRole(placeholder)
}

// renew deletes the entry of a role that was made again, which admits no principal and is in the
// way of a new one (EKS API reference, AccessEntry, "principalArn"; CreateAccessEntry,
// ResourceInUseException). In most clusters there is none.
func renew(entry string) string { return "aws eks delete-access-entry" + entry + " 2>/dev/null; " }

// admitByPolicy is a command that gives the reader EKS's access policies in one
// more cluster.
func admitByPolicy(role string) string {
	where := " --region " + *awscdk.Aws_REGION() + " --cluster-name " + placeholder + " --principal-arn " + role
	associate := " && aws eks associate-access-policy" + where + " --policy-arn "
	return renew(where) + "aws eks create-access-entry" + where +
		associate + assistantPolicy() + " --access-scope type=cluster" +
		associate + viewPolicy() + " --access-scope type=namespace,namespaces=kube-system"
}

// authRoles are the lines that a cluster in authentication mode CONFIG_MAP
// wants in place of access entries: under mapRoles of the ConfigMap aws-auth
// in kube-system, as the EKS user guide has them ("Grant IAM users access to
// Kubernetes with a ConfigMap").
func authRoles(role string) string {
	return "- rolearn: " + role + "\n  username: " + clusterrole.Group + "\n  groups:\n  - " + clusterrole.Group + "\n"
}

// withoutPath is the reader's ARN as aws-auth knows roles, which is without their paths (EKS
// user guide, "Grant IAM users access to Kubernetes with a ConfigMap": "The role ARN can't
// include a path").
func withoutPath(chosen settings.Settings) string {
	chosen.RolePath = "/"
	return readerARN(chosen)
}

// fillIn is a command that asks for a secret and puts it in.
func fillIn(what, arn string) string {
	return `printf '` + what + `: ' && read -rs T && echo && printf %s "$T" | aws secretsmanager put-secret-value --region ` + *awscdk.Aws_REGION() +
		` --secret-id ` + arn + ` --secret-string file:///dev/stdin; unset T`
}

// newDashboard makes the stack's dashboard. What differs from nodegroup to nodegroup and
// subnet to subnet is read from the functions' logs when the dashboard is open ($0.005 for each
// GB): as metrics it would cost $0.30 a month for each of them. The metrics are those that
// there are anyway, fewer than the 50 up to which an account's first three dashboards are
// free (CloudWatch pricing, "Free tier").
func newDashboard(stack awscdk.Stack, chosen settings.Settings, r resources, functions []function, a alarms) {
	// The watchers' sweeps are sweep's, which logs as they do.
	logs := func(names ...string) (list []*string) {
		for _, name := range names {
			list = append(list, jsii.String("/aws/lambda/"+chosen.Prefix()+"-"+name))
		}
		return list
	}
	board := awscloudwatch.NewDashboard(stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName:   jsii.String(chosen.StackName),
		DefaultInterval: awscdk.Duration_Hours(jsii.Number(24)),
		Widgets: &[]*[]awscloudwatch.IWidget{
			{
				query("Launches that ended, each hour", logs("join-check", "sweep"), awscloudwatch.LogQueryVisualizationType_STACKEDAREA, 12, endedByHour),
				query("Launches by nodegroup: joined, and how fast (seconds to Ready)", logs("join-check", "sweep"), awscloudwatch.LogQueryVisualizationType_TABLE, 12, endedByNodegroup),
			},
			{
				query("Incidents open", logs("report"), awscloudwatch.LogQueryVisualizationType_TABLE, 8, incidentsOpen),
				query("The subnets with the fewest free addresses", logs("subnet-watch", "sweep"), awscloudwatch.LogQueryVisualizationType_TABLE, 8, addressesLeft),
				// Clusters of spokes have their account and region beside their name.
				graph("Free addresses of each cluster's worst subnet", 8, search("cluster"), search("Account,Region,cluster")),
			},
			{
				awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
					Title: jsii.String("Rollcall's own alarms"), Width: jsii.Number(8), Height: jsii.Number(widgetHeight), Alarms: a.all(),
				}),
				graph("What waits in the queues (oldest, seconds)", 8, ages(r, functions)...),
				graph("What was put aside, and faults", 8, faults(chosen, r, functions)...),
			},
		},
	})
	// AWS's validator says that it takes tags (I9040), cfn-lint that it does not (E3002):
	// without them every CloudFormation takes it.
	board.Node().DefaultChild().(awscloudwatch.CfnDashboard).AddPropertyDeletionOverride(jsii.String("Tags"))
}

// widgetHeight is in the dashboard's rows.
const widgetHeight = 6

// The queries, in the language of CloudWatch Logs Insights (CloudWatch Logs user guide,
// "stats": latest is the value with the latest timestamp; strcontains is 1 or 0). The lines that they read, and
// their fields, are written by the functions (TestDashboardReadsWhatIsLogged in stage).
const (
	endedByHour      = `filter msg = "launch ended" | stats sum(strcontains(status, "joined")) as joined, sum(strcontains(status, "gone")) as ended_before, sum(strcontains(status, "given up")) as given_up by bin(1h)`
	endedByNodegroup = `filter msg = "launch ended" | stats count_distinct(instance) as launches, sum(strcontains(status, "joined")) as joined, pct(seconds, 50) as p50, pct(seconds, 95) as p95 by account, region, cluster, nodegroup | sort launches desc | limit 20`
	incidentsOpen    = `filter msg = "incidents open" | stats latest(open) as now_open, latest(critical) as now_critical by account, region, cluster | sort now_critical desc, now_open desc | limit 20`
	addressesLeft    = `filter msg = "addresses left" | stats latest(free) as free_now, min(free) as fewest, latest(zone) as in_zone by account, region, cluster, subnet | sort free_now asc | limit 20`
)

func query(title string, groups []*string, view awscloudwatch.LogQueryVisualizationType, width int, text string) awscloudwatch.IWidget {
	return awscloudwatch.NewLogQueryWidget(&awscloudwatch.LogQueryWidgetProps{
		Title: jsii.String(title), LogGroupNames: &groups, View: view, QueryString: jsii.String(text), Width: jsii.Number(width), Height: jsii.Number(widgetHeight),
	})
}

func graph(title string, width int, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Title: jsii.String(title), Left: &metrics, Width: jsii.Number(width), Height: jsii.Number(widgetHeight)})
}

// search finds the curves of all clusters that are published with these dimensions, and no others
// (CloudWatch, "Search expression syntax").
func search(dimensions string) awscloudwatch.IMetric {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: jsii.String(fmt.Sprintf(`SEARCH('{%s,%s} MetricName="FreeAddresses"', 'Minimum', 300)`, lambda.Namespace, dimensions)),
		Label:      jsii.String(""), UsingMetrics: &map[string]awscloudwatch.IMetric{},
	})
}

// ages are how long the oldest message of each queue has waited.
func ages(r resources, functions []function) (list []awscloudwatch.IMetric) {
	for _, f := range functions {
		if f.queue != nil {
			list = append(list, f.queue.main.MetricApproximateAgeOfOldestMessage(&awscloudwatch.MetricOptions{
				Statistic: jsii.String("Maximum"), Label: jsii.String(string(f.queue.spec.Resource)), Period: minutes(5),
			}))
		}
	}
	return list
}

// faults are what was put aside, and the counts on which alarms ring.
func faults(chosen settings.Settings, r resources, functions []function) []awscloudwatch.IMetric {
	options := func(label string) *awscloudwatch.MetricOptions {
		return &awscloudwatch.MetricOptions{Statistic: jsii.String("Maximum"), Label: jsii.String(label), Period: minutes(5)}
	}
	list := []awscloudwatch.IMetric{r.failed.MetricApproximateNumberOfMessagesVisible(options("put aside: events"))}
	for _, f := range functions {
		if f.queue != nil {
			list = append(list, f.queue.dead.MetricApproximateNumberOfMessagesVisible(options("put aside: "+string(f.queue.spec.Resource))))
		}
	}
	names := []string{lambda.Failures}
	for _, f := range functions {
		for _, own := range f.spec.Alarms {
			names = append(names, own.Metric)
		}
	}
	for _, name := range names {
		list = append(list, awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String(lambda.StackNamespace(chosen.Prefix())), MetricName: jsii.String(name), Statistic: jsii.String("Sum"), Period: minutes(5),
		}))
	}
	return list
}

func minutes(n float64) awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(n)) }

// all are the alarms, for a widget.
func (a alarms) all() *[]interfacesawscloudwatch.IAlarmRef {
	var list []interfacesawscloudwatch.IAlarmRef
	for _, made := range *a.made {
		list = append(list, made)
	}
	return &list
}

// newEvidence makes the bucket in which package evidence keeps what was read, nil where
// the settings want none. It outlives the stack, as the table does; its objects do not
// outlive their days. There are no access logs: they would need a bucket of their own, and
// who reads an object stands in CloudTrail where an account records data events.
func newEvidence(stack awscdk.Stack, chosen settings.Settings) (awss3.Bucket, error) {
	c, err := config.Load(func(name string) string { return chosen.Environment[spec.Variable(name)] }, []spec.Variable{config.Evidence})
	if err != nil || c.EvidenceDays == 0 {
		return nil, err
	}
	return awss3.NewBucket(stack, jsii.String("Evidence"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:         jsii.String("Expire"),
			Expiration: awscdk.Duration_Days(jsii.Number(c.EvidenceDays)),
		}},
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	}), nil
}

// function is a deployed Spec.
type function struct {
	spec   spec.Spec
	scope  constructs.Construct
	lambda awslambda.Function
	role   awsiam.Role
	// url is its address on the internet; nil for none.
	url *string
	// failed is the stack's.
	failed awssqs.Queue
	queue  *queue
	// concurrency is the most invocations at once that read the queue.
	concurrency int
	// rules are the ARNs of what wakes it.
	rules []*string
	// bus is the stack's, for rules on it, and spokes that of what spokes forward.
	bus    awsevents.EventBus
	spokes awsevents.CfnEventBus
}

// newFunction is the one place where functions are made. It adds nothing that
// depends on which function it is.
func newFunction(stack awscdk.Stack, spec spec.Spec, r resources, packages string, chosen settings.Settings) (function, error) {
	scope := constructs.NewConstruct(stack, jsii.String(camel(spec.Name)))
	name := chosen.Prefix() + "-" + spec.Name
	f := function{spec: spec, scope: scope, bus: r.bus, spokes: r.spokes, failed: r.failed}
	if spec.Queue != nil {
		own := r.queues[spec.Queue.Resource]
		f.queue = &own
		var err error
		if f.concurrency, err = concurrencyOf(*spec.Queue, chosen); err != nil {
			return function{}, err
		}
	}
	logs := awslogs.NewLogGroup(scope, jsii.String("Logs"), &awslogs.LogGroupProps{
		LogGroupName:  jsii.String("/aws/lambda/" + name),
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	// The library has names for the numbers of days; the setting is a number.
	logs.Node().DefaultChild().(awslogs.CfnLogGroup).SetRetentionInDays(jsii.Number(chosen.LogRetentionDays))

	statements, err := permissions(spec, r, chosen, *logs.LogGroupArn(), *f.failed.QueueArn())
	if err != nil {
		return function{}, err
	}
	var first []statement
	if inVPC(spec, chosen) {
		first = interfaceStatements(spec, name, chosen.VPC)
	}
	inline, more := spread(statements, first)
	f.role = awsiam.NewRole(scope, jsii.String("Role"), &awsiam.RoleProps{
		Description:    jsii.String("What " + name + " may do, each statement with the reason in functions/" + spec.Name + "/spec"),
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{spec.Name: document(inline)},
	})
	for i, list := range more {
		awsiam.NewManagedPolicy(scope, jsii.String(fmt.Sprint("More", i+1)), &awsiam.ManagedPolicyProps{
			Description: jsii.String("What " + name + " may do and what its role's own policy has no room for"),
			Roles:       &[]awsiam.IRole{f.role},
			Document:    document(list),
		})
	}
	environment, err := r.environment(spec.Environment, chosen)
	if err != nil {
		return function{}, err
	}
	f.lambda = awslambda.NewFunction(scope, jsii.String("Function"), &awslambda.FunctionProps{
		FunctionName: jsii.String(name),
		Description:  jsii.String(spec.About),
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Architecture: awslambda.Architecture_ARM_64(),
		Handler:      jsii.String("bootstrap"),
		Code:         awslambda.Code_FromAsset(jsii.String(codeOf(packages, spec.Name)), nil),
		MemorySize:   jsii.Number(int(spec.Memory)),
		Timeout:      seconds(spec.Timeout),
		Role:         f.role,
		Environment:  &environment,
		LogGroup:     logs,
		// The function writes JSON itself, metrics among it (EMF): Lambda
		// must hand its lines on as they are.
		LoggingFormat: awslambda.LoggingFormat_TEXT,
		RecursiveLoop: loop(spec),
	})
	resource := f.lambda.Node().DefaultChild().(awslambda.CfnFunction)
	// The local stage finds the program of a function by this.
	resource.AddMetadata(jsii.String("Rollcall::Folder"), jsii.String("functions/"+spec.Name))
	if inVPC(spec, chosen) {
		enter(resource, chosen.VPC)
	}
	// The library waits for policies that it adds to a role afterwards; here
	// all are inside the role (cfn-lint W3005).
	resource.AddDeletionOverride(jsii.String("DependsOn"))
	f.rules = f.connect()
	countCrashes(scope, logs, chosen)
	if spec.URL != nil {
		f.url = f.open()
		if most := spec.URL.Concurrency; most > 0 {
			resource.SetReservedConcurrentExecutions(jsii.Number(most))
		}
	}
	return f, nil
}

// loop switches Lambda's loop detection off for a function that writes to its
// own queue on purpose: after 16 rounds Lambda would drop the message
// (Lambda, "Recursive loop detection"), and looking again is join-check's work.
func loop(spec spec.Spec) awslambda.RecursiveLoop {
	if spec.Queue != nil {
		for _, g := range spec.Grants {
			if slices.Contains(g.Actions, "sqs:SendMessage") && slices.Contains(g.Resources, spec.Queue.Resource) {
				return awslambda.RecursiveLoop_ALLOW
			}
		}
	}
	return awslambda.RecursiveLoop_TERMINATE
}

// connect makes all that wakes the function, and what happens when that fails.
// It gives the ARNs of the rules.
func (f function) connect() []*string {
	if f.queue != nil {
		source := f.queue.spec
		awslambda.NewEventSourceMapping(f.scope, jsii.String("Messages"), &awslambda.EventSourceMappingProps{
			Target:                  f.lambda,
			EventSourceArn:          f.queue.main.QueueArn(),
			BatchSize:               jsii.Number(source.Batch),
			MaxBatchingWindow:       window(source.Window),
			MaxConcurrency:          jsii.Number(f.concurrency),
			ReportBatchItemFailures: jsii.Bool(true),
		})
	}
	awslambda.NewCfnEventInvokeConfig(f.scope, jsii.String("Asynchronous"), &awslambda.CfnEventInvokeConfigProps{
		FunctionName:             f.lambda.FunctionName(),
		Qualifier:                jsii.String("$LATEST"),
		MaximumEventAgeInSeconds: jsii.Number(eventAge(f.spec).Seconds()),
		MaximumRetryAttempts:     jsii.Number(2),
		DestinationConfig: &awslambda.CfnEventInvokeConfig_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventInvokeConfig_OnFailureProperty{Destination: f.failed.QueueArn()},
		},
	})
	return f.addRules()
}

// concurrencyOf is how many invocations read a queue at once. The setting has been held
// against its bounds.
func concurrencyOf(q spec.Queue, chosen settings.Settings) (int, error) {
	if q.ConcurrencyFrom == "" {
		return q.Concurrency, nil
	}
	n, err := strconv.Atoi(chosen.Environment[q.ConcurrencyFrom])
	if err != nil {
		return 0, fmt.Errorf("concurrency from %s: %w", q.ConcurrencyFrom, err)
	}
	return n, nil
}

func window(d time.Duration) awscdk.Duration {
	if d == 0 {
		return nil
	}
	return seconds(d)
}

// maxEventAge is Lambda's longest for asynchronous events.
const maxEventAge = 6 * time.Hour

// eventAge is how long an asynchronous event is worth trying: a sweep is not
// worth it any more when the next one is due.
func eventAge(spec spec.Spec) time.Duration {
	age := maxEventAge
	for _, r := range spec.Rules {
		if r.Direct {
			return age // what the rule brings is not brought again, and an old tick does no harm
		}
	}
	for _, s := range spec.Schedules {
		age = min(age, s.Every)
	}
	return age
}

// The statements of a function in a VPC. Lambda manages the function's network
// interfaces with the function's role (Lambda, "Giving Lambda functions access
// to resources in an Amazon VPC").
const (
	sidInterfaceReads  = "DescribeInterfacesForLambda"
	sidInterfaceMake   = "CreateInterfacesForLambda"
	sidInterfaceIPs    = "AssignAddressesForLambda"
	sidInterfaceDelete = "DeleteInterfacesForLambda"
	sidInterfaceDeny   = "InterfacesAreNotForCode"
)

// inVPC reports whether a function runs in the operator's VPC: only one that
// talks to Kubernetes does, because all others would lose their way to AWS and
// Slack for nothing.
func inVPC(function spec.Spec, chosen settings.Settings) bool {
	return len(function.Kube) > 0 && chosen.VPC.Given()
}

// enter puts a function into the VPC. It is set on the resource itself: the
// library's own way wants the VPC looked up in the account, and adds a managed
// policy that may delete every network interface.
func enter(resource awslambda.CfnFunction, v settings.VPC) {
	resource.SetVpcConfig(&awslambda.CfnFunction_VpcConfigProperty{
		SubnetIds:        jsii.Strings(v.SubnetIDs...),
		SecurityGroupIds: jsii.Strings(v.SecurityGroupIDs...),
	})
}

// interfaceStatements are what Lambda needs for the network interfaces of the
// function of that name, each as narrow as AWS allows, and that the function's
// own code may use none of it.
func interfaceStatements(function spec.Spec, name string, v settings.VPC) []statement {
	var subnets, groups []string
	for _, id := range v.SubnetIDs {
		subnets = append(subnets, inRegion("ec2", "subnet/"+id))
	}
	for _, id := range v.SecurityGroupIDs {
		groups = append(groups, inRegion("ec2", "security-group/"+id))
	}
	// An interface has its id only when it is there.
	anyInterface := inRegion("ec2", "network-interface/*")

	list := []statement{
		// Lambda looks at the subnets, and whether an interface is ready.
		// EC2's Describe calls take no resource.
		{sid: sidInterfaceReads, actions: []string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"}, resources: []string{"*"}},
		// Without it the function cannot be deployed. EC2 asks for the
		// permission on the new interface, its subnet and its security groups:
		// in other subnets, or with other groups, there is none.
		{sid: sidInterfaceMake, actions: []string{"ec2:CreateNetworkInterface"}, resources: slices.Concat([]string{anyInterface}, subnets, groups)},
		// Lambda gives an interface more addresses when the function grows.
		{
			sid:        sidInterfaceIPs,
			actions:    []string{"ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses"},
			resources:  []string{anyInterface},
			conditions: map[string]map[string][]string{"ArnEquals": {"ec2:Subnet": subnets}},
		},
		// Without it interfaces are left behind. Lambda tests this permission
		// before there is an interface, and wants one interface's ARN or this
		// form, as AWS documents; with network-interface/* a deployment is
		// refused (terraform-provider-aws, issue 20698). The action is on
		// interfaces only, so that the form is no wider. A condition on the
		// subnet would have nothing to match in that test.
		{sid: sidInterfaceDelete, actions: []string{"ec2:DeleteNetworkInterface"}, resources: []string{inRegion("ec2", "*/*")}},
	}
	// The credentials of the function's code carry the function's ARN, those
	// with which Lambda manages interfaces do not (Lambda, "Using source
	// function ARN to control function access behavior"): a fault in our code
	// can never create or delete an interface. What the code reads on its own
	// account stays.
	var denied []string
	for _, s := range list {
		denied = append(denied, s.actions...)
	}
	denied = slices.DeleteFunc(denied, func(action string) bool {
		return slices.ContainsFunc(function.Reads, func(r spec.Read) bool { return slices.Contains(r.Actions, action) })
	})
	slices.Sort(denied)
	return append(list, statement{
		sid:        sidInterfaceDeny,
		deny:       true,
		actions:    denied,
		resources:  []string{"*"},
		conditions: map[string]map[string][]string{"ArnEquals": {"lambda:SourceFunctionArn": {inRegion("lambda", "function:"+name)}}},
	})
}

// inRegion is the ARN of a resource in the stack's account and region. A
// function's ARN is made of its name, because its role cannot refer to it: the
// function refers to the role.
func inRegion(service, resource string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":" + service + ":" + *awscdk.Aws_REGION() + ":" + *awscdk.Aws_ACCOUNT_ID() + ":" + resource
}
