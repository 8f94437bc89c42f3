package spot

import (
	"fmt"
	"strings"
)

// Says is the arithmetic in words: "8 launches at once needed 480 addresses (8
// nodes × 2 interfaces × 30 addresses), subnet-0a had 251". Times are for
// whoever can write them in the reader's own zone.
func (b Burst) Says() string {
	return fmt.Sprintf("%s needed %s (%s), %s had %s", b.together(), count(b.Demand, "address", "addresses"), b.Sum(), b.Subnet, figure(b.Had))
}

func (b Burst) together() string {
	if b.Launches == 1 {
		return "1 launch"
	}
	return figure(b.Launches) + " launches at once"
}

// Short is the arithmetic alone: "8 nodes × 2 interfaces × 30 addresses = 480;
// subnet-0a had 251".
func (b Burst) Short() string {
	return fmt.Sprintf("%s = %s; %s had %s", b.Sum(), figure(b.Demand), b.Subnet, figure(b.Had))
}

// Sum is what the nodes take, those that take the same together: "8 nodes × 2
// interfaces × 30 addresses". Of more than three kinds only the number of nodes
// is told.
func (b Burst) Sum() string {
	const most = 3
	type kind struct{ interfaces, addresses int }
	nodes := map[kind]int{}
	var kinds []kind
	for _, t := range b.Terms {
		k := kind{t.Interfaces, t.Addresses}
		if nodes[k] == 0 {
			kinds = append(kinds, k)
		}
		nodes[k] += t.Count
	}
	if len(kinds) > most {
		return fmt.Sprintf("%s of %d sizes", count(b.Launches, "node", "nodes"), len(kinds))
	}
	parts := make([]string, len(kinds))
	for i, k := range kinds {
		parts[i] = count(nodes[k], "node", "nodes")
		if k.interfaces > 1 {
			parts[i] += fmt.Sprintf(" × %d interfaces", k.interfaces)
		}
		parts[i] += " × " + count(k.addresses, "address", "addresses")
	}
	return strings.Join(parts, " + ")
}

// ByType is the terms of a burst in words, one for each type: "8 m5.4xlarge × 2 interfaces ×
// 30".
func (b Burst) ByType() []string {
	parts := make([]string, len(b.Terms))
	for i, t := range b.Terms {
		name := t.Type
		if name == "" {
			name = "of a type that is not known"
		}
		parts[i] = fmt.Sprintf("%d %s × %d", t.Count, name, t.Addresses)
		if t.Interfaces > 1 {
			parts[i] = fmt.Sprintf("%d %s × %d interfaces × %d", t.Count, name, t.Interfaces, t.Addresses)
		}
	}
	return parts
}
