package facts

import (
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
)

// Walked is the path to each service, one line for those that share one.
func Walked(paths []path.Path) []finding.Evidence {
	var order []string
	served := map[string][]path.Service{}
	for _, p := range paths {
		way := p.String()
		if served[way] == nil {
			order = append(order, way)
		}
		served[way] = append(served[way], p.Service)
	}
	var list []finding.Evidence
	for _, way := range order {
		list = append(list, finding.Evidence{What: "Path to " + phrase.And(path.Names(served[way])), Value: way})
	}
	return list
}
