package launch

import (
	"rollcall/shared/checkid"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
)

func ServiceRole() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchServiceRole,
		title: "A service-linked role that launches need is missing",
		cause: "Auto Scaling launches with AWSServiceRoleForAutoScaling, and Spot needs AWSServiceRoleForEC2Spot. One of them was deleted, does not exist yet and may not be created by who launches, or is seconds old.",
		fix:   "Create the role, and wait a minute for it to be known. Auto Scaling then tries again.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/autoscaling-service-linked-role.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html",
		},
		headline: "a service-linked role is missing",
		resource: ofAccount,
		repair: func(a *facts.Attempts, f launchFault) finding.Fix {
			service := "autoscaling.amazonaws.com"
			if strings.Contains(f.list[0].Verdict.Meaning, "Spot") {
				service = "spot.amazonaws.com"
			}
			return finding.Fix{Command: AWSCommand(a, "iam", "create-service-linked-role", "--aws-service-name", service)}
		},
	})
}
