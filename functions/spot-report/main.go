// Command spot-report weighs the history of Spot launches: see spec.
package main

import (
	"rollcall/functions/spot-report/spec"
	"rollcall/functions/spot-report/spotreport"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), spotreport.Build)
}
