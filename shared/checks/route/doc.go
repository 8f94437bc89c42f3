// Package route holds the checks of route: the way out of a subnet, and the way
// to the cluster's API.
package route

import (
	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
)

// usingTemplates is a check of routes: whether an instance gets a public
// address may stand in its template.
func usingTemplates(c check.Check) check.Check {
	return check.Using([]snapshot.Source{snapshot.LaunchTemplates}, c)
}
