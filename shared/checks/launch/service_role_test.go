package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchServiceRole(t *testing.T) {
	checktest.RunCases(t, ServiceRole(), launchServiceRoleCases())
}

func launchServiceRoleCases() []checktest.Case {
	return launchOutcomes(
		"AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.",
		"fail 123456789012 [eks-workers] [] workers cannot launch: a service-linked role is missing",
	)
}
