// Command slack-actions takes what people press in Slack: see spec.
package main

import (
	"rollcall/functions/slack-actions/slackactions"
	"rollcall/functions/slack-actions/spec"
	"rollcall/shared/lambda/runtime"
)

func main() {
	runtime.Start(spec.Name, spec.Environment(), slackactions.Build)
}
