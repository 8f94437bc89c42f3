package main

import (
	"fmt"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
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

// trust lets the functions of the hub that need the role assume it, and nobody else: their
// roles by name (those that CDK makes of a function's: the stack's name, the construct's, and
// what CloudFormation adds), with the external id, and of the organization where one is set.
// The principal is the hub's account, whose administrators decide who has such a role: a
// role that is named itself is replaced by its id, and trusts nobody once the hub's stack has
// been made anew (IAM user guide, "AWS JSON policy elements: Principal", IAM role principals).
func (h hub) trust(role spec.SpokeRole, list []spec.Spec) awsiam.IPrincipal {
	var names []string
	for _, s := range list {
		if slices.Contains(s.Assumes, role) {
			names = append(names, functionRoles(*h.account, h.chosen.StackName, s.Name))
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
	statements, err := readStatements(specs.ReaderReads(list), resources{})
	if err != nil {
		return err
	}
	statements = append(statements, askRelays(h.chosen))
	reader := h.newRole(spec.SpokeReader, "Looks for Rollcall's hub: Describe, List, Get; clusters let it in by their access entries", statements, list)
	// By it rollcall doctor tells a spoke of another release.
	awscdk.Tags_Of(reader).Add(jsii.String(specs.SpokeTag), jsii.String(specs.SpokeDigest(list)), nil)
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
func functionRoles(account, stack, function string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":iam::" + account + ":role/" + stack + "-" + camel(function) + "Role*"
}
