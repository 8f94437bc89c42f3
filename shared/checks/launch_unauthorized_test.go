package checks

import "testing"

func TestLaunchUnauthorized(t *testing.T) {
	runCases(t, launchUnauthorized(), launchUnauthorizedCases())
}

func launchUnauthorizedCases() []testCase {
	return launchOutcomes(
		"You are not authorized to perform this operation. Encoded authorization failure message: abcDEF-_123 Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: who launches lacks a permission",
	)
}
