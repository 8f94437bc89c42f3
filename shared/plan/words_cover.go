package plan

import "fmt"

func (p Plan) coverWords(c Cover) words {
	name := c.Group
	command := func(n int) string {
		return p.aws("autoscaling set-desired-capacity", "--auto-scaling-group-name", c.Group, "--desired-capacity", n)
	}
	if c.Nodegroup != "" {
		name = c.Nodegroup
		command = func(n int) string {
			return p.aws("eks update-nodegroup-config", "--cluster-name", p.Cluster, "--nodegroup-name", c.Nodegroup, "--scaling-config", fmt.Sprintf("desiredSize=%d", n))
		}
	}
	w := words{
		title:    fmt.Sprintf("Raise %s from %d to %d nodes", name, c.From, c.To),
		steps:    []string{fmt.Sprintf("Set the desired count of %s from %d to %d (maximum %d): Auto Scaling launches in the zones that have the fewest, so in %s.", name, c.From, c.To, c.Max, and(c.Without))},
		commands: []string{command(c.To)},
		undo:     []string{command(c.From)},
		cost:     fmt.Sprintf("%s more, as long as it stays so.", count(c.To-c.From, "instance")),
	}
	if c.Autoscaler {
		w.cost += " The cluster autoscaler may take it back when a node is idle: give each zone a group of its own, or set its balance-similar-node-groups."
	}
	return w
}
