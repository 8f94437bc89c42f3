package checks

import (
	"cmp"

	"rollcall/shared/node/activity"
)

func launchAMI() Check {
	return launchCheck(launchSpec{
		class: activity.AMI,
		title: "The AMI cannot be used to launch",
		cause: "The AMI does not exist (any more, or in this region), is disabled or pending, is not shared with this account, is for another processor architecture than the instance type, or is a Marketplace product whose terms were not accepted.",
		fix:   "Let the launch template name an AMI that exists here and fits; look AMIs of EKS up in SSM (/aws/service/eks/optimized-ami/…). Share a private one with this account, accept the terms of a Marketplace one.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-ami.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html",
		},
		headline: "its AMI cannot be used",
		resource: func(a *attempts, t attempt) string { return image(a, t) },
		repair: func(a *attempts, f launchFault) Fix {
			id := image(a, f.list[0])
			if id == "" {
				return showTemplate(a, f)
			}
			return Fix{
				Command: a.command("ec2", "describe-images", "--image-ids", id),
				Console: ec2Console(a.s, "ImageDetails:imageId="+id),
			}
		},
	})
}

// image is the AMI: the text names it, else the launch template does.
func image(a *attempts, t attempt) string {
	template, _ := a.templateOf(t.group)
	return cmp.Or(t.verdict.Named.AMI, template.Image)
}
