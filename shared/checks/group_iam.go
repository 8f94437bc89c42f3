package checks

import "rollcall/shared/snapshot"

// iamChecks are the checks of iam: who the node is, and what it may do.
func iamChecks() []Check {
	return []Check{
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
func usingRoles(c Check) Check {
	return using([]snapshot.Source{
		snapshot.Profiles, snapshot.Roles, snapshot.Access, snapshot.AWSAuthMap, snapshot.AWSNode, snapshot.Pods, snapshot.PodIdentities, snapshot.Addons, snapshot.Consoles,
	}, c)
}
