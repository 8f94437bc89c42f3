// Package scheduling is what decides whether a pod could be on a node: labels, taints,
// amounts, what a NodePool allows, and what kube-scheduler says of it
// (kubernetes.io/docs/concepts/scheduling-eviction).
package scheduling

import (
	"regexp"
	"strconv"
	"strings"
)

// Obstacle is why the scheduler does not put a pod on some nodes.
type Obstacle struct {
	Kind  obstacleKind
	nodes int    // how many nodes it is about; 0 where the scheduler gives none
	Text  string // as the scheduler has it
}

type obstacleKind int

const (
	OtherObstacle   obstacleKind = iota // a text that is not in the table
	VolumeElsewhere                     // the volume is in another zone than the node
	TooSmall                            // too little CPU, memory, pods, volumes
	NotSelected                         // selector, affinity, name
	Tainted                             // a taint
	Cordoned                            // cordoned
	Unbound                             // the claim has no volume yet
)

// schedulerTable is all that is read of the scheduler's messages: they are text
// only. The words are those of the plugins of kube-scheduler 1.16 to 1.35
// (volumebinding, volumezone, noderesources, nodeaffinity, tainttoleration,
// nodeunschedulable, nodevolumelimits), and of the field.
func schedulerTable() []struct {
	words string
	kind  obstacleKind
} {
	return []struct {
		words string
		kind  obstacleKind
	}{
		{"had volume node affinity conflict", VolumeElsewhere},
		{"didn't match PersistentVolume's node affinity", VolumeElsewhere},
		{"had no available volume zone", VolumeElsewhere},
		{"had no available disk", OtherObstacle},
		{"exceed max volume count", TooSmall},
		{"Insufficient ", TooSmall},
		{"Too many pods", TooSmall},
		{"didn't match Pod's node affinity", NotSelected},
		{"didn't match node selector", NotSelected},
		{"didn't match the requested", NotSelected},
		{"didn't satisfy plugin(s) [NodeAffinity", NotSelected},
		{"had untolerated taint", Tainted},
		{"had taint", Tainted},
		{"had taints", Tainted},
		{"were unschedulable", Cordoned},
		{"didn't find available persistent volumes to bind", Unbound},
		{"unbound immediate PersistentVolumeClaims", Unbound},
		{"waiting for ephemeral volume controller", Unbound},
	}
}

// Obstacles reads a message such as "0/3 nodes are available: 1 Insufficient
// cpu, 2 node(s) had volume node affinity conflict. preemption: 0/3 …". What
// follows on preemption says the same again.
func Obstacles(message string) []Obstacle {
	message, _, _ = strings.Cut(message, " preemption: ")
	if _, list, ok := strings.Cut(message, "nodes are available: "); ok {
		message = list
	} else if _, list, ok := strings.Cut(message, "if a new node is added): "); ok {
		message = list
	}
	message = strings.TrimSuffix(strings.TrimSpace(message), ".")
	if message == "" {
		return nil
	}
	var list []Obstacle
	for _, text := range splitObstacles(message) {
		o := Obstacle{Text: text}
		if number, _, ok := strings.Cut(text, " "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				o.nodes = n
			}
		}
		for _, row := range schedulerTable() {
			if strings.Contains(text, row.words) {
				o.Kind = row.kind
				break
			}
		}
		list = append(list, o)
	}
	return list
}

// splitObstacles splits where a new number begins: a taint may hold commas.
func splitObstacles(list string) []string {
	next := regexp.MustCompile(`, (\d+ )`)
	var parts []string
	from := 0
	for _, at := range next.FindAllStringIndex(list, -1) {
		parts = append(parts, list[from:at[0]])
		from = at[0] + len(", ")
	}
	return append(parts, list[from:])
}

// OfKind are the obstacles of one kind.
func OfKind(list []Obstacle, kind obstacleKind) []string {
	var texts []string
	for _, o := range list {
		if o.Kind == kind {
			texts = append(texts, o.Text)
		}
	}
	return texts
}
