package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/spec"
)

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
		Code:         awslambda.Code_FromAsset(jsii.String(filepath.Join(packages, spec.Name)), nil),
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
	for _, s := range spec.Schedules {
		age = min(age, s.Every)
	}
	return age
}
