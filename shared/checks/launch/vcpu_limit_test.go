package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchVCPULimit(t *testing.T) {
	checktest.RunCases(t, VCPULimit(), launchVCPULimitCases())
}

func launchVCPULimitCases() []checktest.Case {
	return launchOutcomes(
		"You have requested more vCPU capacity than your current vCPU limit of 8 allows for the instance bucket that the specified instance type belongs to. Launching EC2 instance failed.",
		"fail L-1216C47A [eks-workers] [] workers cannot launch: the quota of vCPUs is used up",
	)
}
