// Command nodegroup-watch makes the event that EKS does not send: see spec.
package main

import (
	"rollcall/functions/nodegroup-watch/nodegroupwatch"
	"rollcall/functions/nodegroup-watch/spec"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), nodegroupwatch.Build)
}
