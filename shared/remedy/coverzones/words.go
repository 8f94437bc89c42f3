package coverzones

import (
	"fmt"

	"rollcall/shared/remedy/action"
)

func words(c Plan, at action.Place) action.Words {
	name := c.Group
	command := func(n int) string {
		return at.AWS("autoscaling set-desired-capacity", "--auto-scaling-group-name", c.Group, "--desired-capacity", n)
	}
	if c.Nodegroup != "" {
		name = c.Nodegroup
		command = func(n int) string {
			return at.AWS("eks update-nodegroup-config", "--cluster-name", at.Cluster, "--nodegroup-name", c.Nodegroup, "--scaling-config", fmt.Sprintf("desiredSize=%d", n))
		}
	}
	w := action.Words{
		Title:    fmt.Sprintf("Raise %s from %d to %d nodes", name, c.From, c.To),
		Steps:    []string{fmt.Sprintf("Set the desired count of %s from %d to %d (maximum %d): Auto Scaling launches in the zones that have the fewest, so in %s.", name, c.From, c.To, c.Max, action.And(c.Without))},
		Change:   fmt.Sprintf("desired %d → %d", c.From, c.To),
		Commands: []string{command(c.To)},
		Undo:     []string{command(c.From)},
		Cost:     fmt.Sprintf("%s more, as long as it stays so.", action.Count(c.To-c.From, "instance")),
	}
	if c.Autoscaler {
		w.Cost += " The cluster autoscaler may take it back when a node is idle: give each zone a group of its own, or set its balance-similar-node-groups."
	}
	return w
}
