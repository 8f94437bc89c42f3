// Command report owns the incidents and is alone in talking to Slack: see spec.
package main

import (
	"rollcall/functions/report/report"
	"rollcall/functions/report/spec"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), report.Build)
}
