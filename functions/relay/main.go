// Command relay lists, in the VPC of a cluster, what Rollcall reads in it: see spec.
package main

import (
	"rollcall/functions/relay/relay"
	"rollcall/functions/relay/spec"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), relay.Build)
}
