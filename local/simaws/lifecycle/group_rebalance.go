package lifecycle

import (
	"strings"
	"time"

	"rollcall/local/simaws/state"
)

// replaceAtRisk is capacity rebalancing: the group launches a replacement for
// an instance that EC2 will probably take back, beyond its desired capacity,
// and ends the old one once the new one serves.
func replaceAtRisk(w *state.State, g *state.Group, id string) {
	m := g.Member(id)
	if m == nil || strings.HasPrefix(string(m.LifecycleState), "Terminat") || g.IsReplaced(id) ||
		g.Suspended("Launch") || w.File.AutoScaling.Still {
		return
	}
	cause := "At " + w.Now.UTC().Format(time.RFC3339) + " an instance was launched in response to an EC2 instance rebalance recommendation for instance " + id + "."
	before := len(g.Launched)
	// A group that cannot launch keeps the old instance.
	if !launchInGroup(w, g, cause, false) || len(g.Launched) == before {
		return
	}
	if g.Leaving == nil {
		g.Leaving = map[string]string{}
	}
	g.Leaving[g.Launched[len(g.Launched)-1]] = id
}

// endReplaced ends the instance whose replacement has come into service.
func endReplaced(w *state.State, g *state.Group, id string) {
	old, ok := g.Leaving[id]
	if !ok {
		return
	}
	delete(g.Leaving, id)
	EndInGroup(w, g, old, "At "+w.Now.UTC().Format(time.RFC3339)+" an instance was taken out of service in response to an EC2 instance rebalance recommendation.")
}
