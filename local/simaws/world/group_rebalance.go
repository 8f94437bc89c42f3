package world

import (
	"strings"
	"time"
)

// replaceAtRisk is capacity rebalancing: the group launches a replacement for
// an instance that EC2 will probably take back, beyond its desired capacity,
// and ends the old one once the new one serves.
func (w *World) replaceAtRisk(g *group, id string) {
	m := g.member(id)
	if m == nil || strings.HasPrefix(string(m.LifecycleState), "Terminat") || g.isReplaced(id) ||
		g.suspended("Launch") || w.file.AutoScaling.Still {
		return
	}
	cause := "At " + w.now.UTC().Format(time.RFC3339) + " an instance was launched in response to an EC2 instance rebalance recommendation for instance " + id + "."
	before := len(g.launched)
	// A group that cannot launch keeps the old instance.
	if !w.launchInGroup(g, cause, false) || len(g.launched) == before {
		return
	}
	if g.leaving == nil {
		g.leaving = map[string]string{}
	}
	g.leaving[g.launched[len(g.launched)-1]] = id
}

// endReplaced ends the instance whose replacement has come into service.
func (w *World) endReplaced(g *group, id string) {
	old, ok := g.leaving[id]
	if !ok {
		return
	}
	delete(g.leaving, id)
	w.endInGroup(g, old, "At "+w.now.UTC().Format(time.RFC3339)+" an instance was taken out of service in response to an EC2 instance rebalance recommendation.")
}
