// Command infra is Rollcall's CDK app: it turns the functions' specs and the
// operator's settings into a CloudFormation template, without an AWS account
// and without a network.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/infra/specs"
)

func main() {
	stderr := os.Stderr
	if err := synth(); err != nil {
		fmt.Fprintf(stderr, "Rollcall cannot be synthesised:\n%v\n", err)
		os.Exit(1)
	}
}

func synth() error {
	defer quit()
	app := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false)})
	var err error
	if given(app, relayTemplate) {
		NewRelayStack(app)
	} else if given(app, settings.SpokeTemplate) {
		err = NewSpokeStack(app, specs.All())
	} else {
		err = NewStack(app, specs.All(), packages(os.Getenv))
	}
	if err != nil {
		return err
	}
	_, err = assemble(app)
	return err
}

// given tells whether the context says something of a key.
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
