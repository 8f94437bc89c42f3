package checks

import "testing"

func TestLaunchAMI(t *testing.T) { runCases(t, launchAMI(), launchAMICases()) }

func launchAMICases() []testCase {
	return launchOutcomes(
		"The image id '[ami-02c7e84c65fcfecee]' does not exist. Launching EC2 instance failed.",
		"fail ami-02c7e84c65fcfecee [eks-workers] [] workers cannot launch: its AMI cannot be used",
	)
}
