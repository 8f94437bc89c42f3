// Package runtime starts a function in Lambda. It is apart from shared/lambda, which the
// command links too: without -tags lambda.norpc, aws-lambda-go brings net/rpc and with it
// html/template, for which the linker keeps every method of the AWS clients, 50 MB of them.
package runtime

import (
	awslambda "github.com/aws/aws-lambda-go/lambda"

	"rollcall/shared/lambda"
	"rollcall/shared/spec"
)

// Start runs a function in Lambda; it does not return. The variables are those
// that the function's Spec names.
func Start(name string, variables []spec.Variable, build lambda.Build) {
	awslambda.StartWithOptions(lambda.Prepared(name, variables, build).Invoke)
}
