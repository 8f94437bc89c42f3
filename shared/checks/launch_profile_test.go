package checks

import "testing"

func TestLaunchProfile(t *testing.T) { runCases(t, launchProfile(), launchProfileCases()) }

func launchProfileCases() []testCase {
	return launchOutcomes(
		"Value (eks-d8c6d9f9) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
		"fail eks-d8c6d9f9 [eks-workers] [] workers cannot launch: its instance profile does not exist",
	)
}
