package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/limits"
	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/spec"
)

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
	admit(chosen, who)
	alarms := newAlarms(stack, chosen)
	alarms.watch(r, functions)
	if chosen.Dashboard {
		newDashboard(stack, chosen, r, functions, alarms)
	}
	output(stack, chosen, r, alarms, functions, who)
	return limits.CheckResources(count(stack))
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
		file := filepath.Join(packages, spec.Name, "bootstrap")
		if _, err := os.Stat(file); err != nil {
			missing = append(missing, fmt.Errorf("%s is missing: run `make build`, or name the unpacked functions of a release (PREBUILT=…)", file))
		}
	}
	return errors.Join(missing...)
}
