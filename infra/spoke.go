package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	relay "rollcall/functions/relay/spec"
	remediate "rollcall/functions/remediate/spec"
	"rollcall/infra/limits"
	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/infra/standard/parameters"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// SpokeStackName is the name of a spoke's stack.
const SpokeStackName = "RollcallSpoke"

// NewSpokeStack adds a spoke to the app: rules that forward events to the hub's bus, and the
// roles that the hub's functions assume. It has no assets, so that a StackSet or a person
// with the file alone can deploy it; which hub it trusts are its parameters.
func NewSpokeStack(app awscdk.App, list []spec.Spec) error {
	context, _ := app.Node().GetAllContext(nil).(map[string]any)
	chosen, err := settings.Parse(context)
	if err != nil {
		return err
	}
	stack := awscdk.NewStack(app, jsii.String(SpokeStackName), &awscdk.StackProps{
		Description: jsii.String("A spoke of Rollcall: it forwards what AWS tells of instances and nodegroups, and lets the hub look."),
		Synthesizer: awscdk.NewDefaultStackSynthesizer(&awscdk.DefaultStackSynthesizerProps{GenerateBootstrapVersionRule: jsii.Bool(false)}),
	})
	awscdk.Tags_Of(stack).Add(jsii.String(settings.TagKey), jsii.String(settings.TagValue), nil)
	// A boundary is a policy of the role's own account or of AWS (IAM API reference, CreateRole).
	parts := strings.SplitN(chosen.PermissionsBoundary, ":", 6)
	if len(parts) == 6 && parts[4] != "aws" {
		parts[1], parts[4] = *awscdk.Aws_PARTITION(), *awscdk.Aws_ACCOUNT_ID()
	}
	bound(stack, strings.Join(parts, ":"))
	h := newHub(stack, chosen)
	if err := h.newReader(list); err != nil {
		return err
	}
	var of spoke.ID
	if chosen.Spoke != settings.AnySpoke {
		if of, err = spoke.Parse(chosen.Spoke); err != nil {
			return err
		}
	}
	for _, role := range []spec.SpokeRole{spec.SpokeCleaner, spec.SpokeRemediator} {
		if of.Hub() {
			break // which clusters opt in is not known of any spoke
		}
		if err := h.newChanging(role, of, list); err != nil {
			return err
		}
	}
	h.forward(list)
	under(stack, chosen.RolePath)
	return nil
}

// hub is whom a spoke trusts.
type hub struct {
	stack                       awscdk.Stack
	chosen                      settings.Settings
	account, region, externalID *string
}

func newHub(stack awscdk.Stack, chosen settings.Settings) hub {
	parameter := func(name, about, form string) *string {
		return awscdk.NewCfnParameter(stack, jsii.String(name), &awscdk.CfnParameterProps{
			Type: jsii.String("String"), Description: jsii.String(about), AllowedPattern: jsii.String(form),
		}).ValueAsString()
	}
	return hub{
		stack: stack, chosen: chosen,
		account:    parameter("HubAccount", "The account of Rollcall's hub", "^[0-9]{12}$"),
		region:     parameter("HubRegion", "The region of Rollcall's hub", "^[a-z]{2}(-[a-z]+)+-[0-9]+$"),
		externalID: parameter("ExternalId", "The hub's setting externalId", "^[A-Za-z0-9_+=,.@:/-]{8,}$"),
	}
}

// trust lets the functions of the hub that need the role assume it, and no other: their
// roles by name (those that CDK makes of a function's: the stack's name, the construct's, and
// what CloudFormation adds), with the external id, and of the organization where one is set.
// The principal is the hub's account, whose administrators decide who has such a role: a
// role that is named itself is replaced by its id, and trusts no role once the hub's stack has
// been made anew (IAM user guide, "AWS JSON policy elements: Principal", IAM role principals).
func (h hub) trust(role spec.SpokeRole, list []spec.Spec) awsiam.IPrincipal {
	var names []string
	for _, s := range list {
		if slices.Contains(s.Assumes, role) {
			names = append(names, functionRoles(*h.account, h.chosen.RolePath, h.chosen.StackName, s.Name))
		}
	}
	equals := map[string]any{"sts:ExternalId": h.externalID}
	if h.chosen.Organization != "" {
		equals["aws:PrincipalOrgID"] = h.chosen.Organization
	}
	return awsiam.NewPrincipalWithConditions(awsiam.NewAccountPrincipal(h.account), &map[string]any{
		"StringEquals": equals,
		"ArnLike":      map[string]any{"aws:PrincipalArn": names},
	})
}

func (h hub) newRole(role spec.SpokeRole, about string, statements []statement, list []spec.Spec) awsiam.Role {
	scope := constructs.NewConstruct(h.stack, jsii.String(camel(string(role))))
	inline, more := spread(statements, nil)
	r := awsiam.NewRole(scope, jsii.String("Role"), &awsiam.RoleProps{
		RoleName:       jsii.String(h.chosen.Prefix() + "-" + string(role) + "-" + *awscdk.Aws_REGION()),
		Description:    jsii.String(about),
		AssumedBy:      h.trust(role, list),
		InlinePolicies: &map[string]awsiam.PolicyDocument{string(role): document(inline)},
	})
	for i, list := range more {
		awsiam.NewManagedPolicy(scope, jsii.String(fmt.Sprint("More", i+1)), &awsiam.ManagedPolicyProps{
			Description: jsii.String("What the role's own policy has no room for"), Roles: &[]awsiam.IRole{r}, Document: document(list),
		})
	}
	return r
}

// newReader makes the role that looks: what the hub's own functions read of an account, all
// in one. It is also whom the spoke's clusters let in.
func (h hub) newReader(list []spec.Spec) error {
	statements, err := readStatements(specs.ReaderReads(specs.Deployed(list, h.chosen.Environment)), resources{})
	if err != nil {
		return err
	}
	statements = append(statements, askRelays(h.chosen))
	reader := h.newRole(spec.SpokeReader, "Reads for Rollcall's hub: Describe, List, Get; access entries grant it access to clusters", statements, list)
	// By it rollcall doctor tells a spoke of another release.
	awscdk.Tags_Of(reader).Add(jsii.String(specs.SpokeTag), jsii.String(specs.SpokeDigest(list)), nil)
	for _, o := range []struct{ id, about, value string }{
		{"ReaderRoleArn", "The role by which the hub reads the spoke's clusters", *reader.RoleArn()},
		{"KubernetesAccessCommand", "Gives the reader role access to a cluster. Replace " + placeholder + " by the cluster's name, and run it in the repository's folder. The ClusterRole lists every object that is read", admitByRole(*reader.RoleArn())},
	} {
		awscdk.NewCfnOutput(h.stack, jsii.String(o.id), &awscdk.CfnOutputProps{Description: jsii.String(o.about), Value: jsii.String(o.value)})
	}
	return nil
}

// newChanging makes a role that changes something, where a cluster of the spoke has opted
// in: with the statements and the conditions of the hub's own function.
func (h hub) newChanging(role spec.SpokeRole, of spoke.ID, list []spec.Spec) error {
	grants, err := spokeGrants(of, role, h.chosen)
	if err != nil || len(grants) == 0 {
		return err
	}
	statements, err := grantStatements(grants, resources{})
	if err != nil {
		return err
	}
	about := map[spec.SpokeRole]string{
		spec.SpokeCleaner:    "Deletes network interfaces that nodes left behind, for Rollcall's hub",
		spec.SpokeRemediator: "Does the remedies that were approved, for Rollcall's hub",
	}
	h.newRole(role, about[role], statements, list)
	return nil
}

// forward sends what AWS tells here to the hub's bus, as it is. What is not taken waits in a
// queue of its own.
func (h hub) forward(list []spec.Spec) {
	bus := "arn:" + *awscdk.Aws_PARTITION() + ":events:" + *h.region + ":" + *h.account + ":event-bus/" + spokesBusName(h.chosen.Prefix())
	scope := constructs.NewConstruct(h.stack, jsii.String("Forward"))
	// A rule whose target is another account's bus needs a role (EventBridge API reference,
	// PutTargets); EventBridge assumes it for rules of this account alone.
	role := awsiam.NewRole(scope, jsii.String("Role"), &awsiam.RoleProps{
		Description: jsii.String("Puts events on the bus of Rollcall's hub"),
		AssumedBy: awsiam.NewPrincipalWithConditions(awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil), &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()},
		}),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"forward": document([]statement{{sid: "Forward", actions: []string{"events:PutEvents"}, resources: []string{bus}}})},
	})
	failed := newDeadLetters(scope, "Failed", h.chosen.Prefix()+"-spoke-failed", false)
	var rules []*string
	for _, r := range specs.Forwarded(list) {
		rule := awsevents.NewCfnRule(scope, jsii.String(camel(r.Name)+"Rule"), &awsevents.CfnRuleProps{
			Description:  jsii.String(r.Why),
			EventPattern: pattern(r.Pattern),
			State:        jsii.String("ENABLED"),
			Targets: []any{&awsevents.CfnRule_TargetProperty{
				Id: jsii.String("hub"), Arn: jsii.String(bus), RoleArn: role.RoleArn(),
				DeadLetterConfig: &awsevents.CfnRule_DeadLetterConfigProperty{Arn: failed.QueueArn()},
				RetryPolicy: &awsevents.CfnRule_RetryPolicyProperty{
					MaximumEventAgeInSeconds: jsii.Number(deliveryAge.Seconds()), MaximumRetryAttempts: jsii.Number(deliveryAttempts),
				},
			}},
		})
		rules = append(rules, rule.AttrArn())
	}
	letRulesSend(failed, "Rules", rules)
}

// functionRoles is how a function's role in a stack is called: the stack's name, the
// construct's, and what CDK and CloudFormation add.
func functionRoles(account, path, stack, function string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":iam::" + account + ":role" + path + stack + "-" + camel(function) + "Role*"
}

const (
	// deliveryAge is how long EventBridge tries to deliver an event: after an
	// hour the sweep has long found the launch. A tick is given up when the next is due.
	deliveryAge = time.Hour
	// deliveryAttempts is EventBridge's most (and its default).
	deliveryAttempts = 185
)

// addRules makes the rules and schedules, whose events go to the function's
// queue if it has one and they are neither schedules nor Direct, else to the
// function. It gives their ARNs.
func (f function) addRules() []*string {
	var toQueue, all []*string
	for _, r := range f.onBuses() {
		target, queued := f.lambda.FunctionArn(), f.queue != nil && !r.Direct
		if queued {
			target = f.queue.main.QueueArn()
		}
		var on *string // the default bus
		switch r.Bus {
		case spec.Bus:
			on = f.bus.EventBusName()
		case spec.SpokesBus:
			on = f.spokes.Ref()
		}
		rule := awsevents.NewCfnRule(f.scope, jsii.String(camel(r.Name)+"Rule"), &awsevents.CfnRuleProps{
			Description:  jsii.String(r.Why),
			EventBusName: on,
			EventPattern: pattern(r.Pattern),
			State:        jsii.String("ENABLED"),
			Targets:      f.target(target, deliveryAge),
		})
		all = append(all, rule.AttrArn())
		if queued {
			toQueue = append(toQueue, rule.AttrArn())
		} else {
			f.letInvoke(camel(r.Name), rule.AttrArn())
		}
	}
	for _, s := range f.spec.Schedules {
		rule := awsevents.NewCfnRule(f.scope, jsii.String(camel(s.Name)+"Schedule"), &awsevents.CfnRuleProps{
			Description:        jsii.String(s.Why),
			ScheduleExpression: jsii.String(rate(s.Every)),
			State:              jsii.String("ENABLED"),
			Targets:            f.target(f.lambda.FunctionArn(), min(deliveryAge, s.Every)),
		})
		all = append(all, rule.AttrArn())
		f.letInvoke(camel(s.Name), rule.AttrArn())
	}
	if f.queue != nil {
		letRulesSend(f.queue.main, "Rules", toQueue)
	}
	return all
}

// onBuses are the function's rules, those on what AWS tells also on the bus of what spokes
// forward, if there is one.
func (f function) onBuses() []spec.Rule {
	rules := slices.Clone(f.spec.Rules)
	for _, r := range f.spec.Rules {
		if f.spokes != nil && specs.OfAWS(r) {
			r.Name, r.Bus = r.Name+"-of-spokes", spec.SpokesBus
			rules = append(rules, r)
		}
	}
	return rules
}

func (f function) target(arn *string, age time.Duration) []any {
	return []any{&awsevents.CfnRule_TargetProperty{
		Id:               jsii.String(f.spec.Name),
		Arn:              arn,
		DeadLetterConfig: &awsevents.CfnRule_DeadLetterConfigProperty{Arn: f.failed.QueueArn()},
		RetryPolicy: &awsevents.CfnRule_RetryPolicyProperty{
			MaximumEventAgeInSeconds: jsii.Number(age.Seconds()),
			MaximumRetryAttempts:     jsii.Number(deliveryAttempts),
		},
	}}
}

func (f function) letInvoke(name string, rule *string) {
	awslambda.NewCfnPermission(f.scope, jsii.String(name+"Permission"), &awslambda.CfnPermissionProps{
		Action:       jsii.String("lambda:InvokeFunction"),
		FunctionName: f.lambda.FunctionArn(),
		Principal:    "events.amazonaws.com",
		SourceArn:    rule,
	})
}

// pattern is the spec's JSON. specs.Check has seen that it is an object.
func pattern(text string) map[string]any {
	var p map[string]any
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		panic(fmt.Sprintf("pattern %q: %v", text, err))
	}
	return p
}

// rate is EventBridge's expression, which has a singular.
func rate(every time.Duration) string {
	unit, n := "minute", int(every/time.Minute)
	if every%time.Hour == 0 {
		unit, n = "hour", int(every/time.Hour)
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("rate(%d %s)", n, unit)
}

// secret is where something secret is. The stack never knows what.
type secret struct {
	arn string
	// made is set where the stack made it, empty.
	made bool
	// key is the customer key that encrypts it, if any.
	key string
	// service is Secrets Manager's name towards KMS in the secret's region.
	service string
}

// newSecrets refers to the operator's secrets, or makes those without a value:
// until they are filled in, the functions say what is missing. The signing
// secret is there where a function reads it.
func newSecrets(stack awscdk.Stack, chosen settings.Settings, list []spec.Spec) map[spec.Resource]secret {
	secrets := map[spec.Resource]secret{
		spec.SlackSecret: newSecret(stack, "SlackToken", chosen.SlackSecretARN, chosen.SlackSecretKMSKey,
			"Slack bot token (xoxb-...) of Rollcall. Made empty: put the token in with put-secret-value."),
	}
	if slices.ContainsFunc(list, func(s spec.Spec) bool { return slices.Contains(s.Environment, config.SigningARN) }) {
		secrets[spec.SigningSecret] = newSecret(stack, "SlackSigningSecret", chosen.SigningSecretARN, chosen.SlackSecretKMSKey,
			"Signing Secret of Rollcall's Slack app (Basic Information, App Credentials). Made empty: put it in with put-secret-value.")
	}
	return secrets
}

func newSecret(stack awscdk.Stack, id, arn, key, about string) secret {
	if arn != "" {
		// arn:<partition>:secretsmanager:<region>:…; settings.Parse checked it.
		region := strings.Split(arn, ":")[3]
		return secret{arn: arn, key: key, service: fmt.Sprintf("secretsmanager.%s.%s", region, *awscdk.Aws_URL_SUFFIX())}
	}
	made := awssecretsmanager.NewCfnSecret(stack, jsii.String(id), &awssecretsmanager.CfnSecretProps{Description: jsii.String(about)})
	made.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE, nil)
	return secret{arn: *made.Ref(), made: true}
}

// spread keeps statements in a role's own policy as long as there is room, and
// puts the others into as many managed policies as they need. What a role may
// do is the same: a statement holds wherever it stands. Those that are needed at
// once stay in the role: Lambda asks for them when the function is made, and
// further policies may not be there yet.
func spread(statements, atOnce []statement) (inline []statement, managed [][]statement) {
	left := limits.InlinePolicies - limits.Document
	for _, s := range atOnce {
		left -= s.size()
	}
	var room []int // of each managed policy
	for _, s := range statements {
		size := s.size()
		if size <= left && len(managed) == 0 {
			inline, left = append(inline, s), left-size
			continue
		}
		i := slices.IndexFunc(room, func(n int) bool { return size <= n })
		if i < 0 {
			// One that is larger than a policy is refused when all is there
			// (package limits).
			i, room, managed = len(room), append(room, limits.ManagedPolicy-limits.Document), append(managed, nil)
		}
		managed[i], room[i] = append(managed[i], s), room[i]-size
	}
	return append(inline, atOnce...), managed
}

func (s statement) size() int {
	effect := "Allow"
	if s.deny {
		effect = "Deny"
	}
	return limits.Statement(effect, s.sid, s.actions, s.resources, s.conditions)
}

// worthPacking is from how many characters on a value is packed: an address or
// a number would only get longer.
const worthPacking = 256

// fit packs the longest values of an environment that Lambda would not take
// otherwise; a smaller one stays as a person can read it.
func fit(values map[string]*string) map[string]*string {
	size := func() int {
		n := len("{}")
		for name, value := range values {
			n += len(name) + len(limits.Untokened(*value)) + len(`"":"",`)
		}
		return n
	}
	byLength := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		if d := len(*values[b]) - len(*values[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range byLength {
		if size() <= limits.Environment || len(*values[name]) < worthPacking {
			break
		}
		if text := config.Pack(*values[name]); len(text) < len(*values[name]) {
			values[name] = jsii.String(text)
		}
	}
	return values
}

// spokesBusName is the name of the hub's bus for what spokes forward: another than that of
// what Rollcall tells, so that no spoke can put events there.
func spokesBusName(prefix string) string { return prefix + "-spokes" }

// newSpokesBus makes the bus that takes in what the named accounts forward, of the sources
// that Rollcall takes in, and nothing else; nil where there are no spokes.
//
// An organization is no condition here: accounts are named, also those outside it. That the
// source is there is asked too, as ForAllValues holds of no values (IAM user guide, "Single-
// valued vs. multivalued context keys"; EventBridge user guide, "Using IAM policy conditions":
// events:source).
func newSpokesBus(stack awscdk.Stack, chosen settings.Settings, list []spec.Spec) awsevents.CfnEventBus {
	if len(chosen.Spokes) == 0 {
		return nil
	}
	bus := awsevents.NewCfnEventBus(stack, jsii.String("SpokesBus"), &awsevents.CfnEventBusProps{
		Name:        jsii.String(spokesBusName(chosen.Prefix())),
		Description: jsii.String("What the spokes forward to Rollcall: events of AWS alone, of the accounts that the setting spokes names"),
	})
	var accounts []string
	for _, s := range chosen.Spokes {
		accounts = append(accounts, s.Account)
	}
	slices.Sort(accounts)
	awsevents.NewCfnEventBusPolicy(stack, jsii.String("SpokesBusPolicy"), &awsevents.CfnEventBusPolicyProps{
		EventBusName: bus.Ref(),
		StatementId:  jsii.String("SpokesForward"),
		Statement: map[string]any{
			"Sid":       "SpokesForward",
			"Effect":    "Allow",
			"Principal": map[string]any{"AWS": slices.Compact(accounts)},
			"Action":    "events:PutEvents",
			"Resource":  bus.AttrArn(),
			"Condition": map[string]any{
				"ForAllValues:StringEquals": map[string]any{"events:source": sources(list)},
				"Null":                      map[string]any{"events:source": "false"},
			},
		},
	})
	return bus
}

// sources are those of all that spokes forward.
func sources(list []spec.Spec) []string {
	var names []string
	for _, r := range specs.Forwarded(list) {
		names = append(names, specs.SourcesOf(r)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// mostAssumed keeps a statement within a managed policy of 6,144 characters, should it not
// find room in the role: 40 ARNs of at most 110.
const mostAssumed = 40

// assumeStatements let a function assume its roles in the spokes: the reader of each, and
// what changes something only where a cluster of the spoke has opted in.
func assumeStatements(function spec.Spec, chosen settings.Settings) ([]statement, error) {
	var list []statement
	for _, role := range function.Assumes {
		var arns []string
		for _, s := range chosen.Spokes {
			there, err := hasRole(s.ID, role, chosen)
			if err != nil {
				return nil, err
			}
			if there {
				arns = append(arns, config.SpokeRoleARN(chosen.RolePath+chosen.Prefix(), role, s.ID))
			}
		}
		i := 0
		for some := range slices.Chunk(arns, mostAssumed) {
			i++
			list = append(list, statement{sid: fmt.Sprintf("AssumeSpoke%s%d", camel(string(role)), i), actions: []string{"sts:AssumeRole"}, resources: some})
		}
	}
	return list, nil
}

// hasRole reports whether a spoke has a role.
func hasRole(of spoke.ID, role spec.SpokeRole, chosen settings.Settings) (bool, error) {
	if role == spec.SpokeReader {
		return true, nil
	}
	grants, err := spokeGrants(of, role, chosen)
	return len(grants) > 0, err
}

// spokeGrants are what a spoke's role may change: what the hub's own function may, with the
// same conditions, of the clusters of the spoke that have opted in.
func spokeGrants(of spoke.ID, role spec.SpokeRole, chosen settings.Settings) ([]spec.Grant, error) {
	getenv := func(name string) string { return chosen.Environment[spec.Variable(name)] }
	switch role {
	case spec.SpokeCleaner:
		return enicleanup.DeletesIn(of)(getenv)
	case spec.SpokeRemediator:
		return remediate.ChangesIn(of)(getenv)
	}
	return nil, nil
}

// NewStack adds the stack to the app, or says what is wrong with the settings,
// the specs or the packages.
//
// The stack names no account and no region: it is deployed to those of the
// caller, and its template is the same for all.
func NewStack(app awscdk.App, list []spec.Spec, packages string) error {
	context, _ := app.Node().GetAllContext(nil).(map[string]any)
	chosen, err := settings.Parse(context)
	if err == nil {
		list = specs.Deployed(list, chosen.Environment)
	}
	if err := errors.Join(err, specs.Check(list), built(list, packages)); err != nil {
		return err
	}
	stack := awscdk.NewStack(app, jsii.String(chosen.StackName), &awscdk.StackProps{
		Description: jsii.String("Rollcall: every EC2 instance launched to be an EKS node answers roll call, or Rollcall says why it did not."),
	})
	awscdk.Tags_Of(stack).Add(jsii.String(settings.TagKey), jsii.String(settings.TagValue), nil)

	bound(stack, chosen.PermissionsBoundary)

	r, err := newResources(stack, chosen, list)
	if err != nil {
		return err
	}
	var functions []function
	var rules []*string
	for _, spec := range list {
		f, err := newFunction(stack, spec, r, packages, chosen)
		if err != nil {
			return fmt.Errorf("function %s: %w", spec.Name, err)
		}
		functions = append(functions, f)
		rules = append(rules, f.rules...)
	}
	letRulesSend(r.failed, "UndeliveredEvents", rules)
	guardBus(stack, r.bus, functions)
	who := newReader(stack, chosen, functions)
	under(stack, chosen.RolePath)
	admit(chosen, who)
	alarms := newAlarms(stack, chosen)
	alarms.watch(r, functions)
	if chosen.Dashboard {
		newDashboard(stack, chosen, r, functions, alarms)
	}
	output(stack, chosen, r, alarms, functions, who)
	encrypt(stack, chosen.KMSKey)
	return limits.CheckResources(count(stack))
}

// bound gives every role of a stack its permissions boundary, if there is one.
func bound(stack awscdk.Stack, policy string) {
	if policy != "" {
		awsiam.PermissionsBoundary_Of(stack).Apply(awsiam.ManagedPolicy_FromManagedPolicyArn(stack, jsii.String("Boundary"), jsii.String(policy)))
	}
}

// under puts every role that a stack has under a path. A role without one is not given the
// path "/": a change of the property makes a role anew (CloudFormation, AWS::IAM::Role, Path).
func under(stack awscdk.Stack, path string) {
	if path == "/" {
		return
	}
	for _, c := range *stack.Node().FindAll(constructs.ConstructOrder_PREORDER) {
		if *awscdk.CfnResource_IsCfnResource(c) && *c.(awscdk.CfnResource).CfnResourceType() == "AWS::IAM::Role" {
			c.(awscdk.CfnResource).AddPropertyOverride(jsii.String("Path"), path)
		}
	}
}

// count is the stack's resources by type. The library counts them too, when it
// synthesises, and then ends the program.
func count(stack awscdk.Stack) map[string]int {
	counts := map[string]int{}
	for _, c := range *stack.Node().FindAll(constructs.ConstructOrder_PREORDER) {
		if *awscdk.CfnResource_IsCfnResource(c) {
			counts[*c.(awscdk.CfnResource).CfnResourceType()]++
		}
	}
	return counts
}

// assemble synthesises the app's templates, and refuses what AWS would refuse
// for its size.
func assemble(app awscdk.App) ([]string, error) {
	var files []string
	for _, stack := range *app.Synth(nil).Stacks() {
		file := *stack.TemplateFullPath()
		template, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read what was synthesised: %w", err)
		}
		if err := limits.Check(template); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// built tells which functions have no package yet.
func built(list []spec.Spec, packages string) error {
	var missing []error
	for _, spec := range list {
		file := codeOf(packages, spec.Name)
		if filepath.Ext(file) != ".zip" {
			file = filepath.Join(file, "bootstrap")
		}
		if !isThere(file) {
			missing = append(missing, fmt.Errorf("%s is missing: run `make build`, or name the unpacked functions of a release (PREBUILT=…)", file))
		}
	}
	return errors.Join(missing...)
}

// newTable makes the table that package state describes. It outlives the
// stack: what was said in Slack, and where, is not lost by `make destroy`.
func newTable(stack awscdk.Stack) awsdynamodb.Table {
	text := func(name string) *awsdynamodb.Attribute {
		return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
	}
	table := awsdynamodb.NewTable(stack, jsii.String("Table"), &awsdynamodb.TableProps{
		PartitionKey:        text("pk"),
		SortKey:             text("sk"),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		TimeToLiveAttribute: jsii.String("expires"),
		// DynamoDB's own key would show as no encryption setting at all; the
		// account's key for DynamoDB costs nothing and is written in CloudTrail.
		Encryption: awsdynamodb.TableEncryption_AWS_MANAGED,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	})
	table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
		IndexName:      jsii.String(store.OpenIndex),
		PartitionKey:   text("open"),
		SortKey:        text("started"),
		ProjectionType: awsdynamodb.ProjectionType_ALL,
	})
	table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
		IndexName:      jsii.String(store.EndedIndex),
		PartitionKey:   text("day"),
		SortKey:        text("began"),
		ProjectionType: awsdynamodb.ProjectionType_INCLUDE,
		// The keys come with it; "past" is a launch in a few words.
		NonKeyAttributes: jsii.Strings("past", "expires", "format"),
	})
	return table
}

// newTargetTopic makes the topic by which people hear of incidents by mail, where the
// settings want one. It is another than that of the alarms: those are about Rollcall
// itself. Only the function that its role lets may publish to it, over TLS; SNS encrypts
// its disks (see newTopic). Who is subscribed may choose by the attributes severity,
// cluster, check, account and region (docs/targets.md).
func newTargetTopic(stack awscdk.Stack, chosen settings.Settings) awssns.Topic {
	if !chosen.MakesTopic {
		return nil
	}
	topic := awssns.NewTopic(stack, jsii.String("TargetTopic"), &awssns.TopicProps{
		DisplayName: jsii.String(chosen.StackName),
		EnforceSSL:  jsii.Bool(true),
	})
	for i, address := range chosen.TargetEmails {
		awssns.NewCfnSubscription(stack, jsii.String(fmt.Sprint("TargetEmail", i+1)), &awssns.CfnSubscriptionProps{
			TopicArn: topic.TopicArn(),
			Protocol: jsii.String("email"),
			Endpoint: jsii.String(address),
		})
	}
	return topic
}

// authNone lets everybody call: who it is, the function knows by the signature.
const authNone = "NONE"

// open gives the function an address on the internet. Both permissions are
// needed since October 2025, the second one for calls through the address only
// (Lambda, "Control access to Lambda function URLs").
func (f function) open() *string {
	url := awslambda.NewCfnUrl(f.scope, jsii.String("Url"), &awslambda.CfnUrlProps{
		TargetFunctionArn: f.lambda.FunctionArn(),
		AuthType:          jsii.String(authNone),
		InvokeMode:        jsii.String("BUFFERED"),
	})
	awslambda.NewCfnPermission(f.scope, jsii.String("UrlPermission"), &awslambda.CfnPermissionProps{
		Action:              jsii.String("lambda:InvokeFunctionUrl"),
		FunctionName:        f.lambda.FunctionArn(),
		Principal:           "*",
		FunctionUrlAuthType: jsii.String(authNone),
	})
	awslambda.NewCfnPermission(f.scope, jsii.String("UrlInvokePermission"), &awslambda.CfnPermissionProps{
		Action:                jsii.String("lambda:InvokeFunction"),
		FunctionName:          f.lambda.FunctionArn(),
		Principal:             "*",
		InvokedViaFunctionUrl: jsii.Bool(true),
	})
	return url.AttrFunctionUrl()
}

// RelayStackName is the name of a relay's stack in the app; deployed it has the cluster's too.
const RelayStackName = "RollcallRelay"

// relayTemplate is the context key by which make relay-template asks for it.
const relayTemplate = "relay"

// relayLogDays is how long its log is kept: as long as the others' by default.
const relayLogDays = 30

// NewRelayStack adds the relay of one cluster to the app. All that it knows of the cluster,
// its address among it, are parameters: it asks AWS for nothing and has no permission there,
// so that its subnets need no way out, and no caller can send it elsewhere. Whom
// it lets invoke it is said by their policies alone: it has none of its own, by which others
// of this account, or of another, could be let in.
func NewRelayStack(app awscdk.App) {
	stack := awscdk.NewStack(app, jsii.String(RelayStackName), &awscdk.StackProps{
		Description: jsii.String("Rollcall's relay for one cluster: forwards Rollcall's list calls inside the VPC of a cluster that has only a private endpoint."),
		Synthesizer: awscdk.NewDefaultStackSynthesizer(&awscdk.DefaultStackSynthesizerProps{GenerateBootstrapVersionRule: jsii.Bool(false)}),
	})
	awscdk.Tags_Of(stack).Add(jsii.String(settings.TagKey), jsii.String(settings.TagValue), nil)
	given := relayParameters(stack)
	s := relay.Spec()
	scope := constructs.NewConstruct(stack, jsii.String(camel(s.Name)))
	group := relayGroup(scope, given)
	vpc := settings.VPC{SubnetIDs: []string{*given.subnetA, *given.subnetB}, SecurityGroupIDs: []string{*group.AttrGroupId()}}

	logs := awslogs.NewLogGroup(scope, jsii.String("Logs"), &awslogs.LogGroupProps{
		LogGroupName: jsii.String("/aws/lambda/" + *given.name), RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	logs.Node().DefaultChild().(awslogs.CfnLogGroup).SetRetentionInDays(jsii.Number(relayLogDays))
	statements := append([]statement{{sid: sidLogs, actions: []string{"logs:CreateLogStream", "logs:PutLogEvents"}, resources: []string{*logs.LogGroupArn()}}},
		interfaceStatements(s, *given.name, vpc)...)
	role := awsiam.NewRole(scope, jsii.String("Role"), &awsiam.RoleProps{
		Description:    jsii.String("Permissions for the relay's log, and for Lambda to manage its network interfaces. The relay itself has no others"),
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{s.Name: document(statements)},
	})
	awscdk.Validations_Of(role).Acknowledge(&awscdk.Acknowledgment{
		Id: jsii.String("CloudFormation-Validate::F3033"), Reason: jsii.String("The boundary is too short only with the parameter's default, with which the role has none"),
	})
	whereSet(stack, role, parameters.PermissionsBoundary, "PermissionsBoundary", "ARN of a managed policy that the relay's role gets as its permissions boundary, if your organization requires one: a policy of this account or of AWS. It must allow what docs/permissions.md lists for the relay.")
	whereSet(stack, role, parameters.RolePath, "Path", "Path of the relay's role, like /teams/platform/, if your organization allows roles only under a path.")
	function := awslambda.NewCfnFunction(scope, jsii.String("Function"), &awslambda.CfnFunctionProps{
		FunctionName: given.name, Description: jsii.String(s.About), Role: role.RoleArn(),
		Runtime: jsii.String("provided.al2023"), Architectures: jsii.Strings("arm64"), Handler: jsii.String("bootstrap"),
		Code:       &awslambda.CfnFunction_CodeProperty{S3Bucket: given.bucket, S3Key: given.key},
		MemorySize: jsii.Number(int(s.Memory)), Timeout: jsii.Number(s.Timeout.Seconds()),
		Environment: &awslambda.CfnFunction_EnvironmentProperty{Variables: &map[string]*string{
			string(config.RelayCluster): given.cluster, string(config.RelayEndpoint): given.endpoint, string(config.RelayCA): given.authority,
			string(config.LogLevel): jsii.String("info"),
		}},
		LoggingConfig: &awslambda.CfnFunction_LoggingConfigProperty{LogGroup: logs.LogGroupName(), LogFormat: jsii.String("Text")},
	})
	enter(function, vpc)
	// By it rollcall doctor tells a relay of another release.
	awscdk.Tags_Of(function).Add(jsii.String(specs.RelayTag), jsii.String(specs.RelayDigest()), nil)
	// The local stage finds the program of a function by this.
	function.AddMetadata(jsii.String("Rollcall::Folder"), jsii.String("functions/"+s.Name))
}

// whereSet gives a role a property from an optional parameter, in the form that the standard
// template's parameter has. With the default the role has no such property: a path of "/" would
// replace the roles of relays that were deployed without one (CloudFormation, AWS::IAM::Role, Path).
func whereSet(stack awscdk.Stack, role awsiam.Role, name, property, about string) {
	form := parameters.ByName(name)
	props := &awscdk.CfnParameterProps{Type: jsii.String("String"), Description: jsii.String(about), AllowedPattern: jsii.String(form.Pattern), Default: form.Default}
	if form.Longest > 0 {
		props.MaxLength = jsii.Number(form.Longest)
	}
	value := awscdk.NewCfnParameter(stack, jsii.String(name), props).ValueAsString()
	condition := awscdk.NewCfnCondition(stack, jsii.String("Has"+name), &awscdk.CfnConditionProps{
		Expression: awscdk.Fn_ConditionNot(awscdk.Fn_ConditionEquals(value, form.Default)),
	})
	role.Node().DefaultChild().(awsiam.CfnRole).AddPropertyOverride(jsii.String(property), awscdk.Fn_ConditionIf(condition.LogicalId(), value, awscdk.Aws_NO_VALUE()))
}

// relayGroup is the relay's own security group, which leads to the cluster's and nowhere
// else, and the rule by which that lets it in. Amazon's resolver is asked past all groups
// (VPC user guide, "Security groups": "Route 53 Resolver").
func relayGroup(scope constructs.Construct, given relayGiven) awsec2.CfnSecurityGroup {
	group := awsec2.NewCfnSecurityGroup(scope, jsii.String("Group"), &awsec2.CfnSecurityGroupProps{
		// EC2 takes no apostrophes here (CreateSecurityGroup, GroupDescription).
		GroupDescription: jsii.String("Rollcall relay: to the API of its cluster and nowhere else"), VpcId: given.vpc,
		SecurityGroupEgress: []any{&awsec2.CfnSecurityGroup_EgressProperty{
			IpProtocol: jsii.String("tcp"), FromPort: jsii.Number(443), ToPort: jsii.Number(443), DestinationSecurityGroupId: given.group,
			Description: jsii.String("The API of the cluster"),
		}},
	})
	awsec2.NewCfnSecurityGroupIngress(scope, jsii.String("In"), &awsec2.CfnSecurityGroupIngressProps{
		GroupId: given.group, IpProtocol: jsii.String("tcp"), FromPort: jsii.Number(443), ToPort: jsii.Number(443), SourceSecurityGroupId: group.AttrGroupId(),
		Description: jsii.String("Rollcall relay: list calls as in deploy/clusterrole.yaml"),
	})
	return group
}

// relayGiven are a relay's parameters.
type relayGiven struct {
	name, cluster, endpoint, authority, vpc, subnetA, subnetB, group, bucket, key *string
}

func relayParameters(stack awscdk.Stack) relayGiven {
	parameter := func(name, of, about, form string) *string {
		p := &awscdk.CfnParameterProps{Type: jsii.String(of), Description: jsii.String(about)}
		if form != "" {
			p.AllowedPattern = jsii.String(form)
		}
		return awscdk.NewCfnParameter(stack, jsii.String(name), p).ValueAsString()
	}
	return relayGiven{
		name:      parameter("FunctionName", "String", "Name of the function, by which the reader finds it: the deployment's prefix, -relay- and the cluster's name", "^[a-zA-Z0-9_-]{1,64}$"),
		cluster:   parameter("ClusterArn", "String", "ARN of the cluster", "^arn:[a-z-]+:eks:[a-z0-9-]+:[0-9]{12}:cluster/[0-9A-Za-z][A-Za-z0-9_-]{0,99}$"),
		endpoint:  parameter("ClusterEndpoint", "String", "Endpoint of the cluster's API (aws eks describe-cluster: endpoint)", "^https://[A-Za-z0-9.-]+(:[0-9]+)?$"),
		authority: parameter("ClusterAuthority", "String", "Certificate authority of the cluster (aws eks describe-cluster: certificateAuthority.data)", "^[A-Za-z0-9+/=]+$"),
		vpc:       parameter("VpcId", "AWS::EC2::VPC::Id", "The cluster's VPC", ""),
		subnetA:   parameter("SubnetA", "AWS::EC2::Subnet::Id", "One of the cluster's subnets", ""),
		subnetB:   parameter("SubnetB", "AWS::EC2::Subnet::Id", "Another of the cluster's subnets, in another zone", ""),
		group:     parameter("ClusterSecurityGroup", "AWS::EC2::SecurityGroup::Id", "The security group that EKS created for the cluster (clusterSecurityGroupId)", ""),
		bucket:    parameter("CodeBucket", "String", "Bucket in this region that holds the relay's program, from the hub's release", ""),
		key:       parameter("CodeKey", "String", "Key of the relay's program in that bucket", ""),
	}
}
