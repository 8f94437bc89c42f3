package checks

import "testing"

func TestLaunchSubnetFull(t *testing.T) { runCases(t, launchSubnetFull(), launchSubnetFullCases()) }

func launchSubnetFullCases() []testCase {
	return launchOutcomes(
		"There are not enough free addresses in subnet 'subnet-0private' to satisfy the requested number of instances. Launching EC2 instance failed.",
		"fail subnet-0private [eks-workers] [] workers cannot launch: the subnet has no free address",
	)
}
