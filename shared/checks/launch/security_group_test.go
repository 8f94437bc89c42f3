package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchSecurityGroup(t *testing.T) {
	checktest.RunCases(t, SecurityGroup(), launchSecurityGroupCases())
}

func launchSecurityGroupCases() []checktest.Case {
	return launchOutcomes(
		"The security group 'sg-0a1b2c3d' does not exist. Launching EC2 instance failed.",
		"fail sg-0a1b2c3d [eks-workers] [] workers cannot launch: a security group does not exist or fit",
	)
}
