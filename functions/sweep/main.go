// Command sweep looks at each cluster in its turn: see spec.
package main

import (
	"rollcall/functions/sweep/spec"
	"rollcall/functions/sweep/sweep"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), sweep.Build)
}
