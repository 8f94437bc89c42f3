package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchKMSKey(t *testing.T) { checktest.RunCases(t, KMSKey(), launchKMSKeyCases()) }

func launchKMSKeyCases() []checktest.Case {
	return launchOutcomes(
		"One or more of the attached Amazon EBS volumes are encrypted with an inaccessible AWS KMS key.",
		"fail eks-workers [eks-workers] [] workers cannot launch: a volume's KMS key cannot be used",
	)
}
