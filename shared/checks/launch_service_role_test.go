package checks

import "testing"

func TestLaunchServiceRole(t *testing.T) { runCases(t, launchServiceRole(), launchServiceRoleCases()) }

func launchServiceRoleCases() []testCase {
	return launchOutcomes(
		"AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.",
		"fail 123456789012 [eks-workers] [] workers cannot launch: a service-linked role is missing",
	)
}
