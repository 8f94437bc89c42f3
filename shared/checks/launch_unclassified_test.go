package checks

import "testing"

func TestLaunchUnclassified(t *testing.T) {
	runCases(t, launchUnclassified(), launchUnclassifiedCases())
}

func launchUnclassifiedCases() []testCase {
	return launchOutcomes(
		"The moon is in the wrong house. Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: the reason is in the text",
	)
}
