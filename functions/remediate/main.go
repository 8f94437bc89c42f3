// Command remediate does what remedies may do: see spec.
package main

import (
	"rollcall/functions/remediate/remediate"
	"rollcall/functions/remediate/spec"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), remediate.Build)
}
