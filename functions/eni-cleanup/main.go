// Command eni-cleanup deletes what dead nodes left behind: see spec.
package main

import (
	"rollcall/functions/eni-cleanup/enicleanup"
	"rollcall/functions/eni-cleanup/spec"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), enicleanup.Build)
}
