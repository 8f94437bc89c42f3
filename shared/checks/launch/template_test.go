package launch

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchTemplate(t *testing.T) { checktest.RunCases(t, Template(), launchTemplateCases()) }

func launchTemplateCases() []checktest.Case {
	return append(launchOutcomes(
		"You must use a valid fully-formed launch template. The key pair 'ops' does not exist",
		"fail lt-0a [eks-workers] [] workers cannot launch: the launch template does not fit",
	), checktest.Case{"the subnet was deleted", checktest.Attempted(lostSubnetText), []string{
		"fail subnet-0dead [eks-workers] [] workers cannot launch: subnet-0dead does not exist",
	}})
}

const lostSubnetText = "The subnet ID 'subnet-0dead' does not exist Launching EC2 instance failed."

// Nobody can correct the launch template when the subnet is gone.
func TestLostSubnetIsNotTheTemplates(t *testing.T) {
	f := checktest.Failed(t, Template(), checktest.Attempted(lostSubnetText))
	if !strings.Contains(f.Fix.Text, "make a new nodegroup") || !strings.Contains(f.Fix.Command, "describe-scaling-activities") {
		t.Errorf("fix %+v", f.Fix)
	}
}
