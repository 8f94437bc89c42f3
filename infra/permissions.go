package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/clusterrole"
	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/gather"
	"rollcall/shared/relay"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/shared/target/message"
)

// The statements that every function has beside those of its spec.
const (
	sidLogs     = "WriteLogs"
	sidQueue    = "TakeMessages"
	sidFailures = "KeepFailures"
	sidDecrypt  = "DecryptSlackToken"
	sidSigning  = "DecryptSigningSecret"
	sidTargets  = "DecryptTargetSecrets"
)

// statement is one statement that allows something, or denies it.
type statement struct {
	sid        string
	deny       bool
	actions    []string
	resources  []string
	conditions map[string]map[string][]string
}

// permissions is all that a function may do: its own log group and queues,
// and what its spec says, what hangs on settings last.
func permissions(function spec.Spec, r resources, chosen settings.Settings, logGroup, failed string) ([]statement, error) {
	list := []statement{
		{sid: sidLogs, actions: []string{"logs:CreateLogStream", "logs:PutLogEvents"}, resources: []string{logGroup}},
		{sid: sidFailures, actions: []string{"sqs:SendMessage"}, resources: []string{failed}},
	}
	if function.Queue != nil {
		own, err := r.arn(function.Queue.Resource)
		if err != nil {
			return nil, err
		}
		// What Lambda's poller does in the function's name (AWSLambdaSQSQueueExecutionRole).
		list = append(list, statement{sid: sidQueue, actions: []string{"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}, resources: []string{own}})
	}
	reads, err := readStatements(function.Reads, r)
	if err != nil {
		return nil, err
	}
	all, err := grantsOf(function, chosen)
	if err != nil {
		return nil, err
	}
	grants, err := grantStatements(all, r)
	if err != nil {
		return nil, err
	}
	assumes, err := assumeStatements(function, chosen)
	if err != nil {
		return nil, err
	}
	decrypts, err := targetSecrets(function, chosen)
	if err != nil {
		return nil, err
	}
	return append(slices.Concat(list, reads, grants, decrypts, assumes), useKey(function, r, chosen)...), nil
}

// targetSecrets lets a function that reads the secrets of targets decrypt them where they
// are under a customer key. Each is named; the key may be other secrets' too.
func targetSecrets(function spec.Spec, chosen settings.Settings) ([]statement, error) {
	if chosen.TargetSecretKMSKey == "" || function.Chosen == nil {
		return nil, nil
	}
	chose, err := function.Chosen(func(name string) string { return chosen.Environment[spec.Variable(name)] })
	if err != nil {
		return nil, fmt.Errorf("the grants that depend on settings: %w", err)
	}
	var secrets []string
	for _, g := range chose {
		if !slices.Contains(g.Actions, "secretsmanager:GetSecretValue") {
			continue
		}
		for _, name := range g.Resources {
			arn, err := filled(string(name))
			if err != nil {
				return nil, fmt.Errorf("grant %s: %w", g.Sid, err)
			}
			secrets = append(secrets, arn)
		}
	}
	if len(secrets) == 0 {
		return nil, nil
	}
	return []statement{{
		sid: sidTargets, actions: []string{"kms:Decrypt"}, resources: []string{chosen.TargetSecretKMSKey},
		// As for Slack's token below. A secret's ARN ends in six characters that are unknown
		// before it is made.
		conditions: map[string]map[string][]string{
			"StringEquals": {"kms:ViaService": {fmt.Sprintf("secretsmanager.%s.%s", *awscdk.Aws_REGION(), *awscdk.Aws_URL_SUFFIX())}},
			"StringLike":   {"kms:EncryptionContext:SecretARN": secrets},
		},
	}}, nil
}

// grantsOf are a function's writes, those among them that depend on what the
// operator chose.
func grantsOf(function spec.Spec, chosen settings.Settings) ([]spec.Grant, error) {
	if function.Chosen == nil {
		return function.Grants, nil
	}
	more, err := function.Chosen(func(name string) string { return chosen.Environment[spec.Variable(name)] })
	if err != nil {
		return nil, fmt.Errorf("the grants that depend on settings: %w", err)
	}
	return slices.Concat(function.Grants, more), nil
}

func readStatements(reads []spec.Read, r resources) ([]statement, error) {
	var list []statement
	count := map[string]int{}
	for _, read := range reads {
		s := statement{actions: read.Actions}
		for _, text := range read.Resources {
			arn, err := r.readable(text)
			if err != nil {
				return nil, fmt.Errorf("read %v: %w", read.Actions, err)
			}
			s.resources = append(s.resources, arn)
		}
		if len(s.actions) == 0 || len(s.resources) == 0 {
			continue
		}
		s.sid = readSid(s)
		if count[s.sid]++; count[s.sid] > 1 {
			s.sid += fmt.Sprint(count[s.sid])
		}
		list = append(list, s)
	}
	return list, nil
}

// readSid names a statement by its service; those whose actions take no resource are of
// several services. What the setting instanceData takes away has a name of its own, so that
// no other statement is numbered differently without it.
func readSid(s statement) string {
	if len(gather.WithoutInstanceData([]spec.Read{{Actions: s.actions}})) == 0 {
		return "ReadInstanceData"
	}
	if slices.Contains(s.resources, "*") {
		return "ReadWhatTakesNoResource"
	}
	service, _, _ := strings.Cut(s.actions[0], ":")
	return "Read" + camel(service)
}

// readable resolves what stands in Read.Resources: "*", the name of one of
// the stack's resources, or an ARN with places to fill in.
func (r resources) readable(text string) (string, error) {
	if text == "*" {
		return text, nil
	}
	if !strings.HasPrefix(text, "arn:") {
		return r.arn(spec.Resource(text))
	}
	return filled(text)
}

// filled fills in the places of an ARN.
func filled(text string) (string, error) {
	filled := strings.NewReplacer(
		"${Partition}", *awscdk.Aws_PARTITION(),
		"${Region}", *awscdk.Aws_REGION(),
		"${Account}", *awscdk.Aws_ACCOUNT_ID(),
	).Replace(text)
	// What is left of the form ${Name} is a place without a value; CDK's
	// own tokens are of the form ${Token[…]}.
	for rest := filled; ; {
		_, after, found := strings.Cut(rest, "${")
		if !found {
			return filled, nil
		}
		if !strings.HasPrefix(after, "Token[") {
			return "", fmt.Errorf("%s: only ${Partition}, ${Region} and ${Account} are filled in", text)
		}
		rest = after
	}
}

// writable resolves what stands in Grant.Resources: "*" for actions that take no
// resource alone, which the table of the service authorization reference tells.
func (r resources) writable(name spec.Resource) (string, error) {
	if name == spec.NoResource {
		return string(name), nil
	}
	if strings.HasPrefix(string(name), "arn:") {
		return filled(string(name))
	}
	return r.arn(name)
}

func filledConditions(conditions map[string]map[string][]string) (map[string]map[string][]string, error) {
	out := map[string]map[string][]string{}
	for operator, keys := range conditions {
		out[operator] = map[string][]string{}
		for key, values := range keys {
			for _, v := range values {
				text, err := filled(v)
				if err != nil {
					return nil, err
				}
				out[operator][key] = append(out[operator][key], text)
			}
		}
	}
	return out, nil
}

func grantStatements(grants []spec.Grant, r resources) ([]statement, error) {
	var list []statement
	for _, g := range grants {
		s := statement{sid: g.Sid, actions: g.Actions}
		for _, name := range g.Resources {
			arn, err := r.writable(name)
			if err != nil {
				return nil, fmt.Errorf("grant %s: %w", g.Sid, err)
			}
			s.resources = append(s.resources, arn)
		}
		var err error
		if s.conditions, err = filledConditions(g.Conditions); err != nil {
			return nil, fmt.Errorf("grant %s: %w", g.Sid, err)
		}
		list = append(list, s)
		// A secret under a customer key is read only by who may use the key.
		for _, own := range []struct {
			secret spec.Resource
			sid    string
		}{{spec.SlackSecret, sidDecrypt}, {spec.SigningSecret, sidSigning}} {
			if s := r.secrets[own.secret]; s.key != "" && slices.Contains(g.Resources, own.secret) {
				list = append(list, statement{
					sid:       own.sid,
					actions:   []string{"kms:Decrypt"},
					resources: []string{s.key},
					// Secrets Manager decrypts with the context {"SecretARN": the secret's whole
					// ARN, "SecretVersionId": …}, and through it alone
					// (docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html,
					// "Secrets Manager encryption context"): the key may be other secrets' too.
					conditions: map[string]map[string][]string{"StringEquals": {
						"kms:ViaService": {s.service}, "kms:EncryptionContext:SecretARN": {s.arn},
					}},
				})
			}
		}
	}
	return list, nil
}

// document is the statements as they are: not merged, so that each keeps its
// Sid and can be found by it.
func document(list []statement) awsiam.PolicyDocument {
	doc := awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Minimize: jsii.Bool(false)})
	for _, s := range list {
		props := &awsiam.PolicyStatementProps{
			Sid:       jsii.String(s.sid),
			Actions:   jsii.Strings(s.actions...),
			Resources: jsii.Strings(s.resources...),
		}
		if s.deny {
			props.Effect = awsiam.Effect_DENY
		}
		if len(s.conditions) > 0 {
			conditions := map[string]any{}
			for operator, keys := range s.conditions {
				values := map[string]any{}
				for key, list := range keys {
					values[key] = jsii.Strings(list...)
				}
				conditions[operator] = values
			}
			props.Conditions = &conditions
		}
		doc.AddStatements(awsiam.NewPolicyStatement(props))
	}
	return doc
}

// output says what an operator needs after a deployment.
func output(stack awscdk.Stack, chosen settings.Settings, r resources, a alarms, functions []function, who reader) {
	say := func(id, about string, value *string) {
		awscdk.NewCfnOutput(stack, jsii.String(id), &awscdk.CfnOutputProps{Description: jsii.String(about), Value: value})
	}
	say("TableName", "State: launches and incidents", r.table.TableName())
	say("BusName", "Every opened, changed or resolved incident is an event on this bus", r.bus.EventBusName())
	say("AlarmTopicArn", "Alarms are published here: subscribe whoever is on call", jsii.String(a.topic))
	if r.targets != nil {
		say("TargetTopicArn", "Incidents are published here: subscribe whoever wants them by mail", r.targets.TopicArn())
	}
	say("SlackSecretArn", "Secret with the Slack bot token. The app needs the bot scopes chat:write, channels:history (groups:history in a private channel), files:write (pictures of reports) and, where user groups approve remedies, usergroups:read", jsii.String(r.secrets[spec.SlackSecret].arn))
	if r.secrets[spec.SlackSecret].made {
		say("SlackSecretCommand", "Stores the Slack bot token (read from the terminal, so it is not in the shell's history or the list of processes)",
			jsii.String(fillIn("Slack bot token", r.secrets[spec.SlackSecret].arn)))
	}
	if s, ok := r.secrets[spec.SigningSecret]; ok {
		say("SlackSigningSecretArn", "Secret with the Slack app's Signing Secret (the app's page, Basic Information, App Credentials)", jsii.String(s.arn))
		if s.made {
			say("SlackSigningSecretCommand", "Stores the Signing Secret (read from the terminal, so it is not in the shell's history or the list of processes)",
				jsii.String(fillIn("Signing Secret", s.arn)))
		}
	}
	for _, f := range functions {
		if f.url != nil {
			say("SlackInteractivityUrl", f.spec.URL.Why+" Enter it on the app's page: Interactivity & Shortcuts, Request URL", f.url)
		}
	}
	role := *who.role.RoleArn()
	say("ReaderRoleArn", "The only role that reads the watched clusters", who.role.RoleArn())
	say("KubernetesAccessCommand", "Gives the reader role access to a cluster for which the stack has not created an access entry. Replace "+placeholder+
		" by the cluster's name, and run it in the repository's folder. The ClusterRole lists every object that is read", jsii.String(admitByRole(role)))
	if list := roleClusters(chosen); len(list) > 0 {
		say("ClusterRoleCommand", "Run once, in the repository's folder: gives the group "+clusterrole.Group+" its rights in these clusters", jsii.String(applyRole(list...)))
	}
	if chosen.Access == settings.AccessPolicy {
		say("KubernetesPolicyCommand", "The same as KubernetesAccessCommand without a ClusterRole, but wider: AmazonAIOpsAssistantPolicy, "+settings.AIOpsGives, jsii.String(admitByPolicy(role)))
	}
	say("AwsAuthRoles", "For clusters in authentication mode CONFIG_MAP, which cannot have access entries: add these lines under mapRoles (kubectl -n kube-system edit configmap aws-auth), and apply deploy/clusterrole.yaml"+
		about(chosen.ConfigMapClusters), jsii.String(authRoles(withoutPath(chosen))))
}

// about names the clusters that an output is known to be for.
func about(clusters []string) string {
	if len(clusters) == 0 {
		return ""
	}
	return " (ClusterRoleCommand). Here: " + strings.Join(clusters, ", ")
}

// builtPackages is where `make build` puts what Lambda runs: <name>/bootstrap.
const builtPackages = "build/arm64"

// prebuilt names another folder: the functions of a release, unpacked (make deploy
// PREBUILT=…).
const prebuilt = "ROLLCALL_PREBUILT"

// packages is where the functions are that are deployed.
func packages(getenv func(string) string) string {
	if dir := getenv(prebuilt); dir != "" {
		return dir
	}
	return builtPackages
}

// codeOf is the code of a function below packages: the ZIP file of a release, or the folder of a
// build.
func codeOf(packages, name string) string {
	if zipped := filepath.Join(packages, "functions", name+".zip"); isThere(zipped) {
		return zipped
	}
	return filepath.Join(packages, name)
}

func isThere(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

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

// reader is the role that the clusters let in: one access entry and one binding in
// each, whatever the number of functions. Its one permission in AWS is to invoke relays; who it is
// in a cluster the cluster says.
type reader struct {
	scope constructs.Construct
	role  awsiam.Role
}

// newReader makes the role, which the functions that read in clusters may assume, and
// no other principal.
func newReader(stack awscdk.Stack, chosen settings.Settings, functions []function) reader {
	scope := constructs.NewConstruct(stack, jsii.String("Reader"))
	var trusted []awsiam.IPrincipal
	var names []string
	for _, f := range readers(functions) {
		trusted = append(trusted, awsiam.NewArnPrincipal(f.role.RoleArn()))
		names = append(names, f.spec.Name)
	}
	return reader{scope, awsiam.NewRole(scope, jsii.String("Role"), &awsiam.RoleProps{
		RoleName:    jsii.String(readerName(chosen)),
		Description: jsii.String("Reads in the watched clusters, by their access entries; " + strings.Join(names, ", ") + " assume it"),
		AssumedBy:   awsiam.NewCompositePrincipal(trusted...),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"relays": document([]statement{askRelays(chosen)}),
		},
	})}
}

// readerName is the role's name. IAM's names are the account's, so the region is in
// it. It is made of words and not referred to: the functions' roles name this one, and
// its trust policy names theirs.
func readerName(chosen settings.Settings) string {
	return chosen.Prefix() + "-reader-" + *awscdk.Aws_REGION()
}

// readerARN is the role's ARN.
func readerARN(chosen settings.Settings) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":iam::" + *awscdk.Aws_ACCOUNT_ID() + ":role" + chosen.RolePath + readerName(chosen)
}

// askRelays is the permission to ask the relays of this account's clusters (package relay):
// functions of that name, which list, and change nothing. With which rights they list, the
// token says that they are given. Where the setting relays names clusters, theirs alone;
// else those that were used before there was the setting, whose names the code knows.
func askRelays(chosen settings.Settings) statement {
	var functions []string
	for _, text := range chosen.Relays {
		if c, err := spoke.ParseCluster(text); err == nil && (chosen.Spoke == settings.AnySpoke || chosen.Spoke == "" && c.Hub() || chosen.Spoke == c.ID.String()) {
			functions = append(functions, inRegion("lambda", "function:"+relay.FunctionName(chosen.Prefix(), c.Name)))
		}
	}
	slices.Sort(functions)
	if functions = slices.Compact(functions); len(functions) == 0 {
		functions = []string{inRegion("lambda", "function:"+relay.FunctionName(chosen.Prefix(), "*"))}
	}
	return statement{sid: "AskRelays", actions: []string{specs.AskRelays}, resources: functions}
}

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
	// asynchronous invocations that failed, and messages that are never moved back: one queue for all functions, because
	// each would have an alarm of its own to be paid for. A letter has its origin:
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
	case config.InVPC: // the functions that have it read in clusters, and run there
		if chosen.VPC.Given() {
			return jsii.String("on"), nil
		}
		return jsii.String("off"), nil
	case config.HubAccount:
		return awscdk.Aws_ACCOUNT_ID(), nil
	case config.RolePrefix:
		return jsii.String(chosen.RolePath + chosen.Prefix()), nil
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
