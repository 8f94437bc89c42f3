package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/facts"
	"rollcall/shared/node/activity"
)

// denied is what EC2 says to Auto Scaling's role.
func denied(by string) string {
	return "You are not authorized to use launch template: lt-0a1b2c3d. User: arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAutoScaling/AutoScaling " +
		"is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:instance/* " + by + ". Launching EC2 instance failed."
}

func TestLaunchPolicyDenied(t *testing.T) {
	for by, says := range map[string]string{
		"with an explicit deny in a service control policy":                  "a service control policy forbids it",
		"with an explicit deny in a resource control policy":                 "a resource control policy forbids it",
		"because no permissions boundary allows the ec2:RunInstances action": "the permissions boundary forbids it",
		"with an explicit deny in a session policy":                          "the session policy forbids it",
	} {
		t.Run(by, func(t *testing.T) {
			checktest.RunCases(t, PolicyDenied(), launchOutcomes(denied(by), "fail eks-workers [eks-workers] [] workers cannot launch: "+says))
		})
	}
}

// What the launcher's own policy lacks is not above it.
func TestItsOwnPolicyIsNotAboveIt(t *testing.T) {
	for _, by := range []string{
		"because no identity-based policy allows the ec2:RunInstances action", "with an explicit deny in an identity-based policy",
		"because no resource-based policy allows the ec2:RunInstances action", "",
	} {
		if got := activity.Classify(denied(by)).Class; got != Unauthorized().ID {
			t.Errorf("%q is %s", by, got)
		}
	}
}

// Several kinds in one group's texts: no headline names one of them.
func TestPoliciesOfSeveralKinds(t *testing.T) {
	var f launchFault
	for _, by := range []string{"with an explicit deny in a service control policy", "with an explicit deny in a session policy"} {
		f.list = append(f.list, facts.Attempt{Group: "g", Verdict: activity.Classify(denied(by))})
	}
	if got := whichPolicy(f); got != "" {
		t.Errorf("says %q", got)
	}
}
