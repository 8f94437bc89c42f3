package replaceinstance

import (
	"rollcall/shared/fn"
	"rollcall/shared/remedy/action"
)

func grants(o action.OptIn) []fn.Grant {
	return o.ToGroups("autoscaling:TerminateInstanceInAutoScalingGroup",
		"replace-instance ends instances that did not join through their Auto Scaling group, which launches others.")
}
