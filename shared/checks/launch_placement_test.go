package checks

import "testing"

func TestLaunchPlacement(t *testing.T) { runCases(t, launchPlacement(), launchPlacementCases()) }

func launchPlacementCases() []testCase {
	return launchOutcomes(
		"The placement group 'hpc' is in use in another availability zone: us-west-2b. Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: its placement does not take it",
	)
}
