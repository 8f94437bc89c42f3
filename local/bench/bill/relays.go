package bill

import (
	"fmt"
	"time"
)

// tick is how often a cluster has its turn.
const tick = 5 * time.Minute

// lists is how often a turn asks a cluster in which nothing is wrong, for which its relay is
// invoked each time: nodes, pods, events, volumes, their claims, NodePools, and the network
// plugin's DaemonSet and service account.
const lists = 8

// Relays are those of clusters with a private endpoint only.
type Relays struct {
	Count int
	// Memory is what one has, in MB.
	Memory float64
}

// waits is the function that asks them while nothing happens.
const waits = "rollcall-sweep"

// lines are what they add to the bill, nothing where there are none. Each list is one page:
// a page has 500 nodes (package kube).
func (r Relays) lines(t Template, u Usage) ([]Line, error) {
	if r.Count == 0 {
		return nil, nil
	}
	waiting, ok := t.Memory[waits]
	if !ok {
		return nil, fmt.Errorf("the template has no function %s", waits)
	}
	invocations := 0
	for _, n := range u.Invocations {
		invocations += n
	}
	if r.Memory == 0 || invocations == 0 {
		return nil, fmt.Errorf("%d invocations with %g MB do not tell of relays", invocations, r.Memory)
	}
	asked := float64(r.Count*lists) * Hours * float64(time.Hour/tick)
	seconds := asked * (ownTime + callTime).Seconds()
	logged := float64(u.LogBytes)/float64(invocations) + platformLines
	return []Line{
		{"relays: invocations", asked, invocation, fmt.Sprintf("%s, each asked %d times in five minutes", plural(r.Count, "relay"), lists)},
		{"relays: GB-seconds", seconds * (r.Memory + waiting) / 1024, gbSecond, "their own, counted as above, and those of sweep, which waits for each"},
		{"relays: log bytes", asked * logged, logByte, "for each invocation as much as the other functions write"},
	}, nil
}
