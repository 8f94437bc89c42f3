package routes

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// Rows writes a table's rows, at most twenty.
func Rows(routes []snapshot.Route) string {
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

// Evidence is what a person would have looked up for a lot: the table, how
// the subnets came by it, the subnets, and the path to each service.
func (l Table) Evidence() []finding.Evidence {
	const limit = 5
	list := []finding.Evidence{{What: "Routes of " + l.Table.ID, Value: Rows(l.Table.Routes)}}
	for i, s := range l.Subnets {
		if i == limit {
			list = append(list, finding.Evidence{What: "Subnets", Value: fmt.Sprintf("and %d more", len(l.Subnets)-limit)})
			break
		}
		how := "associated with " + l.Table.ID
		if !slices.Contains(l.Table.Subnets, s.ID) {
			how = fmt.Sprintf("no association of its own: uses the main table of %s", s.VPC)
		}
		list = append(list, finding.Evidence{
			What:  s.ID,
			Value: fmt.Sprintf("%s, %s, %d free addresses; %s", s.CIDR, s.Zone, s.Free, how),
		})
	}
	return append(list, facts.Walked(l.Paths)...)
}
