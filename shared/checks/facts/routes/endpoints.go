package routes

import (
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/network/path"
)

// Endpointed are the needed services for which a VPC has an endpoint of any
// kind and setting, that is there or coming.
func (c *Scope) Endpointed(vpc string) []path.Service {
	var list []path.Service
	for _, service := range path.Needed() {
		if slices.ContainsFunc(c.Net.Endpoints(vpc, service), facts.There) {
			list = append(list, service)
		}
	}
	return list
}
