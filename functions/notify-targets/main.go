// Command notify-targets tells targets besides Slack: see spec.
package main

import (
	"rollcall/functions/notify-targets/notifytargets"
	"rollcall/functions/notify-targets/spec"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), notifytargets.Build)
}
