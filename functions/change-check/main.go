// Command change-check looks up who changed what before an incident: see spec.
package main

import (
	"rollcall/functions/change-check/changecheck"
	"rollcall/functions/change-check/spec"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), changecheck.Build)
}
