package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchFleetLimit(t *testing.T) {
	checktest.RunCases(t, FleetLimit(), launchFleetLimitCases())
}

func launchFleetLimitCases() []checktest.Case {
	return launchOutcomes(
		"You've reached your quota for maximum Fleet Requests for this account. Launching EC2 instance failed.",
		"fail 123456789012 [eks-workers] [] workers cannot launch: the quota of fleet requests is used up",
	)
}
