package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/fn"
)

// The tag of every resource that takes one, to find the stack's costs by.
const (
	tagKey   = "Application"
	tagValue = "Rollcall"
)

// NewStack adds the stack to the app, or says what is wrong with the settings,
// the specs or the packages.
//
// The stack names no account and no region: it is deployed to those of the
// caller, and its template is the same for all.
func NewStack(app awscdk.App, list []fn.Spec, packages string) error {
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
	awscdk.Tags_Of(stack).Add(jsii.String(tagKey), jsii.String(tagValue), nil)

	r, err := newResources(stack, chosen, list)
	if err != nil {
		return err
	}
	alarms := newAlarms(stack, chosen)
	var functions []function
	for _, spec := range list {
		f, err := newFunction(stack, spec, r, packages, chosen)
		if err != nil {
			return fmt.Errorf("function %s: %w", spec.Name, err)
		}
		alarms.watch(f)
		functions = append(functions, f)
	}
	admit(chosen, functions)
	output(stack, chosen, r, alarms, functions)
	return nil
}

// built tells which functions have no package yet.
func built(list []fn.Spec, packages string) error {
	var missing []error
	for _, spec := range list {
		file := filepath.Join(packages, spec.Name, "bootstrap")
		if _, err := os.Stat(file); err != nil {
			missing = append(missing, fmt.Errorf("%s is missing: run `make build`", file))
		}
	}
	return errors.Join(missing...)
}
