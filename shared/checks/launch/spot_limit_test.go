package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchSpotLimit(t *testing.T) {
	checktest.RunCases(t, SpotLimit(), launchSpotLimitCases())
}

func launchSpotLimitCases() []checktest.Case {
	return launchOutcomes(
		"Could not launch Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded. Launching EC2 instance failed.",
		"fail L-34B43A08 [eks-workers] [] workers cannot launch: the quota of Spot vCPUs is used up",
	)
}
