package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchUnauthorized(t *testing.T) {
	checktest.RunCases(t, Unauthorized(), launchUnauthorizedCases())
}

func launchUnauthorizedCases() []checktest.Case {
	return launchOutcomes(
		"You are not authorized to perform this operation. Encoded authorization failure message: abcDEF-_123 Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: who launches lacks a permission",
	)
}
