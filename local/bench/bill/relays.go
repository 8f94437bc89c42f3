package bill

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// tick is how often a cluster has its turn.
const tick = 5 * time.Minute

// Relays are those of clusters with a private endpoint only.
type Relays struct {
	Count int
	// Lists is how often a turn asks one, and Memory what one has, in MB.
	Lists  int
	Memory float64
}

// Lists counts on docs/load.md what a turn of a cluster asks of its API, which a relay is
// invoked for each.
func Lists(page string) (int, error) {
	lists := 0
	for line := range strings.Lines(page) {
		// | kubernetes:list nodes | 2 | 1 |
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "kubernetes:") {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(cells[3]))
		if err != nil {
			return 0, fmt.Errorf("read what a turn asks of a cluster: %w", err)
		}
		lists += n
	}
	if lists == 0 {
		return 0, errors.New("the page does not tell what a turn asks of a cluster (make tick)")
	}
	return lists, nil
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
	if r.Lists == 0 || r.Memory == 0 || invocations == 0 {
		return nil, fmt.Errorf("%d lists with %g MB do not tell of relays", r.Lists, r.Memory)
	}
	asked := float64(r.Count*r.Lists) * Hours * float64(time.Hour/tick)
	seconds := asked * (ownTime + callTime).Seconds()
	logged := float64(u.LogBytes)/float64(invocations) + platformLines
	return []Line{
		{"relays: invocations", asked, invocation, fmt.Sprintf("%s, each asked %d times in five minutes ([load.md](load.md#a-tick))", plural(r.Count, "relay"), r.Lists)},
		{"relays: GB-seconds", seconds * (r.Memory + waiting) / 1024, gbSecond, "their own, counted as above, and those of sweep, which waits for each"},
		{"relays: log bytes", asked * logged, logByte, "for each invocation as much as the other functions write"},
	}, nil
}
