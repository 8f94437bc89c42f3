// Package iam holds the checks of iam: who the node is, and what it may do.
package iam

import (
	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
)

// usingRoles is a check of roles: whose role counts, and where it is mapped,
// depends on the cluster.
func usingRoles(c check.Check) check.Check {
	return check.Using([]snapshot.Source{
		snapshot.Profiles, snapshot.Roles, snapshot.Access, snapshot.AWSAuthMap, snapshot.AWSNode, snapshot.Pods, snapshot.PodIdentities, snapshot.Addons, snapshot.Consoles,
	}, c)
}
