package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchThrottled(t *testing.T) {
	checktest.RunCases(t, Throttled(), launchThrottledCases())
}

func launchThrottledCases() []checktest.Case {
	return launchOutcomes(
		"Request limit exceeded. Launching EC2 instance failed.",
		"fail 123456789012 [eks-workers] [] workers cannot launch: calls of the account are throttled",
	)
}
