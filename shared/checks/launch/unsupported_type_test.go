package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchUnsupportedType(t *testing.T) {
	checktest.RunCases(t, UnsupportedType(), launchUnsupportedTypeCases())
}

func launchUnsupportedTypeCases() []checktest.Case {
	return launchOutcomes(
		"Your requested instance type (m5.large) is not supported in your requested Availability Zone (us-west-2d). Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: the instance type is not supported there",
	)
}
