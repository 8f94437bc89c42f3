// Command join-check calls the roll: see spec.
package main

import (
	"rollcall/functions/join-check/joincheck"
	"rollcall/functions/join-check/spec"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), joincheck.Build)
}
