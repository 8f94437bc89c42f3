package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// rows writes a table's rows, at most twenty.
func rows(routes []snapshot.Route) string {
	const limit = 20
	list := make([]string, 0, min(len(routes), limit+1))
	for i, r := range routes {
		if i == limit {
			list = append(list, fmt.Sprintf("and %d more", len(routes)-limit))
			break
		}
		list = append(list, path.Row(r))
	}
	if len(list) == 0 {
		return "no rows"
	}
	return strings.Join(list, "; ")
}

// evidence is what a person would have looked up for a lot: the table, how
// the subnets came by it, the subnets, and the path to each service.
func (l lot) evidence() []Evidence {
	const limit = 5
	list := []Evidence{{What: "Routes of " + l.table.ID, Value: rows(l.table.Routes)}}
	for i, s := range l.subnets {
		if i == limit {
			list = append(list, Evidence{What: "Subnets", Value: fmt.Sprintf("and %d more", len(l.subnets)-limit)})
			break
		}
		how := "associated with " + l.table.ID
		if !slices.Contains(l.table.Subnets, s.ID) {
			how = fmt.Sprintf("no association of its own: uses the main table of %s", s.VPC)
		}
		list = append(list, Evidence{
			What:  s.ID,
			Value: fmt.Sprintf("%s, %s, %d free addresses; %s", s.CIDR, s.Zone, s.Free, how),
		})
	}
	return append(list, l.walked()...)
}

// walked is the path to each service, one line for those that share one.
func (l lot) walked() []Evidence {
	var order []string
	served := map[string][]path.Service{}
	for _, p := range l.paths {
		way := p.String()
		if served[way] == nil {
			order = append(order, way)
		}
		served[way] = append(served[way], p.Service)
	}
	var list []Evidence
	for _, way := range order {
		list = append(list, Evidence{What: "Path to " + and(path.Names(served[way])), Value: way})
	}
	return list
}
