// Package iam holds the checks of iam: who the node is, and what it may do.
package iam

import (
	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
)

// IAMChecks are the checks of iam: who the node is, and what it may do.
func IAMChecks() []check.Check {
	return []check.Check{
		profileMissing(),
		rolePolicies(),
		roleTrust(),
		accessMissing(),
		accessWrongARN(),
		stsEndpoint(),
		stsRegionDeactivated(),
		accessWrongType(),
		accessDuplicateMapping(),
		awsAuthInvalid(),
		cniRolePolicies(),
	}
}

// usingRoles is a check of roles: whose role counts, and where it is mapped,
// depends on the cluster.
func usingRoles(c check.Check) check.Check {
	return check.Using([]snapshot.Source{
		snapshot.Profiles, snapshot.Roles, snapshot.Access, snapshot.AWSAuthMap, snapshot.AWSNode, snapshot.Pods, snapshot.PodIdentities, snapshot.Addons, snapshot.Consoles,
	}, c)
}
