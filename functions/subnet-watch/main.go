// Command subnet-watch watches what subnets have left: see spec.
package main

import (
	"rollcall/functions/subnet-watch/spec"
	"rollcall/functions/subnet-watch/subnetwatch"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), subnetwatch.Build)
}
