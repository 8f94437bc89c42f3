package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchProfile(t *testing.T) { checktest.RunCases(t, Profile(), launchProfileCases()) }

func launchProfileCases() []checktest.Case {
	return launchOutcomes(
		"Value (eks-d8c6d9f9) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
		"fail eks-d8c6d9f9 [eks-workers] [] workers cannot launch: its instance profile does not exist",
	)
}
