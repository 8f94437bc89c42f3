package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchPlacement(t *testing.T) {
	checktest.RunCases(t, Placement(), launchPlacementCases())
}

func launchPlacementCases() []checktest.Case {
	return launchOutcomes(
		"The placement group 'hpc' is in use in another availability zone: us-west-2b. Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: its placement does not take it",
	)
}
