package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchSubnetFull(t *testing.T) {
	checktest.RunCases(t, SubnetFull(), launchSubnetFullCases())
}

func launchSubnetFullCases() []checktest.Case {
	return launchOutcomes(
		"There are not enough free addresses in subnet 'subnet-0private' to satisfy the requested number of instances. Launching EC2 instance failed.",
		"fail subnet-0private [eks-workers] [] workers cannot launch: the subnet has no free address",
	)
}
