package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
)

func AMI() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchAMI,
		title: "The AMI cannot be used to launch",
		cause: "The AMI does not exist (any more, or in this region) or is hidden by the account's Allowed AMIs, is disabled or pending, is not shared with this account, is for another processor architecture than the instance type, or is a Marketplace product whose terms were not accepted.",
		fix:   "Let the launch template name an AMI that exists here and fits; look AMIs of EKS up in SSM (/aws/service/eks/optimized-ami/…). Share a private one with this account, accept the terms of a Marketplace one.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-ami.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html",
		},
		headline: "its AMI cannot be used",
		resource: (*facts.Attempts).Image,
		looks:    allowedLook,
		repair: func(a *facts.Attempts, f launchFault) finding.Fix {
			id := a.Image(f.list[0])
			if id == "" {
				return showTemplate(a, f)
			}
			return finding.Fix{
				Command: AWSCommand(a, "ec2", "describe-images", "--image-ids", id),
				Console: link.EC2(a.S, "ImageDetails:imageId="+id),
			}
		},
	})
}
