package replaceinstance

import (
	"rollcall/shared/spec"

	"rollcall/shared/remedy/action"
)

func grants(o action.OptIn) []spec.Grant {
	return o.ToGroups("autoscaling:TerminateInstanceInAutoScalingGroup",
		"replace-instance ends instances that did not join through their Auto Scaling group, which launches others.")
}
