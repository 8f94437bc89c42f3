package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/specs"
	"rollcall/shared/spec"
)

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
