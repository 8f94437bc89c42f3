package checks

import "testing"

func TestLaunchThrottled(t *testing.T) { runCases(t, launchThrottled(), launchThrottledCases()) }

func launchThrottledCases() []testCase {
	return launchOutcomes(
		"Request limit exceeded. Launching EC2 instance failed.",
		"fail 123456789012 [eks-workers] [] workers cannot launch: calls of the account are throttled",
	)
}
