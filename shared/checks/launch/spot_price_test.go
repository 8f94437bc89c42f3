package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchSpotPrice(t *testing.T) {
	checktest.RunCases(t, SpotPrice(), launchSpotPriceCases())
}

func launchSpotPriceCases() []checktest.Case {
	return launchOutcomes(
		"Could not launch Spot Instances. SpotMaxPriceTooLow - Your Spot request price of 0.02 is lower than the minimum required Spot request fulfillment price of 0.0216. Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: Spot costs more than it may",
	)
}
