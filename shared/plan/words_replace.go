package plan

import "fmt"

func (p Plan) replaceWords(r Replace) words {
	w := words{cost: "Whatever else runs on an instance ends with it; no pod does: it never was a node."}
	var ids []string
	for _, i := range r.Instances {
		ids = append(ids, i.Instance)
		w.steps = append(w.steps, fmt.Sprintf("End %s (%s, %s) through its Auto Scaling group %s, which launches another: the capacity stays.", i.Instance, i.Nodegroup, i.Zone, i.Group))
		w.commands = append(w.commands, p.aws("autoscaling terminate-instance-in-auto-scaling-group", "--instance-id", i.Instance, "--no-should-decrement-desired-capacity"))
	}
	w.title = "Replace " + few(ids, "instance")
	if len(ids) > 2 {
		w.title = fmt.Sprintf("Replace %s that did not join", count(len(ids), "instance"))
	}
	w.undo = []string{"An instance that has ended cannot be brought back; its group launches another in its place."}
	return w
}
