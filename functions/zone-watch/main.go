// Command zone-watch watches volumes and the zones they live in: see spec.
package main

import (
	"rollcall/functions/zone-watch/spec"
	"rollcall/functions/zone-watch/zonewatch"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), zonewatch.Build)
}
