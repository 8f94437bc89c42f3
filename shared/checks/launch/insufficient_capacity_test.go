package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchInsufficientCapacity(t *testing.T) {
	checktest.RunCases(t, InsufficientCapacity(), launchInsufficientCapacityCases())
}

func launchInsufficientCapacityCases() []checktest.Case {
	return launchOutcomes(
		"We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: EC2 has no capacity",
	)
}
