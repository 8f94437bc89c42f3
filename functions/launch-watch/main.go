// Command launch-watch looks at every launch at once: see spec.
package main

import (
	"rollcall/functions/launch-watch/launchwatch"
	"rollcall/functions/launch-watch/spec"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), launchwatch.Build)
}
