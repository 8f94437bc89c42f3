package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchAMI(t *testing.T) { checktest.RunCases(t, AMI(), launchAMICases()) }

func launchAMICases() []checktest.Case {
	return launchOutcomes(
		"The image id '[ami-02c7e84c65fcfecee]' does not exist. Launching EC2 instance failed.",
		"fail ami-02c7e84c65fcfecee [eks-workers] [] workers cannot launch: its AMI cannot be used",
	)
}
