// Command relay lists, in the VPC of a cluster, what Rollcall reads in it: see spec.
package main

import (
	"rollcall/functions/relay/relay"
	"rollcall/functions/relay/spec"
	"rollcall/shared/lambda"
)

func main() {
	lambda.Start(spec.Name, spec.Environment(), relay.Build)
}
