package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchUnclassified(t *testing.T) {
	checktest.RunCases(t, Unclassified(), launchUnclassifiedCases())
}

func launchUnclassifiedCases() []checktest.Case {
	return launchOutcomes(
		"The moon is in the wrong house. Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: the reason is in the text",
	)
}
