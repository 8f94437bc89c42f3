package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchIMDSEnforced(t *testing.T) {
	checktest.RunCases(t, IMDSEnforced(), launchIMDSEnforcedCases())
}

func launchIMDSEnforcedCases() []checktest.Case {
	return launchOutcomes(
		"You can't launch instances with IMDSv1 because httpTokensEnforced is enabled for this account. Either launch the instance with httpTokens=required or contact your account owner to disable httpTokensEnforced using the ModifyInstanceMetadataDefaults API or the account settings in the EC2 console. Launching EC2 instance failed.",
		"fail lt-0a [eks-workers] [] workers cannot launch: the account enforces IMDSv2",
	)
}
