// Command zone-watch watches volumes and the zones they live in: see spec.
package main

import (
	"rollcall/functions/zone-watch/spec"
	"rollcall/shared/run"
)

func main() {
	run.Start(spec.Name, spec.Environment(), build)
}
