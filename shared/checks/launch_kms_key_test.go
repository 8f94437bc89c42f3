package checks

import "testing"

func TestLaunchKMSKey(t *testing.T) { runCases(t, launchKMSKey(), launchKMSKeyCases()) }

func launchKMSKeyCases() []testCase {
	return launchOutcomes(
		"One or more of the attached Amazon EBS volumes are encrypted with an inaccessible AWS KMS key.",
		"fail eks-workers [eks-workers] [] workers cannot launch: a volume's KMS key cannot be used",
	)
}
