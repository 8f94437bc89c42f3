package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchAccountValidation(t *testing.T) {
	checktest.RunCases(t, AccountValidation(), launchAccountValidationCases())
}

func launchAccountValidationCases() []checktest.Case {
	return launchOutcomes(
		"Your request for accessing resources in this region is being validated, and you will not be able to launch additional resources in this region until the validation is complete. Launching EC2 instance failed.",
		"fail 123456789012 [eks-workers] [] workers cannot launch: AWS has not validated the account",
	)
}
