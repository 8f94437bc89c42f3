// Command spot-report weighs the history of Spot launches: see spec.
package main

import (
	"rollcall/functions/spot-report/spec"
	"rollcall/functions/spot-report/spotreport"
	"rollcall/shared/run"
)

func main() {
	run.Start(spec.Name, spec.Environment(), spotreport.Build)
}
