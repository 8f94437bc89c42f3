package replaceinstance

import (
	"fmt"

	"rollcall/shared/remedy/action"
)

func words(r Plan, at action.Place) action.Words {
	w := action.Words{Cost: "Whatever else runs on an instance ends with it; no pod does: it never was a node."}
	var ids []string
	for _, i := range r.Instances {
		ids = append(ids, i.Instance)
		w.Steps = append(w.Steps, fmt.Sprintf("End %s (%s, %s) through its Auto Scaling group %s, which launches another: the capacity stays.", i.Instance, i.Nodegroup, i.Zone, i.Group))
		w.Commands = append(w.Commands, at.AWS("autoscaling terminate-instance-in-auto-scaling-group", "--instance-id", i.Instance, "--no-should-decrement-desired-capacity"))
	}
	w.Title = "Replace " + action.Few(ids, "instance")
	if len(ids) > 2 {
		w.Title = fmt.Sprintf("Replace %s that did not join", action.Count(len(ids), "instance"))
	}
	w.Undo = []string{"An instance that has ended cannot be brought back; its group launches another in its place."}
	return w
}
